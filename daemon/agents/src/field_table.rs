//! The field table: all frontmatter fields, as data for every reader, rule and document.
//!
//! A row states a field's key and shape, the agents that read it since which version and how, its
//! default, and the sources of these facts. The typed reading ([`crate::fields`]), the JSON Schema
//! ([`schema()`]) and the reference page ([`page()`]) are generated from it; no other code spells a
//! key. Rows state facts about agents; judging a file is left to the rules. A fact that no source
//! gives is left out: [`FieldReader::since`] is then `None`.

mod agent;
mod citations;
mod claude_code;
mod coercion;
pub mod commands;
pub mod hooks;
mod page;
mod schema;
mod standard;
pub mod tools;
mod unread_fields;
pub mod variables;

pub use agent::Agent;
pub use citations::Citation;
pub use citations::{
    AUTHORING, CLAUDE_CHANGES, CLAUDE_HOOKS, CLAUDE_PERMISSIONS, CLAUDE_SKILLS, CODEX, COMMON_MARK,
    CORPUS, GEMINI, GIT_IGNORE, OPENCODE, PLUGIN, SPECIFICATION, UNICODE, YAML,
};
pub use claude_code::{
    AGENT, ARGUMENT_HINT, ARGUMENTS, BACKGROUND, CONTEXT, DISABLE_MODEL_INVOCATION,
    DISALLOWED_TOOLS, EFFORT, HOOKS, MODEL, PATHS, SHELL, USER_INVOCABLE, WHEN_TO_USE,
};
pub use coercion::{Coercion, Separators, Shape};
pub use page::page;
pub use schema::schema;
pub use standard::{ALLOWED_TOOLS, COMPATIBILITY, DESCRIPTION, LICENSE, METADATA, NAME};

/// One frontmatter field.
#[derive(Debug)]
pub struct Field {
    /// The key, as it is written.
    pub key: &'static str,
    /// The form of its value.
    pub shape: Shape,
    /// The field's purpose, in one sentence.
    pub summary: &'static str,
    /// Further advice for authors, in sentences; may be empty.
    pub details: &'static str,
    /// The meaning of a missing field, in words.
    pub default: Option<&'static str>,
    /// The values with a defined meaning.
    pub values: &'static [NamedValue],
    /// The known keys of a map.
    pub keys: &'static [MapKey],
    /// The agents that read the field; empty for unread fields.
    pub readers: &'static [FieldReader],
    /// The effect of the field on approval.
    pub safety: Safety,
    /// Spellings in real files that no agent reads. They are recognised and never suggested.
    pub misspellings: &'static [&'static str],
    /// Distinguishes fields that agents read from unread ones.
    pub standing: FieldStatus,
    /// Valid example values, as YAML.
    pub examples: &'static [&'static str],
    /// The sources of these facts.
    pub sources: &'static [&'static Citation],
}

impl Field {
    /// Returns how `agent` reads the field, or `None` if it does not.
    pub fn reader(&self, agent: Agent) -> Option<&'static FieldReader> {
        self.readers.iter().find(|it| it.agent == agent)
    }

    /// Returns the value whose name is exactly `name`.
    pub fn value(&self, name: &str) -> Option<&'static NamedValue> {
        self.values.iter().find(|it| it.name == name)
    }
}

/// A field value with a defined meaning.
#[derive(Debug)]
pub struct NamedValue {
    /// The value, as it is written.
    pub name: &'static str,
    /// The meaning, in a sentence.
    pub summary: &'static str,
    /// The first version of Claude Code that knows it, if later than the field.
    pub since: Option<&'static str>,
}

/// A key inside a field that is a map.
#[derive(Debug)]
pub struct MapKey {
    /// The key, as it is written.
    pub name: &'static str,
    /// The purpose, in a sentence.
    pub summary: &'static str,
    /// The form of its value: text or anything.
    pub shape: Shape,
    /// The agents that read it; empty for a convention among authors.
    pub agents: &'static [Agent],
}

/// One agent's reading of a field.
#[derive(Debug)]
pub struct FieldReader {
    /// The agent.
    pub agent: Agent,
    /// The first version that reads it in a skill; `None` if no source says so.
    pub since: Option<&'static str>,
    /// The conversion that the agent applies to the value.
    pub reads: Coercion,
    /// The agent's behaviour if the field is missing.
    pub absent: OnMissing,
    /// The limits on a text.
    pub limit: Option<TextLimit>,
    /// Other behaviour of this agent, in sentences; may be empty.
    pub note: &'static str,
    /// True if this is a rule of skillsd's cross-client profile rather than the agent's own: that
    /// profile honours fields that the standard does not define.
    pub ours: bool,
}

