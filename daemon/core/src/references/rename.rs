//! Giving a skill another name: what is in the way, and what changes in one text.
//!
//! A skill's name stands in three places: its directory, its `name:`, and wherever other texts
//! speak of it, by name or by a path through its directory. All of them change together.

use super::{Move, Moves, Reference};
use crate::parse::Document;
use crate::path::AbsPath;
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
}
