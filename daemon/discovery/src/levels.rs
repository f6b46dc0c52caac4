//! How much each rule matters to whoever configures: by rule or family, and by path.

use globset::{GlobBuilder, GlobMatcher};
use skills_syntax::diagnostic::Severity;
use skills_syntax::path::AbsPath;

/// What a rule's findings are made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// They are not shown.
    Off,
    /// They have this severity.
    As(Severity),
}

impl Level {
    /// The words of a configuration, the mildest first.
    pub const WORDS: [&str; 5] = ["off", "hint", "information", "warning", "error"];

    /// Returns the word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::As(Severity::Hint) => "hint",
            Self::As(Severity::Information) => "information",
            Self::As(Severity::Warning) => "warning",
            Self::As(Severity::Error) => "error",
        }
    }

    /// Reads a word of a configuration.
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

/// What has been decided about rules, in the order in which it was written: the last that fits
/// counts.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    /// A rule, a family or `*`.
    rule: String,
    /// Which files it is about; all when nothing is said.
    files: Option<(AbsPath, GlobMatcher)>,
    level: Level,
}

impl Levels {
    /// Decides about a rule, or a family of rules.
    pub fn set(&mut self, rule: &str, level: Level) {
        self.rows.push(Row { rule: rule.to_owned(), files: None, level });
    }

    /// Decides about a rule in the files that a glob matches, by their paths below `top` or, of
    /// others, whole. Nothing happens where it is no glob, which [`is_glob`] tells beforehand.
    pub fn set_for(&mut self, top: &AbsPath, glob: &str, rule: &str, level: Level) {
        // The rows of one glob follow each other.
        let made = self.rows.iter().rev().find_map(|row| row.files.as_ref().map(|it| &it.1));
        let made = made.filter(|it| it.glob().glob() == glob).cloned();
        if let Some(matcher) = made.or_else(|| matcher(glob)) {
            let files = Some((top.clone(), matcher));
            self.rows.push(Row { rule: rule.to_owned(), files, level });
        }
    }

    /// Returns what a rule's findings in a file are made, where that has been decided.
    pub fn level(&self, id: &str, path: Option<&AbsPath>) -> Option<Level> {
        let fits = |row: &&Row| {
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

/// Returns whether `pattern` stands for the rule: its id, its family or everything.
pub fn names(pattern: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(family) => family.ends_with('/') && id.starts_with(family),
        None => pattern == id,
    }
}

/// Returns whether a text is a glob of files.
pub fn is_glob(glob: &str) -> bool {
    matcher(glob).is_some()
}

/// The longest glob of a configuration, in bytes.
const LONGEST: usize = 1024;

fn matcher(glob: &str) -> Option<GlobMatcher> {
    if glob.len() > LONGEST {
        return None;
    }
    GlobBuilder::new(glob).literal_separator(true).build().ok().map(|it| it.compile_matcher())
}
