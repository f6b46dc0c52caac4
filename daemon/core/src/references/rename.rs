//! Giving a skill another name: what is in the way, and what changes in one text.
//!
//! A skill's name stands in three places: its directory, its `name:`, and wherever other texts
//! speak of it, by name or by a path through its directory. All of them change together.

use super::{Move, Moves, Reference};
use crate::parse::Document;
use crate::path::AbsPath;
use crate::resolve::FileId;
use crate::rules::Edit;
use crate::text::Span;

/// The longest name that the standard allows.
const MAX_NAME: usize = 64;

/// A skill that is given another name.
#[derive(Clone, Debug)]
pub struct Renaming<'a> {
    /// Its SKILL.md.
    pub path: &'a AbsPath,
    /// What it is called then.
    pub new: &'a str,
}

impl Renaming<'_> {
    /// Returns what moves with it; the directory may be reached by several ways.
    pub fn moves(&self, directories: &[AbsPath]) -> Moves {
        let moved = |old: &AbsPath| {
            let new = old.parent()?.child(self.new);
            Some(Move { old: old.clone(), new })
        };
        Moves::new(directories.iter().filter_map(moved))
    }

    /// Returns the directory, as it is and as it will be.
    pub fn directories(&self) -> Option<(AbsPath, AbsPath)> {
        let old = self.path.parent()?;
        let new = old.parent()?.child(self.new);
        Some((old, new))
    }
}

/// What is at a path on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Which file or directory it leads to; none for a link that leads nowhere.
    pub id: Option<FileId>,
    /// Whether it is a link itself.
    pub is_link: bool,
}

/// One of the ways to a skill's file, as the disk has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The SKILL.md by this way.
    pub path: AbsPath,
    /// What the file itself is; none where there is none.
    pub file: Option<Entry>,
    /// What its directory is.
    pub directory: Option<Entry>,
}

/// Returns why a skill's directory cannot be moved on the disk: a sentence for a person.
///
/// `ways` are all that lead to its file, its own among them; `target` is what is there already
/// where the directory would be.
pub fn bound(renaming: &Renaming<'_>, ways: &[Access], target: Option<Entry>) -> Option<String> {
    let (old, new) = renaming.directories()?;
    let own = ways.iter().find(|it| it.path == *renaming.path).and_then(|it| it.directory);
    let Some(own) = own else {
        return Some(format!("`{}` is not on the disk; save the skill first", old.display()));
    };
    for Access { path, file, directory } in ways {
        let dir = path.parent()?;
        let Some(directory) = directory else { continue };
        if directory.is_link {
            return Some(format!(
                "`{}` is a link to the skill's directory and would lead nowhere; rename both by hand",
                dir.display()
            ));
        }
        if file.is_some_and(|it| it.is_link) {
            return Some(format!(
                "`{}` is a link to the skill's file, which lies in another directory; rename both by hand",
                path.display()
            ));
        }
        if directory.id != own.id {
            return Some(format!(
                "`{}` is the skill's file as well, and its directory would keep the old name; rename both by hand",
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
pub fn problem<'a>(
    renaming: &Renaming<'_>,
    others: impl IntoIterator<Item = (&'a str, &'a AbsPath)>,
) -> Option<String> {
    let Renaming { path, new } = renaming;
    let is_letter = |it: char| matches!(it, 'a'..='z' | '0'..='9' | '-');
    let well_formed = !new.is_empty()
        && new.len() <= MAX_NAME
        && new.chars().all(is_letter)
        && !new.starts_with('-')
        && !new.ends_with('-')
        && !new.contains("--");
    if !well_formed {
        return Some(format!(
            "`{new}` is no name of a skill: 1 to {MAX_NAME} of `a` to `z`, `0` to `9` and single `-` between them"
        ));
    }
    let (old, target) = renaming.directories()?;
    if old.file_name().is_some_and(|it| it == "skills" || it == "skill") {
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
        if other.parent().is_some_and(|it| it == target) {
            return Some(format!("`{}` is there already", target.display()));
        }
        if name == *new {
            return Some(format!("the skill in `{}` is called `{new}` already", other.display()));
        }
    }
    None
}

/// Returns what changes in a text at `path` where the skill is named: in its own `name:`, and at
/// `references`, all of which mean it. What has the new name already does not change; paths are for
/// [`super::Moves`].
pub fn edits(
    renaming: &Renaming<'_>,
    path: &AbsPath,
    text: &str,
    document: &Document,
    references: &[Reference],
) -> Vec<Edit> {
    let mut edits = Vec::new();
    if path == renaming.path
        && let Some(entry) = document.frontmatter.as_ref().and_then(|it| it.get("name"))
        && !entry.value.span.is_empty()
        && entry.value.as_str() != Some(renaming.new)
    {
        edits.push(Edit { span: entry.value.span, text: renaming.new.to_owned() });
    }
    for reference in references {
        // What stands before the name (a plugin's) stays.
        let start = reference.name.rfind(':').map_or(0, |it| it + 1);
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

    use super::*;
    use crate::parse::parse;
    use crate::references::{Bases, references};
    use crate::rules::apply;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(Path::new(text)).unwrap()
    }

    #[track_caller]
    fn check(at: &str, text: &str, expected: &Expect) {
        let skill = path("/w/.claude/skills/pdf/SKILL.md");
        let renaming = Renaming { path: &skill, new: "paper" };
        let document = parse(text);
        let mut found = references(text, &document);
        found.retain(|it| it.name == "pdf");
        let mut edits = edits(&renaming, &path(at), text, &document, &found);
        let bases = Bases::of(&path(at), None, None);
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
        let renaming = Renaming { path: &skill, new: "paper" };
        assert_eq!(edits(&renaming, &skill, text, &document, &found), []);
    }

    #[track_caller]
    fn check_problem(new: &str, expected: Option<&str>) {
        let skill = path("/w/skills/pdf/SKILL.md");
        let others =
            [("pdf", path("/w/skills/pdf/SKILL.md")), ("doc", path("/w/skills/text/SKILL.md"))];
        let found =
            problem(&Renaming { path: &skill, new }, others.iter().map(|(name, it)| (*name, it)));
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
        let way = |at: &str, file: Entry, directory: Entry| Access {
            path: path(at),
            file: Some(file),
            directory: Some(directory),
        };
        let own = way("/w/a/pdf/SKILL.md", entry(1), entry(2));
        let found = |ways: &[Access], target| {
            bound(&Renaming { path: &skill, new: "paper" }, ways, target).unwrap_or_default()
        };
        let with = |other: Access| found(&[own.clone(), other], None);

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
        let gone = Access { file: None, directory: None, ..own.clone() };
        assert!(found(&[gone], None).contains("save the skill first"));
    }
}
