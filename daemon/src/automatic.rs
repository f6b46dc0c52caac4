//! Conversations that are opened with `auto`: what is written in the directories that are watched
//! counts as touched.
//!
//! Who has written is not known, so that nothing of a worktree comes by itself unless the user
//! trusts it ([`Reach::Trusted`]). What is written while one touch is being taken up
//! is taken up together by the next.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use skills_core::path::AbsPath;
use skills_engine::session::Session;
use skills_protocol::error::RpcError;
use skills_protocol::wire::Context;
use tokio::task::spawn_blocking;

use crate::conversation::{Named, Reach};
use crate::peer::Peer;
use crate::service::Service;

/// Takes writes for touches until the daemon ends.
pub(crate) async fn keep(service: Arc<Service>) {
    // Nobody's connection: what is asked for here is asked for by the daemon itself.
    let nobody = Peer::new(0);
    loop {
        let written = tokio::select! {
            () = service.closing.cancelled() => return,
            written = service.engine.writes().next() => written,
        };
        let sessions = service.sessions.automatic();
        service.engine.writes().retain(|dir| sessions.iter().any(|it| it.cwd == *dir));
        let files = spawn_blocking(move || files(written)).await.unwrap_or_default();
        for session in sessions {
            if let Err(error) = service.touch_written(&nobody, &session, &files).await {
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
    /// Sees to it that what is written below a conversation's directory is heard, where that counts
    /// as touched.
    pub(crate) async fn follow_writes(&self, session: &Session) {
        let writes = self.engine.writes();
        if !session.auto || writes.follows(&session.cwd) {
            return;
        }
        let (writes, dir) = (writes.clone(), session.cwd.clone());
        if let Err(error) = spawn_blocking(move || writes.follow(&dir)).await {
            tracing::error!(%error, "writes are not heard");
        }
    }

    async fn touch_written(
        &self,
        nobody: &Peer,
        session: &Session,
        files: &BTreeSet<PathBuf>,
    ) -> Result<(), RpcError> {
        let below = self.engine.writes().below(&session.cwd, files).into_iter();
        let paths: Vec<_> = below.filter_map(|it| AbsPath::new(&it).ok()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let context = Context { session: Some(session.id.clone()), ..Context::default() };
        let asked = self.asked(nobody, context).await?;
        // As it is by now; it may have been closed meanwhile.
        let Some(session) = self.sessions.get(&session.id).await else { return Ok(()) };
        self.touch(Named { session, asked, is_new: false }, paths, Reach::Trusted).await?;
        Ok(())
    }
}
