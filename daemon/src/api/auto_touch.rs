//! Automatic touches: for sessions opened with `auto`, files written below the session's directory
//! count as touched.
//!
//! The writer is unknown, so a touch adds nothing from a worktree unless the user trusts it
//! ([`TouchScope::Trusted`]). Files written while a touch is processed are batched into the next
//! one. A new daemon resumes watching for the sessions of the last one.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use skills_engine::ViewKey;
use skills_engine::sessions::session::Session;
use skills_protocol::error::RpcError;
use skills_protocol::wire::Context;
use skills_syntax::path::AbsPath;

use crate::api::session::{SessionCalls, SessionContext, TouchScope};
use crate::request::unread_session;
use crate::rpc::tasks::run_blocking;

/// Maximum number of views opened at startup for automatic sessions. Each costs a first read of its
/// skills.
const MAX_RESUMED_VIEWS: usize = 64;

/// Turns writes into touches until the daemon shuts down.
pub(crate) async fn run(calls: Arc<SessionCalls>) {
    let resolver = &calls.resolver;
    calls.resume().await;
    let (writes, trees) = (resolver.engine.writes(), resolver.engine.write_trees());
    loop {
        let written = tokio::select! {
            () = resolver.shutdown.closing.cancelled() => return,
            written = writes.next() => Some(written),
            () = trees.until_due() => None,
        };
        let sessions = resolver.sessions.automatic();
        trees.retain(|dir| sessions.iter().any(|it| it.cwd == *dir));
        let reader = trees.clone();
        let read = move || match written {
            Some(written) => reader.files(written),
            None => reader.compare(),
        };
        let files = run_blocking(read).await.unwrap_or_default();
        for session in sessions {
            if let Err(error) = calls.touch_written(&session, &files).await {
                tracing::warn!(
                    session = session.id,
                    error = error.message,
                    "failed to process an automatic touch"
                );
            }
        }
    }
}

impl SessionCalls {
    /// Resumes watching for the automatic sessions of the last daemon. Opens their worktrees one
    /// after the other, so that calls are answered in between.
    async fn resume(&self) {
        let sessions = self.resolver.sessions.wake().await;
        if sessions.is_empty() {
            return;
        }
        self.resolver.refresh_settings().await;
        let mut opened: Vec<ViewKey> = Vec::new();
        for session in sessions {
            // A session whose profile no longer exists is resumed by a later call.
            let Ok(asked) = self.resolver.context_for(None, Context::default(), Some(&session))
            else {
                continue;
            };
            // Many sessions share a view.
            if !opened.contains(&asked.key) {
                if opened.len() >= MAX_RESUMED_VIEWS
                    || self.resolver.shutdown.closing.is_cancelled()
                {
                    continue;
                }
                if let Err(error) = self.resolver.view_for(&asked).await {
                    tracing::warn!(
                        session = session.id,
                        error = error.message,
                        "failed to resume an automatic session"
                    );
                    continue;
                }
                opened.push(asked.key);
            }
            self.resolver.follow_writes(&session).await;
        }
    }

    async fn touch_written(
        &self,
        session: &Session,
        files: &BTreeSet<PathBuf>,
    ) -> Result<(), RpcError> {
        let below = self.resolver.engine.writes().below(&session.cwd, files).into_iter();
        let paths: Vec<_> = below.filter_map(|it| AbsPath::new(&it).ok()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        // Reads the current state: the session may have been closed meanwhile. A write by others is
        // not a use of it.
        let found = self.resolver.sessions.peek(&session.id).await;
        let found = found.map_err(|it| unread_session(&session.id, &it))?;
        let Some(session) = found else { return Ok(()) };
        let call = self.resolver.decode_own(&session).await?;
        let session = SessionContext { session, call, is_new: false };
        self.touch(session, paths, TouchScope::Trusted).await?;
        Ok(())
    }
}
