//! The types of `skills/check`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Health, Range, RuleLevel, Severity};

skills_params! {
    /// What to check.
    CheckParams {
        /// Skills (`SKILL.md`), commands (`.claude/commands/**/*.md`), what tells agents of skills
        /// (`CLAUDE.md`, `AGENTS.md`, `GEMINI.md`, agents' files), and directories below which they
        /// are looked for, absolute; `cwd` when there are none.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        paths: Vec<String>,
        /// Whose agents count; those of the configuration when there are none.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        profiles: Vec<String>,
        /// What is decided about rules behind what the configuration does: the last that fits
        /// counts.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        levels: Vec<RuleLevel>,
        /// Whether to say of each file what all fixes with one right answer come to.
        #[serde(
            default,
            skip_serializing_if = "std::ops::Not::not",
            deserialize_with = "crate::wire::null_is_default"
        )]
        fix_all: bool,
        /// How many files with findings to give at most; the rest is reached with `cursor`. What is
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

/// What is wrong with the files that were checked. Servers that hold files as text put that in place
/// of [`CheckedFile`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckResult<F = CheckedFile> {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// How many skills and commands were checked, on whichever page; instructions that speak of them
    /// come besides.
    pub checked: u64,
    /// The files with findings, sorted by path.
    pub files: Vec<F>,
    /// Where to go on; absent at the end. Whoever puts `files` of all pages one behind the other has
    /// all that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The files that `skillsd check --fix` was to mend and left as they are, because they were
    /// changed meanwhile; absent where there are none. A server mends nothing, and names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<UnmendedFile>,
}

/// A file that was to be mended and is as somebody else has written it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnmendedFile {
    /// The file, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

/// A file with findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedFile {
    /// The file, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The file's content as it was checked, `blake3:` and hexadecimal digits: whoever makes the
    /// edits compares it with what is there then. Null where not all of the file was read.
    #[serde(default)]
    pub hash: Option<String>,
    /// The findings, in the order of the file.
    pub findings: Vec<CheckFinding>,
    /// What the fixes with one right answer come to; absent where there are none, where nobody
    /// asked, and where not all of the file was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_all: Option<FixAll>,
}

/// What all fixes of a file come to that have one right answer, and those of what they uncover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixAll {
    /// The edits of the file as it is, in its order, none of which touches another.
    pub edits: Vec<CheckEdit>,
    /// How many fixes that is.
    pub made: u64,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFinding {
    /// The rule's stable name.
    pub code: String,
    /// The page about the rule; null where there is none on this machine.
    pub href: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// A sentence for a person.
    pub message: String,
    /// What to do about it; null when the message says it all.
    pub help: Option<String>,
    /// The profiles whose agents do what the finding says; absent when it is about the file for
    /// whoever reads it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<String>,
    /// Where it is.
    pub range: Range,
    /// How an editor may show it; absent when it is a finding like others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<FindingTag>,
    /// Other files that it has to do with.
    pub related: Vec<RelatedFile>,
    /// How it can be mended; one that is alone is the right answer.
    pub fixes: Vec<CheckFix>,
}

word_enum! {
    /// How an editor may show a finding.
    FindingTag {
        /// As something that could be left out.
        Unnecessary = "unnecessary",
        /// As something that there is better.
        Deprecated = "deprecated",
    }
}

/// Another file that a finding has to do with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RelatedFile {
    /// The file, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// What it has to do with it.
    pub message: String,
}

/// One way to mend a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFix {
    /// What it does.
    pub title: String,
    /// The edits, none of which touches another.
    pub edits: Vec<CheckEdit>,
}

/// A stretch of a file and what to put in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckEdit {
    /// What is replaced; empty to insert.
    pub range: Range,
    /// What stands there then.
    pub new_text: String,
}
