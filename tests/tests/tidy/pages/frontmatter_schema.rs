//! Renders the field table as a JSON Schema (draft 2020-12) for the frontmatter of a SKILL.md.
//!
//! The schema accepts any value that some agent reads, and requires the fields that the open
//! standard requires. Unknown keys are allowed because no agent objects to them. Known misspellings
//! are not allowed: they stand under `patternProperties`, so editors do not offer them.

use serde_json::{Map, Value as Json, json};

use skills_agents::field_table::hooks::{
    COMMON, EVENTS, GROUP, HookEvent, HookKey, HookValueType, KINDS, MatcherSubject,
};
use skills_agents::field_table::{
    Agent, Field, FieldReader, FieldStatus, MapKey, NamedValue, OnMissing, OnViolation, Shape,
    fields,
};

/// Returns the schema.
pub(crate) fn schema() -> Json {
    let properties: Map<_, _> =
        fields().iter().map(|it| (it.key.to_owned(), property(it))).collect();
    let required: Vec<_> = fields().iter().filter(|it| is_required(it)).map(|it| it.key).collect();
    let misspellings: Map<_, _> = fields()
        .iter()
        .filter(|it| !it.misspellings.is_empty())
        .map(|it| (format!("^({})$", it.misspellings.join("|")), misspelling(it)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Frontmatter of a SKILL.md",
        "description": "The YAML between the first two `---` lines of a SKILL.md. Generated from skillsd's field table.",
        "type": "object",
        "required": required,
        "properties": properties,
        "patternProperties": misspellings,
        "additionalProperties": true,
        "$defs": {
            "text": {
                "description": "Text. Unquoted numbers, booleans and dates are read as text.",
                "type": ["string", "number", "boolean"],
            },
            "switch": {
                "description": "A switch.",
                "anyOf": [
                    { "type": "boolean" },
                    { "enum": switches() },
                ],
            },
            "hookGroup": hook_group(),
            "hookHandler": hook_handler(),
        },
    })
}

/// Returns whether the standard's clients drop a skill without the field.
fn is_required(field: &Field) -> bool {
    field.reader(Agent::AgentSkills).is_some_and(|it| it.absent == OnMissing::Dropped)
}

/// The spellings of a switch that are not YAML booleans.
fn switches() -> Json {
    let words = ["true", "false", "yes", "no", "on", "off"];
    let capitals = words.map(|it| {
        let (first, rest) = it.split_at(1);
        first.to_ascii_uppercase() + rest
    });
    let words = words.into_iter().map(Json::from);
    let capitals = capitals.into_iter().map(Json::from);
    words.chain(capitals).chain([json!("1"), json!("0"), json!(1), json!(0)]).collect()
}

fn property(field: &Field) -> Json {
    let mut schema = value(field);
    let Some(map) = schema.as_object_mut() else { return schema };
    map.insert("description".to_owned(), description(field).into());
    if let Some(default) = field.default.and_then(|it| default(field, it)) {
        map.insert("default".to_owned(), default);
    }
    let examples: Vec<_> = field.examples.iter().filter_map(|it| example(it)).collect();
    if !examples.is_empty() {
        map.insert("examples".to_owned(), examples.into());
    }
    if matches!(field.standing, FieldStatus::Unread { .. }) {
        map.insert("deprecated".to_owned(), true.into());
    }
    schema
}

fn description(field: &Field) -> String {
    let mut parts = vec![field.summary.to_owned()];
    if !field.details.is_empty() {
        parts.push(field.details.to_owned());
    }
    match field.standing {
        FieldStatus::Read => {
            let names: Vec<_> = field.readers.iter().map(FieldReader::name).collect();
            parts.push(format!("Read by {}.", names.join(", ")));
        }
        FieldStatus::Unread { belongs_under } => {
            parts.push(format!("No agent reads it here; it belongs under `{belongs_under}`."));
        }
    }
    parts.join("\n\n")
}

/// Returns the default if it is a value rather than a description.
fn default(field: &Field, text: &str) -> Option<Json> {
    match field.shape {
        Shape::Switch => text.parse().ok().map(Json::Bool),
        Shape::Choice { .. } => field.value(text).map(|it| it.name.into()),
        _ => None,
    }
}

/// Returns an example as JSON. Examples are one-line YAML; the simple ones are text.
fn example(text: &str) -> Option<Json> {
    let is_structure = text.starts_with(['{', '[']);
    let quoted = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    match quoted {
        _ if is_structure => None,
        Some(inside) => Some(inside.into()),
        None => Some(serde_json::from_str(text).unwrap_or_else(|_| text.into())),
    }
}

fn value(field: &Field) -> Json {
    match field.shape {
        Shape::Text => text(field),
        Shape::Spelling => json!({ "type": ["string", "number", "boolean", "array", "object"] }),
        Shape::Switch => json!({ "$ref": "#/$defs/switch" }),
        Shape::Words(_) | Shape::Globs => json!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "$ref": "#/$defs/text" } },
                { "type": "null" },
            ],
        }),
        Shape::TextMap => map(field.keys),
        Shape::Choice { open, integer } => choice(field.values, open, integer),
        Shape::Hooks => hooks(),
        Shape::Any => json!({}),
    }
}

