//! The types of `events/subscribe`, `events/unsubscribe` and the notification `events/event`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::PathEncoding;
use crate::wire::context::skills_params;
use crate::wire::entry::word_enum;
use crate::wire::{Health, Reply};

word_enum! {
    /// What an event is about.
    EventKind {
        /// A skill came, went or changed in a view: ask `skills/list` with `since`.
        SkillsChanged = "skills/changed",
        /// A skill came to be in a state that its agent drops, or a file can just not be read.
        SkillsInvalid = "skills/invalid",
        /// What a session has activated, discovered or invoked changed, or where it is, or it has
        /// ended: ask `session/get`.
        SessionChanged = "session/changed",
        /// Somebody waits for an answer: ask `permission/pending`.
        PermissionAsked = "permission/asked",
        /// A request was answered.
        PermissionReplied = "permission/replied",
        /// The findings about a skill changed, or the configuration has and they may have.
        DiagnosticsChanged = "diagnostics/changed",
        /// Something is unwell that was not, or well again.
        HealthChanged = "health/changed",
    }
}

skills_params! {
    /// What to be told of: with `cwd` (and `profile`, `session`, `additionalDirs`) of what that
    /// view shows, which is kept live as long as the subscription lasts; without it of everything
    /// that the daemon knows of.
    SubscribeParams {
        /// Which kinds of events; all when empty.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "crate::wire::null_is_default"
        )]
        kinds: Vec<EventKind>,
    }
}

/// A subscription that has begun. It ends with its connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeResult {
    /// Names the subscription on this connection.
    pub subscription: String,
    /// The kinds that are told.
    pub kinds: Vec<EventKind>,
    /// The view's clock now, for `since`; null without `cwd`.
    pub clock: Option<String>,
    /// What is unwell.
    #[serde(default)]
    pub health: Vec<Health>,
}

/// Which subscription to end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsubscribeParams {
    /// The name that `events/subscribe` gave.
    pub subscription: String,
}

/// Whether a subscription was ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsubscribeResult {
    /// Whether there was one of that name on this connection.
    pub ended: bool,
}

/// Something happened that a subscription is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventParams {
    /// The subscription.
    pub subscription: String,
    /// What happened.
    pub result: Event,
}

/// What happened. Of one kind at most one event of a subscription is on its way: one that comes
/// before it was sent takes its place, and the content is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// What it is about.
    pub kind: EventKind,
    /// The view's clock then; absent where it is about no view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// The directory of the view or the session; absent where it is about no place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The view's profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The session, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent in the session, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id of the request for permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// What the request was answered with; absent where nobody answered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// The skill's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The skill's SKILL.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How `cwd` and `path` are written; absent when they are plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_encoding: Option<PathEncoding>,
    /// What there is to say about it, as a sentence: why a skill is invalid, why the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Event {
    /// Returns an event of this kind that says nothing else.
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
    fn an_event_says_only_what_it_is_about() {
        let event = Event::new(EventKind::SkillsChanged);
        let text = serde_json::to_string(&event).expect("JSON");
        assert_eq!(text, r#"{"kind":"skills/changed"}"#);
        assert_eq!(serde_json::from_str::<Event>(&text).expect("one"), event);
    }
}
