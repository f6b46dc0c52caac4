//! Tests of the load strategies with the built-in profiles.

mod libraries;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use skills_syntax::edit::apply;

use super::block_scalars::block_edits;
use super::quote_values::quoting_edits;
use super::*;
use crate::keyword::Keyword as _;
use crate::profile::{self, Quoting};
use crate::scalar::YamlType;
use crate::skill::{FileFacts, SkillRecord};
use crate::yaml_library::YamlLibrary;

/// First rows of the table; later ones are documented or compared with recordings.
const N_TESTED: usize = 9;

fn record(bytes: &[u8]) -> SkillRecord {
    let facts = FileFacts { size: bytes.len() as u64, truncated: false, hash: [0; 32] };
    SkillRecord::read(bytes, facts)
}

/// Checks the outcome for every profile of a file in the directory `dir`.
#[track_caller]
fn check_bytes(bytes: &[u8], expected: &Expect) {
    let record = record(bytes);
    let mut out = String::new();
    for (profile, reading) in load_for_all_agents(&record, "dir").into_iter().take(N_TESTED) {
        let verdict = match reading.verdict {
            LoadVerdict::Accepted => "accepted".to_owned(),
            LoadVerdict::Repaired(strategy) => format!("repaired by {strategy:?}"),
            LoadVerdict::WithoutFields => "without its fields".to_owned(),
            LoadVerdict::Dropped => "dropped".to_owned(),
        };
        write!(out, "{}: {verdict}", profile.id).unwrap();
        match reading.dropped.as_ref().or(reading.unlisted.as_ref()) {
            Some(it) => {
                let at = it.at.map(|it| format!("{}:{} ", it.line, it.column)).unwrap_or_default();
                writeln!(out, ", {at}{}: {}", it.rule.keyword(), it.message).unwrap();
            }
            None => writeln!(out, " {:?} {:?}", reading.name, reading.description).unwrap(),
        }
    }
    expected.assert_eq(&out);
}

/// Checks frontmatter content, with a body appended.
#[track_caller]
fn check(content: &str, expected: &Expect) {
    check_bytes(format!("---\n{content}---\nBody.\n").as_bytes(), expected);
}

#[test]
fn valid_file_is_accepted_by_all_agents() {
    check(
        "name: dir\ndescription: Does it.\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("Does it.")
            claude-code: accepted "dir" Some("Does it.")
            opencode: accepted "dir" Some("Does it.")
            opencode-agent-skills: accepted "dir" Some("Does it.")
            codex: accepted "dir" Some("Does it.")
            gemini-cli: accepted "dir" Some("Does it.")
            copilot-cli: accepted "dir" Some("Does it.")
            qwen-code: accepted "dir" Some("Does it.")
            kilo: accepted "dir" Some("Does it.")
        "#]],
    );
}