impl FieldReader {
    /// Creates a reader that tolerates a missing field and sets no limit.
    const fn new(agent: Agent, reads: Coercion) -> Self {
        let absent = OnMissing::Fine;
        Self { agent, since: None, reads, absent, limit: None, note: "", ours: false }
    }

    const fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }

    const fn absent(mut self, absent: OnMissing) -> Self {
        self.absent = absent;
        self
    }

    const fn limit(mut self, limit: TextLimit) -> Self {
        self.limit = Some(limit);
        self
    }

    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    const fn ours(mut self) -> Self {
        self.ours = true;
        self.note = "Not a field of the standard; the profile honours it if present.";
        self
    }

    /// Returns the reader's display name.
    pub const fn name(&self) -> &'static str {
        if self.ours { "our cross-client profile" } else { self.agent.name() }
    }
}

/// An agent's behaviour if a field is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnMissing {
    /// The field's default applies.
    Fine,
    /// The agent uses this fallback, as a sentence fragment.
    Else(&'static str),
    /// The agent's documentation requires the field.
    Required,
    /// The agent drops the skill.
    Dropped,
}

/// An agent's limits on a text. Lengths are in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextLimit {
    /// The minimum length.
    pub min: usize,
    /// The maximum length.
    pub max: Option<usize>,
    /// The form, as an ECMAScript regular expression with Unicode classes.
    pub pattern: Option<&'static str>,
    /// The agent's behaviour if the text violates the limits.
    pub breach: OnViolation,
}

/// An agent's behaviour if a text violates its limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnViolation {
    /// The agent warns and loads the skill.
    Warned,
    /// The agent's documentation does not say.
    Unstated,
    /// The agent truncates the text.
    Cut,
    /// The agent replaces invalid characters.
    Replaced,
    /// The agent drops the skill.
    Dropped,
}

/// The effect of a field on approval, for agents that ask before a skill runs.
///
/// Unknown keys cause the agent to ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// No approval needed: the field grants nothing and runs nothing.
    Safe,
    /// The user is asked for approval.
    Asks,
    /// The user is asked, except for these values.
    AsksUnless(&'static [&'static str]),
}

/// Distinguishes fields that agents read from unread ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldStatus {
    /// At least one agent reads the field.
    Read,
    /// No agent reads the field at the top level; it belongs under another key.
    Unread {
        /// The key that it belongs under.
        belongs_under: &'static str,
    },
}

/// The kind of a frontmatter key.
#[derive(Clone, Copy, Debug)]
pub enum KeyKind {
    /// A field of the table.
    Field(&'static Field),
    /// A misspelling of this field, which no agent reads.
    Misspelled(&'static Field),
    /// Any other key.
    Unknown,
}

/// All fields, in the order of the reference page.
static FIELDS: [&Field; 27] = [
    &NAME,
    &DESCRIPTION,
    &WHEN_TO_USE,
    &LICENSE,
    &COMPATIBILITY,
    &METADATA,
    &ALLOWED_TOOLS,
    &DISALLOWED_TOOLS,
    &ARGUMENT_HINT,
    &ARGUMENTS,
    &DISABLE_MODEL_INVOCATION,
    &USER_INVOCABLE,
    &MODEL,
    &EFFORT,
    &CONTEXT,
    &AGENT,
    &BACKGROUND,
    &PATHS,
    &HOOKS,
    &SHELL,
    &unread_fields::VERSION,
    &unread_fields::AUTHOR,
    &unread_fields::TAGS,
    &unread_fields::KEYWORDS,
    &unread_fields::CATEGORY,
    &unread_fields::HOMEPAGE,
    &unread_fields::SOURCE,
];

/// Returns all fields, in the order of the reference page: unread fields come last.
pub fn fields() -> &'static [&'static Field] {
    &FIELDS
}

/// Returns the field with this key. Keys are case-sensitive, as for every agent.
pub fn find(key: &str) -> Option<&'static Field> {
    FIELDS.iter().copied().find(|it| it.key == key)
}

/// Classifies a key as a field, a known misspelling of one, or unknown.
pub fn classify_key(key: &str) -> KeyKind {
    if let Some(field) = find(key) {
        return KeyKind::Field(field);
    }
    let misspelled = FIELDS.iter().copied().find(|it| it.misspellings.contains(&key));
    misspelled.map_or(KeyKind::Unknown, KeyKind::Misspelled)
}

#[cfg(test)]
mod tests;
