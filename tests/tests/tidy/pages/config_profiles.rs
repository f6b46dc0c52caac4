//! Reference section and JSON Schema of `[profiles.NAME]`, generated from its tables of keys.

use std::fmt::Write;

use expect_test::expect;
use serde_json::{Map, Value, json};
use skills_agents::profile::{
    CHECKS, DuplicatePolicy, Profile, ProfileRule, RULES, RuleDifference, RuleValueKind, builtin,
    find,
};
use skills_config::{
    ANY_DEPTH, ConfigSource, DEEPEST, PROFILE_KEYS, ProfileKey, ProfileKeyKind, ROOT_KEYS,
    walk_keys,
};

/// An example that differs from the built-in profiles, which a test reads.
const EXAMPLE: &str = r#"[profiles.opencode]
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

A custom profile, or changes to a built-in one.

A custom profile has a new name and a `base`; keys that are not set keep the values of the base.
The name of a built-in profile changes that profile. Its variants (`claude-code@founding`) stay unchanged; to change one, use its name (`[profiles.\"claude-code@founding\"]`).
`explain` shows each rule that differs from the base, and the line that sets it.
[docs/profiles.md](profiles.md) explains the rules and their values.

- Set by: the user
- Applies: from the next call

";

/// Returns the section of the reference page.
pub(super) fn section() -> String {
    let mut text =
        format!("{HEAD}```toml\n{EXAMPLE}```\n\n| Key | Value | Description |\n|---|---|---|\n");
    let mut row = |name: &str, values: String, doc: &str| {
        // Writing to a `String` cannot fail.
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
        "\nA root is a table with these keys; `every_root` accepts those from `{}` on.\n\n| Key | Value | Description |\n|---|---|---|\n",
        walk_keys()[0].name
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
        "\nThe commands of `skillsd` send each of these variables as it is in their shell, even if it is unset. For other clients, a variable that they do not send (see [docs/protocol.md](protocol.md), `environment`) has the daemon's value; a daemon that a command has started has none.\n",
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

fn part_values(kind: ProfileKeyKind) -> String {
    match kind {
        ProfileKeyKind::Text => "a string".to_owned(),
        ProfileKeyKind::Word(words) => quoted(&words()),
        ProfileKeyKind::YesNo => "`true` or `false`".to_owned(),
        ProfileKeyKind::Strings => "a string or a list of strings".to_owned(),
        ProfileKeyKind::Depth => format!("a number from 1 to {DEEPEST}, or `\"{ANY_DEPTH}\"`"),
        ProfileKeyKind::Roots => "a list of roots".to_owned(),
        ProfileKeyKind::Walk => "a table".to_owned(),
    }
}

fn rule_values(kind: RuleValueKind) -> String {
    match kind {
        RuleValueKind::Word(words) => quoted(&words()),
        RuleValueKind::Words(words) => format!("a list of {}", quoted(&words())),
        RuleValueKind::YesNo => "`true` or `false`".to_owned(),
        RuleValueKind::Names | RuleValueKind::Requirements => {
            "a string or a list of strings".to_owned()
        }
        RuleValueKind::Check => format!("{}, or `\"at-most-N\"`", quoted(&CHECKS)),
        RuleValueKind::Roots => "a list of roots".to_owned(),
    }
}

/// Returns the JSON Schema of the table `profiles`.
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
        "description": "Custom profiles, and changes to built-in ones.",
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

fn parts(keys: &[ProfileKey]) -> Map<String, Value> {
    let pairs = keys.iter().map(|it| (it.name.to_owned(), described(part_schema(it.kind), it.doc)));
    pairs.collect()
}

fn texts() -> Value {
    json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
}

fn part_schema(kind: ProfileKeyKind) -> Value {
    match kind {
        ProfileKeyKind::Text => json!({"type": "string", "minLength": 1}),
        ProfileKeyKind::Word(words) => json!({"type": "string", "enum": words()}),
        ProfileKeyKind::YesNo => json!({"type": "boolean"}),
        ProfileKeyKind::Strings => texts(),
        ProfileKeyKind::Depth => json!({
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": DEEPEST}, {"const": ANY_DEPTH}]
        }),
        ProfileKeyKind::Roots => {
            json!({"type": "array", "items": table(parts(ROOT_KEYS), &["base", "relative"])})
        }
        ProfileKeyKind::Walk => table(parts(walk_keys()), &[]),
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
        // `roots` is one of the other keys.
        RuleValueKind::Roots => json!({}),
    }
}

fn differences(profile: &Profile) -> String {
    let line =
        |it: &RuleDifference| format!("{}: {} -> {} ({})\n", it.rule, it.base, it.here, it.source);
    profile.differences.iter().map(line).collect()
}

#[test]
fn documented_example_has_the_documented_effect() {
    let parsed = skills_config::read(EXAMPLE.as_bytes(), ConfigSource::User);
    assert_eq!(parsed.problems, []);
    let profiles = parsed.config.profiles;
    let house = profiles.find("house").unwrap();
    expect![[r#"
        roots: /etc/claude-code/.claude/skills (managed; 1 level, hidden directories, no SKILL.md over 1,000,000 bytes, not synced), $CLAUDE_CONFIG_DIR/skills, else ~/.claude/skills (user; 1 level, hidden directories, no SKILL.md over 1,000,000 bytes, not synced), .claude/skills up to the worktree's top, else to /, but below home (project; 1 level, hidden directories, no SKILL.md over 1,000,000 bytes, not synced), .claude/skills in each added directory (additional; 1 level, hidden directories, no SKILL.md over 1,000,000 bytes, not synced) -> /etc/claude-code/.claude/skills (managed; 3 levels, hidden directories, no SKILL.md over 1,000,000 bytes, not synced), .claude/skills up to the worktree's top, else to /, but below home (project; 3 levels, hidden directories, no SKILL.md over 1,000,000 bytes, not synced), .claude/skills in each added directory (additional; 3 levels, hidden directories, no SKILL.md over 1,000,000 bytes, not synced), ~/house/skills (user; 3 levels, hidden directories, no SKILL.md over 1,000,000 bytes, not synced) (Your configuration, line 4.)
        duplicates: first-wins -> last-wins (Your configuration, line 6.)
    "#]]
    .assert_eq(&differences(house));
    assert_eq!(house.duplicates, DuplicatePolicy::LastWins);
    assert_eq!(house.subject(), "Claude Code (`house`)");
    let opencode = profiles.find("opencode").unwrap();
    assert_eq!(
        differences(opencode),
        "description: else-unlisted -> required (Your configuration, line 2.)\n"
    );
    assert_eq!(opencode.subject(), "opencode");
    assert_eq!(profiles.all().len(), builtin().len() + 1);
    assert_eq!(profiles.find("codex"), find("codex"));
}
