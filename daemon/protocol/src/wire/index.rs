//! The types of `index/snapshot`, `paths/match` and `skills/references`: what an editor needs.

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::{Health, Range, State};

skills_params! {
    /// What a snapshot is of.
    SnapshotParams {
        /// The profiles that count; `profile` alone when there are none, else those in wide use.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        profiles: Vec<String>,
        /// The clock of an earlier answer to the same question: where nothing has changed since,
        /// nothing is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
        /// How many files and places of profiles to give at most, counted together; the rest is
        /// reached with `cursor`. What is longer than one answer may be comes in pages anyway.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// The `nextCursor` of the answer before. Refused where anything has changed since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

/// Every skill that the profiles meet, and what each makes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotResult {
    /// The clock of the views together, for `since`.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Whether the lists are given; false where nothing has changed since, and they are empty.
    pub fresh: bool,
    /// Where to go on; absent at the end. Whoever puts `skills` of all pages one behind the other,
    /// and those of each profile, has the whole snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The top of the worktree, absolute; outside git the working directory.
    pub worktree: String,
    /// The user's home directory, where `~/` leads; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// How `worktree` and `home` are written; absent when they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Each file once, sorted by path.
    pub skills: Vec<SnapshotSkill>,
    /// What each profile makes of them, in the order asked for; each of them on every page.
    pub profiles: Vec<SnapshotProfile>,
    /// The user's own profiles and changes of built-in ones, as TOML with the table `profiles`;
    /// absent when there are none, nothing has changed since, or on a later page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_profiles: Option<String>,
    /// What the configuration decides about rules, in its order: the last that fits counts. Empty
    /// on a later page.
    #[serde(default)]
    pub levels: Vec<RuleLevel>,
}

/// How much a rule matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleLevel {
    /// A rule, a family such as `name/*`, or `*`.
    pub rule: String,
    /// `off`, `hint`, `information`, `warning` or `error`.
    pub level: String,
    /// The files that it is about, relative to the worktree's top; null when it is about all.
    pub glob: Option<String>,
}

/// One file, as it is for whoever reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotSkill {
    /// The file, absolute, as reached.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Which file it is: the same word for two paths that lead to one file, by a link say. It means
    /// nothing else. Absent where there is no file, or none that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The name that it gives itself, else that of its directory.
    pub name: String,
    /// The description that it gives itself; null when there is none.
    pub description: Option<String>,
    /// Its globs.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The file's content, `blake3:` and hexadecimal digits; null when it could not be read.
    pub hash: Option<String>,
}

/// What one profile makes of the skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotProfile {
    /// The profile.
    pub profile: String,
    /// Whether its agent keeps one skill of each name.
    pub unique: bool,
    /// What it met, in its scan order.
    pub skills: Vec<SnapshotPlace>,
    /// The directories of the disk in which its agent looks for them, in the same order: where a
    /// file that is not saved yet would be met. Empty on a later page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<SnapshotRoot>,
}

/// A directory in which an agent looks for skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotRoot {
    /// Where it is, or would be, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Its row among the roots of the profile, from 0.
    pub rule: u32,
    /// The first that was met there, as its place in the list of the profile, from 0.
    pub first: u32,
    /// How many were.
    pub count: u32,
}

/// One skill among those of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotPlace {
    /// The file, as its place in the snapshot's `skills`, from 0.
    pub skill: u32,
    /// The name as the agent reads it, with what stands before it.
    pub name: String,
    /// What stands before the name that the file or its directory gives; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// How many characters of description the agent reads; null when there is no description.
    pub description: Option<u32>,
    /// What became of it.
    pub state: State,
    /// Why; null where the state is plain.
    pub reason: Option<String>,
    /// When its claim to the name is heard: the lower is heard first.
    pub turn: u32,
    /// The skill that counts in its place, as its place in this list, from 0; null when it counts.
    pub winner: Option<u32>,
    /// Whether the winner is the same file by another way.
    #[serde(default)]
    pub same_file: bool,
}

skills_params! {
    /// Which patterns to try.
    PathsMatchParams {
        /// Globs as `paths` has them, matched as lines of a `.gitignore` at the worktree's top are.
        patterns: Vec<String>,
        /// How many files to name for each pattern; 10 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// What the patterns match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathsMatchResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The patterns, in their order.
    pub matches: Vec<PathMatches>,
}

/// What one pattern matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PathMatches {
    /// The pattern.
    pub pattern: String,
    /// How many files; null where the pattern is not valid or the worktree has too many files.
    pub count: Option<u64>,
    /// The first of them, sorted, relative to the worktree's top.
    pub files: Vec<String>,
}

skills_params! {
    /// Which references to find.
    ReferencesParams {
        /// The skill; all that there are when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// How many to give at most; 1,000 when absent. The rest is reached with `cursor`. What is
        /// longer than one answer may be comes in pages anyway.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// The `nextCursor` of the answer before, to the same question. Its pages are of what was
        /// found for the first of them; refused where that is not known any more and something else
        /// is found by now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

/// Where skills are named. Servers that hold places as text put that in place of
/// [`SkillReference`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReferencesResult<R = SkillReference> {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The places, sorted by file and place.
    pub references: Vec<R>,
    /// Whether there are more than these.
    pub truncated: bool,
    /// Where to go on; absent at the end. Whoever puts `references` of all pages one behind the other
    /// has all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A place where a skill is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillReference {
    /// The skill's name, as it is written.
    pub name: String,
    /// The file that names it, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// How it is written: `listed`, `allowed`, `mentioned`, `called`, `spoken` or, where a path
    /// leads through its directory, `linked`.
    pub form: String,
    /// Where the name stands.
    pub range: Range,
}
