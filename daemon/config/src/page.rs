//! Reference page and JSON Schema of the configuration, generated from the table of keys.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{Applies, KEYS, Key, Kind, Source, levels, permissions, profile_page, server};

/// Returns the reference page.
pub fn page() -> String {
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
    text.push_str(&profile_page::section());
    text
}

const HEAD: &str = "# Configuration

<!-- Generated from the table of keys in daemon/config/src/lib.rs; a test updates it. -->

skillsd reads two optional files:

- `$XDG_CONFIG_HOME/skillsd/config.toml`, or `~/.config/skillsd/config.toml`: your configuration, with all keys.
- `.skillsd.toml` at the top of a worktree: the repository's configuration. It never grants trust or execution, and its permissions can only be stricter than yours.

skillsd watches both files and applies changes without a restart.
If an edit contains a mistake, the previous configuration stays in effect, including rules that deny, until you correct the mistake.
If a file contains a mistake when skillsd starts or when the file appears, the key with the mistake keeps its default, and all other keys apply.
In both cases, `skillsd status`, `skillsd doctor` and the `health` of every answer report each mistake with its line, its column and a suggestion.
An unknown key is a mistake.

JSON Schemas for editors: `docs/schema/config.schema.json` and `docs/schema/repository-config.schema.json`.
";

fn values(kind: Kind) -> String {
    match kind {
        Kind::Choice(_) | Kind::Profile => {
            let words: Vec<_> = kind.words().iter().map(|it| format!("`\"{it}\"`")).collect();
            format!("one of {}", words.join(", "))
        }
        Kind::Profiles => {
            let words: Vec<_> = kind.words().iter().map(|it| format!("`\"{it}\"`")).collect();
            format!("a list of {}", words.join(", "))
        }
        Kind::Addresses => "a list of URLs".to_owned(),
        Kind::Servers => format!("a table of {} by name", server::keys()),
        Kind::Own => "a table of profiles by name".to_owned(),
        Kind::Rules => "a table of levels by rule".to_owned(),
        Kind::Paths => "a table by glob of tables of levels by rule".to_owned(),
        Kind::Permissions => permissions::values(),
        Kind::Switch => "`true` or `false`".to_owned(),
        Kind::Number { min, max: super::MOST, unit } => format!("a number of {unit} from {min}"),
        Kind::Number { min, max, unit } => format!("a number of {unit} from {min} to {max}"),
    }
}

fn when(applies: Applies) -> &'static str {
    match applies {
        Applies::NextCall => "from the next call",
        Applies::NextConnection => "to new connections",
        Applies::NextStart => "from the daemon's next start",
    }
}

fn example(key: &Key) -> String {
    match key.name.rsplit_once('.') {
        Some((table, name)) => format!("[{table}]\n{name} = {}", key.example),
        None => format!("{} = {}", key.name, key.example),
    }
}

/// Returns the JSON Schema of a file; `rules` contains all rule ids.
pub fn schema(source: Source, rules: &[&str]) -> Value {
    let mut top = Map::new();
    for key in KEYS.iter().filter(|key| key.repository || source == Source::User) {
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
        Source::User => "config.toml of skillsd",
        Source::Repository => ".skillsd.toml",
    });
    schema
}

fn object(properties: Map<String, Value>) -> Value {
    let properties = Value::Object(properties);
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

fn property(key: &Key, source: Source, rules: &[&str]) -> Value {
    let mut property = match key.kind {
        Kind::Choice(_) | Kind::Profile => json!({"type": "string", "enum": key.kind.words()}),
        Kind::Profiles => {
            json!({"type": "array", "items": {"type": "string", "enum": key.kind.words()}})
        }
        Kind::Addresses => {
            json!({"type": "array", "items": {"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"}})
        }
        Kind::Servers => server::schema(),
        Kind::Own => profile_page::schema(),
        Kind::Rules => levels::rules_schema(rules),
        Kind::Paths => levels::paths_schema(rules),
        Kind::Permissions => permissions::schema(source),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::Number { min, max, .. } => {
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
