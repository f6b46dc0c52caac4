//! Reference page and JSON Schema of the configuration, generated from the table of keys.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use skills_config::{
    ACTIONS, Applies, ConfigKey, ConfigSource, KEYS, MAX_INTEGER, SERVER_KEYS, ValueKind,
    rule_patterns,
};
use skills_discovery::levels::Level;
use skills_discovery::permission::Action;

use super::config_profiles;

/// Returns the reference page.
pub(crate) fn page() -> String {
    let mut text = String::from(HEAD);
    for key in KEYS {
        let mut paragraphs = key.doc.trim().lines().map(str::trim);
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\n## `{}`\n\n", key.name);
        for line in paragraphs.by_ref() {
            let _ = writeln!(text, "{line}");
        }
        let default = key.default.map_or_else(String::new, |it| format!("- Default: `{it}`\n"));
        let _ = write!(
            text,
            "\n- Value: {}\n{default}- Set by: {}\n- Applies: {}\n\n```toml\n{}\n```\n",
            values(key.kind),
            if key.repository { "the user or a repository" } else { "the user" },
            when(key.applies),
            example(key)
        );
    }
    text.push_str(&config_profiles::section());
    text
}

const HEAD: &str = "# Configuration

<!-- Generated from the table of keys in daemon/config/src/table.rs; a test updates it. -->

skillsd reads two optional files:

- `$XDG_CONFIG_HOME/skillsd/config.toml`, or `~/.config/skillsd/config.toml`: your configuration, with all keys.
- `.skillsd.toml` at the top of a worktree: the repository's configuration. It never grants trust or execution, and its permissions can only be stricter than yours.

skillsd watches both files and applies changes without a restart.
If an edit contains a mistake, the previous configuration stays in effect until you correct the mistake, and so do the rules of yours that deny.
The rules of a repository are read anew: if a mistake may hide one, or its file cannot be read, every skill needs approval that the other rules do not deny.
If a file already contains a mistake when skillsd first reads it, the key with the mistake keeps its default, and all other keys apply.
In both cases, `skillsd status`, `skillsd doctor` and the `health` of every answer report each mistake with its line, its column and a suggestion.
An unknown key is a mistake.

JSON Schemas for editors: `docs/schema/config.schema.json` and `docs/schema/repository-config.schema.json`.
";

fn values(kind: ValueKind) -> String {
    match kind {
        ValueKind::Choice(_) | ValueKind::Profile => {
            let words: Vec<_> = kind.words().iter().map(|it| format!("`\"{it}\"`")).collect();
            format!("one of {}", words.join(", "))
        }
        ValueKind::Choices(_) | ValueKind::Profiles => {
            let words: Vec<_> = kind.words().iter().map(|it| format!("`\"{it}\"`")).collect();
            format!("a list of {}", words.join(", "))
        }
        ValueKind::Addresses => "a list of URLs".to_owned(),
        ValueKind::Servers => format!("a table of {} by name", server_keys()),
        ValueKind::CustomProfiles => "a table of profiles by name".to_owned(),
        ValueKind::Rules => "a table of levels by rule".to_owned(),
        ValueKind::Paths => "a table by glob of tables of levels by rule".to_owned(),
        ValueKind::Permissions => permission_values(),
        ValueKind::Switch => "`true` or `false`".to_owned(),
        ValueKind::Number { min, max: MAX_INTEGER, unit } => {
            format!("a number of {unit} from {min}")
        }
        ValueKind::Number { min, max, unit } => format!("a number of {unit} from {min} to {max}"),
    }
}

fn when(applies: Applies) -> &'static str {
    match applies {
        Applies::NextCall => "from the next call",
        Applies::NextConnection => "to new connections",
        Applies::NextStart => "from the daemon's next start",
    }
}

fn example(key: &ConfigKey) -> String {
    match key.name.rsplit_once('.') {
        Some((table, name)) => format!("[{table}]\n{name} = {}", key.example),
        None => format!("{} = {}", key.name, key.example),
    }
}

