//! Who follows a conversation: turned to what it sees now, wherever it has gone, and told.

use std::sync::Arc;

use skills_engine::sessions::session::{Invocation, Session};
use skills_engine::{Freshness, View};
use skills_protocol::error::RpcError;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{Context, Event, EventKind};
use skills_syntax::path::AbsPath;

use crate::rpc::events::{EventSubject, FollowedSession};
use crate::service::Service;

impl Service {
    /// Remembers that an agent of a conversation has loaded a skill. Of a conversation that is not
    /// known only the use is kept.
    pub(crate) async fn loaded(
        &self,
        session: Option<&str>,
        agent: Option<&str>,
        view: &View,
        invocation: Invocation,
    ) {
        let known = match session {
            Some(id) => self.sessions.get(id).await,
            None => None,
        };
        match known {
            Some(known) => {
                let session = self.sessions.record_invocation(&known.id, agent, invocation).await;
                if let Some(session) = session {
                    self.session_changed(&session, view);
                }
            }
            None => self.sessions.store().count_use(&invocation.path),
        }
    }

    /// Turns those who follow what a conversation sees to what it sees now.
    pub(crate) async fn turn_followers(&self, id: &str) {
        // Another touch may have been faster in between, and is behind in the next round.
        while let Some(session) = self.sessions.get(id).await {
            let mut is_done = true;
            for (subscription, before, followed) in self.bus.following(id) {
                match self.seen_by(&followed, &session).await {
                    Ok(now) if now.key == before => {}
                    Ok(now) => {
                        is_done = false;
                        // It is held, and so it is there, unless the subscription is only being made.
                        let Some(before) = self.engine.cached(&before) else { return };
                        let held = self.engine.hold((*now.key).clone(), (*now.ctx).clone()).await;
                        match held {
                            Ok((view, hold)) => {
                                self.bus.turn(subscription, &view, hold, Some(&before));
                            }
                            Err(error) => {
                                self.engine_failed(&error);
                                return;
                            }
                        }
                    }
                    // For example of a profile that the configuration does not have any more.
                    Err(error) => tracing::warn!(error = error.message, "a view is not followed"),
                }
            }
            if is_done {
                return;
            }
        }
    }

    /// Returns what a subscriber to a conversation sees: what they did not say themselves is as the
    /// conversation has it now.
    async fn seen_by(
        &self,
        by: &FollowedSession,
        session: &Session,
    ) -> Result<Arc<View>, RpcError> {
        let theirs = by.environment.as_ref();
        let mut asked = self.context_for(theirs, by.context.clone(), Some(session))?;
        // One that is not there yet is made fresh.
        asked.freshness = Freshness::Cached;
        self.view_for(&asked).await
    }

    /// Tells those who follow a conversation that it has changed.
    pub(crate) fn session_changed(&self, session: &Session, view: &View) {
        self.tell_of(session, &view.resolution.worktree, Some(view.clock.clone()));
    }

    /// Tells those who follow a conversation that it has ended.
    pub(crate) fn session_closed(&self, session: &Session) {
        let view = self.context_for(None, Context::default(), Some(session)).ok();
        let view = view.and_then(|it| self.engine.cached(&it.key));
        let worktree =
            view.map_or_else(|| session.cwd.clone(), |it| it.resolution.worktree.clone());
        self.tell_of(session, &worktree, None);
    }

    fn tell_of(&self, session: &Session, worktree: &AbsPath, clock: Option<String>) {
        let about =
            EventSubject { view: None, worktree: Some(worktree), session: Some(&session.id) };
        let encoding = encoding_of([&*session.cwd]);
        let event = Event {
            clock,
            cwd: Some(encode(&session.cwd, encoding)),
            profile: Some(session.profile.clone()),
            session: Some(session.id.clone()),
            path_encoding: encoding,
            ..Event::new(EventKind::SessionChanged)
        };
        self.bus.publish(about, &event);
    }
}
