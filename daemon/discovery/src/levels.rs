//! [`ConfiguredLevels`]: the configured level of each rule, by rule or family, and by path.

use globset::{GlobBuilder, GlobMatcher};
use skills_syntax::diagnostic::Severity;
use skills_syntax::path::AbsPath;

/// Level at which a rule's findings are reported.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// Findings are not reported.
    Off,
    /// Findings have this severity.
    As(Severity),
}

impl Level {
    /// The words used in configuration files, from the mildest.
    pub const WORDS: [&str; 5] = ["off", "hint", "information", "warning", "error"];

    /// Returns the word used in configuration files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::As(Severity::Hint) => "hint",
            Self::As(Severity::Information) => "information",
            Self::As(Severity::Warning) => "warning",
            Self::As(Severity::Error) => "error",
        }
    }

    /// Parses a word from a configuration file.
    pub fn read(word: &str) -> Option<Self> {
        Some(match word {
            "off" => Self::Off,
            "hint" => Self::As(Severity::Hint),
            "information" => Self::As(Severity::Information),
            "warning" => Self::As(Severity::Warning),
            "error" => Self::As(Severity::Error),
            _ => return None,
        })
    }
}

/// Configured levels, in file order; the last match counts.
#[derive(Clone, Debug, Default)]
pub struct ConfiguredLevels {
    rows: Vec<GlobLevels>,
}

#[derive(Clone, Debug)]
struct GlobLevels {
    /// A rule id, a family or `*`.
    rule: String,
    /// The files it applies to; `None` for all files.
    files: Option<(AbsPath, GlobMatcher)>,
    level: Level,
}

impl ConfiguredLevels {
    /// Sets the level of a rule or a family of rules.
    pub fn set(&mut self, rule: &str, level: Level) {
        self.rows.push(GlobLevels { rule: rule.to_owned(), files: None, level });
    }

    /// Sets the level of a rule in the files that a glob matches. Paths are matched relative to
    /// `top`, or in full if they are not below it. Has no effect if the text is not a glob; check
    /// with [`is_glob`] first.
    pub fn set_for(&mut self, top: &AbsPath, glob: &str, rule: &str, level: Level) {
        // The rows of one glob are consecutive, so its matcher can be reused.
        let made = self.rows.iter().rev().find_map(|row| row.files.as_ref().map(|it| &it.1));
        let made = made.filter(|it| it.glob().glob() == glob).cloned();
        if let Some(matcher) = made.or_else(|| matcher(glob)) {
            let files = Some((top.clone(), matcher));
            self.rows.push(GlobLevels { rule: rule.to_owned(), files, level });
        }
    }

    /// Returns the configured level of a rule in a file; `None` if none is configured.
    pub fn level(&self, id: &str, path: Option<&AbsPath>) -> Option<Level> {
        let fits = |row: &&GlobLevels| {
            let here = match (&row.files, path) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some((top, glob)), Some(path)) => {
                    glob.is_match(path.strip_prefix(&**top).unwrap_or(path))
                }
            };
            here && names(&row.rule, id)
        };
        self.rows.iter().rev().find(fits).map(|it| it.level)
    }
}

/// Returns true if `pattern` matches the rule: its id, its family or `*`.
pub fn names(pattern: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(family) => family.ends_with('/') && id.starts_with(family),
        None => pattern == id,
    }
}

/// Returns true if the text is a valid file glob.
pub fn is_glob(glob: &str) -> bool {
    matcher(glob).is_some()
}

/// Maximum length of a glob, in bytes.
const LONGEST: usize = 1024;

fn matcher(glob: &str) -> Option<GlobMatcher> {
    if glob.len() > LONGEST {
        return None;
    }
    GlobBuilder::new(glob).literal_separator(true).build().ok().map(|it| it.compile_matcher())
}
