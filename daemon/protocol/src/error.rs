//! Errors on the wire: the codes, and one constructor for each.
//!
//! `message` is a sentence for a person and `data.hint` says what to do about it; whatever a
//! program needs to react is in `data`.
//! Invariant: codes are never reused. Some of ours coincide with the dispatcher's own numbers for
//! its limits, so the server maps those to the codes here before they leave.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The text is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The JSON is not a request, or is a batch.
pub const INVALID_REQUEST: i32 = -32600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters do not fit the method. `data`: `path` and `limit` where one is over its limit.
pub const INVALID_PARAMS: i32 = -32602;
/// The daemon failed; a bug or a failing machine.
pub const INTERNAL_ERROR: i32 = -32603;
/// The request was cancelled by `$/cancelRequest`, as in the language server protocol, or the
/// daemon ends while it waits for the user.
pub const REQUEST_CANCELLED: i32 = -32800;
/// There is no skill of that name or path. `data`: `nearest`, `available`.
pub const SKILL_NOT_FOUND: i32 = -32001;
/// A permission rule denies it, or the user does. `data`: `rule`.
pub const DENIED: i32 = -32002;
/// The user has to be asked first. `data`: `requestId`.
pub const NEEDS_ASKING: i32 = -32003;
/// The worktree is not trusted.
pub const UNTRUSTED: i32 = -32004;
/// The configuration does not allow it.
pub const NOT_ALLOWED: i32 = -32005;
/// The file is not beneath the skill's directory.
pub const OUTSIDE_SKILL: i32 = -32006;
/// The message, the file or the answer is over its limit.
pub const TOO_LARGE: i32 = -32007;
/// It took longer than its limit.
pub const TIMED_OUT: i32 = -32008;
/// A model may not invoke this skill.
pub const NOT_INVOCABLE: i32 = -32009;
/// The daemon serves as many connections as it may. `data`: `limit`. Of the methods only
/// `initialize`, `server/status` and `server/shutdown` are answered, and where even the places kept
/// for these are taken, this is all that is said, without an id.
pub const TOO_MANY_CONNECTIONS: i32 = -32010;
/// What the user says cannot be kept: the state directory is full or may not be written.
pub const NOT_KEPT: i32 = -32011;

/// An error as it is on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// What kind of error; one of the constants of this module.
    pub code: i32,
    /// A sentence for a person.
    pub message: String,
    /// What a program needs to react.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_data")]
    pub data: Option<Box<ErrorData>>,
}

/// The details of an error. All fields are optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ErrorData {
    /// What to do about it, a full sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The names most like the one asked for, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Vec<String>>,
    /// The names that there are; never those that a rule denies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<Vec<String>>,
    /// The permission rule that decided, or that wanted the user asked; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<PermissionRule>,
    /// The permission request to reply to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The number that the profile's agent gives this error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<i32>,
    /// The limit that was passed, in the unit of what was limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The parameter that does not fit, for example `params.cwd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Anything more that helps to find the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A rule of the permission configuration and where it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRule {
    /// What it matches.
    pub pattern: String,
    /// What it decides: `allow`, `deny` or `ask`.
    pub action: String,
    /// Where it is written; absent for a built-in rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<RuleSource>,
}

/// A line of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleSource {
    /// The file's absolute path.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}

