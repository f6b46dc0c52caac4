//! Converts a command file into a skill: its name and the edits of its frontmatter.
//!
//! A command is named after its file and directories without restrictions; a skill is named after
//! one directory, and the standard restricts that name. Moving the file and updating references to
//! it is the caller's task (see [`rename`](crate::rename)).

use std::fmt::Write as _;

use skills_agents::command;
use skills_lint::Subject;
use skills_syntax::edit::Edit;
use skills_syntax::quote::{quote_scalar, quote_unless_text};
use skills_syntax::text::Span;

/// Limits of the Agent Skills standard, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// The result of converting a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// The skill name. If no valid name can be derived, the command's own name; the caller rejects
    /// it.
    pub name: String,
    /// The edits of the frontmatter.
    pub edits: Vec<Edit>,
}

/// Returns the conversion of a command, or `None` for other files.
pub fn convert_command(subject: &Subject<'_>) -> Option<Conversion> {
    let called = command::name(subject.path?)?;
    let file = called.rsplit(':').next().unwrap_or(&called);
    let name =
        Some(valid_name(file)).filter(|it| !it.is_empty()).unwrap_or_else(|| file.to_owned());
    let line = if subject.text.contains("\r\n") { "\r\n" } else { "\n" };
    let frontmatter = subject.document.frontmatter.as_ref();
    let mut edits = Vec::new();
    let mut head = String::new();
    match frontmatter.and_then(|it| it.get("name")) {
        Some(entry) if entry.value.as_str() == Some(&name) => {}
        Some(entry) => {
            let span = Span::new(entry.key.span.end, entry.value.span.end.max(entry.key.span.end));
            edits.push(Edit { span, text: format!(": {}", quote_unless_text(&name)) });
        }
        None => head = format!("name: {}{line}", quote_unless_text(&name)),
    }
    if frontmatter.is_none_or(|it| it.get("description").is_none()) {
        // Claude Code uses the first line if the description is missing.
        let _ = write!(head, "description: {}{line}", quote_scalar(&first_line(subject)));
    }
    match frontmatter {
        Some(_) if head.is_empty() => {}
        Some(it) => edits.push(Edit { span: Span::empty(it.content.start), text: head }),
        None => {
            let text = format!("---{line}{head}---{line}{line}");
            edits.push(Edit { span: Span::empty(0), text });
        }
    }
    edits.sort_by_key(|it| it.span);
    Some(Conversion { name, edits })
}

/// Returns a valid skill name, with single hyphens for characters that the standard forbids.
fn valid_name(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars().take(MAX_NAME) {
        if letter.is_ascii_alphanumeric() {
            plain.push(letter.to_ascii_lowercase());
        } else if !plain.is_empty() && !plain.ends_with('-') {
            plain.push('-');
        }
    }
    plain.trim_end_matches('-').to_owned()
}

/// Returns the first non-blank line of the body, without heading marks and without characters that
/// a description must not contain.
fn first_line(subject: &Subject<'_>) -> String {
    let body = subject.document.body.slice(subject.text);
    let line = body.lines().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches('#').trim();
    line.chars().filter(|it| !matches!(it, '<' | '>')).take(MAX_DESCRIPTION).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_syntax::edit::apply;

    use super::*;
    use crate::tests::with_subject_at;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &Expect) {
        let shown = with_subject_at(path, text, |subject| {
            let found = convert_command(subject).unwrap();
            format!("= {}\n{}", found.name, apply(text, &found.edits))
        });
        expected.assert_eq(&shown);
    }

    #[test]
    fn converted_command_has_name_and_description() {
        check(
            "/w/.claude/commands/git/push.md",
            "# Push: all of <it>\n\nRun git push.\n",
            &expect![[r##"
                = push
                ---
                name: push
                description: "Push: all of it"
                ---

                # Push: all of <it>

                Run git push.
            "##]],
        );
        check(
            "/w/.claude/commands/push.md",
            "---\ndescription: Pushes.\n---\nRun git push.\n",
            &expect![[r#"
                = push
                ---
                name: push
                description: Pushes.
                ---
                Run git push.
            "#]],
        );
    }

    #[test]
    fn converted_name_is_valid_in_the_standard() {
        let named = |file: &str| {
            let path = format!("/w/.claude/commands/{file}.md");
            with_subject_at(&path, "x\n", |it| convert_command(it).unwrap().name)
        };
        for (file, expected) in [
            ("Up_Case", "up-case"),
            ("Up Case", "up-case"),
            ("a__b--", "a-b"),
            ("fix/bug", "bug"),
            // No valid name: the caller rejects it.
            ("\u{444}\u{43e}", "\u{444}\u{43e}"),
        ] {
            assert_eq!(named(file), expected);
        }
        assert_eq!(named(&"a".repeat(100)).len(), MAX_NAME);
    }

    #[test]
    fn existing_name_field_is_replaced() {
        check(
            "/w/.claude/commands/push.md",
            "---\ndescription: Pushes.\nname: Other\n---\nRun git push.\n",
            &expect![[r#"
                = push
                ---
                description: Pushes.
                name: push
                ---
                Run git push.
            "#]],
        );
        check(
            "/w/.claude/commands/push.md",
            "---\nname:\ndescription: Pushes.\n---\nRun git push.\n",
            &expect![[r#"
                = push
                ---
                name: push
                description: Pushes.
                ---
                Run git push.
            "#]],
        );
    }
}
