//! The reference and the JSON Schema of `[profiles.NAME]`, made from the tables of its keys.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use skills_agents::profile::{CHECKS, ProfileRule, RULES, RuleValueKind};

use super::profiles::{ANY_DEPTH, DEEPEST, PROFILE_KEYS, Part, PartKind, ROOT_KEYS, WALK_KEYS};

/// An example that changes something; a test reads it.
pub(super) const EXAMPLE: &str = r#"[profiles.opencode]
description = "required"

[profiles.house]
base = "claude-code"
duplicates = "last-wins"
without_roots = ["~/.claude/skills"]
every_root = { depth = 3 }
roots_last = [{ base = "home", relative = "house/skills", hidden = true }]
"#;

const HEAD: &str = "
## `[profiles.NAME]`

A profile of your own, or what you change of a built-in one.

A profile of your own has a name of its own and a `base`; all that is not said is as in the base.
Under the name of a built-in profile the keys change that profile; its variants (`claude-code@founding`) stay as they are, and have to be named (`[profiles.\"claude-code@founding\"]`) to be changed.
`explain` tells each rule that differs from the base, and where it is written.
What the rules and their words mean is in [docs/profiles.md](profiles.md).

- Set by: the user
- Counts: from the next call on

";

/// Returns the section of the reference.
pub(super) fn section() -> String {
    let mut text = format!("{HEAD}```toml\n{EXAMPLE}```\n\n| Key | Value | |\n|---|---|---|\n");
    let mut row = |name: &str, values: String, doc: &str| {
        // Writing to a text does not fail.
        let _ = writeln!(text, "| `{name}` | {values} | {} |", one_line(doc));
    };
    for part in PROFILE_KEYS {
        row(part.name, part_values(part.kind), part.doc);
    }
    for rule in own_rules() {
        row(rule.name, rule_values(rule.kind), rule.doc);
    }
    let _ = write!(
        text,
        "\nA root is a table with these keys; those from `{}` on also stand in `every_root`.\n\n| Key | Value | |\n|---|---|---|\n",
        ROOT_KEYS[ROOT_KEYS.len() - WALK_KEYS].name
    );
    for part in ROOT_KEYS {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            part.name,
            part_values(part.kind),
            one_line(part.doc)
        );
    }
    text.push_str(
        "\nA variable that is not one of those every client sends (see [docs/protocol.md](protocol.md), `environment`) is the daemon's own.\n",
    );
    text
}

fn own_rules() -> impl Iterator<Item = &'static ProfileRule> {
    RULES.iter().filter(|it| !matches!(it.kind, RuleValueKind::Roots))
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|it| format!("`\"{it}\"`")).collect::<Vec<_>>().join(", ")
}

fn part_values(kind: PartKind) -> String {
    match kind {
        PartKind::Text => "a text".to_owned(),
        PartKind::Word(words) => quoted(&words()),
        PartKind::YesNo => "`true` or `false`".to_owned(),
        PartKind::Names => "a text or a list of texts".to_owned(),
        PartKind::Depth => format!("a number from 1 to {DEEPEST}, or `\"{ANY_DEPTH}\"`"),
        PartKind::Roots => "a list of roots".to_owned(),
        PartKind::Walk => "a table".to_owned(),
    }
}

fn rule_values(kind: RuleValueKind) -> String {
    match kind {
        RuleValueKind::Word(words) => quoted(&words()),
        RuleValueKind::Words(words) => format!("a list of {}", quoted(&words())),
        RuleValueKind::YesNo => "`true` or `false`".to_owned(),
        RuleValueKind::Names | RuleValueKind::Requirements => {
            "a text or a list of texts".to_owned()
        }
        RuleValueKind::Check => format!("{}, or `\"at-most-N\"`", quoted(&CHECKS)),
        RuleValueKind::Roots => "a list of roots".to_owned(),
    }
}

/// Returns the schema of the table `profiles`.
pub(super) fn schema() -> Value {
    let mut keys = Map::new();
    for part in PROFILE_KEYS {
        keys.insert(part.name.to_owned(), described(part_schema(part.kind), part.doc));
    }
    for rule in own_rules() {
        keys.insert(rule.name.to_owned(), described(rule_schema(rule.kind), rule.doc));
    }
    json!({
        "type": "object",
        "description": "Profiles of your own, and what you change of the built-in ones.",
        "additionalProperties": table(keys, &[]),
    })
}

fn described(mut schema: Value, doc: &str) -> Value {
    schema["description"] = json!(doc);
    schema
}

fn table(properties: Map<String, Value>, required: &[&str]) -> Value {
    let properties = Value::Object(properties);
    let mut table =
        json!({"type": "object", "additionalProperties": false, "properties": properties});
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

fn parts(keys: &[Part]) -> Map<String, Value> {
    let pairs = keys.iter().map(|it| (it.name.to_owned(), described(part_schema(it.kind), it.doc)));
    pairs.collect()
}

fn texts() -> Value {
    json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
}

fn part_schema(kind: PartKind) -> Value {
    match kind {
        PartKind::Text => json!({"type": "string", "minLength": 1}),
        PartKind::Word(words) => json!({"type": "string", "enum": words()}),
        PartKind::YesNo => json!({"type": "boolean"}),
        PartKind::Names => texts(),
        PartKind::Depth => json!({
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": DEEPEST}, {"const": ANY_DEPTH}]
        }),
        PartKind::Roots => {
            json!({"type": "array", "items": table(parts(ROOT_KEYS), &["base", "relative"])})
        }
        PartKind::Walk => table(parts(&ROOT_KEYS[ROOT_KEYS.len() - WALK_KEYS..]), &[]),
    }
}

fn rule_schema(kind: RuleValueKind) -> Value {
    match kind {
        RuleValueKind::Word(words) => json!({"type": "string", "enum": words()}),
        RuleValueKind::Words(words) => {
            json!({"type": "array", "items": {"type": "string", "enum": words()}})
        }
        RuleValueKind::YesNo => json!({"type": "boolean"}),
        RuleValueKind::Names | RuleValueKind::Requirements => texts(),
        RuleValueKind::Check => {
            json!({"anyOf": [{"enum": CHECKS}, {"type": "string", "pattern": "^at-most-[0-9]+$"}]})
        }
        // A key of its own.
        RuleValueKind::Roots => json!({}),
    }
}
