//! The catalog of frontmatter fields: one table that every reader, check and document uses.
//!
//! A row says of one key what is written there, who reads it since when and how, what happens
//! without it, and where that is known from. The typed reading ([`crate::fields`]), the JSON
//! Schema ([`schema()`]) and the reference page ([`page()`]) come from it; nothing else spells a
//! key. Rows state facts about agents and decide nothing; what is wrong with a file is for the
//! rules to say. A fact that no source gives is left out: [`FieldReader::since`] is then `None`.

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
    /// What is written as its value.
    pub shape: Shape,
    /// What the field is for, in one sentence.
    pub summary: &'static str,
    /// What else an author has to know; sentences, may be empty.
    pub details: &'static str,
    /// What is meant when the field is missing, in words.
    pub default: Option<&'static str>,
    /// The values with a meaning of their own.
    pub values: &'static [NamedValue],
    /// The keys of a map that somebody reads.
    pub keys: &'static [MapKey],
    /// The agents that read the field. Nobody reads an inert one.
    pub readers: &'static [FieldReader],
    /// Whether a skill that has the field may run without asking.
    pub safety: Safety,
    /// Spellings seen in real files that no agent reads. They are recognised, never taught.
    pub misspellings: &'static [&'static str],
    /// Whether the field is one to write.
    pub standing: FieldStatus,
    /// Values as they are written in YAML, good ones.
    pub examples: &'static [&'static str],
    /// Where all of this is known from.
    pub sources: &'static [&'static Citation],
}

impl Field {
    /// Returns how `agent` reads the field; nothing when it does not.
    pub fn reader(&self, agent: Agent) -> Option<&'static FieldReader> {
        self.readers.iter().find(|it| it.agent == agent)
    }

    /// Returns the value named `name` exactly.
    pub fn value(&self, name: &str) -> Option<&'static NamedValue> {
        self.values.iter().find(|it| it.name == name)
    }
}

/// A value with a meaning of its own.
#[derive(Debug)]
pub struct NamedValue {
    /// The value, as it is written.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub summary: &'static str,
    /// The first version of Claude Code that knows it, where it came later than the field.
    pub since: Option<&'static str>,
}

/// A key inside a field that is a map.
#[derive(Debug)]
pub struct MapKey {
    /// The key, as it is written.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub summary: &'static str,
    /// What is written as its value: a text, or anything.
    pub shape: Shape,
    /// The agents that read it; none for a habit of authors.
    pub agents: &'static [Agent],
}

/// How one agent reads a field.
#[derive(Debug)]
pub struct FieldReader {
    /// The agent.
    pub agent: Agent,
    /// The first version that reads it in a skill; nothing when no source says so.
    pub since: Option<&'static str>,
    /// What it makes of the value.
    pub reads: Coercion,
    /// What happens when the field is missing.
    pub absent: OnMissing,
    /// What the agent wants of a text.
    pub limit: Option<TextLimit>,
    /// What else is particular to this agent; a sentence, may be empty.
    pub note: &'static str,
    /// Whether this is the rule of our profile for the agent and not the agent's own: the
    /// cross-client profile honours fields that the standard does not have.
    pub ours: bool,
}

impl FieldReader {
    /// A reader that does not miss the field and sets no limit.
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
        self.note = "Not a field of the standard; its profile honours what the author wrote.";
        self
    }

    /// Returns who reads it, as people know them.
    pub const fn name(&self) -> &'static str {
        if self.ours { "our cross-client profile" } else { self.agent.name() }
    }
}

/// What an agent does when a field is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnMissing {
    /// Nothing; the field's default holds.
    Fine,
    /// It takes something else; a fragment that says what.
    Else(&'static str),
    /// Its documentation requires the field.
    Required,
    /// It drops the skill.
    Dropped,
}

/// What an agent wants of a text. Lengths are in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextLimit {
    /// The fewest characters.
    pub min: usize,
    /// The most.
    pub max: Option<usize>,
    /// The form, as a regular expression of ECMAScript with Unicode classes.
    pub pattern: Option<&'static str>,
    /// What happens to a text outside of it.
    pub breach: OnViolation,
}

/// What an agent does with a text that is not within its limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnViolation {
    /// It warns and goes on.
    Warned,
    /// Its documentation does not say.
    Unstated,
    /// It shows a part of it.
    Cut,
    /// It changes what it does not want.
    Replaced,
    /// It drops the skill.
    Dropped,
}

/// Whether a skill with this field may run without asking, where the agent asks at all.
///
/// A key that is not in the catalog asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Safety {
    /// It may: the field grants nothing and runs nothing.
    Safe,
    /// The user is asked.
    Asks,
    /// The user is asked, unless the value is one of these.
    AsksUnless(&'static [&'static str]),
}

/// Whether a field is one to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldStatus {
    /// Some agent reads it.
    Read,
    /// No agent reads it at the top level; it belongs under this key.
    Unread {
        /// Where it belongs.
        belongs_under: &'static str,
    },
}

/// What a key is.
#[derive(Clone, Copy, Debug)]
pub enum KeyKind {
    /// A field of the catalog.
    Field(&'static Field),
    /// A spelling of this field that no agent reads.
    Misspelled(&'static Field),
    /// Neither.
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

/// Returns all fields: those that agents read first, the standard's before the others.
pub fn fields() -> &'static [&'static Field] {
    &FIELDS
}

/// Returns the field of that key. Keys are case-sensitive, as every agent reads them.
pub fn find(key: &str) -> Option<&'static Field> {
    FIELDS.iter().copied().find(|it| it.key == key)
}

/// Returns what a key is: a field, a known misspelling of one, or neither.
pub fn classify_key(key: &str) -> KeyKind {
    if let Some(field) = find(key) {
        return KeyKind::Field(field);
    }
    let misspelled = FIELDS.iter().copied().find(|it| it.misspellings.contains(&key));
    misspelled.map_or(KeyKind::Unknown, KeyKind::Misspelled)
}

#[cfg(test)]
mod tests;
