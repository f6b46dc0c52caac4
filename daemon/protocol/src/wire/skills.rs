//! Types of `skills/list`, `dirs`, `get`, `search`, `resources` and `read`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::null::null_is_default;
use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{By, Diagnostic, Entry, Evidence, FieldRanges, Health, State};

word_enum! {
    /// The states of skills to include: one state, or all.
    Include {
        /// Every state.
        All = "all",
        /// [`State::Active`].
        Active = "active",
        /// [`State::Conditional`].
        Conditional = "conditional",
        /// [`State::Activated`].
        Activated = "activated",
        /// [`State::Shadowed`].
        Shadowed = "shadowed",
        /// [`State::Invalid`].
        Invalid = "invalid",
        /// [`State::Hidden`].
        Hidden = "hidden",
        /// [`State::Denied`].
        Denied = "denied",
        /// [`State::Untrusted`].
        Untrusted = "untrusted",
        /// [`State::Ignored`].
        Ignored = "ignored",
        /// [`State::Refused`].
        Refused = "refused",
    }
}

impl Include {
    /// Returns true if skills in this state are included.
    pub fn covers(self, state: State) -> bool {
        match self {
            Self::All => true,
            _ => self.as_str() == state.as_str(),
        }
    }
}

skills_params! {
    /// The skills to list.
    ListParams {
        /// States to list in addition to `active` and `activated`, or `all`.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        include: Vec<Include>,
        /// The clock of an earlier response to the same call: only changes since then are listed.
        /// If that clock is no longer known, the response is `fresh` and complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
        /// Maximum number of skills per response; request the rest with `cursor`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// The `nextCursor` of the previous response.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

/// A list of skills. Servers that hold entries as JSON text use that in place of [`Entry`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResult<E = Entry> {
    /// Clock of the view, for `since`.
    pub clock: String,
    /// Current problems.
    #[serde(default = "Vec::new")]
    pub health: Vec<Health>,
    /// True if this is the complete list, false if it lists changes only.
    pub fresh: bool,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// The source of the profile's rules, if they were not measured on the running agent.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Evidence>,
    /// The skills, in the profile's order.
    pub skills: Vec<E>,
    /// Skills removed from the list since then; empty if `fresh`.
    #[serde(default = "Vec::new")]
    pub removed: Vec<Removed>,
    /// Position of each of `skills` in the complete list, from 0; absent if `fresh` and if there
    /// are none. To update a list, first remove the entries of `removed` and `skills` by `path`,
    /// then insert each of `skills` at its position, in order.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<u32>,
}

/// A skill removed from the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// Its last name.
    pub name: String,
    /// Its SKILL.md, absolute.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

skills_params! {
    /// The skills to search for.
    SearchParams {
        /// Query text: a name, or words that describe the skill; at most 1,000 characters.
        query: String,
        /// States to search in addition to `active` and `activated`, or `all`.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        include: Vec<Include>,
        /// Maximum number of results; 10 if absent, at most 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// Skills that match a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default = "Vec::new")]
    pub health: Vec<Health>,
    /// The skills, the best match first.
    pub skills: Vec<SearchHit>,
}

/// A skill that matches a query: an entry with additional fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The skill.
    #[serde(flatten)]
    pub skill: Entry,
    /// Score from 0 to 1; 1 is the exact name.
    pub score: f64,
    /// Fields that match the query: `name`, `description`, `when_to_use`, `tags`.
    #[serde(default = "Vec::new")]
    pub matched: Vec<String>,
}

skills_params! {
    /// The skills whose usage to list.
    UsageParams {
        /// Further states to include.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        include: Vec<Include>,
    }
}

/// Usage of the listed skills.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsageResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The skills that were loaded, the highest score first.
    pub skills: Vec<SkillUsage>,
}

/// Usage of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillUsage {
    /// Name of the skill.
    pub name: String,
    /// Its SKILL.md, absolute, or its address.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Number of loads.
    pub count: u64,
    /// Time of the last load, in milliseconds since 1970.
    pub used: u64,
    /// Score of the loads.
    pub score: f64,
}

skills_params! {
    /// The call whose profile to return.
    DetectParams {}
}

/// The profile of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetectResult {
    /// The profile's name.
    pub profile: String,
    /// The agent's name.
    pub agent: String,
    /// The source of the profile's rules; absent from a daemon of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Evidence>,
    /// The reason for the choice, as a sentence fragment; absent if the call names the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The agents that are present, in the order of choice, if the profile is the first of them;
    /// absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<PresentAgent>,
}

