//! Types of `hooks/*`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;

skills_params! {
    /// An event in a session.
    HooksMatchParams {
        /// Name of the event in the agent, for example `PreToolUse`.
        event: String,
        /// Name of the tool, if the event is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The event as the agent passes it to its hooks. For events that are not about a tool it
        /// contains the value that matchers are compared with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payload: Option<Value>,
    }
}

/// The hooks to run, in the order in which their skills were loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HooksMatchResult {
    /// Id of the session.
    pub session: String,
    /// The hooks; the agent runs them.
    pub hooks: Vec<MatchedHook>,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// A hook to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchedHook {
    /// Id of the hook, for `hooks/done`.
    pub id: String,
    /// The event it is bound to.
    pub event: String,
    /// The matcher as written; empty if none.
    pub matcher: String,
    /// The handler as written: `type`, `command` and other fields. The agent evaluates an `if` by
    /// its own permission rules.
    pub handler: Value,
    /// True if the hook is removed once `hooks/done` reports its success.
    pub once: bool,
    /// Name of the skill.
    pub skill: String,
    /// SKILL.md of the skill.
    pub path: String,
    /// Root of the skill: its directory, or its plugin's.
    pub root: String,
    /// Encoding of `path`, `root` and the values of `environment`; absent if they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Environment variables of the hook, in addition to the agent's own.
    pub environment: BTreeMap<String, String>,
}

skills_params! {
    /// The hook that has run.
    HooksDoneParams {
        /// Id of the hook.
        id: String,
        /// True if it succeeded.
        ok: bool,
    }
}

/// Result of reporting a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksDoneResult {
    /// True if the hook is now removed: it had `once` and succeeded.
    pub removed: bool,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}
