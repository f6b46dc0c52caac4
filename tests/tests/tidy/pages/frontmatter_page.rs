//! Renders the field table as a Markdown page, the frontmatter reference.

use std::fmt::Write as _;

use skills_agents::field_table::hooks::{
    COMMON, EVENTS, GROUP, HookKey, HookValueType, KINDS, MatcherSubject,
};
use skills_agents::field_table::{
    Agent, Coercion, Field, FieldReader, FieldStatus, OnMissing, OnViolation, Safety, Separators,
    Shape, TextLimit, fields,
};
use skills_agents::yaml_library::YamlLibrary;

/// Returns the page.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "<!-- Generated from the field table in daemon/agents/src/field_table; a test rewrites it. -->\n\n\
         # Frontmatter of a SKILL.md\n\n\
         This page describes each field that an agent reads, how each agent reads it, and the sources.\n\
         The same as a JSON Schema: [skill-frontmatter.schema.json](schema/skill-frontmatter.schema.json).\n\
         \"Since\" is the first version that reads the field in a skill; a dash means that no source states it.\n\n",
    );
    agents(&mut page);
    overview(&mut page);
    for field in fields().iter().filter(|it| it.standing == FieldStatus::Read) {
        section(&mut page, field);
    }
    inert(&mut page);
    page
}

/// Writes a line. Writing to a `String` cannot fail.
macro_rules! line {
    ($page:expr) => { $page.push('\n') };
    ($page:expr, $($arguments:tt)*) => {{
        let _ = write!($page, $($arguments)*);
        $page.push('\n');
    }};
}

fn agents(page: &mut String) {
    line!(page, "| Agent | Version described here |\n|---|---|");
    for agent in Agent::ALL {
        line!(page, "| {} | {} |", agent.name(), agent.version());
    }
    line!(page);
}

fn overview(page: &mut String) {
    line!(page, "| Field | Value | Read by |\n|---|---|---|");
    for field in fields().iter().filter(|it| it.standing == FieldStatus::Read) {
        let readers: Vec<_> = field.readers.iter().map(FieldReader::name).collect();
        line!(
            page,
            "| [`{key}`](#{key}) | {} | {} |",
            shape(field.shape),
            readers.join(", "),
            key = field.key,
        );
    }
    line!(page);
}

fn section(page: &mut String, field: &Field) {
    line!(page, "## `{}`\n\n{}", field.key, field.summary);
    if !field.details.is_empty() {
        line!(page, "{}", sentences(field.details));
    }
    line!(page);
    line!(page, "- Value: {}", shape(field.shape));
    if let Some(default) = field.default {
        line!(page, "- Default: {}", value_or_words(field, default));
    }
    line!(page, "- Approval before the skill runs in Claude Code: {}", safety(field.safety));
    let examples: Vec<_> = field.examples.iter().map(|it| code(it)).collect();
    line!(page, "- Example: {}", examples.join(" or "));
    if !field.misspellings.is_empty() {
        let names: Vec<_> = field.misspellings.iter().map(|it| code(it)).collect();
        line!(page, "- Misspellings, which no agent reads: {}", names.join(", "));
    }
    line!(page);
    values(page, field);
    keys(page, field);
    readers(page, field.readers);
    if field.shape == Shape::Hooks {
        hooks(page);
    }
    sources(page, field);
}

fn values(page: &mut String, field: &Field) {
    if field.values.is_empty() {
        return;
    }
    line!(page, "| Value | Since | Meaning |\n|---|---|---|");
    for it in field.values {
        line!(page, "| {} | {} | {} |", code(it.name), it.since.unwrap_or("-"), cell(it.summary));
    }
    if matches!(field.shape, Shape::Choice { open: true, .. }) {
        line!(page, "| any other | - | Passed on unchanged. |");
    }
    line!(page);
}

fn keys(page: &mut String, field: &Field) {
    if field.keys.is_empty() {
        return;
    }
    line!(page, "| Key | Read by | Meaning |\n|---|---|---|");
    for it in field.keys {
        let names: Vec<_> = it.agents.iter().map(|it| it.name()).collect();
        let names = if names.is_empty() { "-".to_owned() } else { names.join(", ") };
        line!(page, "| {} | {names} | {} |", code(it.name), cell(it.summary));
    }
    line!(page);
}

