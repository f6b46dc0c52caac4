//! Files generated from the field table: its JSON Schema and its reference page.
//!
//! A stale file is rewritten and fails the test, so that the change is noticed and committed; in CI
//! (`CI` is set) nothing is written.

use std::fs;

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use skills_agents::field_table::fields as field_rows;
use skills_agents::field_table::hooks::EVENTS;
use skills_agents::fields;
use skills_agents::skill::parse;

use crate::pages::frontmatter_page::page;
use crate::pages::frontmatter_schema::schema;
use crate::tree::top;

const SCHEMA: &str = "docs/schema/skill-frontmatter.schema.json";
const PAGE: &str = "docs/frontmatter.md";

/// Returns a finding if a file does not contain `text`; rewrites it if `write` is set.
pub(crate) fn stale(path: &str, text: &str, write: bool) -> Option<String> {
    let place = top().join(path);
    if fs::read_to_string(&place).is_ok_and(|it| it == text) {
        return None;
    }
    if write {
        let dir = place.parent().expect("a file of ours is in a directory");
        fs::create_dir_all(dir).expect("our own tree can be written");
        fs::write(&place, text).expect("our own tree can be written");
        return Some(format!("`{path}` was stale and has been written again; keep it"));
    }
    Some(format!("`{path}` is stale; `cargo tidy` outside CI writes it again"))
}

fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&schema()).expect("JSON can be written");
    text.push('\n');
    text
}

#[test]
fn frontmatter_schema_and_page_are_up_to_date() {
    let write = std::env::var_os("CI").is_none();
    let findings = [(SCHEMA, schema_text()), (PAGE, page())]
        .into_iter()
        .filter_map(|(path, text)| stale(path, &text, write))
        .collect::<Vec<_>>();
    crate::tree::none(&findings);
}

#[test]
fn stale_generated_file_is_reported() {
    assert!(stale("README.md", "another text", false).is_some());
    assert!(stale("docs/no-such.md", "", false).is_some());
    assert_eq!(stale("LICENSE-MIT", &crate::tree::text_of("LICENSE-MIT"), false), None);
}

#[test]
fn frontmatter_schema_is_valid_json_schema() {
    let schema = schema();
    let faults: Vec<_> = jsonschema::draft202012::meta::validator()
        .iter_errors(&schema)
        .map(|it| format!("{it} at {}", it.instance_path()))
        .collect();
    crate::tree::none(&faults);
}

/// Returns a validator for the schema.
fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).expect("the schema is valid")
}

/// Returns a frontmatter as JSON, as an editor with a YAML library sees it.
fn yaml(text: &str) -> Value {
    let text = format!("---\n{text}\n---\n");
    let frontmatter = parse(&text).frontmatter.expect("a frontmatter");
    let map: Map<_, _> = fields::json(&frontmatter, &text, &frontmatter.entries);
    map.into()
}

/// Returns the paths that the schema rejects in a frontmatter, with the required fields added.
fn faults(text: &str) -> Vec<String> {
    let mut instance = yaml(text);
    let map = instance.as_object_mut().expect("a map");
    map.entry("name").or_insert(json!("pdf"));
    map.entry("description").or_insert(json!("Does it."));
    validator().iter_errors(&instance).map(|it| it.instance_path().to_string()).collect()
}

