//! Data of the view ([`TopState`]): the daemon's status, its sessions, and recent events.
//!
//! Updated after each event, and every second without one.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use skills_protocol::method::{ServerStatus, SessionGet, SessionList};
use skills_protocol::wire::{
    Event, EventKind, SessionGetParams, SessionListParams, SessionSummary, StatusParams,
    StatusResult,
};

use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::subscription::SubscriptionEvent;

/// Maximum number of events and activations that are kept; no terminal shows more.
const MAX_HISTORY: usize = 200;

/// Maximum number of sessions whose earlier activations are fetched.
const MAX_INITIAL_SESSIONS: usize = 20;

/// Status, sessions and recent events of the daemon.
pub(super) struct TopState {
    client: Client,
    /// Status of the daemon; `None` before the first update.
    pub(super) status: Option<StatusResult>,
    pub(super) updated: Instant,
    /// Sessions, most recently used first.
    pub(super) sessions: Vec<SessionSummary>,
    /// Events, newest first.
    pub(super) events: VecDeque<(Instant, Event)>,
    pub(super) n_events: u64,
    /// Activated skills, newest first.
    pub(super) activations: VecDeque<ActivatedRow>,
    // Known activations by session and path.
    known_activations: BTreeSet<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ActivatedRow {
    /// Time of the activation; `None` if it was before `top` started.
    pub(super) at: Option<Instant>,
    pub(super) session: String,
    /// Path of the SKILL.md, with its encoding.
    pub(super) skill: (String, Option<skills_protocol::path::PathEncoding>),
    /// Path of the file that matched, with its encoding.
    pub(super) file: (String, Option<skills_protocol::path::PathEncoding>),
}

impl TopState {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            status: None,
            updated: Instant::now(),
            sessions: Vec::new(),
            events: VecDeque::new(),
            n_events: 0,
            activations: VecDeque::new(),
            known_activations: BTreeSet::new(),
        }
    }

    /// Applies a message of the subscription.
    pub(super) async fn apply(&mut self, message: &SubscriptionEvent) -> Result<(), ClientError> {
        match message {
            SubscriptionEvent::Begun(_) => {
                self.update().await?;
                let sessions: Vec<_> = self
                    .sessions
                    .iter()
                    .take(MAX_INITIAL_SESSIONS)
                    .map(|it| it.session.clone())
                    .collect();
                for session in sessions.iter().rev() {
                    self.update_activations(session, None).await?;
                }
            }
            SubscriptionEvent::Event(event) => {
                self.n_events += 1;
                self.events.push_front((Instant::now(), event.clone()));
                self.events.truncate(MAX_HISTORY);
                self.update().await?;
                if let Some(session) = event.session.as_ref()
                    && event.kind == EventKind::SessionChanged
                {
                    self.update_activations(session, Some(Instant::now())).await?;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn update(&mut self) -> Result<(), ClientError> {
        self.status = Some(self.client.call::<ServerStatus>(&StatusParams {}).await?);
        self.updated = Instant::now();
        let result = self.client.call::<SessionList>(&SessionListParams {}).await?;
        self.sessions = result.sessions;
        self.sessions.sort_by_key(|it| std::cmp::Reverse(it.used));
        Ok(())
    }

    async fn update_activations(
        &mut self,
        session: &str,
        at: Option<Instant>,
    ) -> Result<(), ClientError> {
        let session_param = Some(session.to_owned());
        let params = SessionGetParams { session: session_param, ..SessionGetParams::default() };
        let result = match self.client.call::<SessionGet>(&params).await {
            Ok(result) => result,
            // The session was closed in the meantime; the next list shows that.
            Err(ClientError::Rpc(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        for skill in result.activated {
            if self.known_activations.insert((session.to_owned(), skill.path.clone())) {
                self.activations.push_front(ActivatedRow {
                    at,
                    session: session.to_owned(),
                    skill: (skill.path, skill.path_encoding),
                    file: (skill.matched.path, skill.matched.path_encoding),
                });
            }
        }
        self.activations.truncate(MAX_HISTORY);
        Ok(())
    }
}
