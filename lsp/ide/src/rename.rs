//! Renames a skill or command: obstacles, file moves and name edits in one text.
//!
//! The name of a skill appears in its directory, in its `name:`, and in texts that refer to it by
//! name or path. The name of a command appears in its file name and in the directories below
//! `commands`. All of them change together.

use std::path::Path;

use skills_agents::command;
use skills_agents::references::{Reference, ReferenceForm, is_skill_file, may_be_name};
use skills_discovery::discover::Entry;
use skills_syntax::edit::Edit;
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;
use skills_syntax::quote::quote_unless_text;
use skills_syntax::text::Span;

use crate::moves::{Move, Moves, relative};

/// Maximum length of a name in the Agent Skills standard.
const MAX_NAME: usize = 64;

/// A skill or command to rename.
#[derive(Clone, Debug)]
pub struct Renaming<'a> {
    /// The SKILL.md or command file.
    pub path: &'a AbsPath,
    /// The new name.
    pub new: &'a str,
    /// The kind of rename.
    pub kind: RenameKind,
}

/// The kind of rename.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RenameKind {
    /// A skill, named after its directory.
    Skill,
    /// A command, named after its file and the directories below `commands`.
    Command,
    /// A command converted to a skill in the `skills` directory next to `commands`.
    Conversion,
}

impl RenameKind {
    /// Returns the kind of the file at a path.
    pub fn of(path: &Path) -> Self {
        if is_skill_file(path) { Self::Skill } else { Self::Command }
    }
}

impl<'a> Renaming<'a> {
    /// Renames the skill or command at a path.
    pub fn new(path: &'a AbsPath, new: &'a str) -> Self {
        Self { path, new, kind: RenameKind::of(path) }
    }

    /// Converts the command at a path to a skill.
    pub fn to_skill(path: &'a AbsPath, new: &'a str) -> Self {
        Self { path, new, kind: RenameKind::Conversion }
    }

    /// Returns the moves for all `places`, the paths by which the skill directory or command file
    /// can be reached.
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

    /// Returns the move of the skill directory or command file. `None` for a command outside a
    /// `commands` directory.
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

    /// Returns the new directory or command file, which must not exist yet.
    pub fn target(&self) -> Option<AbsPath> {
        match self.kind {
            RenameKind::Skill => Some(self.path.parent()?.parent()?.child(self.new)),
            RenameKind::Command => command::sibling(self.path, self.new),
            RenameKind::Conversion => {
                Some(command::agent_dir(self.path)?.child("skills").child(self.new))
            }
        }
    }

    /// Returns whether the directory or file changes its path.
    pub fn is_moved(&self) -> bool {
        self.file_move().is_some_and(|it| it.old != it.new)
    }
}

/// Returns the new name and the kind of rename implied by moving a skill or command file; `None` if
/// the name does not change.
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

/// A path to a skill file and its directory entries on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessPath {
    /// The path of the SKILL.md or command file.
    pub path: AbsPath,
    /// The entry of the file; `None` if it does not exist.
    pub file: Option<Entry>,
    /// The entry of its directory.
    pub directory: Option<Entry>,
}

/// Returns the reason why a skill directory or command file cannot be moved, as a sentence for the
/// user.
///
/// `ways` are all known paths to the file, including its own; `target` is the existing entry at the
/// new path.
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
        return Some(format!("`{}` does not exist on disk; save the {what} first", old.display()));
    };
    for AccessPath { path, file, directory } in ways {
        let dir = path.parent()?;
        let Some(directory) = directory else { continue };
        if is_skill && directory.is_link {
            return Some(format!(
                "`{}` is a symlink to the skill's directory and would dangle; rename both by hand",
                dir.display()
            ));
        }
        if file.is_some_and(|it| it.is_link) {
            return Some(format!(
                "`{}` is a symlink to the {what}'s file in another directory; rename both by hand",
                path.display()
            ));
        }
        if directory.id != own_directory.id || !is_skill && path.file_name() != old.file_name() {
            return Some(format!(
                "`{}` is also the {what}'s file, and {of}; rename both by hand",
                path.display()
            ));
        }
    }
    // On a case-insensitive file system the new name may already resolve to the old file.
    let is_taken = |it: Entry| it.is_link || it.id != own.id;
    target.is_some_and(is_taken).then(|| format!("`{}` already exists", new.display()))
}

/// Returns the reason why the new name is refused, as a sentence for the user.
///
/// `others` are the names and paths of the skills in the same views.
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
        return Some(format!(
            "`{}` is a skills root, not the directory of one skill",
            old.display()
        ));
    }
    for (name, other) in others {
        if other == *path {
            continue;
        }
        if other.starts_with(&*old) {
            return Some(format!(
                "`{}` is inside `{}` and would move with it",
                other.display(),
                old.display()
            ));
        }
        if *other == target || Path::parent(other).is_some_and(|it| *it == *target) {
            return Some(format!("`{}` already exists", target.display()));
        }
        if name == *new {
            return Some(format!("the skill `{}` already has the name `{new}`", other.display()));
        }
    }
    None
}

