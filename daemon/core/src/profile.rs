//! Profiles: each agent's own discovery rules, as data.
//!
//! A profile says where an agent looks, in what order, how deep, what it skips, how it reads a
//! file and who wins a name. One table ([`builtin`]) drives discovery, `explain` and the
//! compatibility documents; [`crate::resolve`] is the one reader of it. Nothing here decides:
//! a row is a statement about an agent, with the version and the kind of evidence behind it.

mod table;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// Text that is either built in or comes from a user's configuration.
pub type Text = Cow<'static, str>;

/// One agent's rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The name used on the wire and the command line, with its variant (`claude-code@founding`).
    pub id: Text,
    /// The agent's name as people know it.
    pub agent: Text,
    /// The version the rules were taken from.
    pub version: Text,
    /// How the rules are known.
    pub evidence: Evidence,
    /// The environment variables that discovery depends on: exact names. Views are keyed by
    /// their values; values are never logged.
    pub environment: Vec<Text>,
    /// Where the agent looks, in scan order.
    pub roots: Vec<RootRule>,
    /// How a skill gets its name.
    pub name: NameRule,
    /// How a skill gets its description.
    pub description: DescriptionRule,
    /// Which repairs of bad YAML the agent makes, in the order it tries them.
    pub ladder: Vec<Rung>,
    /// What becomes of a file that no rung could read.
    pub unreadable_yaml: Unreadable,
    /// Who wins when two files claim one name.
    pub duplicates: Duplicates,
    /// How bytes that are not UTF-8 are taken.
    pub bad_utf8: Encoding,
    /// How a byte order mark is taken.
    pub bom: Encoding,
    /// How CRLF line ends are taken.
    pub crlf: Encoding,
    /// Whether `paths:` makes a skill conditional.
    pub conditional: bool,
    /// Whether `disable-model-invocation` hides a skill from the model.
    pub hides_from_model: bool,
    /// When skill directories below the working directory are found.
    pub nested: Nested,
    /// Whether an untrusted project's skills are listed.
    pub needs_trust: bool,
}

impl Profile {
    /// Returns who acts by these rules, as the subject of a sentence.
    pub fn subject(&self) -> &str {
        match self.evidence {
            Evidence::Standard => "An Agent Skills client",
            Evidence::Run | Evidence::Source | Evidence::Documentation => &self.agent,
        }
    }
}

/// How a rule is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Measured on the running agent.
    Run,
    /// Read in the agent's source.
    Source,
    /// Taken from documentation, change logs and trackers.
    Documentation,
    /// Stated by the open standard and its client guide.
    Standard,
}

/// One place, or one family of places, where an agent looks.
#[derive(Clone, Debug, PartialEq)]
pub struct RootRule {
    /// Where the relative paths start.
    pub base: Base,
    /// Paths below the base, in scan order. At each level of [`Base::Ancestors`] all are tried.
    pub relative: Vec<Text>,
    /// What an entry found here is called.
    pub scope: Scope,
    /// How the directory is walked.
    pub walk: Walk,
}

/// Where a root's relative path starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    /// The user's home directory (`HOME`).
    Home,
    /// A directory named by an environment variable, else a path below home.
    Variable {
        /// The variable's name.
        name: Text,
        /// Used when the variable is unset or empty.
        below_home: Text,
    },
    /// The working directory and its ancestors, nearest first.
    Ancestors {
        /// The last directory that is looked at.
        stop: Stop,
    },
    /// An absolute path.
    Absolute(Text),
    /// Each directory the caller added, in its order.
    Additional,
}

/// Where a walk towards the root directory ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The working directory itself.
    Cwd,
    /// The top of the git worktree; outside git the working directory.
    Worktree,
    /// The file system's root.
    Filesystem,
}

/// Where an entry comes from, as the wire calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Set up by an administrator.
    Managed,
    /// The user's own.
    User,
    /// The worktree's.
    Project,
    /// Below the working directory, found by touching a file.
    Nested,
    /// In a directory the caller added.
    Additional,
}

impl Scope {
    /// Returns the word used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Nested => "nested",
            Self::Additional => "additional",
        }
    }
}

