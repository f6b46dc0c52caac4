//! Giving a skill another name: what is in the way, and what changes in one text.
//!
//! A skill's name stands in three places: its directory, its `name:`, and wherever other texts
//! speak of it, by name or by a path through its directory. A command's stands in the names of its
//! file and of the directories below `commands`. All of them change together.

use std::path::Path;

use skills_agents::command;
use skills_agents::references::{Reference, ReferenceForm, is_skill_file, may_be_name};
use skills_discovery::discover::Entry;
use skills_syntax::edit::Edit;
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use crate::moves::{Move, Moves, relative};

/// The longest name that the standard allows.
const MAX_NAME: usize = 64;

/// A skill that is given another name.
#[derive(Clone, Debug)]
pub struct Renaming<'a> {
    /// Its SKILL.md, or the command's file.
    pub path: &'a AbsPath,
    /// What it is called then.
    pub new: &'a str,
    /// What it is, and will be.
    pub kind: RenameKind,
}

/// What is given another name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RenameKind {
    /// A skill: its directory has its name.
    Skill,
    /// A command: its file has its name, and the directories below `commands` what stands before.
    Command,
    /// A command that becomes a skill beside its `commands`.
    Conversion,
}

impl RenameKind {
    /// Returns what the file at a path is.
    pub fn of(path: &Path) -> Self {
        if is_skill_file(path) { Self::Skill } else { Self::Command }
    }
}

impl<'a> Renaming<'a> {
    /// Gives the skill or the command at a path another name.
    pub fn new(path: &'a AbsPath, new: &'a str) -> Self {
        Self { path, new, kind: RenameKind::of(path) }
    }

    /// Makes a skill of the command at a path.
    pub fn to_skill(path: &'a AbsPath, new: &'a str) -> Self {
        Self { path, new, kind: RenameKind::Conversion }
    }

    /// Returns what moves with it; the directory, or the command's file, may be reached by several
    /// ways.
    pub fn moves(&self, places: &[AbsPath]) -> Moves {
        let own = self.file_move();
        let moved = |old: &AbsPath| {
            let Move { old: from, new } = own.as_ref()?;
            let way = relative(&from.parent()?, new)?;
            let new = if old == from { new.clone() } else { old.parent()?.join_lexically(way) };
            Some(Move { old: old.clone(), new })
        };
        Moves::new(places.iter().filter_map(moved))
    }

    /// Returns what gets another place: a skill's directory, a command's file. Nothing for a command
    /// of which it is not known where its directories begin.
    pub fn file_move(&self) -> Option<Move> {
        let old = match self.kind {
            RenameKind::Skill => self.path.parent()?,
            RenameKind::Command | RenameKind::Conversion => self.path.clone(),
        };
        let new = match self.kind {
            RenameKind::Skill | RenameKind::Conversion => self.target()?,
            RenameKind::Command => command::sibling(self.path, self.new)?,
        };
        let new = if self.kind == RenameKind::Conversion { new.child("SKILL.md") } else { new };
        Some(Move { old, new })
    }

    /// Returns where nothing may be yet: the new directory, or a command's new file.
    pub fn target(&self) -> Option<AbsPath> {
        match self.kind {
            RenameKind::Skill => Some(self.path.parent()?.parent()?.child(self.new)),
            RenameKind::Command => command::sibling(self.path, self.new),
            RenameKind::Conversion => {
                Some(command::agent_dir(self.path)?.child("skills").child(self.new))
            }
        }
    }

    /// Whether it gets another place at all.
    pub fn is_moved(&self) -> bool {
        self.file_move().is_some_and(|it| it.old != it.new)
    }
}

