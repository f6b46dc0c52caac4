//! Typing: whatever stands there half written, one finding about its syntax is enough.

use super::world::World;
use crate::text::LineIndex;

pub(crate) const SKILLS: [&str; 5] = [
    "---\nname: release-notes\ndescription: \"Writes release notes: what changed and for whom. Use when the user asks for a release.\"\nallowed-tools: Bash(git log:*) Read\n---\n\n# Release notes\n\nRun `git log`, then write.\n",
    "---\nname: fill-form\ndescription: >-\n  Fills PDF forms. Use when a form has to be filled,\n  or its fields are asked for.\nmetadata:\n  author: example\n  version: \"1.0\"\n---\n\n1. Read [the fields](references/fields.md).\n",
    "---\nname: review\ndescription: Reviews a change. Use when asked to.\nargument-hint: \"[number] [branch]\"\npaths:\n  - src/**/*.{ts,tsx}\n  - '!src/gen/**'\n---\nReview $ARGUMENTS.\n\n```sh\ngit diff\n```\n",
    "---\nname: guard\ndescription: 'Checks each command. Use it whenever a shell runs.'\nhooks:\n  PreToolUse:\n    - matcher: \"Bash|Edit\"\n      hooks:\n        - type: command\n          command: \"${CLAUDE_SKILL_DIR}/check.sh\"\n          once: true\n---\nIt works by itself.\n",
    "---\nname: übersicht\ndescription: |\n  Eine Übersicht 🦀 über alles.\n\n  Use when: somebody asks.\ncontext: fork\nagent: Explore\ndisable-model-invocation: true\n# a remark\nlicense: MIT\n---\n| a | b |\n|---|---|\n",
];

/// Skills whose values go on over lines: lists in brackets, folded tools, blocks of globs.
pub(crate) const SPANNING: [&str; 4] = [
    "---\nname: audit\ndescription: >-\n  Audits a change. Use before a release.\nallowed-tools: [\n  Read,\n  \"Bash(git log:*)\",\n  Grep\n]\npaths: |\n  src/**,\n  docs/**\n---\n\nLook at each file.\n",
    "---\nname: sweep\ndescription: Sweeps up. Use when asked to.\nallowed-tools: >\n  Read, Grep,\n  Edit(src/**)\ndisallowed-tools: Write,\n  WebFetch\nmetadata: {author: me,\n  version: \"1.0\"}\nuser-invocable:\n  true\n---\nSweep $ARGUMENTS.\n",
    "---\nname: gate\ndescription: \"Guards a gate. Use it\n  whenever a shell runs.\"\nhooks: {PreToolUse: [\n  {matcher: Bash,\n   hooks: [{type: command, command: ./gate.sh}]}]}\npaths:\n  - >-\n    src/**\n  - docs/**\n---\nIt works by itself.\n",
    "---\nname: tidy-up\ndescription: 'Tidies up. Use when\n  asked to: it does all.'\nallowed-tools: \"Read,\n  Grep\"\ndisallowed-tools:\n  - >\n    Write\n  - 'WebFetch'\narguments: [what,\n  where]\n---\nTidy $what in $where.\n",
];

#[test]
fn at_each_keystroke_there_is_at_most_one_finding_about_syntax_on_the_line() {
    for skill in SKILLS.into_iter().chain(SPANNING) {
        let ends = skill.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for end in std::iter::once(0).chain(ends) {
            let text = &skill[..end];
            let lines = LineIndex::new(text);
            let cursor = lines.position(end).line;
            let found = World::new("").with_text(text).check();
            let on_line = found.iter().filter(|it| {
                it.rule.family() == "yaml"
                    && lines.position(it.diagnostic.span.start).line == cursor
            });
            let messages: Vec<_> = on_line.map(|it| (it.rule.id, &it.diagnostic.message)).collect();
            assert!(messages.len() <= 1, "{text:?}: {messages:?}");
        }
    }
}

/// A block with keys below keys, which the closing line and another key come after.
const HOOKS: [&str; 2] = [
    "---\nname: guard\ndescription: Checks. Use it whenever a shell runs.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check.sh\n---\nIt works by itself.\n",
    "---\nname: guard\ndescription: Checks. Use it whenever a shell runs.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check.sh\n  Stop:\n    - hooks:\n        - type: command\n          command: ./stop.sh\nlicense: MIT\nmetadata:\n  author: me\n---\nIt works by itself.\n",
];

#[test]
fn what_is_wrong_with_the_syntax_while_typing_is_told_at_the_cursor() {
    for skill in SKILLS.into_iter().chain(HOOKS) {
        let ends = skill.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for end in ends {
            let text = &skill[..end];
            let lines = LineIndex::new(text);
            let cursor = lines.position(end).line;
            let found = World::new("").with_text(text).check();
            // What is not closed yet is told where it was opened.
            let syntax = found
                .iter()
                .filter(|it| it.rule.family() == "yaml")
                .filter(|it| it.rule.id != "yaml/unclosed-frontmatter");
            let told: Vec<_> = syntax
                .map(|it| (lines.position(it.diagnostic.span.start).line, &it.diagnostic.message))
                .collect();
            assert!(told.len() <= 1, "{text:?}: {told:?}");
            assert!(told.iter().all(|(line, _)| *line == cursor), "{text:?}: {told:?}");
        }
    }
}

#[test]
fn a_frontmatter_that_is_being_typed_misses_nothing_yet() {
    for text in ["---\n", "---\nna", "---\nname: x\n", "---\nname: x\ndescription: Use it.\n"] {
        let found = World::new("").with_text(text).check();
        let ids: Vec<_> = found.iter().map(|it| it.rule.id).collect();
        assert!(!ids.iter().any(|it| it.ends_with("/missing")), "{text:?}: {ids:?}");
    }
}