fn readers(page: &mut String, readers: &[FieldReader]) {
    line!(
        page,
        "| Agent | Since | Reads | Without it | Limits | Note |\n|---|---|---|---|---|---|"
    );
    for it in readers {
        line!(
            page,
            "| {} | {} | {} | {} | {} | {} |",
            it.name(),
            it.since.unwrap_or("-"),
            reads(it.reads),
            absent(it.absent),
            it.limit.map_or_else(|| "-".to_owned(), limit),
            if it.note.is_empty() { "-".to_owned() } else { cell(it.note) },
        );
    }
    line!(page);
}

fn hooks(page: &mut String) {
    line!(page, "A group has these keys:\n");
    hook_keys(page, &GROUP);
    line!(page, "A handler has these keys and the keys of its type:\n");
    hook_keys(page, &COMMON);
    for kind in &KINDS {
        line!(page, "### `type: {}`\n", kind.name);
        line!(page, "{}", kind.summary);
        line!(page, "Default timeout: {} seconds.", kind.timeout);
        if let Some(since) = kind.since {
            line!(page, "Since {since}.");
        }
        line!(page);
        hook_keys(page, kind.keys);
    }
    line!(page, "### Events\n");
    line!(page, "| Event | Since | When | The matcher is compared with | Matchers |");
    line!(page, "|---|---|---|---|---|");
    for it in &EVENTS {
        let matchers: Vec<_> = it.matchers.iter().map(|it| code(it)).collect();
        line!(
            page,
            "| {} | {} | {} | {} | {} |",
            code(it.name),
            it.since.unwrap_or("-"),
            cell(it.summary),
            match it.matches {
                MatcherSubject::With(what) => what,
                MatcherSubject::Nothing => "no matcher",
                MatcherSubject::Unstated => "-",
            },
            if matchers.is_empty() { "-".to_owned() } else { matchers.join(", ") },
        );
    }
    line!(page);
}

fn hook_keys(page: &mut String, keys: &[HookKey]) {
    line!(page, "| Key | Type | Required | Since | Meaning |\n|---|---|---|---|---|");
    for it in keys {
        line!(
            page,
            "| {} | {} | {} | {} | {} |",
            code(it.name),
            takes(it.takes),
            if it.required { "yes" } else { "no" },
            it.since.unwrap_or("-"),
            cell(it.summary),
        );
    }
    line!(page);
}

fn sources(page: &mut String, field: &Field) {
    line!(page, "Sources:\n");
    for it in field.sources {
        if it.address.is_empty() {
            line!(page, "- {} ({})", it.title, it.version);
        } else {
            line!(page, "- [{}]({}) ({})", it.title, it.address, it.version);
        }
    }
    line!(page);
}

fn inert(page: &mut String) {
    line!(page, "## Fields that no agent reads\n");
    line!(page, "Many files have them at the top level, where they have no effect.");
    line!(page, "No agent treats unknown keys as errors.\n");
    line!(page, "| Field | Meaning | Belongs under |\n|---|---|---|");
    for field in fields() {
        if let FieldStatus::Unread { belongs_under } = field.standing {
            line!(
                page,
                "| {} | {} | [`{belongs_under}`](#{belongs_under}) |",
                code(field.key),
                cell(field.summary),
            );
        }
    }
}

