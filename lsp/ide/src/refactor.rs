//! Refactorings that keep the meaning of a skill: extracting a section to a file, and writing a
//! tool list on one line or on several.

use skills_agents::field_table::{ALLOWED_TOOLS, DISALLOWED_TOOLS, Field};
use skills_agents::fields::Fields;
use skills_lint::{FsContext, Subject};
use skills_syntax::edit::Edit;
use skills_syntax::markdown::Body;
use skills_syntax::parse::{ScalarStyle, ValueKind};
use skills_syntax::quote::quote_scalar;
use skills_syntax::text::Span;

use super::extract::extract_section;
use super::refactoring::{Change, RefactorKind, Refactoring};

/// Returns the refactorings available at `offset`. Takes the parsed body.
pub fn refactorings<'a>(
    subject: &Subject<'a>,
    body: &'a Body,
    fs: &'a dyn FsContext,
    offset: usize,
) -> Vec<Refactoring<'a>> {
    let offset = subject.text.floor_char_boundary(offset);
    let mut found = Vec::new();
    found.extend(extract_section(subject, body, fs, offset));
    found.extend(convert_tool_list(subject, offset));
    found
}

/// Converts a tool list between its one-line and its block form.
fn convert_tool_list<'a>(subject: &Subject<'a>, offset: usize) -> Option<Refactoring<'a>> {
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
    // A comment in the value would be lost.
    if items.is_empty() || entry.duplicate_of.is_some() || span.slice(subject.text).contains('#') {
        return None;
    }
    let (title, text) = match &entry.value.kind {
        ValueKind::Scalar {
            style: ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted,
            ..
        } => {
            let items: Vec<_> =
                items.iter().map(|it| format!("{line}  - {}", yaml_scalar(it))).collect();
            ("Write the tools as a list", format!(":{}", items.concat()))
        }
        ValueKind::Sequence { .. } => {
            // Spaces inside parentheses are not separators.
            let joins = |it: &String| !it.contains([' ', ',']) || it.ends_with(')');
            if !items.iter().all(joins) {
                return None;
            }
            ("Write the tools on one line", format!(": {}", yaml_scalar(&items.join(" "))))
        }
        ValueKind::Scalar { .. }
        | ValueKind::Mapping { .. }
        | ValueKind::Null
        | ValueKind::Alias { .. } => return None,
    };
    let change = Change { edits: vec![Edit { span, text }], created_text: String::new() };
    let change = move || change.clone();
    Some(Refactoring::new(title.to_owned(), RefactorKind::Rewrite, None, change))
}

/// Returns a text as a YAML scalar, quoted if needed.
fn yaml_scalar(text: &str) -> String {
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
            let body = Body::new(&text, subject.document.body);
            let found = refactorings(subject, &body, &NoFs, at);
            let show = |it: &Refactoring<'_>| {
                format!("= {}\n{}", it.title, apply(&text, &it.change().edits))
            };
            found.iter().map(show).collect::<String>()
        });
        expected.assert_eq(&shown);
    }

    const SKILL: &str = "/w/.claude/skills/a/SKILL.md";

    #[test]
    fn tool_list_is_converted_between_one_line_and_block_form() {
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