impl RpcError {
    /// Returns an error with this code and sentence and no details.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns the error with a hint: what to do about it, a full sentence.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.data_mut().hint = Some(hint.into());
        self
    }

    /// Returns the error with the parameter that is over its limit.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>, limit: u64) -> Self {
        let data = self.data_mut();
        data.path = Some(path.into());
        data.limit = Some(limit);
        self
    }

    /// Returns the error with the number that the profile's agent gives it.
    #[must_use]
    pub fn with_error_code(mut self, error_code: i32) -> Self {
        self.data_mut().error_code = Some(error_code);
        self
    }

    /// Returns the hint, where there is one.
    pub fn hint(&self) -> Option<&str> {
        self.data.as_deref()?.hint.as_deref()
    }

    fn data_mut(&mut self) -> &mut ErrorData {
        self.data.get_or_insert_default()
    }

    /// The text is not JSON.
    pub fn parse_error(detail: impl Into<String>) -> Self {
        let mut error = Self::new(PARSE_ERROR, "the message is not valid JSON");
        error.data_mut().detail = Some(detail.into());
        error.with_hint(
            "Send one JSON object for each message; `detail` says where this one ends to be one.",
        )
    }

    /// The JSON is not a request.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
            .with_hint("Send an object with `jsonrpc`, `id`, `method` and `params`.")
    }

    /// A batch, which is not supported.
    pub fn batch() -> Self {
        Self::invalid_request("batches are not supported")
            .with_hint("Send the requests one after the other; they are answered as they finish.")
    }

    /// There is no such method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("there is no method `{method}`")).with_hint(
            "The methods are listed in docs/protocol.md; `initialize` names the version.",
        )
    }

    /// The parameters do not fit the method.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
            .with_hint("The parameters of each method are in docs/protocol.md.")
    }

    /// The daemon failed; a bug or a failing machine.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL_ERROR, message)
            .with_hint("Run `skillsd status` to see whether the daemon is well.")
    }

    /// The request was cancelled.
    pub fn cancelled() -> Self {
        Self::new(REQUEST_CANCELLED, "the request was cancelled")
    }

    /// There is no skill of that name or path.
    pub fn skill_not_found(name: &str, nearest: Vec<String>, available: Vec<String>) -> Self {
        let hint = match nearest.first() {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Run `skillsd explain {name}` to see where it was looked for."),
        };
        let mut error = Self::new(SKILL_NOT_FOUND, format!("there is no skill `{name}`"));
        let data = error.data_mut();
        data.nearest = Some(nearest);
        data.available = Some(available);
        error.with_hint(hint)
    }

    /// A permission rule denies it.
    pub fn denied(message: impl Into<String>, rule: Option<PermissionRule>) -> Self {
        let mut error = Self::new(DENIED, message);
        if rule.is_some() {
            error.data_mut().rule = rule;
        }
        error
    }

    /// The user has to be asked first; `permission/reply` answers the request.
    pub fn needs_asking(message: impl Into<String>, request_id: impl Into<String>) -> Self {
        let mut error = Self::new(NEEDS_ASKING, message);
        error.data_mut().request_id = Some(request_id.into());
        error
    }

    /// The worktree is not trusted.
    pub fn untrusted(message: impl Into<String>) -> Self {
        Self::new(UNTRUSTED, message)
    }

    /// The configuration does not allow it.
    pub fn not_allowed(message: impl Into<String>) -> Self {
        Self::new(NOT_ALLOWED, message)
    }

    /// The file is not beneath the skill's directory.
    pub fn outside_skill(relative: &str) -> Self {
        Self::new(OUTSIDE_SKILL, format!("`{relative}` is outside the skill's directory"))
            .with_hint("Only files beneath the skill's own directory are served.")
    }

    /// The message, the file or the answer is over its limit.
    pub fn too_large(message: impl Into<String>, limit: u64) -> Self {
        let mut error = Self::new(TOO_LARGE, message);
        error.data_mut().limit = Some(limit);
        error
    }

    /// It took longer than its limit.
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(TIMED_OUT, message)
    }

    /// The daemon serves as many connections as it may.
    pub fn too_many_connections(limit: u32) -> Self {
        let mut error = Self::new(
            TOO_MANY_CONNECTIONS,
            format!("skillsd already serves {limit} connections, as many as it may"),
        );
        error.data_mut().limit = Some(limit.into());
        error.with_hint(
            "End agents that are not needed, raise `limits.connections`, or run `skillsd stop`.",
        )
    }

    /// What the user says cannot be kept.
    pub fn not_kept(message: impl Into<String>) -> Self {
        Self::new(NOT_KEPT, message).with_hint(
            "Make room on the disk, or give yourself write permission to the state directory (`$XDG_STATE_HOME/skillsd`).",
        )
    }

    /// The connection has as many subscriptions as it may.
    pub fn too_many_subscriptions(limit: u32) -> Self {
        let message =
            format!("this connection already has {limit} subscriptions, as many as it may");
        let mut error = Self::new(INVALID_PARAMS, message);
        error.data_mut().limit = Some(limit.into());
        error.with_hint("End one with `events/unsubscribe`, or open another connection.")
    }

    /// A model may not invoke this skill.
    pub fn not_invocable(name: &str) -> Self {
        Self::new(NOT_INVOCABLE, format!("a model may not invoke the skill `{name}`"))
    }
}

// The dispatcher's own errors carry a bare string as `data`; that must not hide the error itself.
fn lenient_data<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Box<ErrorData>>, D::Error> {
    let value = Option::<Value>::deserialize(d)?;
    Ok(value.filter(|value| !value.is_null()).map(|value| {
        let detail = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let known = value.is_object().then(|| serde_json::from_value(value).ok()).flatten();
        Box::new(known.unwrap_or(ErrorData { detail: Some(detail), ..ErrorData::default() }))
    }))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(error: &RpcError, expected: &Expect) {
        let text = serde_json::to_string(error).expect("an error is JSON");
        assert_eq!(serde_json::from_str::<RpcError>(&text).expect("and back"), *error);
        expected.assert_eq(&text);
    }

    #[test]
    fn a_missing_skill_names_its_neighbours() {
        check(
            &RpcError::skill_not_found("comit", vec!["commit".into()], vec!["commit".into()]),
            &expect![[
                r#"{"code":-32001,"message":"there is no skill `comit`","data":{"hint":"Did you mean `commit`?","nearest":["commit"],"available":["commit"]}}"#
            ]],
        );
    }

    #[test]
    fn a_denial_names_the_rule() {
        let source = Some(RuleSource { file: "/w/opencode.json".into(), line: 4 });
        let rule = PermissionRule { pattern: "x-*".into(), action: "deny".into(), source };
        check(
            &RpcError::denied("the skill `x-a` is denied", Some(rule)),
            &expect![[
                r#"{"code":-32002,"message":"the skill `x-a` is denied","data":{"rule":{"pattern":"x-*","action":"deny","source":{"file":"/w/opencode.json","line":4}}}}"#
            ]],
        );
    }

    #[test]
    fn foreign_data_becomes_a_detail() {
        let text = r#"{"code":-32603,"message":"m","data":"why"}"#;
        let error: RpcError = serde_json::from_str(text).expect("lenient");
        assert_eq!(error.data.and_then(|data| data.detail).as_deref(), Some("why"));
        let text = r#"{"code":-32603,"message":"m","data":null}"#;
        assert_eq!(serde_json::from_str::<RpcError>(text).expect("lenient").data, None);
    }
}