/// Returns the name that the skill or command at `old` is called by when it lies at `new`, and what
/// becomes of it; nothing where that is no other name.
pub fn renamed_by_move(Move { old, new }: &Move) -> Option<(String, RenameKind)> {
    let directory = |it: &AbsPath| it.parent_name().map(str::to_owned);
    let (before, after, kind) = match (is_skill_file(old), is_skill_file(new)) {
        (true, true) => (directory(old)?, directory(new)?, RenameKind::Skill),
        (true, false) => return None,
        (false, true) => (command::name(old)?, directory(new)?, RenameKind::Conversion),
        (false, false) => match (command::name(old), command::name(new)) {
            (Some(before), Some(after)) => (before, after, RenameKind::Command),
            _ => return None,
        },
    };
    (before != after).then_some((after, kind))
}

/// One of the ways to a skill's file, as the disk has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessPath {
    /// The SKILL.md, or the command's file, by this way.
    pub path: AbsPath,
    /// What the file itself is; none where there is none.
    pub file: Option<Entry>,
    /// What its directory is.
    pub directory: Option<Entry>,
}

/// Returns why a skill's directory, or a command's file, cannot be moved on the disk: a sentence for
/// a person.
///
/// `ways` are all that lead to its file, its own among them; `target` is what is there already
/// where it would be.
pub fn move_obstacle(
    renaming: &Renaming<'_>,
    ways: &[AccessPath],
    target: Option<Entry>,
) -> Option<String> {
    let (old, new) = (renaming.file_move()?.old, renaming.target()?);
    let (what, of) = match renaming.kind {
        RenameKind::Skill => ("skill", "its directory would keep the old name"),
        RenameKind::Command | RenameKind::Conversion => ("command", "it would keep the old name"),
    };
    let is_skill = renaming.kind == RenameKind::Skill;
    let own = ways.iter().find(|it| it.path == *renaming.path);
    let own_directory = own.and_then(|it| it.directory);
    let own = if is_skill { own_directory } else { own.and_then(|it| it.file) };
    let (Some(own_directory), Some(own)) = (own_directory, own) else {
        return Some(format!("`{}` is not on the disk; save the {what} first", old.display()));
    };
    for AccessPath { path, file, directory } in ways {
        let dir = path.parent()?;
        let Some(directory) = directory else { continue };
        if is_skill && directory.is_link {
            return Some(format!(
                "`{}` is a link to the skill's directory and would lead nowhere; rename both by hand",
                dir.display()
            ));
        }
        if file.is_some_and(|it| it.is_link) {
            return Some(format!(
                "`{}` is a link to the {what}'s file, which lies in another directory; rename both by hand",
                path.display()
            ));
        }
        if directory.id != own_directory.id || !is_skill && path.file_name() != old.file_name() {
            return Some(format!(
                "`{}` is the {what}'s file as well, and {of}; rename both by hand",
                path.display()
            ));
        }
    }
    // Where case does not count, it may be found under its new name already.
    let is_taken = |it: Entry| it.is_link || it.id != own.id;
    target.is_some_and(is_taken).then(|| format!("`{}` is there already", new.display()))
}

/// Returns why a skill cannot be called that: a sentence for a person.
///
/// `others` are the names and directories of the skills that are seen together with it.
pub fn name_obstacle<'a>(
    renaming: &Renaming<'_>,
    others: impl IntoIterator<Item = (&'a str, &'a AbsPath)>,
) -> Option<String> {
    let Renaming { path, new, kind } = renaming;
    if let Some(why) = name_syntax_error(new, *kind) {
        return Some(why);
    }
    let (old, target) = (renaming.file_move()?.old, renaming.target()?);
    let is_root = old.file_name().is_some_and(|it| it == "skills" || it == "skill");
    if *kind == RenameKind::Skill && is_root {
        return Some(format!("`{}` is a directory of skills, not of one alone", old.display()));
    }
    for (name, other) in others {
        if other == *path {
            continue;
        }
        if other.starts_with(&*old) {
            return Some(format!(
                "`{}` lies in `{}`, and would move with it",
                other.display(),
                old.display()
            ));
        }
        if *other == target || other.parent().is_some_and(|it| it == target) {
            return Some(format!("`{}` is there already", target.display()));
        }
        if name == *new {
            return Some(format!("the skill in `{}` is called `{new}` already", other.display()));
        }
    }
    None
}

