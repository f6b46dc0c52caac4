//! The types of `trust/*`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;

skills_params! {
    /// Which directory is meant: `dir`, or the worktree of `cwd`; without both all are listed.
    TrustGetParams {
        /// The directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dir: Option<String>,
        /// Whether the skills there are looked at for what waits for trust; no when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiting: Option<bool>,
    }
}

/// What the user has said about directories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustGetResult {
    /// The directory that was meant, without links on the way; null where none was.
    pub dir: Option<String>,
    /// How `dir` and `decided` are written; absent when they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whether what comes with it is trusted.
    pub trusted: bool,
    /// The directory of which the user has said so: it, or one above it; null where nothing was
    /// said.
    pub decided: Option<String>,
    /// All directories of which the user has said something, by path.
    pub all: Vec<TrustedDir>,
    /// The skills seen from there that would do more if they were trusted, in the profile's order;
    /// empty unless `waiting` asks for them.
    #[serde(default)]
    pub waiting: Vec<WaitingSkill>,
    /// The coverage of trust in the place: each skill seen from there that may run something, with all
    /// of its files; empty unless `waiting` asks for it.
    #[serde(default)]
    pub covers: Vec<CoveredSkill>,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// A skill as trust covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CoveredSkill {
    /// Its name.
    pub name: String,
    /// Its SKILL.md.
    pub path: String,
    /// The encoding of `path`; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Number of its files, helpers included.
    pub files: u64,
    /// Number of scripts among them that `skills/run` runs.
    pub scripts: u64,
    /// Number of hooks in its frontmatter.
    pub hooks: u64,
    /// Number of shell commands in its text.
    pub commands: u64,
    /// The hash of all its files: names, contents, and whether they can be executed. Null where it
    /// has too many files or too large ones, and runs nothing.
    pub hash: Option<String>,
}

/// A skill that asks for trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingSkill {
    /// Its name.
    pub name: String,
    /// Its SKILL.md.
    pub path: String,
    /// The encoding of `path`; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// What it would do.
    pub needs: Vec<TrustNeed>,
    /// Whether the place is trusted, and the file or a script of it has changed, or come, since: it asks before it runs.
    pub changed: bool,
}

word_enum! {
    /// What a skill may only do where it is trusted.
    TrustNeed {
        /// Be seen at all, by the agent's rule or by `require_trust`.
        List = "list",
        /// Have its hooks run.
        Hooks = "hooks",
        /// Have the commands in its text run.
        Shell = "shell",
        /// Have its scripts run.
        Scripts = "scripts",
    }
}

/// What the user has said about a directory and what is below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustedDir {
    /// The directory, without links on the way.
    pub dir: String,
    /// How `dir` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whether it is trusted.
    pub trusted: bool,
}

skills_params! {
    /// Which directory is trusted from now on, or not: `dir`, or the worktree of `cwd`.
    TrustSetParams {
        /// The directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dir: Option<String>,
        /// Whether it is trusted; null forgets what was said of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trusted: Option<bool>,
    }
}

/// What holds from now on; it is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustSetResult {
    /// The directory, without links on the way.
    pub dir: String,
    /// How `dir` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whether what comes with it is trusted now.
    pub trusted: bool,
    /// How many skills may run things as they are; one that is changed later asks before it does.
    pub skills: u64,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}