#[test]
fn unquoted_colon_is_repaired_by_lenient_agents() {
    check(
        "name: dir\ndescription: Use when: asked\n",
        &expect![[r#"
            agentskills: repaired by Quote(ClientGuide) "dir" Some("Use when: asked")
            claude-code: repaired by Quote(ClaudeCode) "dir" Some("Use when: asked")
            opencode: repaired by Block "dir" Some("Use when: asked")
            opencode-agent-skills: dropped, 3:22 yaml/valid: the frontmatter is not valid YAML: `: ` inside an unquoted value
            codex: repaired by Quote(Codex) "dir" Some("Use when: asked")
            gemini-cli: repaired by Lines "dir" Some("Use when: asked")
            copilot-cli: dropped, 3:22 yaml/valid: the frontmatter is not valid YAML: `: ` inside an unquoted value
            qwen-code: repaired by ColonLines "dir" Some("Use when: asked")
            kilo: repaired by Block "dir" Some("Use when: asked")
        "#]],
    );
}

#[test]
fn value_starting_with_indicator_is_repaired_or_dropped() {
    check(
        "name: dir\ndescription: @x y\n",
        &expect![[r#"
            agentskills: repaired by Quote(ClientGuide) "dir" Some("@x y")
            claude-code: repaired by Quote(ClaudeCode) "dir" Some("@x y")
            opencode: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `@`
            opencode-agent-skills: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `@`
            codex: repaired by Quote(Codex) "dir" Some("@x y")
            gemini-cli: repaired by Lines "dir" Some("@x y")
            copilot-cli: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `@`
            qwen-code: repaired by ColonLines "dir" Some("@x y")
            kilo: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `@`
        "#]],
    );
    check(
        "name: dir\ndescription: %x y\n",
        &expect![[r#"
            agentskills: repaired by Quote(ClientGuide) "dir" Some("%x y")
            claude-code: repaired by Quote(ClaudeCode) "dir" Some("%x y")
            opencode: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `%`
            opencode-agent-skills: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `%`
            codex: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `%`
            gemini-cli: repaired by Lines "dir" Some("%x y")
            copilot-cli: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `%`
            qwen-code: repaired by ColonLines "dir" Some("%x y")
            kilo: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: an unquoted value cannot start with `%`
        "#]],
    );
    check(
        "name: dir\ndescription: {not: closed\n",
        &expect![[r#"
            agentskills: repaired by Quote(ClientGuide) "dir" Some("{not: closed")
            claude-code: repaired by Quote(ClaudeCode) "dir" Some("{not: closed")
            opencode: repaired by Block "dir" Some("{not: closed")
            opencode-agent-skills: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: `{` is never closed
            codex: repaired by Quote(Codex) "dir" Some("{not: closed")
            gemini-cli: repaired by Lines "dir" Some("{not: closed")
            copilot-cli: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: `{` is never closed
            qwen-code: repaired by ColonLines "dir" Some("{not: closed")
            kilo: repaired by Block "dir" Some("{not: closed")
        "#]],
    );
    check(
        "name: dir\ndescription: \"unterminated\n",
        &expect![[r#"
            agentskills: repaired by Quote(ClientGuide) "dir" Some("\"unterminated")
            claude-code: without its fields "dir" Some("Body.")
            opencode: dropped, 3:26 yaml/valid: the frontmatter is not valid YAML: the value continues on an unindented line
            opencode-agent-skills: dropped, 3:26 yaml/valid: the frontmatter is not valid YAML: the value continues on an unindented line
            codex: dropped, 3:26 yaml/valid: the frontmatter is not valid YAML: the value continues on an unindented line
            gemini-cli: repaired by Lines "dir" Some("\"unterminated")
            copilot-cli: dropped, 3:26 yaml/valid: the frontmatter is not valid YAML: the value continues on an unindented line
            qwen-code: repaired by ColonLines "dir" Some("\"unterminated")
            kilo: dropped, 3:26 yaml/valid: the frontmatter is not valid YAML: the value continues on an unindented line
        "#]],
    );
}

#[test]
fn non_text_name_and_description_follow_each_agents_rule() {
    check(
        "name: 123\ndescription: true\n",
        &expect![[r#"
            agentskills: accepted "123" Some("true")
            claude-code: accepted "dir" Some("true")
            opencode: dropped, 2:7 name/required: `name` is a number, not text
            opencode-agent-skills: dropped, 2:7 name/required: `name` is a number, not text
            codex: accepted "123" Some("true")
            gemini-cli: repaired by Lines "123" Some("true")
            copilot-cli: dropped, 2:7 name/required: `name` is a number, not text
            qwen-code: accepted "123" Some("true")
            kilo: dropped, 2:7 name/required: `name` is a number, not text
        "#]],
    );
    check(
        "name: 2026-11-21\ndescription: [a, b]\n",
        &expect![[r#"
            agentskills: dropped, 3:14 description/required: `description` is a list or a map, not text
            claude-code: accepted "dir" Some("Body.")
            opencode: dropped, 2:7 name/required: `name` is a date, not text
            opencode-agent-skills: dropped, 3:14 description/required: `description` is a list or a map, not text
            codex: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: `description` is a list, not text
            gemini-cli: repaired by Lines "2026-11-21" Some("[a, b]")
            copilot-cli: dropped, 3:14 description/text: `description` is a list or a map, not text
            qwen-code: accepted "2026-11-21" Some("a,b")
            kilo: dropped, 2:7 name/required: `name` is a date, not text
        "#]],
    );
    check(
        "name: ~\ndescription: null\n",
        &expect![[r#"
            agentskills: dropped, 2:7 name/required: `name` is empty
            claude-code: accepted "dir" Some("Body.")
            opencode: dropped, 2:7 name/required: `name` is empty
            opencode-agent-skills: dropped, 2:7 name/required: `name` is empty
            codex: dropped, 3:14 description/required: `description` is empty
            gemini-cli: repaired by Lines "~" Some("null")
            copilot-cli: dropped, 2:7 name/required: `name` is empty
            qwen-code: dropped, 2:7 name/required: `name` is empty
            kilo: dropped, 2:7 name/required: `name` is empty
        "#]],
    );
    check(
        "name: \"\"\ndescription: \"  \"\n",
        &expect![[r#"
            agentskills: dropped, 2:7 name/required: `name` is empty
            claude-code: accepted "dir" Some("Body.")
            opencode: accepted "" Some("  ")
            opencode-agent-skills: dropped, 2:7 name/required: `name` is empty
            codex: dropped, 3:14 description/required: `description` is empty
            gemini-cli: accepted "" Some("  ")
            copilot-cli: dropped, 2:7 name/required: `name` is empty
            qwen-code: dropped, 2:7 name/required: `name` is empty
            kilo: accepted "" Some("  ")
        "#]],
    );
    check(
        "name: !!str 12\ndescription: !note x\n",
        &expect![[r#"
            agentskills: accepted "12" Some("x")
            claude-code: accepted "dir" Some("x")
            opencode: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: the tag `!note` is unknown
            opencode-agent-skills: accepted "12" Some("x")
            codex: accepted "12" Some("x")
            gemini-cli: repaired by Lines "!!str 12" Some("!note x")
            copilot-cli: accepted "12" Some("x")
            qwen-code: accepted "12" Some("x")
            kilo: dropped, 3:14 yaml/valid: the frontmatter is not valid YAML: the tag `!note` is unknown
        "#]],
    );
}

#[test]
fn missing_name_description_or_frontmatter_is_reported() {
    check(
        "name: dir\n",
        &expect![[r#"
            agentskills: dropped, 1:1 description/required: the frontmatter has no `description`
            claude-code: accepted "dir" Some("Body.")
            opencode: accepted, description/listed: the frontmatter has no `description`
            opencode-agent-skills: dropped, 1:1 description/required: the frontmatter has no `description`
            codex: dropped, 1:1 description/required: the frontmatter has no `description`
            gemini-cli: dropped, 1:1 description/required: the frontmatter has no `description`
            copilot-cli: accepted "dir" Some("Body.")
            qwen-code: dropped, 1:1 description/required: the frontmatter has no `description`
            kilo: accepted, description/listed: the frontmatter has no `description`
        "#]],
    );
    check(
        "description: Does it.\n",
        &expect![[r#"
            agentskills: dropped, 1:1 name/required: the frontmatter has no `name`
            claude-code: accepted "dir" Some("Does it.")
            opencode: dropped, 1:1 name/required: the frontmatter has no `name`
            opencode-agent-skills: dropped, 1:1 name/required: the frontmatter has no `name`
            codex: accepted "dir" Some("Does it.")
            gemini-cli: dropped, 1:1 name/required: the frontmatter has no `name`
            copilot-cli: accepted "dir" Some("Does it.")
            qwen-code: dropped, 1:1 name/required: the frontmatter has no `name`
            kilo: dropped, 1:1 name/required: the frontmatter has no `name`
        "#]],
    );
    check_bytes(
        b"# Title\n\nText.\n",
        &expect![[r#"
            agentskills: dropped, 1:1 frontmatter/required: the file has no frontmatter
            claude-code: accepted "dir" Some("Title")
            opencode: dropped, 1:1 frontmatter/required: the file has no frontmatter
            opencode-agent-skills: dropped, 1:1 frontmatter/required: the file has no frontmatter
            codex: dropped, 1:1 frontmatter/required: the file has no frontmatter
            gemini-cli: dropped, 1:1 frontmatter/required: the file has no frontmatter
            copilot-cli: dropped, 1:1 frontmatter/required: the file has no frontmatter
            qwen-code: dropped, 1:1 frontmatter/required: the file has no frontmatter
            kilo: dropped, 1:1 frontmatter/required: the file has no frontmatter
        "#]],
    );
}

#[test]
fn duplicate_keys_are_accepted_repaired_or_dropped() {
    check(
        "name: dir\ndescription: one\ndescription: two\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("two")
            claude-code: accepted "dir" Some("two")
            opencode: dropped, 4:1 yaml/valid: the frontmatter is not valid YAML: `description` is a duplicate key
            opencode-agent-skills: dropped, 4:1 yaml/valid: the frontmatter is not valid YAML: `description` is a duplicate key
            codex: dropped, 4:1 yaml/valid: the frontmatter is not valid YAML: `description` is a duplicate key
            gemini-cli: repaired by Lines "dir" Some("two")
            copilot-cli: dropped, 4:1 yaml/valid: the frontmatter is not valid YAML: `description` is a duplicate key
            qwen-code: repaired by ColonLines "dir" Some("two")
            kilo: dropped, 4:1 yaml/valid: the frontmatter is not valid YAML: `description` is a duplicate key
        "#]],
    );
    check(
        "name: dir\ndescription: one\nm: {os: a, os: b}\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("one")
            claude-code: accepted "dir" Some("one")
            opencode: repaired by Block "dir" Some("one")
            opencode-agent-skills: dropped, 4:12 yaml/valid: the frontmatter is not valid YAML: `os` is a duplicate key
            codex: accepted "dir" Some("one")
            gemini-cli: repaired by Lines "dir" Some("one")
            copilot-cli: dropped, 4:12 yaml/valid: the frontmatter is not valid YAML: `os` is a duplicate key
            qwen-code: repaired by ColonLines "dir" Some("one")
            kilo: repaired by Block "dir" Some("one")
        "#]],
    );
}

#[test]
fn input_accepted_by_some_libraries_only() {
    check(
        "name: dir\ndescription: \"one\ntwo\"\n",
        &expect![[r#"
            agentskills: repaired by PerKey "dir" Some("one two")
            claude-code: without its fields "dir" Some("Body.")
            opencode: accepted "dir" Some("one two")
            opencode-agent-skills: dropped, 4:1 yaml/valid: the frontmatter is not valid YAML: the value continues on an unindented line
            codex: accepted "dir" Some("one two")
            gemini-cli: accepted "dir" Some("one two")
            copilot-cli: accepted "dir" Some("one two")
            qwen-code: repaired by ColonLines "dir" Some("\"one")
            kilo: accepted "dir" Some("one two")
        "#]],
    );
    check(
        "name: dir\ndescription: d\nm:\n\ta: b\n",
        &expect![[r#"
            agentskills: repaired by PerKey "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 5:1 yaml/valid: the frontmatter is not valid YAML: a tab indents this line
            codex: dropped, 5:1 yaml/valid: the frontmatter is not valid YAML: a tab indents this line
            gemini-cli: repaired by Lines "dir" Some("d")
            copilot-cli: dropped, 5:1 yaml/valid: the frontmatter is not valid YAML: a tab indents this line
            qwen-code: repaired by ColonLines "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check(
        "name: dir\ndescription: d\nx: [Tag] text: more\n",
        &expect![[r#"
            agentskills: repaired by Quote(ClientGuide) "dir" Some("d")
            claude-code: repaired by Quote(ClaudeCode) "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 4:10 yaml/valid: the frontmatter is not valid YAML: text after the closing bracket
            codex: repaired by Quote(Codex) "dir" Some("d")
            gemini-cli: repaired by Lines "dir" Some("d")
            copilot-cli: dropped, 4:10 yaml/valid: the frontmatter is not valid YAML: text after the closing bracket
            qwen-code: repaired by ColonLines "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check(
        "name: dir\ndescription: \"\\ud83d\\udc26\"\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("🐦")
            claude-code: accepted "dir" Some("🐦")
            opencode: accepted "dir" Some("🐦")
            opencode-agent-skills: accepted "dir" Some("🐦")
            codex: dropped, 3:15 yaml/valid: the frontmatter is not valid YAML: half of a surrogate pair in an escape
            gemini-cli: accepted "dir" Some("🐦")
            copilot-cli: dropped, 3:15 yaml/valid: the frontmatter is not valid YAML: half of a surrogate pair in an escape
            qwen-code: accepted "dir" Some("🐦")
            kilo: accepted "dir" Some("🐦")
        "#]],
    );
    check(
        "name: dir\nx: &a text\ndescription: *a\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("text")
            claude-code: accepted "dir" Some("text")
            opencode: accepted "dir" Some("text")
            opencode-agent-skills: accepted "dir" Some("text")
            codex: accepted "dir" Some("text")
            gemini-cli: accepted "dir" Some("text")
            copilot-cli: accepted "dir" Some("text")
            qwen-code: accepted "dir" Some("text")
            kilo: accepted "dir" Some("text")
        "#]],
    );
}

#[test]
fn compatibility_edits_accept_what_the_library_accepts() {
    let kinds = |content: &str, library| {
        parse_strict(content, library).map(|it| (it.kind("name"), it.kind("description"))).ok()
    };
    let both = Some((Some(YamlType::Text), Some(YamlType::Text)));
    // Each case was verified with js-yaml 3.15.2 and 4.3.2, and with serde_yaml's successor.
    let content = "name: a\ndescription: \"x\n\ty\"\n";
    for library in [YamlLibrary::JsYaml3, YamlLibrary::JsYaml4, YamlLibrary::SerdeYaml] {
        assert_eq!(kinds(content, library), both, "{library:?}");
    }
    let content = "name: a\ndescription: \"x\nother: \"y (z). more: w.\"\n";
    assert_eq!(kinds(content, YamlLibrary::JsYaml3), both);
    assert_eq!(kinds(content, YamlLibrary::JsYaml4), both);
    assert_eq!(kinds(content, YamlLibrary::SerdeYaml), None);
    let content = "name: a\ndescription: \"x\" y: z\n";
    assert_eq!(kinds(content, YamlLibrary::JsYaml3), both);
    assert_eq!(kinds(content, YamlLibrary::JsYaml4), None);
    assert_eq!(kinds(": x\nname: a\n", YamlLibrary::JsYaml4), None);
    assert_eq!(kinds("a: {b: c,\nd: e}\n", YamlLibrary::NpmYaml), None);
    assert_eq!(kinds("a: {b: c\n}\n", YamlLibrary::NpmYaml), Some((None, None)));
}

#[test]
fn delimiter_variants_accepted_by_some_agents_only() {
    check_bytes(
        b"---\nname: dir\ndescription: d\n",
        &expect![[r#"
            agentskills: dropped, 1:1 frontmatter/delimited: the frontmatter is not closed by a `---` line
            claude-code: without its fields "dir" Some("---")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 1:1 frontmatter/delimited: the frontmatter is not closed by a line `---`, which this agent requires
            codex: dropped, 1:1 frontmatter/delimited: the frontmatter is not closed by a line `---`, which this agent requires
            gemini-cli: dropped, 1:1 frontmatter/delimited: the frontmatter is not closed by a line `---`, which this agent requires
            copilot-cli: dropped, 1:1 frontmatter/delimited: the frontmatter is not closed by a line `---`, which this agent requires
            qwen-code: dropped, 1:1 frontmatter/delimited: the frontmatter is not closed by a line `---`, which this agent requires
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check_bytes(
        b"--- \nname: dir\ndescription: d\n---\nx\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 1:1 frontmatter/delimited: the first line is not `---`, which this agent requires
            codex: accepted "dir" Some("d")
            gemini-cli: dropped, 1:1 frontmatter/delimited: the first line is not `---`, which this agent requires
            copilot-cli: accepted "dir" Some("d")
            qwen-code: dropped, 1:1 frontmatter/delimited: the first line is not `---`, which this agent requires
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check_bytes(
        b"---\r\nname: dir\r\ndescription: d\r\n---\r\nx\r\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 1:1 encoding/crlf: the frontmatter has CRLF line ends
            codex: accepted "dir" Some("d")
            gemini-cli: accepted "dir" Some("d")
            copilot-cli: accepted "dir" Some("d")
            qwen-code: accepted "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check_bytes(
        b"\xEF\xBB\xBF---\nname: dir\ndescription: d\n---\nx\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 1:1 encoding/bom: the file begins with a byte order mark
            codex: dropped, 1:1 encoding/bom: the file begins with a byte order mark
            gemini-cli: dropped, 1:1 encoding/bom: the file begins with a byte order mark
            copilot-cli: accepted "dir" Some("d")
            qwen-code: accepted "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check_bytes(
        b"---\nname: dir\ndescription: d\n---\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 1:1 body/required: the body is empty
            codex: accepted "dir" Some("d")
            gemini-cli: accepted "dir" Some("d")
            copilot-cli: accepted "dir" Some("d")
            qwen-code: accepted "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
}

#[test]
fn plugin_drops_skills_with_mistyped_fields() {
    check(
        "name: dir\ndescription: d\nallowed-tools: Read Bash(git:*)\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 4:1 field/type: `allowed-tools` is a text; write it as a list
            codex: accepted "dir" Some("d")
            gemini-cli: accepted "dir" Some("d")
            copilot-cli: accepted "dir" Some("d")
            qwen-code: accepted "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check(
        "name: dir\ndescription: d\nallowed-tools: [Read]\nmetadata:\n  a: b\nlicense: MIT\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: accepted "dir" Some("d")
            codex: accepted "dir" Some("d")
            gemini-cli: accepted "dir" Some("d")
            copilot-cli: accepted "dir" Some("d")
            qwen-code: accepted "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
    check(
        "name: dir\ndescription: d\nmetadata:\n  version: 1\n",
        &expect![[r#"
            agentskills: accepted "dir" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "dir" Some("d")
            opencode-agent-skills: dropped, 5:3 field/type: `metadata.version` is a number; write it in quotes
            codex: accepted "dir" Some("d")
            gemini-cli: accepted "dir" Some("d")
            copilot-cli: accepted "dir" Some("d")
            qwen-code: accepted "dir" Some("d")
            kilo: accepted "dir" Some("d")
        "#]],
    );
}

#[test]
fn mistyped_field_is_reported_at_its_key_with_the_remedy() {
    let dropped = |fields: &str| {
        let text = format!("---\nname: dir\ndescription: d\n{fields}\n---\nx\n");
        let plugin = profile::find("opencode-agent-skills").unwrap();
        let fault = load_as(plugin, &record(text.as_bytes()), "dir").dropped.unwrap();
        let at = fault.at.unwrap();
        format!("{}:{} {}", at.line, at.column, fault.message)
    };
    for (fields, expected) in [
        ("license: 2.0", "4:1 `license` is a number; write it in quotes"),
        ("license: [MIT]", "4:1 `license` is a list; write one text"),
        ("metadata: x", "4:1 `metadata` is a text; write it as a map"),
        ("metadata:\n  a: b\n  v: 1", "6:3 `metadata.v` is a number; write it in quotes"),
        ("metadata:\n  a: true", "5:3 `metadata.a` is a boolean; write it in quotes"),
        ("metadata: {a: b, c: [d]}", "4:18 `metadata.c` is a list; write one text"),
        ("metadata:\n  a:", "5:3 `metadata.a` is nothing; write one text"),
        (
            "allowed-tools:\n  - Read\n  - 3",
            "6:5 item 2 of `allowed-tools` is a number; write it in quotes",
        ),
    ] {
        assert_eq!(dropped(fields), expected);
    }
}

#[test]
fn codex_accepts_only_map_or_empty_metadata() {
    let dropped = |metadata: &str| {
        let text = format!("---\ndescription: d\nmetadata:{metadata}\n---\nx\n");
        let codex = profile::find("codex").unwrap();
        load_as(codex, &record(text.as_bytes()), "dir").dropped.map(|it| it.message)
    };
    for taken in ["", " {}", " {a: [b]}", "\n  short-description: 1"] {
        assert_eq!(dropped(taken), None, "{taken:?}");
    }
    // Each case was verified with serde_yaml's successor.
    for refused in [" null", " ~", " x", " [a]", " \"\"", "\n  short-description: [a]"] {
        assert!(dropped(refused).is_some(), "{refused:?}");
    }
}

#[test]
fn names_are_rewritten_or_refused() {
    check(
        "name: \"ns:Some  name\"\ndescription: |\n  one\n  two\n",
        &expect![[r#"
            agentskills: accepted "ns:Some  name" Some("one\ntwo\n")
            claude-code: accepted "dir" Some("one\ntwo\n")
            opencode: accepted "ns:Some  name" Some("one\ntwo\n")
            opencode-agent-skills: dropped, 2:7 name/form: the name `ns:Some  name` may contain only lower-case letters, digits and `-`
            codex: accepted "ns:Some name" Some("one two")
            gemini-cli: accepted "ns-Some  name" Some("one\ntwo\n")
            copilot-cli: accepted "ns:Some-name" Some("one\ntwo")
            qwen-code: dropped, 2:7 name/form: the name `ns:Some  name` may contain only letters, digits, `-`, `_`, `.` and `:`
            kilo: accepted "ns:Some  name" Some("one\ntwo\n")
        "#]],
    );
    let long = "m".repeat(65);
    check(
        &format!("name: {long}\ndescription: d\n"),
        &expect![[r#"
            agentskills: accepted "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" Some("d")
            claude-code: accepted "dir" Some("d")
            opencode: accepted "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" Some("d")
            opencode-agent-skills: accepted "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" Some("d")
            codex: dropped, 2:7 name/length: the name has 65 characters; at most 64 are allowed
            gemini-cli: accepted "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" Some("d")
            copilot-cli: dropped, 2:7 name/form: the name `mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm` must be at most 64 ASCII letters, digits, `-`, `_`, `.` and `:`, beginning with a letter or digit
            qwen-code: accepted "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" Some("d")
            kilo: accepted "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm" Some("d")
        "#]],
    );
}

#[test]
fn founding_description_falls_back_to_heading_then_name() {
    let mut profile = (**profile::find("claude-code").unwrap()).clone();
    profile.description = profile::DescriptionRule::ElseFirstHeading;
    let described = |text: &str| load_as(&profile, &record(text.as_bytes()), "dir").description;
    let text = "---\nname: a\n---\nText.\n#no\n# The heading \n# Another\n";
    assert_eq!(described(text).as_deref(), Some("The heading"));
    assert_eq!(described("---\nname: a\n---\nText.\n").as_deref(), Some("dir"));
    assert_eq!(described("---\ndescription: d\n---\n# T\n").as_deref(), Some("d"));
}

const LINES: &[&str] = &[
    "name: dir",
    "name: 12",
    "name: [a]",
    "description: plain words",
    "description: Use when: asked",
    "description: \"it's\" # c",
    "description: 'x' y",
    "description: >-",
    "description: |",
    "  words: more: words",
    "  - item @x",
    "description:",
    "description: @x 'y'",
    "description: **b** \\ \"c\"",
    "tags: [a, @b]",
    "tags: {a: b}",
    "argument-hint: [x] [y: z]",
    "url: http://x #y",
    "- item: a: b",
    "# comment: a: b",
    "ключ: a: b",
    "",
    "\tx: y",
    "x: 2026-01-02",
    "---x",
    "m: {os: 1, os: 2}",
];

fn content() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => proptest::sample::select(LINES).prop_map(str::to_owned),
        1 => "[ -~é🦀]{0,24}",
        1 => "[a-z]{1,4}: ?[-\"'{}:#@`%*&!|>\\[\\] a-zé]{0,12}",
    ];
    let end = proptest::sample::select(&["\n", "\r\n"][..]);
    (proptest::collection::vec(line, 0..8), end)
        .prop_map(|(lines, end)| lines.into_iter().map(|it| it + end).collect())
}

proptest! {
    #[test]
    fn repairs_are_idempotent_and_touch_only_values(content in content()) {
        use Quoting::{ClaudeCode, ClientGuide, Codex, Description};
        for quoting in [Some(ClaudeCode), Some(Codex), Some(ClientGuide), Some(Description), None] {
            let edits_of =
                |it: &str| quoting.map_or_else(|| block_edits(it), |by| quoting_edits(it, by));
            let edits = edits_of(&content);
            let repaired = apply(&content, &edits);
            prop_assert_eq!(edits_of(&repaired), [], "{:?}", repaired);
            let mut at = 0;
            let mut rebuilt = String::new();
            for change in &edits {
                let replaced = change.span.slice(&content);
                // Each edit replaces one value on one line, after its key.
                prop_assert!(at <= change.span.start && !replaced.trim().is_empty());
                prop_assert!(!replaced.contains('\n'));
                let before = &content[..change.span.start];
                prop_assert!(!before.is_empty() && !before.ends_with('\n'));
                rebuilt.push_str(&content[at..change.span.start]);
                rebuilt.push_str(&change.text);
                at = change.span.end;
            }
            rebuilt.push_str(&content[at..]);
            prop_assert_eq!(&rebuilt, &repaired);
        }
    }

    #[test]
    fn client_guide_quoting_preserves_other_keys(content in content()) {
        let text = format!("---\n{content}---\n");
        let edits = quoting_edits(&content, Quoting::ClientGuide);
        if !edits.is_empty() {
            let repaired = format!("---\n{}---\n", apply(&content, &edits));
            let before = crate::skill::parse(&text).frontmatter.unwrap();
            let after = crate::skill::parse(&repaired).frontmatter.unwrap();
            for entry in &before.entries {
                let line = text[..entry.key.span.start].matches('\n').count();
                let changed = edits.iter().any(|it| {
                    content[..it.span.start].matches('\n').count() + 1 == line
                });
                // In broken YAML, a neighbour may have absorbed another line before the repair.
                if !changed && before.strict.is_ok() {
                    let found = after.entries.iter().any(|it| it.key.text == entry.key.text);
                    prop_assert!(found, "{:?}", repaired);
                }
            }
        }
    }

    /// The shortcut for portable records gives the same outcome as the load strategies.
    #[test]
    fn portable_shortcut_matches_full_loading(content in content()) {
        let mut record = record(format!("---\n{content}---\nbody\n").as_bytes());
        let at_once = load_for_all_agents(&record, "dir");
        record.portable = false;
        for ((profile, at_once), (_, climbed)) in at_once.into_iter().zip(load_for_all_agents(&record, "dir")) {
            prop_assert_eq!(at_once, climbed, "{}", &profile.id);
        }
    }

    #[test]
    fn any_bytes_yield_an_outcome_for_every_agent(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let mut file = b"---\n".to_vec();
        file.extend(bytes);
        for (_, reading) in load_for_all_agents(&record(&file), "dir") {
            prop_assert_eq!(reading.dropped.is_some(), reading.verdict == LoadVerdict::Dropped);
        }
    }
}

#[test]
fn line_separator_of_unicode_ends_an_unquoted_value_for_codex() {
    let reads = |value: &str| {
        let content = format!("name: a\ndescription: {value}\n");
        parse_strict(&content, YamlLibrary::SerdeYaml).is_ok()
    };
    for mark in ['\u{85}', '\u{2028}', '\u{2029}'] {
        for value in ["x*y", "x *y z", ">\n  x*y", "|\n  x*y\n  z"] {
            assert!(!reads(&value.replace('*', &mark.to_string())), "{value} {mark:?}");
        }
        assert!(!reads(&"x* k: y".replace('*', &mark.to_string())), "{mark:?}");
        let library: serde_yaml::Value =
            serde_yaml::from_str(&format!("description: x{mark}k: y\n")).unwrap();
        assert_eq!(library["description"], "x", "{mark:?}");
        for value in ["x*k: y", ">\n  x*k: y", "|\n  x*k: y\n"] {
            let text = format!("name: a\ndescription: {}\n", value.replace('*', &mark.to_string()));
            let read = parse_strict(&text, YamlLibrary::SerdeYaml).unwrap();
            assert_eq!(read.typed("description").unwrap().text.trim(), "x", "{value} {mark:?}");
        }
        for value in ["x* y", "x*", "x*# y", "\"x*y\"", "'x*y'", "x**  y"] {
            assert!(reads(&value.replace('*', &mark.to_string())), "{value} {mark:?}");
        }
    }
}

#[test]
fn frontmatter_in_json_is_read_and_in_javascript_is_not_run() {
    let opencode = |text: &str| {
        let loaded = load_for_all_agents(&record(text.as_bytes()), "dir");
        loaded.into_iter().find(|it| it.0.id == "opencode").unwrap().1
    };
    let json = opencode("---json\n{\"name\": \"a\", \"description\": \"\\u00e9\"}\n---\nBody\n");
    assert_eq!((&*json.name, json.description.as_deref()), ("a", Some("é")));
    assert_eq!(json.verdict, LoadVerdict::Accepted);
    let rule = |text: &str| opencode(text).dropped.map(|it| (it.rule, it.at.unwrap().line));
    assert_eq!(rule("--- json\n{\"name\": \"a\",\n}\n---\n"), Some((LoadRule::YamlValid, 2)));
    assert_eq!(rule("---json\n{\"name\": 5}\n---\n"), Some((LoadRule::NameRequired, 1)));
    assert_eq!(rule("---js\n{name: \"a\"}\n---\n"), Some((LoadRule::FrontmatterCode, 1)));
}

#[test]
fn kept_blank_lines_before_the_closing_line_lose_one_for_opencode() {
    let described = |value: &str| {
        let text = format!("---\nname: a\ndescription: {value}---\nBody\n");
        let loaded = load_for_all_agents(&record(text.as_bytes()), "a");
        loaded.into_iter().find(|it| it.0.id == "opencode").unwrap().1.description.unwrap()
    };
    // Measured with opencode 1.18.33.
    for (value, expected) in [
        (">+\n  a\n\n\n", "a\n\n"),
        ("|+\n  a\n\n", "a\n"),
        ("|+\n  a\n", "a\n"),
        ("|+\n  a\n\n\nlicense: x\n", "a\n\n\n"),
        (">+\n  a\n  \n", "a\n\n"),
        ("|+\n\n\n", "\n"),
        ("|\n  b\n\n\n", "b\n"),
    ] {
        assert_eq!(described(value), expected, "{value:?}");
    }
}
