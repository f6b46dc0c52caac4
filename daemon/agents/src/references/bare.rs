//! Finds every other place with a hyphenated name of a known skill.
//!
//! A hyphenated name that a skill has is hardly anything else, but nothing around it says that it
//! is the skill. These places are no references that a rule may rely on; a list of references
//! shows them, and a rename asks about each.

use memchr::memmem::Finder;
use skills_syntax::markdown::Body;
use skills_syntax::text::Span;

use super::cues::{TextKind, WordContext};
use super::reference::{Reference, ReferenceForm, is_letter};

/// Returns the places of a text with one of these names as a whole word, in any part of the text,
/// in text order. Names without a hyphen are left out, because they may be any word, and so are
/// programs that a command runs.
pub fn bare_names<'n>(
    text: &str,
    body: &Body,
    names: impl IntoIterator<Item = &'n str>,
) -> Vec<Reference> {
    let mut found = Vec::new();
    for name in names.into_iter().filter(|it| it.contains('-')) {
        for start in Finder::new(name).find_iter(text.as_bytes()) {
            let span = Span::new(start, start + name.len());
            let context = WordContext::around(text, span);
            let is_program = || {
                let has_argument = text[span.end..].starts_with(' ');
                let code = body.codes.partition_point(|it| it.start < start);
                let code = body.codes.get(code).filter(|it| it.start == start);
                let fence = body.fences.partition_point(|it| it.content.end <= start);
                let fence = body.fences.get(fence).filter(|it| it.content.contains(start));
                has_argument && code.is_some_and(|it| span.end < it.end)
                    || context.is_command() && fence.is_some()
            };
            if is_whole(text, span) && !context.is_other_thing(TextKind::Prose) && !is_program() {
                found.push(Reference { name: name.to_owned(), span, form: ReferenceForm::Named });
            }
        }
    }
    found.sort_by_key(|it| it.span);
    found
}

/// Returns whether no other name, path, option, address, attribute or file name goes on at either
/// end. A path may start with the name, text in another script may go on without a blank, and a
/// shell escapes backticks.
fn is_whole(text: &str, name: Span) -> bool {
    let (before, after) = (&text[..name.start], &text[name.end..]);
    let is_in_sentence = after.starts_with(is_of_other_script);
    let is_code = |it: &str| is_in_sentence || it.ends_with("\\`");
    let before = before.strip_suffix('/').filter(|it| is_code(it)).unwrap_or(before);
    let after = after.strip_prefix('\\').filter(|it| it.starts_with('`')).unwrap_or(after);
    let is_part = |it: char| is_word_part(it) || "/\\.#@<$%&".contains(it);
    let opens = !before.ends_with(is_part)
        && !before.strip_suffix(':').is_some_and(|it| it.ends_with(char::is_alphanumeric))
        && !["=\"", "='", "="].iter().any(|it| before.ends_with(it));
    let mut next = after.chars();
    let closes = match next.next() {
        Some('.' | ':') => !next.next().is_some_and(|it| it.is_alphanumeric() || it == '*'),
        Some('=' | '@' | '>' | '\\' | '(') => false,
        Some(it) => !is_word_part(it),
        None => true,
    };
    opens && closes
}

/// Returns whether a word with a Latin letter goes on with a character.
fn is_word_part(letter: char) -> bool {
    is_letter(letter) || letter.is_alphanumeric() && !is_of_other_script(letter)
}

/// Returns whether a character is a letter of another script than Latin, such as Greek or Hangul.
fn is_of_other_script(letter: char) -> bool {
    letter.is_alphabetic() && letter >= '\u{370}' && !('\u{1E00}'..='\u{1EFF}').contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::parse;

    #[track_caller]
    fn check(texts: &[&str], is_found: bool) {
        for text in texts {
            let body = Body::new(text, parse(text).body);
            let found = bare_names(text, &body, ["aa-bb", "cc"]);
            assert_eq!(!found.is_empty(), is_found, "{text}");
            assert!(found.iter().all(|it| it.needs_confirmation(text)), "{text}");
        }
    }

    #[test]
    fn hyphenated_name_is_found_wherever_it_is_a_whole_word() {
        check(
            &[
                "Any ADR-*.md edit fires aa-bb.",
                "before the aa-bb",
                "the x-y and aa-bb axes",
                "skip apply / aa-bb.",
                "scope per aa-bb (do not invent)",
                "first aa-bb increment",
                "description: Use it when he says \"aa-bb this\".",
                "```\n*Created automatically by aa-bb skill*\n```",
                ".claude/skills/{x-y,aa-bb,z}/",
                "aa-bb/references/a.md",
                "<!-- aa-bb -->",
                "| `run aa-bb` |",
                "~~aa-bb~~",
                "```text\nwhen aa-bb runs\n```",
                "~~~yaml\naa-bb: true\n~~~",
                "```bash\ngh pr --body \"Run \\`/aa-bb 1\\` first.\"\n```",
                "```bash\ngh pr --body \"The \\`aa-bb\\` skill.\"\n```",
                "먼저 aa-bb가 한다",
                "由aa-bb分派",
                "\"/aa-bb를 실행\"",
            ],
            true,
        );
    }

    #[test]
    fn part_of_a_name_a_path_or_an_attribute_is_not_found() {
        check(
            &[
                "x-aa-bb aa-bb-x aa-bbs _aa-bb aa-bb2",
                "https://example.com/aa-bb/x",
                "--aa-bb",
                "aa-bb.json",
                "p:aa-bb",
                "aa-bb:x",
                "feature/aa-bb",
                "class=\"aa-bb\"",
                "[x](#aa-bb)",
                "pip install aa-bb",
                "the aa-bb package",
                "<aa-bb>",
                "`aa-bb run`",
                "```sh\naa-bb run x\n```",
                "cc",
                "```bash\nls \\aa-bb \\`x/aa-bb\\` aa-bb\\n\n```",
                "aa-bbé",
                "éaa-bb",
                "由x-aa-bb分派",
                "看docs/aa-bb。",
            ],
            false,
        );
    }
}