#[test]
fn frontmatter_schema_accepts_values_any_agent_reads() {
    for good in [
        "license: Apache-2.0",
        "compatibility: Requires git",
        "metadata: { author: a, version: \"1.0\", openclaw: { emoji: x } }",
        "metadata:",
        "allowed-tools: Bash(git:*) Read",
        "allowed-tools: [Read, Grep]",
        "disallowed-tools: AskUserQuestion",
        "when_to_use: When asked.",
        "argument-hint: \"[a]\"",
        "argument-hint: [a]",
        "arguments: issue branch",
        "disable-model-invocation: yes\nuser-invocable: 0",
        "user-invocable: true",
        "model: claude-opus-5\neffort: xhigh",
        "model: haiku\neffort: 3",
        "context: fork\nagent: Explore\nbackground: false",
        "agent: my-agent",
        "paths: src/**, docs/",
        "paths:\n  - src/**",
        "paths:",
        "shell: powershell",
        "hooks: {}",
        "hooks: { Stop: [{ hooks: [{ type: command, command: a, once: true, timeout: 1.5 }] }] }",
        "hooks: { Later: [{ matcher: x, hooks: [{ type: http, url: a, headers: { A: b } }] }] }",
        "hooks: { Stop: [{ hooks: [{ type: prompt, prompt: a }] }] }",
        "version: 1.0\nauthor: { name: a }\ntags: [a]",
        "preamble-tier: 2",
    ] {
        assert_eq!(faults(good), [""; 0], "{good}");
    }
}

#[test]
fn frontmatter_schema_reports_the_faulty_path() {
    for (bad, place) in [
        ("name: PDF-Processing", "/name"),
        ("name: -pdf", "/name"),
        ("name: pdf--forms", "/name"),
        ("name: [pdf]", "/name"),
        ("name:", "/name"),
        ("description: \"\"", "/description"),
        ("description: [a]", "/description"),
        ("metadata: text", "/metadata"),
        ("metadata: { author: [a] }", "/metadata/author"),
        ("allowed-tools: { Read: true }", "/allowed-tools"),
        ("user-invocable: maybe", "/user-invocable"),
        ("effort: ultra", "/effort"),
        ("context: main", "/context"),
        ("shell: zsh", "/shell"),
        ("paths: { a: b }", "/paths"),
        ("hooks: [a]", "/hooks"),
        ("hooks: { Stop: text }", "/hooks/Stop"),
        ("hooks: { Stop: [{ matcher: a }] }", "/hooks/Stop/0"),
        ("hooks: { Stop: [{ hooks: [{ type: shell }] }] }", "/hooks/Stop/0/hooks/0/type"),
        ("hooks: { Stop: [{ hooks: [{ type: command }] }] }", "/hooks/Stop/0/hooks/0"),
        ("user-invokable: true", "/user-invokable"),
        ("allowed_tools: Read", "/allowed_tools"),
    ] {
        assert_eq!(faults(bad), [place], "{bad}");
    }
    let long = format!("description: {}", "a".repeat(1025));
    assert_eq!(faults(&long), ["/description"]);
    assert!(!validator().is_valid(&json!({ "name": "pdf" })), "a description is required");
    assert!(!validator().is_valid(&json!({ "description": "a" })), "a name is required");
    assert!(!validator().is_valid(&json!("text")), "it is a map");
}

#[test]
fn page_and_schema_contain_every_key_value_and_event() {
    let page = page();
    let schema = schema();
    for field in field_rows() {
        assert!(page.contains(&format!("`{}`", field.key)), "{}", field.key);
        assert!(schema["properties"][field.key].is_object(), "{}", field.key);
        for value in field.values {
            let options = schema["properties"][field.key]["anyOf"].as_array().unwrap();
            assert!(options.iter().any(|it| it["const"] == value.name), "{}", value.name);
        }
        for misspelling in field.misspellings {
            assert!(schema["properties"][misspelling].is_null(), "`{misspelling}` is offered");
        }
    }
    for event in &EVENTS {
        assert!(page.contains(&format!("| `{}` |", event.name)), "{}", event.name);
        assert!(schema["properties"]["hooks"]["properties"][event.name].is_object());
    }
    assert_eq!(schema["required"], json!(["name", "description"]));
}

#[test]
fn page_table_rows_match_their_headers() {
    let page = page();
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut head = 0;
    for (index, line) in page.lines().enumerate() {
        if !line.starts_with('|') {
            head = 0;
        } else if head == 0 {
            head = cells(line);
        } else {
            assert_eq!(cells(line), head, "line {}: {line}", index + 1);
        }
    }
}
