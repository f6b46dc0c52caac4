//! The types of `skills/list`, `dirs`, `get`, `resources` and `read`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{By, Diagnostic, Entry, FieldRanges, Health, State};

word_enum! {
    /// Which skills a list holds: a state, or all of them.
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
    /// Returns whether it asks for skills in this state.
    pub fn covers(self, state: State) -> bool {
        match self {
            Self::All => true,
            _ => self.as_str() == state.as_str(),
        }
    }
}

skills_params! {
    /// Which skills to list.
    ListParams {
        /// States to list besides `active` and `activated`, or `all`.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        include: Vec<Include>,
        /// The clock of an earlier answer to the same question: only what changed since is listed.
        /// Where that is not known any more, the answer is `fresh` and holds everything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<String>,
        /// How many to list at most; the rest is reached with `cursor`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// The `nextCursor` of the answer before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<String>,
    }
}

/// A list of skills. Servers that hold entries as text put that in place of [`Entry`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListResult<E = Entry> {
    /// The view's clock, for `since`.
    pub clock: String,
    /// What is unwell.
    #[serde(default = "Vec::new")]
    pub health: Vec<Health>,
    /// Whether this is the whole list rather than what changed since.
    pub fresh: bool,
    /// Where to go on; null at the end.
    pub next_cursor: Option<String>,
    /// The skills, in the profile's own order.
    pub skills: Vec<E>,
    /// What has left the list since; empty when `fresh`.
    #[serde(default = "Vec::new")]
    pub removed: Vec<Removed>,
    /// Where each of `skills` stands in the whole list, from 0; absent when `fresh`. Whoever takes
    /// out of the list it has what is in `removed` and `skills`, by `path`, and then puts in each
    /// of `skills` at its position, one after the other, has the list as it is now.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<u32>,
}

/// A skill that has left the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// The name it had.
    pub name: String,
    /// The SKILL.md it was, absolute.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

skills_params! {
    /// What to find.
    SearchParams {
        /// What is wanted, in a person's words or as a name; 1,000 characters at most.
        query: String,
        /// States to search besides `active` and `activated`, or `all`.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        include: Vec<Include>,
        /// How many to find at most, 10 when absent, 100 at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

/// The skills that answer a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default = "Vec::new")]
    pub health: Vec<Health>,
    /// The skills, the best answer first.
    pub skills: Vec<SearchHit>,
}

/// A skill that answers a query: an entry with more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The skill.
    #[serde(flatten)]
    pub skill: Entry,
    /// How well it answers, from 0 to 1; 1 is the exact name.
    pub score: f64,
    /// Where the query was found: `name`, `description`, `when_to_use`, `tags`.
    #[serde(default = "Vec::new")]
    pub matched: Vec<String>,
}

skills_params! {
    /// Whose directories to list.
    DirsParams {}
}

/// The directories of the listed skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirsResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The directories, absolute, in the order of the list.
    pub dirs: Vec<String>,
    /// How `dirs` are written; absent when all are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
}

skills_params! {
    /// Which skill to give: one of `name` and `path`.
    GetParams {
        /// The skill's name; of several the one that wins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    }
}

/// One skill with its frontmatter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The skill as a list shows it; its fields stand beside these.
    #[serde(flatten)]
    pub skill: Entry,
    /// All its frontmatter as JSON, keys in the order of the file.
    pub frontmatter: Map<String, Value>,
    /// Where each top-level key and its value are written.
    pub ranges: BTreeMap<String, FieldRanges>,
    /// The findings about it, in the order of the file.
    pub findings: Vec<Diagnostic>,
}

word_enum! {
    /// Which files of a skill to list.
    Only {
        /// All of them.
        Files = "files",
        /// Those that can be executed.
        Scripts = "scripts",
    }
}

skills_params! {
    /// Whose files to list.
    ResourcesParams {
        /// The skill's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute, in place of the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// How many to list at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// Which of them; all when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Only>,
    }
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourcesResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The files, sorted by relative path.
    pub resources: Vec<Resource>,
    /// Whether there are more than were listed.
    pub truncated: bool,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its path beneath the skill's directory.
    pub relative: String,
    /// Its absolute path.
    pub absolute: String,
    /// How both are written; absent when they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it can be executed.
    pub executable: bool,
}

skills_params! {
    /// What to read.
    ReadParams {
        /// The skill's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its SKILL.md or its directory, absolute, in place of the name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The file's path beneath the skill's directory.
        relative: String,
        /// The first byte to read; 0 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// How many bytes to read at most; up to the limit when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        length: Option<u64>,
        /// Who reads it. For the model, which has to be said, what only the user may start is
        /// refused until the user has; the user is not asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
        /// Whether to wait for the user's answer where a rule wants one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait: Option<bool>,
    }
}

/// The content of a file, or of a part of it. Either `content` or `base64` is present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The file's absolute path.
    pub path: String,
    /// How `path` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The text, when the bytes read are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The bytes in base64, when they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// The whole file's size in bytes.
    pub size: u64,
    /// Whether the file goes on after what was read.
    pub truncated: bool,
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn include_has_a_word_for_every_state() {
        assert_eq!(Include::ALL.len(), State::ALL.len() + 1);
        for state in State::ALL {
            let covering = Include::ALL.iter().filter(|include| include.covers(*state)).count();
            assert_eq!(covering, 2, "{state}: `all` and its own word");
        }
    }

    #[test]
    fn the_entry_stands_beside_the_fields_of_get() {
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
    fn an_unknown_state_is_refused_by_name() {
        let error = serde_json::from_str::<ListParams>(r#"{"include":["actve"]}"#);
        let message = error.expect_err("unknown").to_string();
        assert!(message.starts_with("unknown variant `actve`, expected one of `all`"), "{message}");
    }
}
