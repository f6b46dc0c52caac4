//! Files and directories that get another place: what changes of the paths in one text.
//!
//! A text keeps its paths as they are written wherever they still lead to the same. Of a path that
//! passes through what is renamed that name alone changes; only where a text and what it speaks of
//! part is a path written anew.

use std::fmt::Write as _;
use std::path::{Component, Path};

use skills_agents::references::{Link, LinkBase, LinkBases, LinkForm, PathStep, links, path_steps};
use skills_syntax::edit::{Edit, apply};
use skills_syntax::markdown::percent_decode;
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

/// A file or directory that gets another place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// Where it is.
    pub old: AbsPath,
    /// Where it will be.
    pub new: AbsPath,
}

/// All that moves at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moves(Vec<Move>);

impl Moves {
    /// Takes what moves; what stays where it is counts for nothing.
    pub fn new(moves: impl IntoIterator<Item = Move>) -> Self {
        let mut moves: Vec<_> = moves.into_iter().filter(|it| it.old != it.new).collect();
        // The deepest first: it decides for what lies in it.
        moves.sort_by_key(|it| std::cmp::Reverse(it.old.components().count()));
        Self(moves)
    }

    /// Returns what moves, the deepest first.
    pub fn all(&self) -> &[Move] {
        &self.0
    }

    /// Returns where a path leads when all has moved; none where it does not move.
    pub fn new_path(&self, path: &AbsPath) -> Option<AbsPath> {
        let moved = self.0.iter().find(|it| path.starts_with(&*it.old))?;
        Some(moved.new.child(path.strip_prefix(&*moved.old).ok()?))
    }

    /// Returns what changes in a text at `path`. `is_there` says whether something is at a path: it
    /// is asked where a text goes and what it speaks of may stay.
    pub fn edits(
        &self,
        path: &AbsPath,
        bases: &LinkBases,
        text: &str,
        document: &Document,
        is_there: impl Fn(&AbsPath) -> bool,
    ) -> Vec<Edit> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let after = self.new_path(path).map_or_else(
            || bases.clone(),
            |it| LinkBases::for_file(&it, bases.top.as_ref(), bases.home.as_ref()),
        );
        let skill = bases.skill.as_ref().map(|it| self.new_path(it).unwrap_or_else(|| it.clone()));
        let after = after.with_skill(skill);
        let is_skill = |it: &AbsPath| it.ends_with("SKILL.md");
        let becomes_skill = !is_skill(path) && self.new_path(path).is_some_and(|it| is_skill(&it));
        let written = PathRewriter { text, bases, after, becomes_skill, moves: self };
        let mut edits: Vec<Edit> = Vec::new();
        for link in links(text, document) {
            let end = edits.last().map_or(0, |it| it.span.end);
            // A command in backticks may be read as one path, and word by word.
            let found = written.of(&link, &is_there).into_iter();
            edits.extend(found.filter(|it| end <= it.span.start));
        }
        edits
    }
}

/// A text whose paths are looked at.
struct PathRewriter<'a> {
    text: &'a str,
    bases: &'a LinkBases,
    /// Where its paths start when all has moved.
    after: LinkBases,
    /// Whether it is a skill only then: its links start nowhere but at its directory.
    becomes_skill: bool,
    moves: &'a Moves,
}

