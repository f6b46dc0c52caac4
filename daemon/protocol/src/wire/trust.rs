//! Types of `trust/*`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;

skills_params! {
    /// The directory to examine: `dir`, or the worktree of `cwd`; without both, all trust decisions
    /// are listed.
    TrustGetParams {
        /// The directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dir: Option<String>,
        /// True to examine which skills there need trust; false if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiting: Option<bool>,
        /// True to return everything that trust in the directory would cover, with its digest;
        /// false if absent. Only the consent socket answers it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contents: Option<bool>,
    }
}

/// Trust decisions of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustGetResult {
    /// The canonical path of the examined directory; null if none was given.
    pub dir: Option<String>,
    /// Encoding of `dir` and `decided`; absent if they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// True if the directory is trusted.
    pub trusted: bool,
    /// The directory with the decision that applies: `dir` or one above it; null if none.
    pub decided: Option<String>,
    /// All directories with a decision, sorted by path.
    pub all: Vec<TrustedDir>,
    /// Skills seen from the directory that could do more if they were trusted, in the profile's
    /// order; empty unless `waiting` is true.
    #[serde(default)]
    pub waiting: Vec<WaitingSkill>,
    /// Skills seen from the directory that may run something, with all of their files; empty unless
    /// `waiting` is true.
    #[serde(default)]
    pub covers: Vec<CoveredSkill>,
    /// Digest of everything that trust in the directory would cover, for `trust/set`; absent unless
    /// `contents` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Every skill, command and plugin below the directory, seen by the profile or not, sorted by
    /// path; empty unless `contents` is true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<CoveredFiles>,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// The files of one skill, command or plugin that trust covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredFiles {
    /// The SKILL.md, the command file, or the directory of the plugin.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Number of files, helpers included.
    pub files: u64,
    /// Hash of all files, as in `covers`. Null if they are too many or too large; then none of them
    /// runs.
    pub hash: Option<String>,
}

/// A skill with the files that trust covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredSkill {
    /// Name of the skill.
    pub name: String,
    /// Its SKILL.md.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Number of its files, including helper files.
    pub files: u64,
    /// Number of scripts among them that `skills/run` can run.
    pub scripts: u64,
    /// Number of hooks in its frontmatter.
    pub hooks: u64,
    /// Number of shell commands in its text.
    pub commands: u64,
    /// Hash of all its files: names, contents and executable bits. Null if it has too many or too
    /// large files; it cannot run anything then.
    pub hash: Option<String>,
}

/// A skill that needs trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingSkill {
    /// Name of the skill.
    pub name: String,
    /// Its SKILL.md.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Actions that need trust.
    pub needs: Vec<TrustNeed>,
    /// True if the directory is trusted, but files of the skill were changed or added later; the
    /// user is asked before it runs anything.
    pub changed: bool,
}

word_enum! {
    /// An action of a skill that needs trust.
    TrustNeed {
        /// Being listed, because the agent or `require_trust` requires trust.
        List = "list",
        /// Running its hooks.
        Hooks = "hooks",
        /// Running the commands in its text.
        Shell = "shell",
        /// Running its scripts.
        Scripts = "scripts",
    }
}

/// The user's decision about a directory and everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustedDir {
    /// Canonical path of the directory.
    pub dir: String,
    /// Encoding of `dir`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// True if it is trusted.
    pub trusted: bool,
}

skills_params! {
    /// A trust decision for `dir`, or for the worktree of `cwd`.
    TrustSetParams {
        /// The directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dir: Option<String>,
        /// True to trust it, false to distrust it, null to remove the decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trusted: Option<bool>,
        /// Digest from `trust/get`. Trust is refused if the skills in the directory now have
        /// another digest; without one they are trusted as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
    }
}

/// Result of a trust decision, which is saved on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustSetResult {
    /// Canonical path of the directory.
    pub dir: String,
    /// Encoding of `dir`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// True if the directory is trusted now.
    pub trusted: bool,
    /// Number of skills that may run something in their current version; after a later change the
    /// user is asked first.
    pub skills: u64,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}
