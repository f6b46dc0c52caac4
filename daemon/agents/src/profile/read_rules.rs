//! How an agent reads a file and who wins a name: the values of a row's rules. Statements only;
//! [`crate::loaders`] and `skills_discovery::discover` act on them.

use super::Text;

/// How a skill gets its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// Where the name is taken from.
    pub source: NameSource,
    /// What happens to a name or description that is not text in YAML (`123`, `true`).
    pub scalars: ScalarRule,
    /// What happens to an empty name.
    pub empty: EmptyNameRule,
    /// What is made of the name's characters.
    pub form: NameForm,
    /// Which names are accepted.
    pub check: NameCheck,
}

/// Where a name is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// The `name` field; without it the skill is dropped.
    Field,
    /// The `name` field, else the directory's name.
    FieldElseDirectory,
    /// Always the directory's name; the field is a label.
    Directory,
}

/// What happens to plain YAML scalars where text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarRule {
    /// Read as their source text.
    Text,
    /// The skill is dropped.
    Refuse,
}

/// What happens to an empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyNameRule {
    /// It is the same as none.
    Missing,
    /// It is kept.
    Kept,
}

/// What an agent makes of a name's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// Nothing.
    AsWritten,
    /// Each of ``: \ / < > * ? " |`` becomes `-`, as a file name needs it.
    FileName,
}

/// Which names an agent accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCheck {
    /// Any text.
    Any,
    /// At most so many characters; longer ones are dropped.
    AtMost(usize),
    /// Lower-case letters of any script, digits and hyphens; others are dropped.
    LowerCase,
    /// The open standard's form; other names are loaded with a warning.
    StandardWarn,
}

/// How a skill gets its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionRule {
    /// Missing, null, empty or blank: the skill is dropped.
    Required,
    /// Missing, null or empty: the skill is dropped. A blank one is kept.
    NotEmpty,
    /// Missing: the skill is dropped. An empty one is kept.
    Present,
    /// Missing: the skill is loaded, but not listed for the model.
    ElseUnlisted,
    /// Missing or empty: the first line of the body that is not blank.
    ElseFirstBodyLine,
    /// Missing or empty: the first heading of the body, else the name.
    ElseFirstHeading,
}

impl DescriptionRule {
    /// Returns whether a skill without a description is dropped.
    pub const fn drops_missing(self) -> bool {
        matches!(self, Self::Required | Self::NotEmpty | Self::Present)
    }
}

/// Something without which an agent drops a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// There is something behind the frontmatter.
    Body,
    /// The field is missing or a text.
    TextOnly(Text),
    /// The field is missing or a list of texts.
    ListOfTexts(Text),
    /// The field is missing or a map of texts.
    MapOfTexts(Text),
    /// The field is missing, not written, or a map in which one key is missing or a scalar.
    MapWith {
        /// The field.
        key: Text,
        /// The key in it.
        scalar: Text,
    },
}

/// One way of reading a frontmatter, see the leniency load_strategies in docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadStrategy {
    /// The whole block is YAML.
    Strict,
    /// Problematic one-line scalars are quoted first.
    Quote(Quoting),
    /// One-line values with a colon become blocks first.
    Block,
    /// Name and description are taken from the lines that begin with them, also where YAML
    /// gives something that is not text.
    Lines,
    /// Each top-level key is read alone.
    PerKey,
}

/// An agent's way of quoting values before it reads them again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quoting {
    /// Top-level values with one of ``{}[]*&#!|>%@` `` or a `: ` anywhere in them, in double
    /// quotes (re-implementations of Claude Code's reader agree on this list).
    ClaudeCode,
    /// Values at any depth with a `: `, or that start with one of ``[{@` `` and are no YAML
    /// alone, in single quotes; comments stay outside (Codex, read in its source).
    Codex,
    /// Top-level values that are no YAML alone, in double quotes (the client guide's advice,
    /// applied to nothing that is healthy).
    ClientGuide,
}

/// What becomes of a file whose frontmatter no rung could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalidYaml {
    /// The skill is dropped.
    Drop,
    /// The body is loaded as if there were no frontmatter.
    EmptyMetadata,
}

/// Who wins a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicatePolicy {
    /// The first in scan order.
    FirstWins,
    /// The last in scan order.
    LastWins,
    /// The last in scan order, as it is meant; the agent reads files at the same time, and takes
    /// whichever it has read last.
    LastWinsByRace,
    /// Nobody: all are listed.
    KeepAll,
}

impl DuplicatePolicy {
    /// Returns whether of two files the one that is found later wins.
    pub const fn last_wins(self) -> bool {
        matches!(self, Self::LastWins | Self::LastWinsByRace)
    }
}

/// By which path an agent knows a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathIdentity {
    /// The one it was reached by.
    AsReached,
    /// The one without symbolic links on the way. A file reached twice is one.
    Canonical,
}

/// How an oddity of the file's encoding is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingPolicy {
    /// Accepted.
    Accept,
    /// The skill is dropped.
    Drop,
}