impl PathRewriter<'_> {
    fn of(&self, link: &Link, is_there: impl Fn(&AbsPath) -> bool) -> Vec<Edit> {
        let starts = self.bases.candidates(link.start);
        for base in &starts {
            let steps = path_steps(link, self.text, base);
            let Some(first) = steps.iter().find(|it| self.is_old(&it.reached)) else { continue };
            let target = base.join_lexically(&link.path);
            if link.is_ambiguous(first) && !is_there(&target) {
                continue;
            }
            let named = self.named(link, &steps);
            let written = replaced(self.text, link.names, &named);
            let then = self.moves.new_path(&target).unwrap_or_else(|| target.clone());
            let base = self.then(link, base);
            if base.join_lexically(percent_decode(&written)) == then {
                return named;
            }
            return self.anew(link, &base, &then).into_iter().collect();
        }
        // Nothing that moves is named; but what starts at the text's directory goes with it.
        for base in starts.iter().filter(|it| self.then(link, it) != **it) {
            let target = base.join_lexically(&link.path);
            let then = self.moves.new_path(&target).unwrap_or_else(|| target.clone());
            let base = self.then(link, base);
            if base.join_lexically(&link.path) != then && is_there(&target) {
                return self.anew(link, &base, &then).into_iter().collect();
            }
        }
        Vec::new()
    }

    fn is_old(&self, path: &AbsPath) -> bool {
        self.moves.0.iter().any(|it| it.old == *path)
    }

    /// Returns where a path starts then that starts at `base` now. One directory may be several of
    /// those that paths start at, and only the text's own and its skill's go anywhere.
    fn then(&self, link: &Link, base: &AbsPath) -> AbsPath {
        // Agents run commands at the top, wherever they have read them.
        let is_run = matches!(link.way, LinkForm::Bare | LinkForm::Word);
        match link.start {
            LinkBase::Text if is_run && self.after.top.as_ref() == Some(base) => base.clone(),
            LinkBase::Text if *base == self.bases.text => self.after.text.clone(),
            LinkBase::Text if self.becomes_skill && link.way == LinkForm::Target => {
                self.after.text.clone()
            }
            LinkBase::Skill => self.after.skill.as_ref().unwrap_or(&self.after.text).clone(),
            LinkBase::Text | LinkBase::Top | LinkBase::Home | LinkBase::Root => base.clone(),
        }
    }

    /// Returns the path with other names where what it passes is renamed in its place.
    fn named(&self, link: &Link, steps: &[PathStep]) -> Vec<Edit> {
        let renamed = steps.iter().filter_map(|step| {
            let moved = self.moves.0.iter().find(|it| it.old == step.reached)?;
            let name = moved.new.file_name().and_then(|it| it.to_str())?;
            let stays = moved.new.parent() == moved.old.parent();
            let text = self.spelled(link, name);
            stays.then_some(Edit { span: step.span, text })
        });
        renamed.filter(|it| it.span.slice(self.text) != it.text).collect()
    }

    /// Writes a path anew, as far as that can be said from where it starts.
    fn anew(&self, link: &Link, base: &AbsPath, target: &AbsPath) -> Option<Edit> {
        let written = link.names.slice(self.text);
        let mut path = match link.start {
            LinkBase::Text | LinkBase::Skill => relative(base, target)?,
            LinkBase::Top | LinkBase::Home | LinkBase::Root => {
                target.strip_prefix(&**base).ok()?.to_str()?.to_owned()
            }
        };
        if path.is_empty() {
            ".".clone_into(&mut path);
        }
        if written.starts_with("./") && !path.starts_with('.') {
            path.insert_str(0, "./");
        }
        if written.ends_with('/') && !path.ends_with('/') {
            path.push('/');
        }
        let text = self.spelled(link, &path);
        (text != written).then_some(Edit { span: link.names, text })
    }

    /// Returns a path as it has to be written in the place of another.
    fn spelled(&self, link: &Link, path: &str) -> String {
        if link.way != LinkForm::Target {
            return path.to_owned();
        }
        let is_pointed = self.text[..link.span.start].ends_with('<');
        let mut spelled = String::with_capacity(path.len());
        for letter in path.chars() {
            let is_plain = match letter {
                '%' | '<' | '>' | '#' | '?' | '\\' => false,
                ' ' | '(' | ')' => is_pointed,
                _ => !letter.is_whitespace() && !letter.is_control(),
            };
            if is_plain {
                spelled.push(letter);
                continue;
            }
            for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                // A text takes whatever is written to it.
                let _ = write!(spelled, "%{byte:02X}");
            }
        }
        spelled
    }
}

/// Returns a stretch of a text with edits of it made.
fn replaced(text: &str, span: Span, edits: &[Edit]) -> String {
    let within = |it: &Edit| {
        let [start, end] = [it.span.start, it.span.end].map(|it| it - span.start);
        Edit { span: Span::new(start, end), text: it.text.clone() }
    };
    apply(span.slice(text), &edits.iter().map(within).collect::<Vec<_>>())
}

