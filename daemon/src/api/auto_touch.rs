//! Conversations that are opened with `auto`: what is written in the directories that are watched
//! counts as touched.
//!
//! Who has written is not known, so that nothing of a worktree comes by itself unless the user
//! trusts it ([`TouchScope::Trusted`]). What is written while one touch is being taken up
//! is taken up together by the next. A new daemon hears at once for whom the last one did.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use skills_engine::ViewKey;
use skills_engine::sessions::session::Session;
use skills_protocol::error::RpcError;
use skills_protocol::wire::Context;
use skills_syntax::path::AbsPath;
use tokio::task::spawn_blocking;

use crate::api::session::{Named, TouchScope};
use crate::service::Service;

/// How many views are opened for conversations before anybody asks for them. Each costs what it
/// costs to read its skills for the first time.
const MOST_WOKEN: usize = 64;

/// Takes writes for touches until the daemon ends.
pub(crate) async fn run(service: Arc<Service>) {
    service.wake().await;
    loop {
        let written = tokio::select! {
            () = service.closing.cancelled() => return,
            written = service.engine.writes().next() => written,
        };
        let sessions = service.sessions.automatic();
        service.engine.writes().retain(|dir| sessions.iter().any(|it| it.cwd == *dir));
        let files = spawn_blocking(move || files(written)).await.unwrap_or_default();
        for session in sessions {
            if let Err(error) = service.touch_written(&session, &files).await {
                tracing::warn!(
                    session = session.id,
                    error = error.message,
                    "writes are not followed"
                );
            }
        }
    }
}

/// Returns those that are there and are files: what has gone, or is told of under the name that its
/// directory had, was not written there.
fn files(written: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let is_file = |it: &PathBuf| it.symlink_metadata().is_ok_and(|it| !it.is_dir());
    written.into_iter().filter(is_file).collect()
}

impl Service {
    /// Hears again of what is written for the conversations that the last daemon heard of it for:
    /// their worktrees are opened, one after the other, so that whoever calls comes in between.
    async fn wake(&self) {
        let sessions = self.sessions.wake().await;
        if sessions.is_empty() {
            return;
        }
        self.refresh_settings().await;
        let mut opened: Vec<ViewKey> = Vec::new();
        for session in sessions {
            // What is named by a profile that is gone comes back with it, when it is called for.
            let Ok(asked) = self.context_for(None, Context::default(), Some(&session)) else {
                continue;
            };
            // Many conversations see the same.
            if !opened.contains(&asked.key) {
                if opened.len() >= MOST_WOKEN || self.closing.is_cancelled() {
                    continue;
                }
                if let Err(error) = self.view_for(&asked).await {
                    tracing::warn!(session = session.id, error = error.message, "not opened");
                    continue;
                }
                opened.push(asked.key);
            }
            self.follow_writes(&session).await;
        }
    }

    /// Sees to it that what is written below a conversation's directory is heard, where that counts
    /// as touched.
    pub(crate) async fn follow_writes(&self, session: &Session) {
        if !session.auto || self.engine.writes().follows(&session.cwd) {
            return;
        }
        if let Err(error) = self.engine.hear(session.cwd.clone()).await {
            tracing::error!(%error, "writes are not heard");
        }
    }

    async fn touch_written(
        &self,
        session: &Session,
        files: &BTreeSet<PathBuf>,
    ) -> Result<(), RpcError> {
        let below = self.engine.writes().below(&session.cwd, files).into_iter();
        let paths: Vec<_> = below.filter_map(|it| AbsPath::new(&it).ok()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        // As it is by now; it may have been closed meanwhile. That others write is no use of it.
        let Some(session) = self.sessions.found(&session.id).await else { return Ok(()) };
        self.refresh_settings().await;
        let asked = self.context_for(None, Context::default(), Some(&session))?;
        self.touch(Named { session, asked, is_new: false }, paths, TouchScope::Trusted).await?;
        Ok(())
    }
}
