//! [`Field`]: one frontmatter field, with each agent's reading of it.

use super::agent::Agent;
use super::citations::Citation;
use super::coercion::{Coercion, Shape};

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
    /// The facts of most fields; a row states the others. A field that a row does not call safe
    /// requires approval.
    pub(super) const USUAL: Self = Self {
        key: "",
        shape: Shape::Text,
        summary: "",
        details: "",
        default: None,
        values: &[],
        keys: &[],
        readers: &[],
        safety: Safety::Asks,
        misspellings: &[],
        standing: FieldStatus::Read,
        examples: &[],
        sources: &[],
    };

    /// Returns how `agent` reads the field, or `None` if it does not.
    pub fn reader(&self, agent: Agent) -> Option<&'static FieldReader> {
        self.readers.iter().find(|it| it.agent == agent)
    }

    /// Returns a written word as its agent understands it: in the table's spelling if the agent
    /// ignores case. `None` if the agent ignores it.
    pub fn understood(&self, word: &str) -> Option<String> {
        match (self.find_value(word), self.shape) {
            (Some(known), _) => Some(known.name.to_owned()),
            (None, Shape::Choice { open: false, .. }) => None,
            (None, _) => Some(word.to_owned()),
        }
    }

    /// Returns the value that the agent understands by a written word.
    pub fn find_value(&self, word: &str) -> Option<&'static NamedValue> {
        // Read in the source of Claude Code 2.1.330: the only abbreviation.
        let word =
            if self.key == "effort" && word.eq_ignore_ascii_case("med") { "medium" } else { word };
        self.values.iter().find(|it| {
            it.name == word || self.ignores_case(it) && it.name.eq_ignore_ascii_case(word)
        })
    }

    /// Read in the source of Claude Code: it compares these words in lower case, but `inherit` as
    /// written, and takes `Inherit` for the id of a model.
    fn ignores_case(&self, value: &NamedValue) -> bool {
        matches!(self.key, "effort" | "model" | "shell") && value.name != "inherit"
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
    pub agent: Agent,
    /// The first version that reads it in a skill; `None` if no source says so.
    pub since: Option<&'static str>,
    /// The conversion that the agent applies to the value.
    pub reads: Coercion,
    /// The agent's behaviour if the field is missing.
    pub absent: OnMissing,
    pub limit: Option<TextLimit>,
    /// Other behaviour of this agent, in sentences; may be empty.
    pub note: &'static str,
    /// True if this is a rule of skillsd's cross-client profile rather than the agent's own: that
    /// profile honours fields that the standard does not define.
    pub ours: bool,
}

impl FieldReader {
    /// Creates a reader that tolerates a missing field and sets no limit.
    pub(super) const fn new(agent: Agent, reads: Coercion) -> Self {
        let absent = OnMissing::Fine;
        Self { agent, since: None, reads, absent, limit: None, note: "", ours: false }
    }

    pub(super) const fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }

    pub(super) const fn absent(mut self, absent: OnMissing) -> Self {
        self.absent = absent;
        self
    }

    pub(super) const fn limit(mut self, limit: TextLimit) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(super) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    pub(super) const fn ours(mut self) -> Self {
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
    /// The user is asked for these values.
    AsksFor(&'static [&'static str]),
    /// The user is asked, except for an empty value.
    AsksIfFilled,
}

/// Distinguishes fields that agents read from unread ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldStatus {
    /// At least one agent reads the field.
    Read,
    /// No agent reads the field at the top level; it belongs under another key.
    Unread { belongs_under: &'static str },
}
