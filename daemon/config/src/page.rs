//! The reference of the configuration and its JSON Schema, made from the table of keys.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{Applies, KEYS, Key, Kind, Source, levels, permissions, profile_page, server};

/// Returns the reference page.
pub fn page() -> String {
    let mut text = String::from(HEAD);
    for key in KEYS {
        let mut paragraphs = key.doc.trim().lines().map(str::trim);
        // Writing to a text does not fail.
        let _ = write!(text, "\n## `{}`\n\n", key.name);
        for line in paragraphs.by_ref() {
            let _ = writeln!(text, "{line}");
        }
        let default = key.default.map_or_else(String::new, |it| format!("- Default: `{it}`\n"));
        let _ = write!(
            text,
            "\n- Value: {}\n{default}- Set by: {}\n- Counts: {}\n\n```toml\n{}\n```\n",
            values(key.kind),
            if key.repository { "the user, or a repository" } else { "the user" },
            when(key.applies),
            example(key)
        );
    }
    text.push_str(&profile_page::section());
    text
}

const HEAD: &str = "# Configuration

<!-- Made from the table of keys in daemon/config/src/lib.rs; a test writes it again. -->

There are two files, and none has to be there:

- `$XDG_CONFIG_HOME/skillsd/config.toml`, or `~/.config/skillsd/config.toml`: yours, with all keys.
- `.skillsd.toml` at the top of a worktree: what a repository may decide about itself. It never decides trust or execution, and of permissions only to be stricter.

Both are followed live.
An edit with a mistake does not count: what counted before does, rules that deny included, until the mistake is mended.
Of a file that has a mistake when skillsd starts, or when the file comes, all else counts, and the key with the mistake has its default.
Either way `skillsd status`, `skillsd doctor` and the `health` of every answer name each mistake with its line, its column and what was probably meant.
An unknown key is a mistake.

For editors there are JSON Schemas: `docs/schema/config.schema.json` and `docs/schema/repository-config.schema.json`.
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
        Kind::Addresses => "a list of addresses".to_owned(),
        Kind::Servers => format!("a table by name of {}", server::keys()),
        Kind::Own => "a table by name of profiles".to_owned(),
        Kind::Rules => "a table of levels by rules".to_owned(),
        Kind::Paths => "a table of such tables by globs".to_owned(),
        Kind::Permissions => permissions::values(),
        Kind::Switch => "`true` or `false`".to_owned(),
        Kind::Number { min, max: super::MOST, unit } => format!("a number of {unit} from {min}"),
        Kind::Number { min, max, unit } => format!("a number of {unit} from {min} to {max}"),
    }
}

fn when(applies: Applies) -> &'static str {
    match applies {
        Applies::NextCall => "from the next call on",
        Applies::NextConnection => "for connections made after it",
        Applies::NextStart => "from the daemon's next start on",
    }
}

fn example(key: &Key) -> String {
    match key.name.rsplit_once('.') {
        Some((table, name)) => format!("[{table}]\n{name} = {}", key.example),
        None => format!("{} = {}", key.name, key.example),
    }
}

/// Returns the JSON Schema of a file; `rules` are the ids of the rules.
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
    // A number and a quoted word are written alike in TOML and in JSON.
    if let Some(default) = key.default.and_then(|it| serde_json::from_str::<Value>(it).ok()) {
        property["default"] = default;
    }
    property
}