/// Returns the JSON Schema of a file; `rules` contains all rule ids.
pub(crate) fn schema(source: ConfigSource, rules: &[&str]) -> Value {
    let mut top = Map::new();
    for key in KEYS.iter().filter(|key| key.repository || source == ConfigSource::User) {
        match key.name.split_once('.') {
            None => {
                top.insert(key.name.to_owned(), property(key, source, rules));
            }
            Some((table, name)) => {
                let table = top.entry(table).or_insert_with(|| object(Map::new()));
                table["properties"][name] = property(key, source, rules);
            }
        }
    }
    let mut schema = object(top);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(match source {
        ConfigSource::User => "config.toml of skillsd",
        ConfigSource::Repository => ".skillsd.toml",
    });
    schema
}

fn object(properties: Map<String, Value>) -> Value {
    let properties = Value::Object(properties);
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

fn property(key: &ConfigKey, source: ConfigSource, rules: &[&str]) -> Value {
    let mut property = match key.kind {
        ValueKind::Choice(_) | ValueKind::Profile => {
            json!({"type": "string", "enum": key.kind.words()})
        }
        ValueKind::Choices(_) | ValueKind::Profiles => {
            json!({"type": "array", "items": {"type": "string", "enum": key.kind.words()}})
        }
        ValueKind::Addresses => {
            json!({"type": "array", "items": {"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"}})
        }
        ValueKind::Servers => servers_schema(),
        ValueKind::CustomProfiles => config_profiles::schema(),
        ValueKind::Rules => rules_schema(rules),
        ValueKind::Paths => paths_schema(rules),
        ValueKind::Permissions => permissions_schema(source),
        ValueKind::Switch => json!({"type": "boolean"}),
        ValueKind::Number { min, max, .. } => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
    };
    let doc = key.doc.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    property["description"] = json!(doc);
    // TOML and JSON write numbers and quoted words alike.
    if let Some(default) = key.default.and_then(|it| serde_json::from_str::<Value>(it).ok()) {
        property["default"] = default;
    }
    property
}

/// Returns the keys of an MCP server for the page.
fn server_keys() -> String {
    let keys = SERVER_KEYS.map(|(name, _)| format!("`{name}`"));
    format!("tables with {}", keys.join(", "))
}

/// Returns the JSON Schema of the table `mcp.servers`.
fn servers_schema() -> Value {
    let texts = json!({"type": "string"});
    let mut properties = Map::new();
    for (name, doc) in SERVER_KEYS {
        let mut property = match name {
            "args" => json!({"type": "array", "items": texts}),
            "env" => json!({"type": "object", "additionalProperties": texts}),
            _ => json!({"type": "string", "minLength": 1}),
        };
        property["description"] = json!(doc);
        properties.insert(name.to_owned(), property);
    }
    let server = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["command"],
        "properties": properties,
    });
    json!({"type": "object", "additionalProperties": server})
}

/// Returns the values of `permission.skill` for the page.
fn permission_values() -> String {
    let words = ACTIONS.map(|it| format!("`\"{}\"`", it.name()));
    format!("a table by pattern with the values {}", words.join(", "))
}

/// Returns the JSON Schema of the table `permission.skill`.
fn permissions_schema(source: ConfigSource) -> Value {
    let may = |it: &&Action| source == ConfigSource::User || **it != Action::Allow;
    let words: Vec<_> = ACTIONS.iter().filter(may).map(|it| it.name()).collect();
    json!({"type": "object", "additionalProperties": {"type": "string", "enum": words}})
}

/// Returns the JSON Schema of a table of rules.
fn rules_schema(rules: &[&str]) -> Value {
    let level = json!({"type": "string", "enum": Level::WORDS});
    let names = json!({"enum": rule_patterns(rules)});
    json!({"type": "object", "propertyNames": names, "additionalProperties": level})
}

/// Returns the JSON Schema of a table of globs.
fn paths_schema(rules: &[&str]) -> Value {
    json!({"type": "object", "additionalProperties": rules_schema(rules)})
}
