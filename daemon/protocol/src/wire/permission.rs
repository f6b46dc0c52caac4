//! The types of `permission/*`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::PermissionRule;
use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;

word_enum! {
    /// What is to be done about something that needs permission.
    PermissionAction {
        /// It may be done.
        Allow = "allow",
        /// The user is asked.
        Ask = "ask",
        /// It may not be done.
        Deny = "deny",
    }
}

word_enum! {
    /// What the user answers.
    Reply {
        /// Yes, this time.
        Once = "once",
        /// Yes, and for good.
        Always = "always",
        /// No.
        Reject = "reject",
    }
}

skills_params! {
    /// What somebody wants to do. Nobody is asked.
    PermissionCheckParams {
        /// The kind: `skill`, or one of the agent's own.
        permission: String,
        /// What it is wanted for; of `skill` the skills' names.
        patterns: Vec<String>,
    }
}

/// Whether it may be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionCheckResult {
    /// The view's clock.
    pub clock: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
    /// What is to be done: of several patterns the strictest.
    pub action: PermissionAction,
    /// The rule that decided; null where none did. One without a source is an earlier `always`.
    pub rule: Option<PermissionRule>,
    /// Why, as a sentence.
    pub reason: String,
    /// Where the user is asked: the patterns that an `always` may allow, narrowest first.
    pub suggestions: Vec<String>,
}

skills_params! {
    /// What somebody wants to do, and what the user is told about it.
    PermissionRequestParams {
        /// The kind: `skill`, or one of the agent's own.
        permission: String,
        /// What it is wanted for; of `skill` the skills' names.
        patterns: Vec<String>,
        /// The patterns that an `always` allows; the narrowest suggestions when empty.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        always: Vec<String>,
        /// Anything that helps the user to decide; handed on as it is.
        #[serde(
            default,
            skip_serializing_if = "Map::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        metadata: Map<String, Value>,
        /// How long to wait, in milliseconds; at most what `permission.timeout` says. With 0 nobody is
        /// asked, and what the rules leave to the user is answered at once as timed out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequestResult {
    /// What is to be done: `allow` or `deny`.
    pub action: PermissionAction,
    /// What the user answered; null where nobody was asked, or nobody answered.
    pub reply: Option<Reply>,
    /// What the user said besides.
    pub message: Option<String>,
    /// Whether nobody answered in time, which counts as no.
    pub timed_out: bool,
    /// The rule that decided, or that wanted the user asked; null where none did.
    pub rule: Option<PermissionRule>,
    /// Why, as a sentence.
    pub reason: String,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionReplyParams {
    /// The request's id, from `permission/pending`, an event or an error.
    pub id: String,
    /// The answer.
    pub reply: Reply,
    /// What the model is told besides, most often of a `reject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Which of the request's `always` and `suggestions` an `always` allows; all of its `always`
    /// when empty.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::wire::null_is_default"
    )]
    pub always: Vec<String>,
}

/// What was answered with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionReplyResult {
    /// The request's id.
    pub id: String,
    /// Other requests that an `always` has answered as well.
    pub also: Vec<String>,
    /// What is unwell: an `always` that could not be kept is named here.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// Which requests to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionPendingParams {
    /// Those of one conversation; all when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The requests that wait for an answer, the oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionPendingResult {
    /// The requests.
    pub requests: Vec<PendingPermission>,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// A request that waits for the user's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingPermission {
    /// Its id, for `permission/reply`.
    pub id: String,
    /// The kind: `skill`, or one of the agent's own.
    pub permission: String,
    /// What it is wanted for; of `skill` the skill's name.
    pub patterns: Vec<String>,
    /// The patterns that an `always` allows.
    pub always: Vec<String>,
    /// The patterns that an `always` may allow in their place, narrowest first.
    pub suggestions: Vec<String>,
    /// What helps to decide; of a skill its `name`, `path`, `description`, and as `act` what is to
    /// be done with it: `load`, `shell` or `run`.
    pub metadata: Map<String, Value>,
    /// Why the user is asked, as a sentence.
    pub reason: String,
    /// The rule that wants it; null where none does.
    pub rule: Option<PermissionRule>,
    /// The conversation it is about; null where none was named.
    pub session: Option<String>,
    /// The agent in it; null for the main one.
    pub agent: Option<String>,
    /// The directory the agent works in.
    pub cwd: String,
    /// How `cwd` is written; absent when it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Whose rules apply.
    pub profile: String,
    /// Whether somebody waits for the answer; else it counts for the next call.
    pub waiting: bool,
    /// When it was asked, in milliseconds since 1970.
    pub at: u64,
    /// When it is answered with no, in milliseconds since 1970.
    pub expires: u64,
}

skills_params! {
    /// Where to look for what the user has allowed for good.
    PermissionGrantedParams {}
}

/// What an `always` has allowed in a worktree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionGrantedResult {
    /// In the order in which it was allowed.
    pub grants: Vec<PermissionGrant>,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// Something that is allowed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionGrant {
    /// The kind.
    pub permission: String,
    /// What is allowed.
    pub pattern: String,
}

skills_params! {
    /// Which `always` to take back.
    PermissionRevokeParams {
        /// The kind.
        permission: String,
        /// What was allowed, as `permission/granted` names it.
        pattern: String,
    }
}

/// Whether it was taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionRevokeResult {
    /// Whether it was allowed.
    pub revoked: bool,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}