/// Returns why a name is none.
fn name_syntax_error(new: &str, kind: RenameKind) -> Option<String> {
    if kind == RenameKind::Command {
        let is_name = may_be_name(new, ReferenceForm::Called);
        return (!is_name).then(|| {
            format!(
                "`{new}` is no name of a command: letters, digits, `-` and `_`, with `:` behind its directories"
            )
        });
    }
    let is_letter = |it: char| matches!(it, 'a'..='z' | '0'..='9' | '-');
    let well_formed = !new.is_empty()
        && new.len() <= MAX_NAME
        && new.chars().all(is_letter)
        && !new.starts_with('-')
        && !new.ends_with('-')
        && !new.contains("--");
    (!well_formed).then(|| {
        format!(
            "`{new}` is no name of a skill: 1 to {MAX_NAME} of `a` to `z`, `0` to `9` and single `-` between them"
        )
    })
}

/// Returns what changes in a text at `path` where the skill is named: in its own `name:`, and at
/// `references`, all of which mean it. What has the new name already does not change; paths are for
/// [`Moves`].
pub fn edits(
    renaming: &Renaming<'_>,
    path: &AbsPath,
    text: &str,
    document: &Document,
    references: &[Reference],
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let called = command::name(renaming.path);
    // What a command says of itself is not its name.
    if renaming.kind == RenameKind::Skill
        && path == renaming.path
        && let Some(entry) = document.frontmatter.as_ref().and_then(|it| it.get("name"))
        && !entry.value.span.is_empty()
        && entry.value.as_str() != Some(renaming.new)
    {
        edits.push(Edit { span: entry.value.span, text: renaming.new.to_owned() });
    }
    for reference in references {
        // What stands before the name (a plugin's) stays.
        let start = called
            .as_ref()
            .and_then(|it| reference.name.strip_suffix(&**it))
            .filter(|it| it.is_empty() || it.ends_with(':'))
            .map(str::len)
            .or_else(|| Some(reference.name.rfind(':')? + 1))
            .unwrap_or_default();
        let span = Span::new(reference.span.start + start, reference.span.end);
        if span.slice(text) == renaming.new {
            continue;
        }
        edits.push(Edit { span, text: renaming.new.to_owned() });
    }
    edits.sort_by_key(|it| it.span);
    edits
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::slice;

    use expect_test::{Expect, expect};
    use skills_agents::references::{LinkBases, references};
    use skills_agents::skill::parse;
    use skills_discovery::discover::FileId;
    use skills_syntax::edit::apply;

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(Path::new(text)).unwrap()
    }

    #[track_caller]
    fn check(at: &str, text: &str, expected: &Expect) {
        let skill = path("/w/.claude/skills/pdf/SKILL.md");
        let renaming = Renaming::new(&skill, "paper");
        let document = parse(text);
        let mut found = references(text, &document);
        found.retain(|it| it.name == "pdf");
        let mut edits = edits(&renaming, &path(at), text, &document, &found);
        let bases = LinkBases::for_file(&path(at), None, None);
        edits.extend(renaming.moves(&[path("/w/.claude/skills/pdf")]).edits(
            &path(at),
            &bases,
            text,
            &document,
            |_| false,
        ));
        expected.assert_eq(&apply(text, &edits));
    }

    #[test]
    fn the_skill_itself_and_all_that_speak_of_it_change() {
        check(
            "/w/.claude/skills/pdf/SKILL.md",
            "---\nname: 'pdf' # a pdf\ndescription: Reads pdf files.\n---\nA pdf: `/pdf x`, [y](../pdf/y.md), [z](z.md).\n",
            &expect![[r#"
                ---
                name: paper # a pdf
                description: Reads pdf files.
                ---
                A pdf: `/paper x`, [y](../paper/y.md), [z](z.md).
            "#]],
        );
        check(
            "/w/CLAUDE.md",
            "Use the `pdf` skill, /pdf or /pdfs; see [it](.claude/skills/pdf/SKILL.md) and `.claude/skills/pdf/a.py`, [b](pdf/x.md).\n",
            &expect![[r#"
                Use the `paper` skill, /paper or /pdfs; see [it](.claude/skills/paper/SKILL.md) and `.claude/skills/paper/a.py`, [b](pdf/x.md).
            "#]],
        );
    }

    #[test]
    fn what_is_renamed_already_stays_as_it_is() {
        let text = "---\nname: 'paper'\n---\nA `/paper` and the `paper` skill.\n";
        let skill = path("/w/.claude/skills/pdf/SKILL.md");
        let document = parse(text);
        let found = references(text, &document);
        assert_eq!(found.len(), 2);
        let renaming = Renaming::new(&skill, "paper");
        assert_eq!(edits(&renaming, &skill, text, &document, &found), []);
    }

    #[track_caller]
    fn check_problem(new: &str, expected: Option<&str>) {
        let skill = path("/w/skills/pdf/SKILL.md");
        let others =
            [("pdf", path("/w/skills/pdf/SKILL.md")), ("doc", path("/w/skills/text/SKILL.md"))];
        let found =
            name_obstacle(&Renaming::new(&skill, new), others.iter().map(|(name, it)| (*name, it)));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn a_name_that_is_none_or_taken_is_refused() {
        check_problem("paper", None);
        check_problem("pdf", None);
        check_problem("text", Some("`/w/skills/text` is there already"));
        check_problem(
            "doc",
            Some("the skill in `/w/skills/text/SKILL.md` is called `doc` already"),
        );
        for bad in ["", "Paper", "a b", "-a", "a--b", "a/b"] {
            check_problem(
                bad,
                Some(&format!(
                    "`{bad}` is no name of a skill: 1 to 64 of `a` to `z`, `0` to `9` and single `-` between them"
                )),
            );
        }
    }

    #[test]
    fn a_directory_that_others_lead_to_by_name_is_not_moved() {
        let entry = |inode| Entry { id: Some(FileId { device: 1, inode }), is_link: false };
        let link = |inode| Entry { is_link: true, ..entry(inode) };
        let skill = path("/w/a/pdf/SKILL.md");
        let way = |at: &str, file: Entry, directory: Entry| AccessPath {
            path: path(at),
            file: Some(file),
            directory: Some(directory),
        };
        let own = way("/w/a/pdf/SKILL.md", entry(1), entry(2));
        let found = |ways: &[AccessPath], target| {
            move_obstacle(&Renaming::new(&skill, "paper"), ways, target).unwrap_or_default()
        };
        let with = |other: AccessPath| found(&[own.clone(), other], None);

        assert_eq!(found(slice::from_ref(&own), None), "");
        assert_eq!(with(way("/w/b/pdf/SKILL.md", entry(1), entry(2))), "", "its parent is a link");
        for other in ["/w/b/pdf/SKILL.md", "/w/a/alias/SKILL.md"] {
            assert!(with(way(other, entry(1), link(2))).contains("is a link to the skill's dir"));
        }
        assert!(found(&[way("/w/a/pdf/SKILL.md", entry(1), link(2))], None).contains("is a link"));
        let linked = with(way("/w/b/pdf/SKILL.md", link(1), entry(3)));
        assert!(linked.contains("is a link to the skill's file"), "{linked}");
        let shared = with(way("/w/b/pdf/SKILL.md", entry(1), entry(3)));
        assert!(shared.contains("is the skill's file as well"), "{shared}");

        for taken in [entry(3), link(2), Entry { id: None, is_link: true }] {
            assert_eq!(found(slice::from_ref(&own), Some(taken)), "`/w/a/paper` is there already");
        }
        assert_eq!(
            found(slice::from_ref(&own), Some(entry(2))),
            "",
            "itself, where case does not count"
        );
        let gone = AccessPath { file: None, directory: None, ..own.clone() };
        assert!(found(&[gone], None).contains("save the skill first"));
    }
}
