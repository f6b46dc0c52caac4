//! A command as a skill: what it is called then, and what its file says.
//!
//! A command is called by its file and its directories, whatever they are called; a skill by one
//! directory, for whose name the standard has rules. What else speaks of the command, and where its
//! own paths lead, is for whoever moves the file.

use std::fmt::Write as _;

use skills_agents::command;
use skills_lint::Subject;
use skills_syntax::edit::Edit;
use skills_syntax::quote::quote_scalar;
use skills_syntax::text::Span;

/// The longest name, and the longest description, that the standard allows.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// What becomes of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// What the skill is called; no name of a skill where none can be made of the command's.
    pub name: String,
    /// The edits of the frontmatter.
    pub edits: Vec<Edit>,
}

/// Returns what becomes of a command; nothing for other texts.
pub fn conversion(subject: &Subject<'_>) -> Option<Conversion> {
    let called = command::name(subject.path?)?;
    let file = called.rsplit(':').next().unwrap_or(&called);
    let name = Some(plain(file)).filter(|it| !it.is_empty()).unwrap_or_else(|| file.to_owned());
    let line = if subject.text.contains("\r\n") { "\r\n" } else { "\n" };
    let frontmatter = subject.document.frontmatter.as_ref();
    let mut edits = Vec::new();
    let mut head = String::new();
    match frontmatter.and_then(|it| it.get("name")) {
        Some(entry) if entry.value.as_str() == Some(&name) => {}
        Some(entry) => {
            let span = Span::new(entry.key.span.end, entry.value.span.end.max(entry.key.span.end));
            edits.push(Edit { span, text: format!(": {name}") });
        }
        None => head = format!("name: {name}{line}"),
    }
    if frontmatter.is_none_or(|it| it.get("description").is_none()) {
        // What the agent takes where there is none.
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

/// Returns a name as the standard has it, with single hyphens for whatever it does not take.
fn plain(name: &str) -> String {
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

/// Returns the first line of the body that says something, without the marks of a heading and
/// without what a description may not hold.
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
            let found = conversion(subject).unwrap();
            format!("= {}\n{}", found.name, apply(text, &found.edits))
        });
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_command_says_what_a_skill_has_to() {
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
    fn its_name_is_one_that_the_standard_takes() {
        let named = |file: &str| {
            let path = format!("/w/.claude/commands/{file}.md");
            with_subject_at(&path, "x\n", |it| conversion(it).unwrap().name)
        };
        for (file, expected) in [
            ("Up_Case", "up-case"),
            ("Up Case", "up-case"),
            ("a__b--", "a-b"),
            ("fix/bug", "bug"),
            // Which is refused by whoever asks.
            ("\u{444}\u{43e}", "\u{444}\u{43e}"),
        ] {
            assert_eq!(named(file), expected);
        }
        assert_eq!(named(&"a".repeat(100)).len(), MAX_NAME);
    }

    #[test]
    fn a_name_that_it_gave_itself_gives_way() {
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