/// The schema of text within the standard's limits.
fn text(field: &Field) -> Json {
    let limit = field.reader(Agent::AgentSkills).and_then(|it| it.limit);
    let Some(limit) = limit.filter(|it| it.breach != OnViolation::Cut) else {
        return json!({ "$ref": "#/$defs/text" });
    };
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!(["string", "number", "boolean"]));
    schema.insert("minLength".to_owned(), limit.min.into());
    if let Some(max) = limit.max {
        schema.insert("maxLength".to_owned(), max.into());
    }
    if let Some(pattern) = limit.pattern {
        schema.insert("pattern".to_owned(), pattern.into());
    }
    schema.into()
}

fn map(keys: &[MapKey]) -> Json {
    let named = |it: &MapKey| {
        let schema = match it.shape {
            Shape::Text => json!({ "$ref": "#/$defs/text", "description": it.summary }),
            _ => json!({ "description": it.summary }),
        };
        (it.name.to_owned(), schema)
    };
    json!({
        "type": ["object", "null"],
        "properties": keys.iter().map(named).collect::<Map<_, _>>(),
        "additionalProperties": { "$ref": "#/$defs/text" },
    })
}

fn choice(values: &[NamedValue], open: bool, integer: bool) -> Json {
    let mut options: Vec<_> = values
        .iter()
        .map(|it| json!({ "const": it.name, "description": with_since(it.summary, it.since) }))
        .collect();
    if open {
        options.push(json!({ "type": "string" }));
    }
    if integer {
        options.push(json!({
            "type": "integer",
            "deprecated": true,
            "description": "Only older versions accept a number.",
        }));
    }
    json!({ "anyOf": options })
}

fn with_since(summary: &str, since: Option<&str>) -> String {
    since.map_or_else(|| summary.to_owned(), |since| format!("{summary} Since {since}."))
}

fn misspelling(field: &Field) -> Json {
    json!({
        "description": format!("No agent reads this key; the field is `{}`.", field.key),
        "deprecated": true,
        "not": {},
    })
}

fn hooks() -> Json {
    let event = |it: &HookEvent| {
        let matcher = match it.matches {
            MatcherSubject::With(what) => format!(" The matcher is compared with {what}."),
            MatcherSubject::Nothing => " It takes no matcher.".to_owned(),
            MatcherSubject::Unstated => String::new(),
        };
        let description = format!("{}{matcher}", with_since(it.summary, it.since));
        let schema = json!({
            "description": description,
            "type": ["array", "null"],
            "items": { "$ref": "#/$defs/hookGroup" },
        });
        (it.name.to_owned(), schema)
    };
    json!({
        "type": ["object", "null"],
        "properties": EVENTS.iter().map(event).collect::<Map<_, _>>(),
        // Events that the table does not know.
        "additionalProperties": {
            "type": ["array", "null"],
            "items": { "$ref": "#/$defs/hookGroup" },
        },
    })
}

fn hook_group() -> Json {
    object("A matcher and the handlers that run if it matches.", GROUP.iter())
}

fn hook_handler() -> Json {
    let mut schema = object("What runs.", COMMON.iter());
    let kinds: Vec<_> = KINDS
        .iter()
        .map(|kind| {
            json!({
                "if": { "properties": { "type": { "const": kind.name } }, "required": ["type"] },
                "then": object(kind.summary, kind.keys.iter()),
            })
        })
        .collect();
    schema["allOf"] = kinds.into();
    schema
}

fn object<'k>(description: &str, keys: impl Iterator<Item = &'k HookKey> + Clone) -> Json {
    let required: Vec<_> = keys.clone().filter(|it| it.required).map(|it| it.name).collect();
    let properties: Map<_, _> = keys.map(|it| (it.name.to_owned(), setting(it))).collect();
    json!({
        "description": description,
        "type": "object",
        "required": required,
        "properties": properties,
    })
}

fn setting(key: &HookKey) -> Json {
    let mut schema = match key.takes {
        HookValueType::Text => json!({ "$ref": "#/$defs/text" }),
        HookValueType::Kind => {
            let kinds: Vec<_> = KINDS
                .iter()
                .map(|it| json!({ "const": it.name, "description": with_since(it.summary, it.since) }))
                .collect();
            json!({ "anyOf": kinds })
        }
        HookValueType::Switch => json!({ "$ref": "#/$defs/switch" }),
        HookValueType::Number => json!({ "type": "number" }),
        HookValueType::Texts => json!({ "type": "array", "items": { "$ref": "#/$defs/text" } }),
        HookValueType::TextMap => {
            json!({ "type": "object", "additionalProperties": { "$ref": "#/$defs/text" } })
        }
        HookValueType::Map => json!({ "type": "object" }),
        HookValueType::Handlers => {
            json!({ "type": "array", "items": { "$ref": "#/$defs/hookHandler" } })
        }
    };
    schema["description"] = with_since(key.summary, key.since).into();
    schema
}