/// How a root directory is walked.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// How many directories below the root a skill's directory may be; none is unlimited.
    pub max_depth: Option<u16>,
    /// Whether a SKILL.md directly in the root counts.
    pub root_skill: bool,
    /// Whether directories whose names begin with a dot are entered.
    pub hidden: bool,
    /// Directory names that are never entered, at any depth.
    pub skipped: Vec<Text>,
    /// Directory names directly below the root that the agent keeps for itself.
    pub reserved: Vec<Text>,
    /// Whether directories inside a skill's directory are searched for more skills.
    pub into_skills: bool,
    /// Which symbolic links to directories are followed.
    pub directory_links: Links,
    /// Whether a SKILL.md may be a symbolic link.
    pub file_links: bool,
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// None.
    Never,
    /// Only those directly below the root.
    FirstLevel,
    /// All; each real directory counts once.
    Always,
}

/// How a skill gets its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NameRule {
    /// Where the name is taken from.
    pub source: NameSource,
    /// What happens to a name that is not text in YAML (`123`, `true`).
    pub scalars: Scalars,
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
pub enum Scalars {
    /// Read as their source text.
    Text,
    /// The skill is dropped.
    Refuse,
}

/// Which names an agent accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCheck {
    /// Any text.
    Any,
    /// The open standard's form; other names are loaded with a warning.
    StandardWarn,
}

/// How a skill gets its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionRule {
    /// Missing, null or empty: the skill is dropped.
    Required,
    /// Missing or empty: the first line of the body that is not blank.
    ElseFirstBodyLine,
}

/// One way of reading a frontmatter, see the leniency ladder in docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// The whole block is YAML.
    Strict,
    /// Problematic one-line scalars are quoted first.
    Quote,
    /// Each top-level key is read alone.
    PerKey,
}

/// What becomes of a file whose frontmatter no rung could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The skill is dropped.
    Drop,
    /// The body is loaded as if there were no frontmatter.
    EmptyMetadata,
}

/// Who wins a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// The first in scan order.
    FirstWins,
    /// The last in scan order.
    LastWins,
    /// Nobody: all are listed.
    KeepAll,
}

/// How an oddity of the file's encoding is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Accepted.
    Accept,
    /// The skill is dropped.
    Drop,
}

/// When skill directories below the working directory are found.
#[derive(Clone, Debug, PartialEq)]
pub enum Nested {
    /// Never.
    Never,
    /// When a file near them is touched, for the rest of the session.
    OnTouch {
        /// The directories looked for, relative to each directory on the way up.
        relative: Vec<Text>,
        /// How each is walked.
        walk: Walk,
        /// Whether git-ignored directories are left out.
        skip_git_ignored: bool,
    },
}

/// Returns the built-in profiles.
pub fn builtin() -> &'static [Arc<Profile>] {
    static TABLE: LazyLock<Vec<Arc<Profile>>> =
        LazyLock::new(|| vec![Arc::new(table::agentskills()), Arc::new(table::claude_code())]);
    &TABLE
}

/// Returns the built-in profile of that name.
pub fn find(id: &str) -> Option<&'static Arc<Profile>> {
    builtin().iter().find(|it| it.id == id)
}

/// The profile used when a caller names none.
pub const DEFAULT: &str = "agentskills";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_profile_exists_and_ids_are_unique() {
        assert!(find(DEFAULT).is_some());
        let mut ids: Vec<_> = builtin().iter().map(|it| it.id.clone()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), builtin().len());
    }

    #[test]
    fn every_variable_a_root_uses_is_in_the_views_key() {
        for profile in builtin() {
            for root in &profile.roots {
                let name = match &root.base {
                    Base::Home | Base::Variable { .. } => "HOME",
                    Base::Ancestors { .. } | Base::Absolute(_) | Base::Additional => continue,
                };
                assert!(profile.environment.iter().any(|it| it == name), "{}", profile.id);
                if let Base::Variable { name, .. } = &root.base {
                    assert!(profile.environment.contains(name), "{} {name}", profile.id);
                }
            }
        }
    }
}
