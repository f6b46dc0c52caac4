//! Values of the profile rules about loading files and resolving names. [`crate::loaders`] and
//! `skills_discovery::discover` act on them.

use super::text::Text;
use crate::keyword::keyword_enum;

/// The rules for a skill's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRule {
    pub source: NameSource,
    /// The treatment of a name or description that is not text in YAML (`123`, `true`).
    pub scalars: ScalarRule,
    pub empty: EmptyNameRule,
    /// The conversion of the name's characters.
    pub form: NameForm,
    pub check: NameCheck,
}

keyword_enum! {
    /// The source of a skill's name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    NameSource {
        /// The `name` field; without it the skill is dropped.
        Field = "field",
        /// The `name` field, or else the directory's name.
        FieldElseDirectory = "field-else-directory",
        /// The `name` field; only if there is no such key, the directory's name, which the check
        /// and the form then apply to. Any other value than text drops the skill.
        FieldIfPresent = "field-if-present",
        /// Always the directory's name; the field is a label.
        Directory = "directory",
    }

    /// Treatment of plain YAML scalars that are not text where text is expected.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    ScalarRule {
        /// Read as their source text.
        Text = "text",
        /// The skill is dropped.
        Refuse = "refuse",
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    EmptyNameRule {
        /// It counts as missing.
        Missing = "missing",
        /// It is kept.
        Kept = "kept",
    }

    /// An agent's conversion of a name's characters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    NameForm {
        /// The name is used as written.
        AsWritten = "as-written",
        /// Each of ``: \ / < > * ? " |`` is replaced by `-`, because the name becomes a file name.
        FileName = "file-name",
        /// Blanks around the name are taken off, and each run of blanks in it becomes `-`.
        Hyphens = "hyphens",
    }
}

/// The names that an agent accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCheck {
    Any,
    /// At most this many characters; skills with longer names are dropped.
    AtMost(usize),
    /// Lower-case letters of any script, digits and hyphens; skills with other names are dropped.
    LowerCase,
    /// ASCII lower-case letters, digits and hyphens, and not hyphens alone; skills with other names
    /// are dropped.
    AsciiLowerCase,
    /// Claude Code's: no invisible characters, `<`, `>` or stray blanks; skills with other names
    /// are dropped.
    Visible,
    /// At most 64 ASCII letters, digits, `-`, `_`, `.` and `:`, the first a letter or digit; skills
    /// with other names are dropped.
    AsciiLabel,
    /// Letters and digits of any script, `-`, `_`, `.` and `:`; skills with other names are
    /// dropped.
    Word,
    /// The open standard's form, whatever the directory's name; skills with other names are
    /// dropped.
    Standard,
    /// As [`Self::Standard`], and the directory's name; skills with other names are dropped.
    StandardDirectory,
    /// The open standard's form; other names are loaded with a warning.
    StandardWarn,
}

keyword_enum! {
    /// The rule for a skill's description.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    DescriptionRule {
        /// Missing, null, empty or blank: the skill is dropped.
        Required = "required",
        /// Missing, null or empty: the skill is dropped. A blank one is kept.
        NotEmpty = "not-empty",
        /// Missing: the skill is dropped. An empty one is kept.
        Present = "present",
        /// Missing, null, empty or blank: the skill has none.
        Optional = "optional",
        /// Missing: the skill is loaded, but not listed for the model.
        ElseUnlisted = "else-unlisted",
        /// Missing, no text, empty or blank: the first line of the body that is not blank.
        ElseFirstBodyLine = "else-first-body-line",
        /// As [`Self::ElseFirstBodyLine`], but a blank one is kept.
        BlankElseFirstBodyLine = "blank-else-first-body-line",
        /// Missing or empty: the first heading of the body, else the name.
        ElseFirstHeading = "else-first-heading",
        /// Missing: the first three lines of the body that are neither blank nor headings, joined
        /// with blanks, at most 1,024 characters. A null, number, list or map drops the skill.
        ElseBodyLines = "else-body-lines",
        /// Missing, null or empty: the first line of the body that is neither blank nor a heading.
        /// A blank one is kept; a number, list or map drops the skill.
        ElseBodyLine = "else-body-line",
    }
}

impl DescriptionRule {
    /// Returns whether a skill without a description is dropped.
    pub const fn drops_missing(self) -> bool {
        matches!(self, Self::Required | Self::NotEmpty | Self::Present)
    }
}