/// Returns the reason why a name is malformed.
fn name_syntax_error(new: &str, kind: RenameKind) -> Option<String> {
    if kind == RenameKind::Command {
        let is_name = may_be_name(new, ReferenceForm::Called);
        return (!is_name).then(|| {
            format!(
                "`{new}` is not a valid command name: use letters, digits, `-` and `_`, with `:` after each directory"
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
            "`{new}` is not a valid skill name: use 1 to {MAX_NAME} of `a` to `z`, `0` to `9` and single `-` between them"
        )
    })
}

/// Returns the name edits of the text at `path`: its own `name:`, and [`name_edits`]. [`Moves`]
/// edits paths.
pub fn edits<'a>(
    renaming: &Renaming<'_>,
    path: &AbsPath,
    text: &str,
    document: &Document,
    references: impl IntoIterator<Item = &'a Reference>,
) -> Vec<Edit> {
    let mut edits = name_edits(renaming, text, references);
    // The `name` field of a command is not its name.
    if renaming.kind == RenameKind::Skill
        && path == renaming.path
        && let Some(entry) = document.frontmatter.as_ref().and_then(|it| it.get("name"))
        && !entry.value.span.is_empty()
        && entry.value.as_str() != Some(renaming.new)
    {
        edits.push(Edit { span: entry.value.span, text: quote_unless_text(renaming.new) });
    }
    edits.sort_by_key(|it| it.span);
    edits
}

/// Returns the edits of `references`, all of which refer to the renamed skill. Occurrences of the
/// new name stay.
pub fn name_edits<'a>(
    renaming: &Renaming<'_>,
    text: &str,
    references: impl IntoIterator<Item = &'a Reference>,
) -> Vec<Edit> {
    let called = command::name(renaming.path);
    let mut edits = Vec::new();
    for reference in references {
        // A prefix, such as that of a plugin, is kept.
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
    edits
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::slice;

    use expect_test::{Expect, expect};
    use skills_agents::references::{LinkBases, links, references};
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
            &links(text, &document),
            |_| false,
        ));
        expected.assert_eq(&apply(text, &edits));
    }

    #[test]
    fn rename_changes_the_skill_and_its_references() {
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
    fn new_name_that_yaml_does_not_read_as_text_is_quoted() {
        let text = "---\nname: pdf\n---\nA `/pdf x`.\n";
        let skill = path("/w/.claude/skills/pdf/SKILL.md");
        let document = parse(text);
        let mut found = references(text, &document);
        found.retain(|it| it.name == "pdf");
        for new in ["123", "true", "0x1f", "2026-01-01", "null"] {
            let renaming = Renaming::new(&skill, new);
            let edits = edits(&renaming, &skill, text, &document, &found);
            let expected = format!("---\nname: \"{new}\"\n---\nA `/{new} x`.\n");
            assert_eq!(apply(text, &edits), expected);
        }
    }

    #[test]
    fn references_with_the_new_name_are_not_changed() {
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
    fn malformed_and_taken_names_are_refused() {
        check_problem("paper", None);
        check_problem("pdf", None);
        check_problem("text", Some("`/w/skills/text` already exists"));
        check_problem(
            "doc",
            Some("the skill `/w/skills/text/SKILL.md` already has the name `doc`"),
        );
        for bad in ["", "Paper", "a b", "-a", "a--b", "a/b"] {
            check_problem(
                bad,
                Some(&format!(
                    "`{bad}` is not a valid skill name: use 1 to 64 of `a` to `z`, `0` to `9` and single `-` between them"
                )),
            );
        }
    }

    #[test]
    fn directory_with_symlinks_or_hard_links_is_not_moved() {
        let entry = |inode| Entry {
            id: Some(FileId { device: 1, inode }),
            is_link: false,
            has_hard_links: false,
        };
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
        assert_eq!(
            with(way("/w/b/pdf/SKILL.md", entry(1), entry(2))),
            "",
            "its parent is a symlink"
        );
        for other in ["/w/b/pdf/SKILL.md", "/w/a/alias/SKILL.md"] {
            assert!(
                with(way(other, entry(1), link(2))).contains("is a symlink to the skill's dir")
            );
        }
        assert!(
            found(&[way("/w/a/pdf/SKILL.md", entry(1), link(2))], None).contains("is a symlink")
        );
        let linked = with(way("/w/b/pdf/SKILL.md", link(1), entry(3)));
        assert!(linked.contains("is a symlink to the skill's file"), "{linked}");
        let shared = with(way("/w/b/pdf/SKILL.md", entry(1), entry(3)));
        assert!(shared.contains("is also the skill's file"), "{shared}");

        for taken in [entry(3), link(2), Entry { id: None, ..link(2) }] {
            assert_eq!(found(slice::from_ref(&own), Some(taken)), "`/w/a/paper` already exists");
        }
        assert_eq!(
            found(slice::from_ref(&own), Some(entry(2))),
            "",
            "the same directory on a case-insensitive file system"
        );
        let gone = AccessPath { file: None, directory: None, ..own.clone() };
        assert!(found(&[gone], None).contains("save the skill first"));
    }
}
