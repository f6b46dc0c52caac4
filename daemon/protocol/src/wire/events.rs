//! Types of `events/subscribe`, `events/unsubscribe` and the notification `events/event`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::null::null_is_default;
use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Health, Reply};

word_enum! {
    /// Kind of an event.
    EventKind {
        /// A skill was added, removed or changed in a view; call `skills/list` with `since`.
        SkillsChanged = "skills/changed",
        /// A skill became invalid for its agent, or a file became unreadable.
        SkillsInvalid = "skills/invalid",
        /// The activated, discovered or invoked skills of a session changed, its directory changed,
        /// or it was closed; call `session/get`.
        SessionChanged = "session/changed",
        /// A permission request waits for a reply; call `permission/pending`.
        PermissionAsked = "permission/asked",
        /// A permission request was answered, by the user or by rules that have changed.
        PermissionReplied = "permission/replied",
        /// The findings about a skill changed, or a change of the configuration may have changed
        /// them.
        DiagnosticsChanged = "diagnostics/changed",
        /// A problem appeared or was solved.
        HealthChanged = "health/changed",
    }
}

skills_params! {
    /// The events to receive: with `cwd` (and `profile`, `session`, `additionalDirs`) those of that
    /// view, which is kept up to date while the subscription lasts; without `cwd` all events of the
    /// daemon.
    SubscribeParams {
        /// Kinds of events; all if empty.
        #[serde(default, deserialize_with = "null_is_default")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        kinds: Vec<EventKind>,
    }
}

/// A new subscription. It ends with its connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeResult {
    /// Id of the subscription on this connection.
    pub subscription: String,
    /// Kinds of events that are sent.
    pub kinds: Vec<EventKind>,
    /// Current clock of the view, for `since`; null without `cwd`.
    pub clock: Option<String>,
    /// Current problems.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// The subscription to end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsubscribeParams {
    /// Id from the result of `events/subscribe`.
    pub subscription: String,
}

/// Result of ending a subscription.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsubscribeResult {
    /// True if this connection had a subscription with this id.
    pub ended: bool,
}

/// An event of a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventParams {
    /// Id of the subscription.
    pub subscription: String,
    /// The event.
    pub result: Event,
}

/// An event. At most one event per subscription and kind is waiting to be sent; a newer one
/// replaces it. Request the content with the method named by the kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Kind of the event.
    pub kind: EventKind,
    /// Clock of the view at that time; absent if the event is not about a view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// Directory of the view or the session; absent if the event is not about a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Profile of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Id of the session, if the event is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent in the session, if the event is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Id of the permission request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Reply to the request; absent if it got none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// Name of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// SKILL.md of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Encoding of `cwd` and `path`; absent if they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// Additional information, one sentence: why a skill is invalid, or why the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Event {
    /// Returns an event with this kind and no other field.
    pub fn new(kind: EventKind) -> Self {
        Self {
            kind,
            clock: None,
            cwd: None,
            profile: None,
            session: None,
            agent: None,
            request: None,
            reply: None,
            name: None,
            path: None,
            path_encoding: None,
            message: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_serializes_without_absent_fields() {
        let event = Event::new(EventKind::SkillsChanged);
        let text = serde_json::to_string(&event).expect("JSON");
        assert_eq!(text, r#"{"kind":"skills/changed"}"#);
        assert_eq!(serde_json::from_str::<Event>(&text).expect("one"), event);
    }
}
