//! Tests of every coercion: values, item spans and faults.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::field_table::{
    ALLOWED_TOOLS, ARGUMENT_HINT, ARGUMENTS, CONTEXT, DESCRIPTION, DISABLE_MODEL_INVOCATION,
    EFFORT, HOOKS, KeyKind, METADATA, NAME, PATHS, USER_INVOCABLE,
};
use crate::skill::parse;

/// Reads the only field of `yaml` as each agent does, and by our own reading.
fn read(field: &Field, yaml: &str) -> String {
    let text = format!("---\n{yaml}\n---\n");
    let frontmatter = parse(&text).frontmatter.unwrap();
    let fields = Fields::new(&frontmatter, &text);
    let mut rendered = format!("{yaml}\n");
    let ours = fields.read(field).map(|it| ("ours", it));
    let agents = Agent::ALL.iter().copied();
    let theirs = agents.filter_map(|it| Some((it.id(), fields.read_as(field, it)?)));
    for (who, outcome) in ours.into_iter().chain(theirs) {
        let _ = writeln!(rendered, "  {who}: {}", outcome_text(&outcome, &text));
    }
    rendered
}

fn outcome_text(outcome: &FieldReading, text: &str) -> String {
    let item = |it: &SpannedText| {
        let source = it.span.slice(text);
        if source == it.text { format!("<{source}>") } else { format!("<{}> {source:?}", it.text) }
    };
    let items = |it: &[SpannedText]| it.iter().map(item).collect::<Vec<_>>().join(" ");
    let mut rendered = match &outcome.value {
        None => "nothing".to_owned(),
        Some(FieldValue::Text(it) | FieldValue::Choice(it)) => item(it),
        Some(FieldValue::Switch(on)) => on.to_string(),
        Some(FieldValue::List(list)) => format!("[{}]", items(list)),
        Some(FieldValue::Map(pairs)) => {
            let pairs = pairs.iter().map(|it| format!("{}={}", it.key.text, item(&it.value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(" "))
        }
        Some(FieldValue::Integer(number)) => number.to_string(),
        Some(FieldValue::Hooks(groups)) => format!("{} groups", groups.len()),
        Some(FieldValue::Json(json)) => json.to_string(),
    };
    for it in &outcome.faults {
        let _ = write!(
            rendered,
            "; {:?} is {}, not {}",
            it.span.slice(text),
            it.found.name(),
            it.expected,
        );
    }
    rendered
}

#[expect(clippy::needless_pass_by_value, reason = "that is how expectations are written")]
#[track_caller]
fn check(field: &Field, values: &[&str], expected: Expect) {
    let rendered: String =
        values.iter().map(|it| read(field, &format!("{}: {it}", field.key))).collect();
    expected.assert_eq(&rendered);
}

#[test]
fn non_string_names_by_agent() {
    check(
        &NAME,
        &["pdf", "123", "'123'", "2026-11-21", "yes", "true", "~", "[a]"],
        expect![[r#"
            name: pdf
              ours: <pdf>
              agentskills: <pdf>
              claude-code: <pdf>
              opencode: <pdf>
              opencode-agent-skills: <pdf>
              codex: <pdf>
              gemini-cli: <pdf>
              vscode: <pdf>
              copilot-cli: <pdf>
              qwen-code: <pdf>
              kilo: <pdf>
            name: 123
              ours: <123>
              agentskills: <123>
              claude-code: <123>
              opencode: nothing; "123" is a number, not a string
              opencode-agent-skills: nothing; "123" is a number, not a string
              codex: <123>
              gemini-cli: <123>
              vscode: <123>
              copilot-cli: nothing; "123" is a number, not a string
              qwen-code: <123>
              kilo: nothing; "123" is a number, not a string
            name: '123'
              ours: <123> "'123'"
              agentskills: <123> "'123'"
              claude-code: <123> "'123'"
              opencode: <123> "'123'"
              opencode-agent-skills: <123> "'123'"
              codex: <123> "'123'"
              gemini-cli: <123> "'123'"
              vscode: <123> "'123'"
              copilot-cli: <123> "'123'"
              qwen-code: <123> "'123'"
              kilo: <123> "'123'"
            name: 2026-11-21
              ours: <2026-11-21>
              agentskills: <2026-11-21>
              claude-code: <2026-11-21>
              opencode: nothing; "2026-11-21" is a date, not a string
              opencode-agent-skills: <2026-11-21>
              codex: <2026-11-21>
              gemini-cli: <2026-11-21>
              vscode: <2026-11-21>
              copilot-cli: <2026-11-21>
              qwen-code: <2026-11-21>
              kilo: <2026-11-21>
            name: yes
              ours: <yes>
              agentskills: <yes>
              claude-code: <yes>
              opencode: <yes>
              opencode-agent-skills: <yes>
              codex: <yes>
              gemini-cli: <yes>
              vscode: <yes>
              copilot-cli: <yes>
              qwen-code: <yes>
              kilo: <yes>
            name: true
              ours: <true>
              agentskills: <true>
              claude-code: <true>
              opencode: nothing; "true" is a boolean, not a string
              opencode-agent-skills: nothing; "true" is a boolean, not a string
              codex: <true>
              gemini-cli: <true>
              vscode: <true>
              copilot-cli: nothing; "true" is a boolean, not a string
              qwen-code: <true>
              kilo: nothing; "true" is a boolean, not a string
            name: ~
              ours: nothing
              agentskills: nothing
              claude-code: nothing
              opencode: nothing; "~" is nothing, not a string
              opencode-agent-skills: nothing; "~" is nothing, not a string
              codex: nothing
              gemini-cli: nothing
              vscode: nothing
              copilot-cli: nothing; "~" is nothing, not a string
              qwen-code: nothing
              kilo: nothing; "~" is nothing, not a string
            name: [a]
              ours: nothing; "[a]" is a list, not a text
              agentskills: nothing; "[a]" is a list, not a text
              claude-code: nothing; "[a]" is a list, not a text
              opencode: nothing; "[a]" is a list, not a string
              opencode-agent-skills: nothing; "[a]" is a list, not a string
              codex: nothing; "[a]" is a list, not a text
              gemini-cli: nothing; "[a]" is a list, not a text
              vscode: nothing; "[a]" is a list, not a text
              copilot-cli: nothing; "[a]" is a list, not a string
              qwen-code: nothing; "[a]" is a list, not a text
              kilo: nothing; "[a]" is a list, not a string
        "#]],
    );
}

#[test]
fn non_text_descriptions_by_agent() {
    check(
        &DESCRIPTION,
        &["42", "\n  - a list", ""],
        expect![[r#"
            description: 42
              ours: <42>
              agentskills: <42>
              claude-code: <42>
              opencode: nothing; "42" is a number, not a string
              opencode-agent-skills: nothing; "42" is a number, not a string
              codex: <42>
              gemini-cli: <42>
              vscode: <42>
              copilot-cli: nothing; "42" is a number, not a string
              qwen-code: <42>
              kilo: nothing; "42" is a number, not a string
            description: 
              - a list
              ours: nothing; "- a list" is a list, not a text
              agentskills: nothing; "- a list" is a list, not a text
              claude-code: nothing; "- a list" is a list, not a text
              opencode: nothing; "- a list" is a list, not a string
              opencode-agent-skills: nothing; "- a list" is a list, not a string
              codex: nothing; "- a list" is a list, not a text
              gemini-cli: nothing; "- a list" is a list, not a text
              vscode: nothing; "- a list" is a list, not a text
              copilot-cli: nothing; "- a list" is a list, not a string
              qwen-code: nothing; "- a list" is a list, not a text
              kilo: nothing; "- a list" is a list, not a string
            description: 
              ours: nothing
              agentskills: nothing
              claude-code: nothing
              opencode: nothing; "" is nothing, not a string
              opencode-agent-skills: nothing; "" is nothing, not a string
              codex: nothing
              gemini-cli: nothing
              vscode: nothing
              copilot-cli: nothing; "" is nothing, not a string
              qwen-code: nothing
              kilo: nothing; "" is nothing, not a string
        "#]],
    );
}

#[test]
fn tools_are_split_by_each_agents_separators() {
    check(
        &ALLOWED_TOOLS,
        &[
            "Bash(git add:*) Read",
            "Read, Grep,Bash(git add:*)",
            "\"Read, Grep\"",
            "[Read, 12, {a: b}]",
            "\n  - Read\n  - WebFetch(domain: x)",
            "~",
        ],
        expect![[r#"
            allowed-tools: Bash(git add:*) Read
              ours: [<Bash(git add:*)> <Read>]
              agentskills: [<Bash(git add:*)> <Read>]
              claude-code: [<Bash(git add:*)> <Read>]
              opencode-agent-skills: nothing; "Bash(git add:*) Read" is a text, not a list
              copilot-cli: [<Bash(git add:*)> <Read>]
            allowed-tools: Read, Grep,Bash(git add:*)
              ours: [<Read> <Grep> <Bash(git add:*)>]
              agentskills: [<Read,> <Grep,Bash(git add:*)>]
              claude-code: [<Read> <Grep> <Bash(git add:*)>]
              opencode-agent-skills: nothing; "Read, Grep,Bash(git add:*)" is a text, not a list
              copilot-cli: [<Read> <Grep> <Bash(git add:*)>]
            allowed-tools: "Read, Grep"
              ours: [<Read> <Grep>]
              agentskills: [<Read,> <Grep>]
              claude-code: [<Read> <Grep>]
              opencode-agent-skills: nothing; "\"Read, Grep\"" is a text, not a list
              copilot-cli: [<Read> <Grep>]
            allowed-tools: [Read, 12, {a: b}]
              ours: [<Read> <12>]; "{a: b}" is a map, not a text
              agentskills: [<Read> <12>]; "{a: b}" is a map, not a text
              claude-code: [<Read> <12>]; "{a: b}" is a map, not a text
              opencode-agent-skills: [<Read>]; "12" is a number, not a string; "{a: b}" is a map, not a string
              copilot-cli: [<Read>]; "12" is a number, not a string; "{a: b}" is a map, not a string
            allowed-tools: 
              - Read
              - WebFetch(domain: x)
              ours: [<Read>]; "WebFetch(domain: x)" is a map, not a text
              agentskills: [<Read>]; "WebFetch(domain: x)" is a map, not a text
              claude-code: [<Read>]; "WebFetch(domain: x)" is a map, not a text
              opencode-agent-skills: [<Read>]; "WebFetch(domain: x)" is a map, not a string
              copilot-cli: [<Read>]; "WebFetch(domain: x)" is a map, not a string
            allowed-tools: ~
              ours: nothing
              agentskills: nothing
              claude-code: nothing
              opencode-agent-skills: nothing; "~" is nothing, not a list
              copilot-cli: nothing; "~" is nothing, not a list or a string
        "#]],
    );
}

#[test]
fn list_items_have_spans_in_every_style() {
    check(
        &PATHS,
        &[
            "src/**/*.{ts,tsx}, docs/",
            "'it''s/*, b'",
            "\"caf\\u00e9/*, \\x41/*, \\ud83d\\ude00, c\"",
            "a/*,\n  b/*,\n  c",
            ">-\n  a/*,\n  b/*",
            "|\n  é/*, b\n  , c",
            "\"a, \\\n   b\"",
            "[\"a, b\", 'c']",
            "\n  - src/**\n  - \"*.md\"",
        ],
        expect![[r#"
            paths: src/**/*.{ts,tsx}, docs/
              ours: [<src/**/*.{ts,tsx}> <docs/>]
              agentskills: [<src/**/*.{ts,tsx}> <docs/>]
              claude-code: [<src/**/*.{ts,tsx}> <docs/>]
              vscode: [<src/**/*.{ts,tsx}> <docs/>]
              qwen-code: nothing; "src/**/*.{ts,tsx}, docs/" is a text, not a list
            paths: 'it''s/*, b'
              ours: [<it's/*> "it''s/*" <b>]
              agentskills: [<it's/*> "it''s/*" <b>]
              claude-code: [<it's/*> "it''s/*" <b>]
              vscode: [<it's/*> "it''s/*" <b>]
              qwen-code: nothing; "'it''s/*, b'" is a text, not a list
            paths: "caf\u00e9/*, \x41/*, \ud83d\ude00, c"
              ours: [<café/*> "caf\\u00e9/*" <A/*> "\\x41/*" <😀> "\\ud83d\\ude00" <c>]
              agentskills: [<café/*> "caf\\u00e9/*" <A/*> "\\x41/*" <😀> "\\ud83d\\ude00" <c>]
              claude-code: [<café/*> "caf\\u00e9/*" <A/*> "\\x41/*" <😀> "\\ud83d\\ude00" <c>]
              vscode: [<café/*> "caf\\u00e9/*" <A/*> "\\x41/*" <😀> "\\ud83d\\ude00" <c>]
              qwen-code: nothing; "\"caf\\u00e9/*, \\x41/*, \\ud83d\\ude00, c\"" is a text, not a list
            paths: a/*,
              b/*,
              c
              ours: [<a/*> <b/*> <c>]
              agentskills: [<a/*> <b/*> <c>]
              claude-code: [<a/*> <b/*> <c>]
              vscode: [<a/*> <b/*> <c>]
              qwen-code: nothing; "a/*,\n  b/*,\n  c" is a text, not a list
            paths: >-
              a/*,
              b/*
              ours: [<a/*> <b/*>]
              agentskills: [<a/*> <b/*>]
              claude-code: [<a/*> <b/*>]
              vscode: [<a/*> <b/*>]
              qwen-code: nothing; ">-\n  a/*,\n  b/*" is a text, not a list
            paths: |
              é/*, b
              , c
              ours: [<é/*> <b> <c>]
              agentskills: [<é/*> <b> <c>]
              claude-code: [<é/*> <b> <c>]
              vscode: [<é/*> <b> <c>]
              qwen-code: nothing; "|\n  é/*, b\n  , c" is a text, not a list
            paths: "a, \
               b"
              ours: [<a> <b>]
              agentskills: [<a> <b>]
              claude-code: [<a> <b>]
              vscode: [<a> <b>]
              qwen-code: nothing; "\"a, \\\n   b\"" is a text, not a list
            paths: ["a, b", 'c']
              ours: [<a> <b> <c> "'c'"]
              agentskills: [<a> <b> <c> "'c'"]
              claude-code: [<a> <b> <c> "'c'"]
              vscode: [<a> <b> <c> "'c'"]
              qwen-code: [<a, b> "\"a, b\"" <c> "'c'"]
            paths: 
              - src/**
              - "*.md"
              ours: [<src/**> <*.md> "\"*.md\""]
              agentskills: [<src/**> <*.md> "\"*.md\""]
              claude-code: [<src/**> <*.md> "\"*.md\""]
              vscode: [<src/**> <*.md> "\"*.md\""]
              qwen-code: [<src/**> <*.md> "\"*.md\""]
        "#]],
    );
}

#[test]
fn arguments_and_hints_by_agent() {
    check(
        &ARGUMENTS,
        &["issue branch", "[issue, branch]", "{a: b}"],
        expect![[r#"
        arguments: issue branch
          ours: [<issue> <branch>]
          claude-code: [<issue> <branch>]
        arguments: [issue, branch]
          ours: [<issue> <branch>]
          claude-code: [<issue> <branch>]
        arguments: {a: b}
          ours: nothing; "{a: b}" is a map, not a list or a text
          claude-code: nothing; "{a: b}" is a map, not a list or a text
    "#]],
    );
    check(
        &ARGUMENT_HINT,
        &["\"[a] [b]\"", "[issue-number]", "<file>", "[optional: date]", "\n  - a"],
        expect![[r#"
            argument-hint: "[a] [b]"
              ours: <[a] [b]> "\"[a] [b]\""
              claude-code: <[a] [b]> "\"[a] [b]\""
              vscode: <[a] [b]> "\"[a] [b]\""
              copilot-cli: <[a] [b]> "\"[a] [b]\""
              qwen-code: <[a] [b]> "\"[a] [b]\""
            argument-hint: [issue-number]
              ours: <[issue-number]>
              claude-code: <[issue-number]>
              vscode: nothing; "[issue-number]" is a list, not a text
              copilot-cli: nothing; "[issue-number]" is a list, not a string
              qwen-code: nothing; "[issue-number]" is a list, not a string
            argument-hint: <file>
              ours: <<file>>
              claude-code: <<file>>
              vscode: <<file>>
              copilot-cli: <<file>>
              qwen-code: <<file>>
            argument-hint: [optional: date]
              ours: <[optional: date]>
              claude-code: <[optional: date]>
              vscode: nothing; "[optional: date]" is a list, not a text
              copilot-cli: nothing; "[optional: date]" is a list, not a string
              qwen-code: nothing; "[optional: date]" is a list, not a string
            argument-hint: 
              - a
              ours: nothing; "- a" is a list, not a text
              claude-code: nothing; "- a" is a list, not a text
              vscode: nothing; "- a" is a list, not a text
              copilot-cli: nothing; "- a" is a list, not a string
              qwen-code: nothing; "- a" is a list, not a string
        "#]],
    );
}

#[test]
fn switch_spellings_by_agent() {
    check(
        &USER_INVOCABLE,
        &["true", "FALSE", "yes", "Off", "1", "'true'", "0", "maybe", "~", "[true]"],
        expect![[r#"
            user-invocable: true
              ours: true
              agentskills: true
              claude-code: true
              vscode: true
              copilot-cli: true
              qwen-code: true
            user-invocable: FALSE
              ours: false
              agentskills: false
              claude-code: false
              vscode: false
              copilot-cli: false
              qwen-code: false
            user-invocable: yes
              ours: true
              agentskills: true
              claude-code: true
              vscode: nothing; "yes" is a text, not `true` or `false`
              copilot-cli: nothing; "yes" is a text, not `true` or `false`
              qwen-code: nothing; "yes" is a text, not `true` or `false`
            user-invocable: Off
              ours: false
              agentskills: false
              claude-code: false
              vscode: nothing; "Off" is a text, not `true` or `false`
              copilot-cli: nothing; "Off" is a text, not `true` or `false`
              qwen-code: nothing; "Off" is a text, not `true` or `false`
            user-invocable: 1
              ours: true
              agentskills: true
              claude-code: true
              vscode: nothing; "1" is a number, not `true` or `false`
              copilot-cli: nothing; "1" is a number, not `true` or `false`
              qwen-code: nothing; "1" is a number, not `true` or `false`
            user-invocable: 'true'
              ours: true
              agentskills: true
              claude-code: true
              vscode: nothing; "'true'" is a text, not `true` or `false`
              copilot-cli: nothing; "'true'" is a text, not `true` or `false`
              qwen-code: true
            user-invocable: 0
              ours: false
              agentskills: false
              claude-code: false
              vscode: nothing; "0" is a number, not `true` or `false`
              copilot-cli: nothing; "0" is a number, not `true` or `false`
              qwen-code: nothing; "0" is a number, not `true` or `false`
            user-invocable: maybe
              ours: nothing; "maybe" is a text, not a switch
              agentskills: nothing; "maybe" is a text, not a switch
              claude-code: nothing; "maybe" is a text, not a switch
              vscode: nothing; "maybe" is a text, not `true` or `false`
              copilot-cli: nothing; "maybe" is a text, not `true` or `false`
              qwen-code: nothing; "maybe" is a text, not `true` or `false`
            user-invocable: ~
              ours: nothing
              agentskills: nothing
              claude-code: nothing
              vscode: nothing
              copilot-cli: nothing; "~" is nothing, not `true` or `false`
              qwen-code: nothing
            user-invocable: [true]
              ours: nothing; "[true]" is a list, not a switch
              agentskills: nothing; "[true]" is a list, not a switch
              claude-code: nothing; "[true]" is a list, not a switch
              vscode: nothing; "[true]" is a list, not `true` or `false`
              copilot-cli: nothing; "[true]" is a list, not `true` or `false`
              qwen-code: nothing; "[true]" is a list, not `true` or `false`
        "#]],
    );
}

#[test]
fn choices_accept_words_and_integers() {
    check(
        &EFFORT,
        &["high", "' low '", "3", "ultra", "1.5", "[low]"],
        expect![[r#"
        effort: high
          ours: <high>
          claude-code: <high>
        effort: ' low '
          ours: <low> "' low '"
          claude-code: <low> "' low '"
        effort: 3
          ours: 3
          claude-code: 3
        effort: ultra
          ours: <ultra>
          claude-code: <ultra>
        effort: 1.5
          ours: <1.5>
          claude-code: <1.5>
        effort: [low]
          ours: nothing; "[low]" is a list, not a word
          claude-code: nothing; "[low]" is a list, not a word
    "#]],
    );
    check(
        &CONTEXT,
        &["fork", "inherit", "true"],
        expect![[r#"
        context: fork
          ours: <fork>
          claude-code: <fork>
          vscode: <fork>
        context: inherit
          ours: <inherit>
          claude-code: <inherit>
          vscode: <inherit>
        context: true
          ours: <true>
          claude-code: <true>
          vscode: <true>
    "#]],
    );
}

#[test]
fn maps_keep_only_text_values() {
    check(
        &METADATA,
        &[
            "{ author: a, version: 1.0 }",
            "\n  namespace: x\n  openclaw: {\"a\": 1}\n  empty:",
            "{ short-description: [a], version: 1 }",
            "text",
        ],
        expect![[r#"
            metadata: { author: a, version: 1.0 }
              ours: {author=<a> version=<1.0>}
              agentskills: {author=<a> version=<1.0>}
              opencode-agent-skills: {author=<a>}; "1.0" is a number, not a string
              codex: {}
            metadata: 
              namespace: x
              openclaw: {"a": 1}
              empty:
              ours: {namespace=<x>}; "empty" is nothing, not a text
              agentskills: {namespace=<x>}; "empty" is nothing, not a text
              opencode-agent-skills: {namespace=<x>}; "{\"a\": 1}" is a map, not a string; "empty" is nothing, not a string
              codex: {}
            metadata: { short-description: [a], version: 1 }
              ours: {version=<1>}; "[a]" is a list, not a text
              agentskills: {version=<1>}; "[a]" is a list, not a text
              opencode-agent-skills: {}; "[a]" is a list, not a string; "1" is a number, not a string
              codex: {}; "[a]" is a list, not a text
            metadata: text
              ours: nothing; "text" is a text, not a map
              agentskills: nothing; "text" is a text, not a map
              opencode-agent-skills: nothing; "text" is a text, not a map
              codex: nothing; "text" is a text, not a map
        "#]],
    );
}

#[test]
fn aliases_resolve_to_their_anchors() {
    let text = "---\nx: &x true\nt: &t 'Read, Write'\nlist: &l [*t, Grep]\nuser-invocable: *x\n\
                allowed-tools: *l\npaths: *t\nname: *none\n---\n";
    let frontmatter = parse(text).frontmatter.unwrap();
    let fields = Fields::new(&frontmatter, text);
    assert_eq!(fields.switch(&USER_INVOCABLE), Some(true));
    let tools: Vec<_> = fields.list(&ALLOWED_TOOLS).into_iter().map(|it| it.text).collect();
    assert_eq!(tools, ["Read, Write", "Grep"]);
    let paths = fields.list(&PATHS);
    assert_eq!(paths[1].span.slice(text), "Write");
    assert_eq!(fields.text(&NAME).as_deref(), Some("*none"));
}

#[test]
fn missing_field_reads_as_none() {
    let text = "---\nname: a\n---\n";
    let frontmatter = parse(text).frontmatter.unwrap();
    let fields = Fields::new(&frontmatter, text);
    assert_eq!(fields.read(&DISABLE_MODEL_INVOCATION), None);
    assert_eq!(fields.switch(&DISABLE_MODEL_INVOCATION), None);
    assert_eq!(fields.list(&PATHS), []);
    assert_eq!(fields.text(&NAME).as_deref(), Some("a"));
}

#[test]
fn unknown_keys_are_kept_as_json() {
    let text = "---\nname: a\nuser-invokable: false\nrequires: {env: [HOME, 1]}\nrisk: ~\nsource: 1.10\n---\n";
    let frontmatter = parse(text).frontmatter.unwrap();
    let fields = Fields::new(&frontmatter, text);
    let is_unknown =
        |it: &&Entry| !matches!(field_table::classify_key(&it.key.text), KeyKind::Field(_));
    let entries = frontmatter.entries.iter().filter(is_unknown);
    let unknown = serde_json::Value::Object(super::json(&frontmatter, text, entries));
    assert_eq!(
        unknown,
        json!({"user-invokable": false, "requires": {"env": ["HOME", 1]}, "risk": null}),
    );
    let source = fields.read(field_table::find("source").unwrap()).unwrap();
    assert_eq!(source.value, Some(FieldValue::Json(json!("1.10"))));
}

fn hooks_text(yaml: &str) -> String {
    let text = format!("---\nhooks:{yaml}\n---\n");
    let frontmatter = parse(&text).frontmatter.unwrap();
    let outcome = Fields::new(&frontmatter, &text).read(&HOOKS).unwrap();
    let mut rendered = String::new();
    if let Some(FieldValue::Hooks(groups)) = &outcome.value {
        for group in groups {
            let matcher = group.matcher.as_ref().map_or("all", |it| it.text.as_str());
            let _ = writeln!(rendered, "{} on {matcher}", group.event.text);
            for handler in &group.handlers {
                let kind = handler.kind.as_ref().map_or("?", |it| it.text.as_str());
                let settings = handler.settings.iter().map(|(key, setting)| match setting {
                    HookSetting::Text(it) => format!("{}={}", key.text, it.text),
                    HookSetting::Switch(on) => format!("{}={on}", key.text),
                    HookSetting::Number(number) => format!("{}={number}", key.text),
                    HookSetting::Texts(list) => format!("{}={} texts", key.text, list.len()),
                    HookSetting::Other(span) => format!("{}: {}", key.text, span.slice(&text)),
                });
                let settings: Vec<_> = settings.collect();
                let _ = writeln!(rendered, "  {kind}: {}", settings.join(", "));
            }
        }
    }
    for it in &outcome.faults {
        let part = it.span.slice(&text);
        let _ = writeln!(rendered, "{part:?} is {}, not {}", it.found.name(), it.expected);
    }
    rendered
}

#[test]
fn usable_parts_of_hooks_are_kept() {
    let rendered = hooks_text(
        r#"
  PreToolUse:
    - matcher: Bash
      hooks:
        - { type: command, command: ./check.sh, timeout: 5, once: yes, args: [a, 1], new: {} }
        - { type: http, url: "http://localhost", headers: { A: b } }
    - hooks: [{ command: 12 }]
  Later: ~
  Stop:
    - matcher: [a]
      hooks:
        - { type: command, command: [a], timeout: soon, async: maybe }
        - just text
    - text
  PreCompact: text"#,
    );
    expect![[r#"
        PreToolUse on Bash
          command: command=./check.sh, timeout=5, once=true, args=2 texts, new: {}
          http: url=http://localhost, headers: { A: b }
        PreToolUse on all
          ?: command=12
        Stop on all
          command: 
        "[a]" is a list, not a text
        "[a]" is a list, not a text
        "soon" is a text, not a number
        "maybe" is a text, not a switch
        "just text" is a text, not a map with `type`
        "text" is a text, not a map with `hooks`
        "text" is a text, not a list of groups
    "#]]
    .assert_eq(&rendered);
    assert_eq!(hooks_text(" {}"), "");
    assert_eq!(hooks_text(" [a]"), "\"[a]\" is a list, not a map of events\n");
}

#[test]
fn handler_settings_are_found_by_key() {
    let text = "---\nhooks: {Stop: [{hooks: [{type: command, command: a, once: true}]}]}\n---\n";
    let frontmatter = parse(text).frontmatter.unwrap();
    let outcome = Fields::new(&frontmatter, text).read(&HOOKS).unwrap();
    let Some(FieldValue::Hooks(groups)) = outcome.value else { panic!("{outcome:?}") };
    let handler = &groups[0].handlers[0];
    assert_eq!(handler.text("command").map(|it| it.text.as_str()), Some("a"));
}

proptest! {
    /// In every scalar style, items without escapes slice to their exact text.
    #[test]
    fn item_spans_slice_to_item_text(
        items in prop::collection::vec("[a-zé😀*/.]{1,6}", 1..5),
        style in 0..5_u8,
    ) {
        let value = match style {
            0 => format!("x{}", items.join(",  ")),
            1 => format!("'{}'", items.join(" , ")),
            2 => format!("\"{}\"", items.join(",\\t")),
            3 => format!(">\n  {}", items.join(",\n  ")),
            _ => format!("|\n  {}", items.join(",\n  ")),
        };
        let text = format!("---\npaths: {value}\n---\n");
        let frontmatter = parse(&text).frontmatter.unwrap();
        let read = Fields::new(&frontmatter, &text).list(&PATHS);
        prop_assert_eq!(read.len(), items.len());
        for item in read {
            prop_assert_eq!(item.span.slice(&text), item.text);
        }
    }

    /// No value of any field makes a reading panic, and every span lies in the text.
    #[test]
    fn any_value_is_read_without_panic(value in "[ -~é\n]{0,40}") {
        let text = format!("---\npaths: {value}\nhooks: {value}\n---\n");
        if let Some(frontmatter) = parse(&text).frontmatter {
            let fields = Fields::new(&frontmatter, &text);
            for entry in &frontmatter.entries {
                for field in field_table::fields() {
                    let own = std::iter::once(field.shape.coercion());
                    for coercion in own.chain(field.readers.iter().map(|it| it.reads)) {
                        let outcome = fields.coerce(&entry.value, coercion);
                        for fault in &outcome.faults {
                            prop_assert!(text.get(fault.span.range()).is_some());
                        }
                        if let Some(FieldValue::List(items)) = &outcome.value {
                            for item in items {
                                prop_assert!(text.get(item.span.range()).is_some());
                            }
                        }
                    }
                }
            }
        }
    }
}