/// An agent that is installed, or that the worktree is set up for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresentAgent {
    /// Its profile.
    pub profile: String,
    /// Its name.
    pub agent: String,
    /// The source of its profile's rules; absent from a daemon of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Evidence>,
    /// The sign of its presence, as a sentence fragment.
    pub sign: String,
}

skills_params! {
    /// The skills whose directories to list.
    DirsParams {}
}

/// Directories of the listed skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirsResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The directories, absolute, in the order of the list.
    pub dirs: Vec<String>,
    /// Encoding of `dirs`; absent if all are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

skills_params! {
    /// The skill to return, by `name` or `path`.
    GetParams {
        /// Name of the skill; if several have it, the one that wins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }
}

/// A skill with its frontmatter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The skill as in a list; its fields are part of this object.
    #[serde(flatten)]
    pub skill: Entry,
    /// The complete frontmatter as JSON, with keys in file order. Words, such as `effort`, `model`
    /// and `shell`, are as their agent understands them; a key whose word it ignores is only in
    /// `ranges`. Empty, as `ranges` and `findings`, if `require_trust` is set and the skill is not
    /// trusted.
    pub frontmatter: Map<String, Value>,
    /// Ranges of each top-level key and its value.
    pub ranges: BTreeMap<String, FieldRanges>,
    /// Findings about the skill, in file order.
    pub findings: Vec<Diagnostic>,
}

word_enum! {
    /// Files of a skill to list.
    Only {
        /// All files.
        Files = "files",
        /// Executable files.
        Scripts = "scripts",
    }
}

skills_params! {
    /// The skill whose files to list.
    ResourcesParams {
        /// Name of the skill.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute; an alternative to `name`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Maximum number of files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// Kind of files; all if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Only>,
    }
}

/// Files of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourcesResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The files, sorted by relative path.
    pub resources: Vec<Resource>,
    /// True if there are more files.
    pub truncated: bool,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Path relative to the skill's directory.
    pub relative: String,
    /// Absolute path.
    pub absolute: String,
    /// Encoding of both paths; absent if they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Size in bytes.
    pub size: u64,
    /// True if it is executable.
    pub executable: bool,
}

skills_params! {
    /// The file to read.
    ReadParams {
        /// Name of the skill.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute; an alternative to `name`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Path of the file, relative to the skill's directory.
        relative: String,
        /// Offset of the first byte; 0 if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// Maximum number of bytes; up to the limit if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
        /// Origin of the request. If `model`, files of a skill that only the user may invoke are
        /// refused, without asking, until the user has invoked it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
        /// True to wait for the user's approval if a rule requires it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<bool>,
    }
}

/// Content of a file or a part of it; either `content` or `base64` is present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// Absolute path of the file.
    pub path: String,
    /// Encoding of `path`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The text, if the bytes are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The bytes in base64, if they are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Size of the complete file in bytes.
    pub size: u64,
    /// True if the file continues after the returned part.
    pub truncated: bool,
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn include_has_a_value_for_every_state() {
        assert_eq!(Include::ALL.len(), State::ALL.len() + 1);
        for state in State::ALL {
            let covering = Include::ALL.iter().filter(|include| include.covers(*state)).count();
            assert_eq!(covering, 2, "{state}: `all` and its own word");
        }
    }

    #[test]
    fn get_result_flattens_its_entry() {
        let result: GetResult = serde_json::from_str(
            r#"{"clock":"c","health":[],"name":"pdf","description":null,"path":"/w/pdf/SKILL.md",
                "dir":"/w/pdf","scope":"project","root":"/w","state":"active","reason":null,
                "paths":[],"label":null,"namespace":null,"modelInvocable":true,
                "userInvocable":true,"trusted":true,"hash":null,
                "diagnostics":{"error":0,"warning":0},"stale":false,
                "frontmatter":{},"ranges":{},"findings":[]}"#,
        )
        .expect("complete");
        let written = serde_json::to_value(&result).expect("plain");
        let keys: Vec<_> = written.as_object().expect("an object").keys().cloned().collect();
        expect![[r#"
            clock health name description path dir scope root state reason paths label namespace modelInvocable userInvocable trusted hash diagnostics stale frontmatter ranges findings"#]]
        .assert_eq(&keys.join(" "));
    }

    #[test]
    fn unknown_include_value_is_refused_by_name() {
        let error = serde_json::from_str::<ListParams>(r#"{"include":["actve"]}"#);
        let message = error.expect_err("unknown").to_string();
        assert!(message.starts_with("unknown variant `actve`, expected one of `all`"), "{message}");
    }
}