/// Returns the way from one directory to another path, with `/` between its names.
pub fn relative(from: &Path, to: &Path) -> Option<String> {
    let [mut ours, mut theirs] = [from, to].map(|it| it.components().peekable());
    while let (Some(one), Some(other)) = (ours.peek(), theirs.peek()) {
        if one != other {
            break;
        }
        ours.next();
        theirs.next();
    }
    let ups = ours.map(|_| Some(".."));
    let downs = theirs.map(|it: Component<'_>| it.as_os_str().to_str());
    let names: Option<Vec<&str>> = ups.chain(downs).collect();
    Some(names?.join("/"))
}

#[cfg(test)]
mod tests {
    use skills_agents::skill::parse;

    use super::*;

    fn at(text: &str) -> AbsPath {
        AbsPath::new(Path::new(text)).unwrap()
    }

    /// Moves what lies below `/w/.claude/skills`, and reads the text from the worktree `/w`.
    #[track_caller]
    fn check(moves: &[(&str, &str)], path: &str, text: &str, expected: &str) {
        let below = |it: &str| at("/w/.claude/skills").child(it);
        let moves = moves.iter().map(|(old, new)| Move { old: below(old), new: below(new) });
        let moves = Moves::new(moves);
        let bases = LinkBases::for_file(&at(path), Some(&at("/w")), Some(&at("/home/me")));
        let is_there = |it: &AbsPath| it.to_str().unwrap().matches("/.claude").count() == 1;
        let edits = moves.edits(&at(path), &bases, text, &parse(text), is_there);
        assert_eq!(apply(text, &edits), expected);
        if moves.all().iter().any(|it| moves.new_path(&it.new).is_some()) {
            return;
        }
        // What has moved already is not moved once more.
        let then = moves.new_path(&at(path)).unwrap_or_else(|| at(path));
        let bases = LinkBases::for_file(&then, Some(&at("/w")), Some(&at("/home/me")));
        let again = moves.edits(&then, &bases, expected, &parse(expected), is_there);
        assert_eq!(again, [], "{expected}");
    }

    const RENAMED: &[(&str, &str)] = &[("pdf", "paper")];

    #[test]
    fn paths_from_the_top_are_followed_wherever_they_stand() {
        for path in ["/w/CLAUDE.md", "/w/.claude/agents/a.md", "/w/.claude/skills/notes/SKILL.md"] {
            check(
                RENAMED,
                path,
                "@.claude/skills/pdf/SKILL.md, .claude/skills/pdf/ or `.claude/skills/pdf`; .claude/skills/pdf/run.py:12, [x](.claude/skills/pdf/x.md#top).\n\n```sh\npython ./.claude/skills/pdf/run.py --in=.claude/skills/pdf/a\n```\n",
                "@.claude/skills/paper/SKILL.md, .claude/skills/paper/ or `.claude/skills/paper`; .claude/skills/paper/run.py:12, [x](.claude/skills/paper/x.md#top).\n\n```sh\npython ./.claude/skills/paper/run.py --in=.claude/skills/paper/a\n```\n",
            );
        }
    }

    #[test]
    fn paths_from_elsewhere_are_followed_too() {
        check(
            RENAMED,
            "/w/.claude/skills/pdf/SKILL.md",
            "---\nhooks: \"$CLAUDE_PROJECT_DIR/.claude/skills/pdf/x.sh\"\n---\n`${CLAUDE_SKILL_DIR}/../pdf/x.py` /w/.claude/skills/pdf/x [a](/.claude/skills/pdf/a.md) `python .claude/skills/pdf/x.py`\n",
            "---\nhooks: \"$CLAUDE_PROJECT_DIR/.claude/skills/paper/x.sh\"\n---\n`${CLAUDE_SKILL_DIR}/../paper/x.py` /w/.claude/skills/paper/x [a](/.claude/skills/paper/a.md) `python .claude/skills/paper/x.py`\n",
        );
        let home = Moves::new([Move {
            old: at("/home/me/.claude/skills/a"),
            new: at("/home/me/.claude/skills/b"),
        }]);
        let text = "`~/.claude/skills/a/x.py` and ~/.claude/skills/ab/x.py\n";
        let bases =
            LinkBases::for_file(&at("/w/CLAUDE.md"), Some(&at("/w")), Some(&at("/home/me")));
        let edits = home.edits(&at("/w/CLAUDE.md"), &bases, text, &parse(text), |_| false);
        assert_eq!(apply(text, &edits), "`~/.claude/skills/b/x.py` and ~/.claude/skills/ab/x.py\n");
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "pdf/ocr, and/or, skills/pdf/x.md, https://x.org/.claude/skills/pdf/x.md, /pdf/x\n",
            "../other/.claude/skills/pdf/x.md .claude/skills/pdf2/x.md .claude/skills/pdf.md\n",
            "[x](mailto:a@.claude/skills/pdf) /other/.claude/skills/pdf/SKILL.md\n",
        ] {
            check(RENAMED, "/w/CLAUDE.md", text, text);
        }
        // Beside a skill of that name, whatever there is: nothing, here.
        let text = "For and/or, [x](and/x.md).\n";
        let moves = [Move { old: at("/w/and"), new: at("/w/or") }];
        let bases = LinkBases::for_file(&at("/w/CLAUDE.md"), None, None);
        let path = at("/w/CLAUDE.md");
        let edits = Moves::new(moves).edits(&path, &bases, text, &parse(text), |_| false);
        assert_eq!(apply(text, &edits), "For and/or, [x](or/x.md).\n");
    }

    #[test]
    fn names_with_blanks_are_written_as_the_place_wants_them() {
        check(
            &[("my pdf", "my (new) pdf")],
            "/w/.claude/skills/notes/SKILL.md",
            "[a](../my%20pdf/a.md) [b](<../my pdf/b.md>) `../my pdf/c.md`\n\n[r]: ../my%20pdf/d.md \"my pdf\"\n",
            "[a](../my%20%28new%29%20pdf/a.md) [b](<../my (new) pdf/b.md>) `../my (new) pdf/c.md`\n\n[r]: ../my%20%28new%29%20pdf/d.md \"my pdf\"\n",
        );
    }

    #[test]
    fn a_directory_inside_of_a_skill_takes_all_paths_into_it_along() {
        let moves: &[_] = &[("pdf/references", "pdf/docs")];
        check(
            moves,
            "/w/.claude/skills/pdf/SKILL.md",
            "[a](references/a.md#x), `references/a.md`, [c](<references/c d.md>), references/\n",
            "[a](docs/a.md#x), `docs/a.md`, [c](<docs/c d.md>), docs/\n",
        );
        check(
            moves,
            "/w/.claude/skills/pdf/references/a.md",
            "[b](b.md) [c](../references/c.md) [s](../scripts/s.py)\n",
            "[b](b.md) [c](../docs/c.md) [s](../scripts/s.py)\n",
        );
        check(
            moves,
            "/w/CLAUDE.md",
            ".claude/skills/pdf/references/a.md and references/a.md\n",
            ".claude/skills/pdf/docs/a.md and references/a.md\n",
        );
    }

    #[test]
    fn a_text_that_goes_elsewhere_still_finds_what_stays() {
        check(
            &[("pdf/references/a.md", "pdf/docs/deep/a.md")],
            "/w/.claude/skills/pdf/references/a.md",
            "[b](b.md), [s](../scripts/s.py), [me](a.md), `.claude/skills/pdf/x.py`\n",
            "[b](../../references/b.md), [s](../../scripts/s.py), [me](a.md), `.claude/skills/pdf/x.py`\n",
        );
        check(
            &[("pdf/references/a.md", "pdf/docs/deep/a.md")],
            "/w/.claude/skills/pdf/SKILL.md",
            "[a](./references/a.md), [b](references/b.md)\n",
            "[a](./docs/deep/a.md), [b](references/b.md)\n",
        );
    }

    /// Moves the text alone, from one place to another, and reads it from the worktree `/w`.
    #[track_caller]
    fn check_text(old: &str, new: &str, text: &str, expected: &str) {
        let moves = Moves::new([Move { old: at(old), new: at(new) }]);
        let bases = LinkBases::for_file(&at(old), Some(&at("/w")), Some(&at("/w")));
        let edits = moves.edits(&at(old), &bases, text, &parse(text), |_| true);
        assert_eq!(apply(text, &edits), expected);
    }

    #[test]
    fn a_text_that_leaves_the_top_keeps_what_starts_there() {
        for kept in [
            "`$CLAUDE_PROJECT_DIR/.claude/skills/pdf/x.sh` and ~/.claude/skills/pdf/x.sh\n",
            "/.claude/skills/pdf/x.sh and `.claude/skills/pdf/x.sh`\n",
            "```sh\npython .claude/skills/pdf/x.py\n```\n",
        ] {
            check_text("/w/CLAUDE.md", "/w/.claude/CLAUDE.md", kept, kept);
        }
        // Whoever follows a link or an import reads it from the text.
        check_text(
            "/w/CLAUDE.md",
            "/w/.claude/CLAUDE.md",
            "@.claude/skills/pdf/SKILL.md [x](.claude/skills/pdf/x.md)\n",
            "@skills/pdf/SKILL.md [x](skills/pdf/x.md)\n",
        );
        // Nothing of the worktree is read from its top elsewhere.
        check_text("/w/CLAUDE.md", "/v/CLAUDE.md", "See `a/x.py`.\n", "See `../w/a/x.py`.\n");
    }

    #[test]
    fn links_of_what_becomes_a_skill_start_at_its_directory() {
        let path = at("/w/.claude/commands/fix/bug.md");
        let new = at("/w/.claude/skills/bug/SKILL.md");
        let moves = Moves::new([Move { old: path.clone(), new }]);
        let bases = LinkBases::for_file(&path, Some(&at("/w")), None);
        let text = "[a](notes.md#x), [b](src/x.ts), [c](../../skills/d/SKILL.md), `src/x.ts`, @src/x.ts, [m](bug.md), [n](no.md)\n";
        let there =
            ["/w/.claude/commands/fix/notes.md", "/w/src/x.ts", "/w/.claude/skills/d/SKILL.md"];
        let is_there = |it: &AbsPath| there.iter().any(|path| at(path) == *it);
        assert_eq!(
            apply(text, &moves.edits(&path, &bases, text, &parse(text), is_there)),
            "[a](../../commands/fix/notes.md#x), [b](../../../src/x.ts), [c](../../skills/d/SKILL.md), `src/x.ts`, @src/x.ts, [m](SKILL.md), [n](no.md)\n"
        );
    }

    #[test]
    fn a_path_from_a_skill_starts_at_its_directory_in_each_of_its_texts() {
        let path = at("/w/.claude/skills/pdf/references/a.md");
        let skill = at("/w/.claude/skills/pdf");
        let bases =
            LinkBases::for_file(&path, Some(&at("/w")), None).with_skill(Some(skill.clone()));
        let text = "Run `${CLAUDE_SKILL_DIR}/scripts/x.py`.\n";
        let edits = |old: &str, new: &str| {
            let moves = Moves::new([Move { old: skill.child(old), new: skill.child(new) }]);
            apply(text, &moves.edits(&path, &bases, text, &parse(text), |_| true))
        };
        assert_eq!(edits("scripts", "bin"), "Run `${CLAUDE_SKILL_DIR}/bin/x.py`.\n");
        assert_eq!(edits("references/a.md", "a.md"), text);
        assert_eq!(edits("references", "docs/deep"), text);
    }

    #[test]
    fn several_that_move_at_once_are_told_apart() {
        check(
            &[("a", "b"), ("b", "a")],
            "/w/CLAUDE.md",
            ".claude/skills/a/x.md .claude/skills/b/x.md\n",
            ".claude/skills/b/x.md .claude/skills/a/x.md\n",
        );
    }

    #[test]
    fn a_directory_of_skills_takes_them_along() {
        let text = "@.claude/skills/pdf/SKILL.md [x](.claude/skills/notes/x.md) .claude/skills/\n";
        let moves =
            Moves::new([Move { old: at("/w/.claude/skills"), new: at("/w/.opencode/skills") }]);
        let bases = LinkBases::for_file(&at("/w/CLAUDE.md"), Some(&at("/w")), None);
        let edits = moves.edits(&at("/w/CLAUDE.md"), &bases, text, &parse(text), |_| true);
        assert_eq!(
            apply(text, &edits),
            "@.opencode/skills/pdf/SKILL.md [x](.opencode/skills/notes/x.md) .opencode/skills/\n"
        );
    }
}
