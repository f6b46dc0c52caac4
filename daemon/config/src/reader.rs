//! [`ConfigReader`]: the state of reading one file, with the values and [`Problem`]s found so far.

use skills_syntax::text::{LineColumn, LineIndex};

use super::key::{ConfigKey, ConfigSource};
use super::table::{Config, ConfigValue};
use super::value::ValueError;

/// Result of reading a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Values of the keys without a problem; other keys have their default. Text that is not valid
    /// TOML is read as far as possible.
    pub config: Config,
    /// Problems, in text order.
    pub problems: Vec<Problem>,
    /// First place where a mistake may hide a rule of `permission.skill`.
    pub hidden_rule: Option<LineColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, starting at 1.
    pub line: u32,
    /// Column in characters, starting at 1.
    pub column: u32,
    /// The problem, as a sentence fragment.
    pub message: String,
    /// The remedy, as a sentence.
    pub hint: Option<String>,
}

/// Names that a file can use and that this crate does not know itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownNames<'a> {
    /// Rule ids; `None` accepts any name.
    pub rules: Option<&'a [&'a str]>,
    /// Profiles defined by another file.
    pub profiles: &'a [String],
}

/// State of reading one file: its text, the names that it can use, and the result so far.
pub(super) struct ConfigReader<'a> {
    pub(super) text: &'a str,
    pub(super) lines: LineIndex,
    pub(super) source: ConfigSource,
    /// Rule ids, if known.
    pub(super) rules: Option<&'a [&'a str]>,
    /// Names of the file's own profiles, which other keys can use.
    pub(super) own: Vec<String>,
    pub(super) parsed: Parsed,
}

impl ConfigReader<'_> {
    pub(super) fn line(&self, at: usize) -> u32 {
        self.place(at).0
    }

    /// Returns the line and column of an offset.
    pub(super) fn place(&self, at: usize) -> (u32, u32) {
        self.lines.display(self.text, at)
    }

    /// Returns the kind of file.
    pub(super) fn source(&self) -> ConfigSource {
        self.source
    }

    /// Records that a mistake at an offset may hide a permission rule.
    pub(super) fn hide_rule(&mut self, at: usize) {
        let (line, column) = self.place(at);
        let at = LineColumn { line, column };
        let first = self.parsed.hidden_rule.get_or_insert(at);
        *first = at.min(*first);
    }

    /// Sets a key, unless its value has errors, and returns these.
    pub(super) fn set_if_valid(
        &mut self,
        row: &ConfigKey,
        value: ConfigValue,
        errors: Vec<(usize, ValueError)>,
    ) -> Vec<(usize, ValueError)> {
        if errors.is_empty() {
            self.parsed.config.set(row.name, value);
        }
        errors
    }

    pub(super) fn problem(&mut self, at: usize, message: String, hint: Option<String>) {
        let (line, column) = self.lines.display(self.text, at);
        self.parsed.problems.push(Problem { line, column, message, hint });
    }
}
