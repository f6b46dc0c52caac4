//! The types of `hooks/*`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;

skills_params! {
    /// What has happened in a session.
    HooksMatchParams {
        /// The event, by the agent's name for it: `PreToolUse`.
        event: String,
        /// The tool that it is about, where it is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The event as the agent gives it to its hooks; says what a matcher is compared with where
        /// that is no tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<Value>,
    }
}

/// The hooks that run, in the order in which their skills were loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HooksMatchResult {
    /// The session.
    pub session: String,
    /// The hooks; the agent runs them.
    pub hooks: Vec<MatchedHook>,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// A hook that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchedHook {
    /// Its id, for `hooks/done`.
    pub id: String,
    /// The event it is bound to.
    pub event: String,
    /// The matcher as it is written; empty where there is none.
    pub matcher: String,
    /// The handler as it is written: `type`, `command` and the rest. An `if` is for the agent to
    /// judge, by its own rules of permission.
    pub handler: Value,
    /// Whether it goes once `hooks/done` has told of its success.
    pub once: bool,
    /// The skill's name.
    pub skill: String,
    /// The skill's SKILL.md.
    pub path: String,
    /// The skill's root: its directory, or that of its plugin.
    pub root: String,
    /// How `path`, `root` and the values of `environment` are written; absent when they are plain
    /// text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// The variables that it sees besides the agent's own.
    pub environment: BTreeMap<String, String>,
}

skills_params! {
    /// Which hook has run.
    HooksDoneParams {
        /// Its id.
        id: String,
        /// Whether it succeeded.
        ok: bool,
    }
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksDoneResult {
    /// Whether it is gone now: one with `once` that has succeeded.
    pub removed: bool,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}
