//! Typing: an incomplete line has at most one syntax finding.

use skills_syntax::text::LineIndex;

use crate::testing::{Fixture, SKILLS, SPANNING};

#[test]
fn typed_line_has_at_most_one_syntax_finding() {
    for skill in SKILLS.into_iter().chain(SPANNING) {
        let ends = skill.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for end in std::iter::once(0).chain(ends) {
            let text = &skill[..end];
            let lines = LineIndex::new(text);
            let cursor = lines.position(end).line;
            let found = Fixture::new("").with_text(text).check();
            let on_line = found.iter().filter(|it| {
                it.rule.family() == "yaml"
                    && lines.position(it.diagnostic.span.start).line == cursor
            });
            let messages: Vec<_> =
                on_line.map(|it| (it.rule.id.as_str(), &it.diagnostic.message)).collect();
            assert!(messages.len() <= 1, "{text:?}: {messages:?}");
        }
    }
}

/// Nested keys, with and without further keys after the block.
const HOOKS: [&str; 2] = [
    "---\nname: guard\ndescription: Checks. Use it whenever a shell runs.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check.sh\n---\nIt works by itself.\n",
    "---\nname: guard\ndescription: Checks. Use it whenever a shell runs.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check.sh\n  Stop:\n    - hooks:\n        - type: command\n          command: ./stop.sh\nlicense: MIT\nmetadata:\n  author: me\n---\nIt works by itself.\n",
];

#[test]
fn syntax_findings_while_typing_are_on_the_cursor_line() {
    for skill in SKILLS.into_iter().chain(HOOKS) {
        let ends = skill.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for end in ends {
            let text = &skill[..end];
            let lines = LineIndex::new(text);
            let cursor = lines.position(end).line;
            let found = Fixture::new("").with_text(text).check();
            // An unclosed frontmatter is reported at its opening line.
            let syntax = found
                .iter()
                .filter(|it| it.rule.family() == "yaml")
                .filter(|it| it.rule.id.as_str() != "yaml/unclosed-frontmatter");
            let told: Vec<_> = syntax
                .map(|it| (lines.position(it.diagnostic.span.start).line, &it.diagnostic.message))
                .collect();
            assert!(told.len() <= 1, "{text:?}: {told:?}");
            assert!(told.iter().all(|(line, _)| *line == cursor), "{text:?}: {told:?}");
        }
    }
}

#[test]
fn unclosed_frontmatter_reports_no_missing_fields() {
    for text in ["---\n", "---\nna", "---\nname: x\n", "---\nname: x\ndescription: Use it.\n"] {
        let found = Fixture::new("").with_text(text).check();
        let ids: Vec<_> = found.iter().map(|it| it.rule.id.as_str()).collect();
        assert!(!ids.iter().any(|it| it.ends_with("/missing")), "{text:?}: {ids:?}");
    }
}