/// A requirement; the agent drops a skill that violates it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The body is not empty.
    Body,
    BodyText,
    /// There is frontmatter, or text.
    Content,
    Frontmatter,
    /// The description has at most this many UTF-16 units.
    DescriptionAtMost(usize),
    /// The field is missing, or has this form.
    Field(FieldForm, Text),
    /// The field is missing, not written, or a map in which one key is missing or a scalar.
    MapWith {
        key: Text,
        scalar: Text,
    },
}

keyword_enum! {
    /// The form that an agent requires of a field, unless it is missing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    FieldForm {
        /// Text.
        TextOnly = "text",
        /// A list of texts.
        ListOfTexts = "texts",
        /// Text or a list of texts.
        TextOrTexts = "text-or-texts",
        /// Null or a list.
        ListOrNull = "list",
        /// Null or text.
        TextOrNull = "text-or-null",
        /// `true` or `false`.
        Flag = "flag",
        /// Null, `true` or `false`; `true` hides the skill. The first field with a flag decides
        /// among those that switch a skill.
        OffIfTrue = "off-if-true",
        /// As [`Self::OffIfTrue`], but `false` hides the skill.
        OffIfFalse = "off-if-false",
        /// A map of texts.
        MapOfTexts = "map-of-texts",
    }
}

impl FieldForm {
    /// Requires this form of a field.
    pub(crate) fn of(self, key: &'static str) -> Requirement {
        Requirement::Field(self, key.into())
    }
}

/// One way of reading a frontmatter; see [`crate::loaders`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadStrategy {
    /// The whole block is YAML.
    Strict,
    /// Problematic one-line scalars are quoted before parsing.
    Quote(Quoting),
    /// One-line values with a colon become block scalars before parsing, if the first line is `---`
    /// alone.
    Block,
    /// Name and description are taken from the lines that begin with them, also if YAML parses them
    /// as another type than text.
    Lines,
    /// As [`Self::Lines`], but only if the block is not valid YAML, and one of the two is enough
    /// (Qoder, measured).
    InvalidLines,
    /// Each line with a colon is a key and its value (Qwen Code, read in its source).
    ColonLines,
    /// Each line with a colon is a key and its value, also if it is indented; quotes around the
    /// value are taken off (Factory Droid, read in its program).
    AnyLines,
    /// Each top-level key is parsed separately.
    PerKey,
}

/// An agent's rule for quoting values before parsing again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quoting {
    /// Top-level values with one of ``{}[]*&#!|>%@` `` or a `: ` anywhere in them, in double
    /// quotes (re-implementations of Claude Code's reader agree on this list).
    ClaudeCode,
    /// Values at any depth that contain `: `, or that start with one of ``[{@` `` and are not valid
    /// YAML alone, in single quotes; comments stay outside (Codex, read in its source).
    Codex,
    /// Top-level values that are not valid YAML alone, in double quotes (the client guide's advice;
    /// valid values stay unchanged).
    ClientGuide,
    /// As [`Self::ClientGuide`], but the description alone (OpenClaw, read in its source).
    Description,
}

keyword_enum! {
    /// An agent's behaviour if no load strategy can read the frontmatter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    OnInvalidYaml {
        /// The skill is dropped.
        Drop = "drop",
        /// The body is loaded without metadata.
        EmptyMetadata = "empty-metadata",
    }

    /// Policy for several skills with one name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    DuplicatePolicy {
        /// The first in scan order wins.
        FirstWins = "first-wins",
        /// The last in scan order wins.
        LastWins = "last-wins",
        /// The last in scan order wins by design; the agent reads files concurrently, so in fact
        /// the file read last wins.
        LastWinsByRace = "last-wins-by-race",
        /// All are listed.
        KeepAll = "keep-all",
    }
}

impl DuplicatePolicy {
    /// Returns whether a later file wins over an earlier one.
    pub const fn last_wins(self) -> bool {
        matches!(self, Self::LastWins | Self::LastWinsByRace)
    }
}

keyword_enum! {
    /// The path by which an agent identifies a file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    PathIdentity {
        /// The path by which discovery reached it.
        AsReached = "as-reached",
        /// The path by which discovery reached it first: a path that is reached again keeps its
        /// first place in the scan order.
        AsFirstReached = "as-first-reached",
        /// As [`Self::AsReached`], but of several paths of one file the first in scan order counts,
        /// also if the last skill of a name wins.
        FirstFile = "first-file",
        /// The path with symbolic links resolved. A file reached twice counts once.
        Canonical = "canonical",
    }

    /// Treatment of an irregularity in a file's encoding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    EncodingPolicy {
        /// Accepted.
        Accept = "accept",
        /// The skill is dropped.
        Drop = "drop",
        /// The frontmatter is not recognised, and is part of the body (a byte order mark in Qoder).
        AsBody = "as-body",
    }
}
