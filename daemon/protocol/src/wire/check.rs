//! Types of `skills/check`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::null::null_is_default;
use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Evidence, Health, Range, RuleLevel, Severity};

skills_params! {
    /// The files to check.
    CheckParams {
        /// Files or directories, absolute; `cwd` if empty. Files may be skills (`SKILL.md`),
        /// commands (`.claude/commands/**/*.md`) and instructions that mention skills (`CLAUDE.md`,
        /// `AGENTS.md`, `GEMINI.md`, agents' files); directories are searched for them.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
        /// The profiles to check for; those of the configuration if empty.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        profiles: Vec<String>,
        /// Rule levels that take precedence over the configuration; the last match counts.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        levels: Vec<RuleLevel>,
        /// True to return, for each file, the edits of all fixes with a single correct result.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        fix_all: bool,
        /// Maximum number of files with findings per response; request the rest with `cursor`. A
        /// result that exceeds one message is always split into pages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// The `nextCursor` of the previous response to the same call. All pages show the findings
        /// of the first. Refused if those are no longer kept and the findings have changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

/// Findings in the checked files. Servers that hold files as JSON text use that in place of
/// [`CheckedFile`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult<F = CheckedFile> {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The profiles whose rules were applied.
    #[serde(default)]
    pub profiles: Vec<ProfileName>,
    /// The reason for the profiles, as a sentence fragment; absent if the call names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of skills and commands checked, over all pages. Instructions that mention them are
    /// checked too, but not counted.
    pub checked: u64,
    /// The files with findings, sorted by path.
    pub files: Vec<F>,
    /// Cursor of the next page; absent on the last page. The `files` of all pages together are the
    /// complete result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Files that `skillsd check --fix` did not change, because they changed since the check;
    /// absent if there are none. A server changes no files and returns none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<SkippedFile>,
}

/// A profile with its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileName {
    /// The profile's name.
    pub profile: String,
    /// The agent's name.
    pub agent: String,
    /// The source of the profile's rules; absent from a daemon of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Evidence>,
}

/// A file that was not fixed, because it changed since the check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedFile {
    /// The file, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// A file with findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedFile {
    /// The file, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Hash of the checked content, `blake3:` and hexadecimal digits; compare it with the file
    /// before you apply edits. Null if the file was not read completely.
    #[serde(default)]
    pub hash: Option<String>,
    /// Findings in file order.
    pub findings: Vec<CheckFinding>,
    /// Edits of all fixes with a single correct result; absent if there are none, if `fixAll` is
    /// false, or if the file was not read completely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_all: Option<FixAll>,
}

/// Edits of all fixes with a single correct result, including fixes for findings that the first
/// fixes reveal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixAll {
    /// Edits of the current file, in file order, not overlapping.
    pub edits: Vec<CheckEdit>,
    /// Number of fixes.
    pub made: u64,
}

/// A finding of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFinding {
    /// Stable name of the rule.
    pub code: String,
    /// Documentation page of the rule; null if it is not installed on this machine.
    pub href: Option<String>,
    /// Severity of the finding.
    pub severity: Severity,
    /// Description for users, one sentence.
    pub message: String,
    /// Suggested action; null if the message is enough.
    pub help: Option<String>,
    /// Profiles whose agents behave as the finding says; absent if it applies to every reader of
    /// the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// Position of the finding.
    pub range: Range,
    /// Presentation hint for editors; absent for ordinary findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<FindingTag>,
    /// Other files involved.
    pub related: Vec<RelatedFile>,
    /// Possible fixes; a single fix is the correct one.
    pub fixes: Vec<CheckFix>,
}

word_enum! {
    /// Presentation hint for editors.
    FindingTag {
        /// Text that can be removed.
        Unnecessary = "unnecessary",
        /// Text with a better alternative.
        Deprecated = "deprecated",
    }
}

/// Another file involved in a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelatedFile {
    /// The file, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Relation to the finding.
    pub message: String,
}

/// One possible fix of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFix {
    /// Description of the fix.
    pub title: String,
    /// The edits, not overlapping.
    pub edits: Vec<CheckEdit>,
}

/// A replacement of a range of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckEdit {
    /// The replaced range; empty to insert.
    pub range: Range,
    /// The replacement.
    pub new_text: String,
}
