//! Types of `permission/*`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::null::null_is_default;
use crate::error::PermissionRule;
use crate::path::PathEncoding;
use crate::wire::Health;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;

word_enum! {
    /// Decision about an action that needs permission.
    PermissionAction {
        /// The action is allowed.
        Allow = "allow",
        /// The user must decide.
        Ask = "ask",
        /// The action is denied.
        Deny = "deny",
    }
}

word_enum! {
    /// The user's reply to a permission request.
    Reply {
        /// Allow this time.
        Once = "once",
        /// Allow now and in the future.
        Always = "always",
        /// Deny.
        Reject = "reject",
    }
}

skills_params! {
    /// The action to check. The user is not asked.
    PermissionCheckParams {
        /// Kind of permission: `skill`, or one of the agent's own.
        permission: String,
        /// Objects of the action; for `skill` the names of the skills.
        patterns: Vec<String>,
    }
}

/// Result of a permission check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionCheckResult {
    /// Clock of the view.
    pub clock: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
    /// The decision; for several patterns the strictest.
    pub action: PermissionAction,
    /// The rule that decided; null if none did. A rule without a source is an earlier `always`.
    pub rule: Option<PermissionRule>,
    /// Reason, one sentence.
    pub reason: String,
    /// For `ask`: patterns that an `always` may allow, the narrowest first.
    pub suggestions: Vec<String>,
}

skills_params! {
    /// The action that needs permission, with information for the user.
    PermissionRequestParams {
        /// Kind of permission: `skill`, or one of the agent's own.
        permission: String,
        /// Objects of the action; for `skill` the names of the skills.
        patterns: Vec<String>,
        /// Patterns that an `always` allows; the narrowest suggestions if empty.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        always: Vec<String>,
        /// Additional information for the user; passed on unchanged.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Map::is_empty")]
        metadata: Map<String, Value>,
        /// Time limit in milliseconds; at most `permission.timeout`. With 0 the user is not asked,
        /// and a request that needs approval times out at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    }
}

/// Result of a permission request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequestResult {
    /// The decision: `allow` or `deny`.
    pub action: PermissionAction,
    /// The user's reply; null if the user was not asked or did not reply.
    pub reply: Option<Reply>,
    /// The user's message.
    pub message: Option<String>,
    /// True if the user did not reply in time, which denies the request.
    pub timed_out: bool,
    /// The rule that decided or required approval; null if none applied.
    pub rule: Option<PermissionRule>,
    /// Reason, one sentence.
    pub reason: String,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// Reply to a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionReplyParams {
    /// Id of the request, from `permission/pending`, an event or an error.
    pub id: String,
    /// The reply.
    pub reply: Reply,
    /// Message for the model, usually with a `reject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The patterns that an `always` allows, from the request's `always` and `suggestions`; all of
    /// its `always` if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub always: Vec<String>,
}

/// Requests answered by a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionReplyResult {
    /// Id of the request.
    pub id: String,
    /// Ids of other requests that an `always` answered too.
    pub also: Vec<String>,
    /// Current problems, including an `always` that could not be saved.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// The requests to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionPendingParams {
    /// Id of a session; all sessions if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Pending permission requests, the oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionPendingResult {
    /// The requests.
    pub requests: Vec<PendingPermission>,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// A pending permission request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingPermission {
    /// Id of the request, for `permission/reply`.
    pub id: String,
    /// Kind of permission: `skill`, or one of the agent's own.
    pub permission: String,
    /// Objects of the action; for `skill` the name of the skill.
    pub patterns: Vec<String>,
    /// Patterns that an `always` allows.
    pub always: Vec<String>,
    /// Alternative patterns for an `always`, the narrowest first.
    pub suggestions: Vec<String>,
    /// Information for the decision; for a skill its `name`, `path`, `description`, and the action
    /// in `act`: `load`, `shell` or `run`.
    pub metadata: Map<String, Value>,
    /// Reason why the user is asked, one sentence.
    pub reason: String,
    /// The rule that requires approval; null if none.
    pub rule: Option<PermissionRule>,
    /// Id of the session; null if the call named none.
    pub session: Option<String>,
    /// The agent in the session; null for the main agent.
    pub agent: Option<String>,
    /// Working directory of the agent.
    pub cwd: String,
    /// Encoding of `cwd`; absent if it is plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Profile whose rules apply.
    pub profile: String,
    /// True if a call waits for the reply; otherwise the reply applies to the next call.
    pub waiting: bool,
    /// Time of the request, in milliseconds since 1970.
    pub at: u64,
    /// Time at which the request is denied without a reply, in milliseconds since 1970.
    pub expires: u64,
}

skills_params! {
    /// The worktree whose `always` grants to list.
    PermissionGrantedParams {}
}

/// Permissions granted by `always` in a worktree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionGrantedResult {
    /// The grants, in the order in which they were given.
    pub grants: Vec<PermissionGrant>,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// A permanent permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionGrant {
    /// Kind of permission.
    pub permission: String,
    /// The allowed pattern.
    pub pattern: String,
}

skills_params! {
    /// The `always` grant to revoke.
    PermissionRevokeParams {
        /// Kind of permission.
        permission: String,
        /// The allowed pattern, as in `permission/granted`.
        pattern: String,
    }
}

/// Result of revoking a grant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PermissionRevokeResult {
    /// True if the grant existed.
    pub revoked: bool,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}