/// Puts each sentence on its own line.
fn sentences(text: &str) -> String {
    text.replace(". ", ".\n")
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Formats text as code; valid inside a table, too.
fn code(text: &str) -> String {
    let text = cell(text);
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn value_or_words(field: &Field, text: &str) -> String {
    let is_value = field.value(text).is_some() || field.shape == Shape::Switch;
    if is_value { code(text) } else { text.to_owned() }
}

const fn shape(shape: Shape) -> &'static str {
    match shape {
        Shape::Text => "text",
        Shape::Spelling => "text, as written",
        Shape::Switch => "boolean",
        Shape::Words(Separators::Blanks) => "words separated by spaces, or a list",
        Shape::Words(_) => "words separated by commas or spaces, or a list",
        Shape::Globs => "globs separated by commas, or a list",
        Shape::TextMap => "map from text to text",
        Shape::Choice { open: false, integer: false } => "one of the values",
        Shape::Choice { open: true, .. } => "one of the values, or another word",
        Shape::Choice { open: false, integer: true } => {
            "one of the values; an integer in older versions"
        }
        Shape::Hooks => "map from events to lists of groups",
        Shape::Any => "anything",
    }
}

const fn reads(coercion: Coercion) -> &'static str {
    match coercion {
        Coercion::Text => "text; numbers and booleans as written",
        Coercion::Spelling => "text; also in brackets, as written",
        Coercion::String(YamlLibrary::JsYaml3 | YamlLibrary::JsYaml4) => {
            "a YAML string only; a date is not a string"
        }
        Coercion::String(_) | Coercion::OptionalString(_) => "a YAML string only",
        Coercion::Switch => "`true`, `yes`, `on`, `1` and their opposites, in any case",
        Coercion::Boolean | Coercion::BooleanOnly => {
            "`true` or `false`, also `True` or `TRUE`, without quotes"
        }
        Coercion::BooleanWord => "`true` or `false`, without quotes also `True` or `TRUE`",
        Coercion::Words(Separators::Blanks) => {
            "a list, or words separated by spaces outside parentheses"
        }
        Coercion::Words(Separators::CommasAndBlanks) => {
            "a list, or words separated by commas or spaces outside parentheses"
        }
        Coercion::Words(Separators::CommasOutsideBraces) => {
            "a list, or globs separated by commas outside braces"
        }
        Coercion::StringWords(..) => {
            "a list of strings, or words separated by commas or spaces outside parentheses"
        }
        Coercion::ListOnly(_) => "a list of strings only",
        Coercion::List => "a list only",
        Coercion::TextMap => "a map; numbers and booleans as written",
        Coercion::TextMapOf(_) => "a map; only some keys are read",
        Coercion::StringMap(_) => "a map of strings only",
        Coercion::Choice => "a word",
        Coercion::ChoiceOrInteger => "a word; in older versions an integer",
        Coercion::Hooks => "hooks by event",
        Coercion::Anything => "anything",
    }
}

const fn absent(absent: OnMissing) -> &'static str {
    match absent {
        OnMissing::Fine => "-",
        OnMissing::Else(what) => what,
        OnMissing::Required => "required",
        OnMissing::Dropped => "the skill is dropped",
    }
}

fn limit(limit: TextLimit) -> String {
    let mut parts = Vec::new();
    match (limit.min, limit.max) {
        (0, None) => {}
        (0, Some(max)) => parts.push(format!("at most {max} characters")),
        (min, None) => parts.push(format!("at least {min} character")),
        (min, Some(max)) => parts.push(format!("{min} to {max} characters")),
    }
    if let Some(pattern) = limit.pattern {
        parts.push(code(pattern));
    }
    let breach = match limit.breach {
        OnViolation::Warned => "else a warning",
        OnViolation::Unstated => "the effect of other values is not documented",
        OnViolation::Cut => "longer text is cut",
        OnViolation::Replaced => "other characters are replaced",
        OnViolation::Dropped => "else the skill is dropped",
    };
    parts.push(breach.to_owned());
    parts.join("; ")
}

fn safety(safety: Safety) -> String {
    match safety {
        Safety::Safe => "not needed".to_owned(),
        Safety::Asks => "needed".to_owned(),
        Safety::AsksIfFilled => "needed, except if empty".to_owned(),
        Safety::AsksFor(values) => {
            let values: Vec<_> = values.iter().map(|it| code(it)).collect();
            format!("needed with {}", values.join(" or "))
        }
    }
}

const fn takes(takes: HookValueType) -> &'static str {
    match takes {
        HookValueType::Text => "text",
        HookValueType::Kind => "one of the types below",
        HookValueType::Switch => "boolean",
        HookValueType::Number => "number",
        HookValueType::Texts => "list of strings",
        HookValueType::TextMap => "map from text to text",
        HookValueType::Map => "map",
        HookValueType::Handlers => "list of handlers",
    }
}
