//! What the view knows: the daemon's own account, the conversations, and what has happened since.
//!
//! Asked for when the daemon tells of something, and each second while it tells of nothing.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use skills_protocol::method::{ServerStatus, SessionGet, SessionList};
use skills_protocol::wire::{
    Event, EventKind, SessionGetParams, SessionListParams, SessionSummary, StatusParams,
    StatusResult,
};

use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::subscription::Heard;

/// How many things that happened are kept; no window is higher.
const KEPT: usize = 200;

/// How many conversations are asked what they activated before the view began.
const ASKED: usize = 20;

/// What is known.
pub(super) struct Known {
    client: Client,
    /// The daemon's account; none before it was asked.
    pub(super) status: Option<StatusResult>,
    /// When it was asked.
    pub(super) asked: Instant,
    /// The conversations, the last used first.
    pub(super) sessions: Vec<SessionSummary>,
    /// What happened, the latest first.
    pub(super) events: VecDeque<(Instant, Event)>,
    /// How many events there were.
    pub(super) n_events: u64,
    /// Skills that were activated, the latest first.
    pub(super) activations: VecDeque<Activation>,
    // By session and path: which of them have been seen.
    seen: BTreeSet<(String, String)>,
}

/// A skill that was activated by a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Activation {
    /// When it was; none for one from before the view began.
    pub(super) at: Option<Instant>,
    /// The conversation.
    pub(super) session: String,
    /// The skill's SKILL.md, and how it is written.
    pub(super) skill: (String, Option<skills_protocol::path::PathEncoding>),
    /// The file that did it, likewise.
    pub(super) file: (String, Option<skills_protocol::path::PathEncoding>),
}

impl Known {
    /// Returns that nothing is known yet.
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            status: None,
            asked: Instant::now(),
            sessions: Vec::new(),
            events: VecDeque::new(),
            n_events: 0,
            activations: VecDeque::new(),
            seen: BTreeSet::new(),
        }
    }

    /// Takes in what the daemon has told.
    pub(super) async fn hear(&mut self, heard: &Heard) -> Result<(), ClientError> {
        match heard {
            Heard::Begun(_) => {
                self.update().await?;
                let sessions: Vec<_> =
                    self.sessions.iter().take(ASKED).map(|it| it.session.clone()).collect();
                for session in sessions.iter().rev() {
                    self.look_at(session, None).await?;
                }
            }
            Heard::Event(event) => {
                self.n_events += 1;
                self.events.push_front((Instant::now(), event.clone()));
                self.events.truncate(KEPT);
                self.update().await?;
                if let Some(session) = event.session.as_ref()
                    && event.kind == EventKind::SessionChanged
                {
                    self.look_at(session, Some(Instant::now())).await?;
                }
            }
        }
        Ok(())
    }

    /// Asks the daemon how it is and which conversations there are.
    pub(super) async fn update(&mut self) -> Result<(), ClientError> {
        self.status = Some(self.client.call::<ServerStatus>(&StatusParams {}).await?);
        self.asked = Instant::now();
        let result = self.client.call::<SessionList>(&SessionListParams {}).await?;
        self.sessions = result.sessions;
        self.sessions.sort_by_key(|it| std::cmp::Reverse(it.used));
        Ok(())
    }

    async fn look_at(&mut self, session: &str, at: Option<Instant>) -> Result<(), ClientError> {
        let session_param = Some(session.to_owned());
        let params = SessionGetParams { session: session_param, ..SessionGetParams::default() };
        let result = match self.client.call::<SessionGet>(&params).await {
            Ok(result) => result,
            // It was closed meanwhile, which the next list says.
            Err(ClientError::Rpc(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        for skill in result.activated {
            if self.seen.insert((session.to_owned(), skill.path.clone())) {
                self.activations.push_front(Activation {
                    at,
                    session: session.to_owned(),
                    skill: (skill.path, skill.path_encoding),
                    file: (skill.matched.path, skill.matched.path_encoding),
                });
            }
        }
        self.activations.truncate(KEPT);
        Ok(())
    }
}
