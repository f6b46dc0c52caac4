//! Changes of shape that keep what a skill means: a section into a file of its own, a list of tools
//! on one line or on several.

use skills_agents::field_table::{ALLOWED_TOOLS, DISALLOWED_TOOLS, Field};
use skills_agents::fields::Fields;
use skills_lint::{FsContext, Subject};
use skills_syntax::edit::Edit;
use skills_syntax::parse::{ScalarStyle, ValueKind};
use skills_syntax::path::AbsPath;
use skills_syntax::quote::quote_scalar;
use skills_syntax::text::Span;

use super::extract::extraction;

/// A change of shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refactoring {
    /// What it does, as an imperative without a full stop.
    pub title: String,
    /// What sort of change it is.
    pub kind: RefactorKind,
    /// The edits of the text itself, none of which touches another.
    pub edits: Vec<Edit>,
    /// A file that is made.
    pub creates: Option<(AbsPath, String)>,
}

/// What sort of change it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefactorKind {
    /// Something gets a place of its own.
    Extract,
    /// The same is written in another form.
    Rewrite,
}

/// Returns the changes that can be made at `offset`.
pub fn refactorings(
    subject: &Subject<'_>,
    surroundings: &dyn FsContext,
    offset: usize,
) -> Vec<Refactoring> {
    let offset = subject.text.floor_char_boundary(offset);
    let mut found = Vec::new();
    found.extend(extraction(subject, surroundings, offset));
    found.extend(lists(subject, offset));
    found
}

/// Writes tools on one line as a list, and a list on one line.
fn lists(subject: &Subject<'_>, offset: usize) -> Option<Refactoring> {
    let frontmatter = subject.document.frontmatter.as_ref()?;
    let fields = Fields::new(frontmatter, subject.text);
    let here = |it: &&&Field| {
        fields.entry(it).is_some_and(|it| it.span.start <= offset && offset <= it.span.end)
    };
    let field = [&ALLOWED_TOOLS, &DISALLOWED_TOOLS].iter().copied().find(|it| here(&it))?;
    let entry = fields.entry(field)?;
    let items: Vec<String> = fields.list(field).into_iter().map(|it| it.text).collect();
    let line = if subject.text.contains("\r\n") { "\r\n" } else { "\n" };
    let span = Span::new(entry.key.span.end, entry.value.span.end);
    // A comment between them would be lost.
    if items.is_empty() || entry.duplicate_of.is_some() || span.slice(subject.text).contains('#') {
        return None;
    }
    let (title, text) = match &entry.value.kind {
        ValueKind::Scalar {
            style: ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted,
            ..
        } => {
            let items: Vec<_> = items.iter().map(|it| format!("{line}  - {}", item(it))).collect();
            ("Write the tools as a list", format!(":{}", items.concat()))
        }
        ValueKind::Sequence { .. } => {
            // Blanks that are no separators stand in parentheses.
            let joins = |it: &String| !it.contains([' ', ',']) || it.ends_with(')');
            if !items.iter().all(joins) {
                return None;
            }
            ("Write the tools on one line", format!(": {}", item(&items.join(" "))))
        }
        ValueKind::Scalar { .. }
        | ValueKind::Mapping { .. }
        | ValueKind::Null
        | ValueKind::Alias { .. } => return None,
    };
    Some(Refactoring {
        title: title.to_owned(),
        kind: RefactorKind::Rewrite,
        edits: vec![Edit { span, text }],
        creates: None,
    })
}

/// Returns a text as a YAML scalar that every reader takes for it.
fn item(text: &str) -> String {
    let plain = |it: char| it.is_alphanumeric() || " _-.()/*".contains(it);
    let starts_well = text.starts_with(char::is_alphabetic);
    if starts_well && text.chars().all(plain) && text.trim() == text {
        text.to_owned()
    } else {
        quote_scalar(text)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_lint::NoFs;
    use skills_syntax::edit::apply;

    use super::*;
    use crate::tests::with_subject_at;

    #[track_caller]
    fn check(path: &str, marked: &str, expected: &Expect) {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let shown = with_subject_at(path, &text, |subject| {
            let found = refactorings(subject, &NoFs, at);
            let show = |it: &Refactoring| format!("= {}\n{}", it.title, apply(&text, &it.edits));
            found.iter().map(show).collect::<String>()
        });
        expected.assert_eq(&shown);
    }

    const SKILL: &str = "/w/.claude/skills/a/SKILL.md";

    #[test]
    fn tools_are_split_and_joined() {
        check(
            SKILL,
            "---\nallowed-tools: Re|ad Bash(git add:*), Grep\n---\nx\n",
            &expect![[r#"
                = Write the tools as a list
                ---
                allowed-tools:
                  - Read
                  - "Bash(git add:*)"
                  - Grep
                ---
                x
            "#]],
        );
        check(
            SKILL,
            "---\nallowed-tools:|\n  - Read\n  - Bash(git add *)\n---\nx\n",
            &expect![[r#"
                = Write the tools on one line
                ---
                allowed-tools: Read Bash(git add *)
                ---
                x
            "#]],
        );
        check(SKILL, "---\nallowed-tools:|\n  - Read # why\n  - Grep\n---\nx\n", &expect![[""]]);
    }
}
