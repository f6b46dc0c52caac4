//! What the daemon asks itself now and then: can clients still find it, and does it have any?
//!
//! A daemon whose socket is gone or another's would live on unreachable beside its successor, so
//! it ends and lets the next client start one in order. One that a client started ends as well
//! when nobody has come for a while. Both ends are the ordinary one: what has begun is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::server::Server;
use crate::service::Service;
use crate::socket::Footing;

/// How often it asks. A client that finds no socket waits for so long at most, because the lock
/// is still ours; a look at a file is nothing, waking a processor is little.
const ROUND: Duration = Duration::from_secs(2);

/// After how long without a connection a daemon ends that a client started.
const IDLE_EXIT: Duration = Duration::from_mins(30);

/// Watches over a running daemon.
pub(crate) struct Vigil {
    pub(crate) service: Arc<Service>,
    pub(crate) server: Arc<Server>,
    pub(crate) footing: Footing,
    /// Whether a client started the daemon.
    pub(crate) spawned: bool,
}

impl Vigil {
    /// Goes round until the daemon ends, and ends it when there is reason to.
    pub(crate) async fn keep(self) {
        let mut quiet_since = Instant::now();
        let mut served = self.server.served();
        loop {
            let limit = self.idle_limit();
            tokio::select! {
                () = self.service.closing.cancelled() => return,
                () = sleep(round(limit)) => {}
            }
            // So that a change of the log's level or of the limits needs no call.
            self.service.settings.refresh().await;
            if self.footing.is_lost() {
                tracing::warn!("the socket is gone or another's, and so skillsd ends");
                self.service.closing.cancel();
                return;
            }
            let now_served = self.server.served();
            if self.service.open.load(Ordering::Relaxed) > 0 || now_served != served {
                (quiet_since, served) = (Instant::now(), now_served);
            }
            if limit.is_some_and(|it| quiet_since.elapsed() >= it) && !self.is_kept().await {
                tracing::info!(idle = ?quiet_since.elapsed(), "nobody has come, and so skillsd ends");
                self.service.closing.cancel();
                return;
            }
        }
    }

    fn idle_limit(&self) -> Option<Duration> {
        match self.service.settings.user().idle_exit {
            Some(0) => None,
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => self.spawned.then_some(IDLE_EXIT),
        }
    }

    /// Returns whether somebody opened a worktree to keep it.
    async fn is_kept(&self) -> bool {
        let status = self.service.engine.status().await;
        // Without an engine there is nothing to keep.
        status.is_ok_and(|it| it.worktrees.iter().any(|worktree| worktree.pinned))
    }
}

// A short limit is kept to more exactly.
fn round(limit: Option<Duration>) -> Duration {
    limit.map_or(ROUND, |it| (it / 4).clamp(ROUND / 20, ROUND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_a_short_limit() {
        assert_eq!(round(None), ROUND);
        assert_eq!(round(Some(IDLE_EXIT)), ROUND);
        assert_eq!(round(Some(Duration::from_secs(1))), Duration::from_millis(250));
        assert_eq!(round(Some(Duration::ZERO)), Duration::from_millis(100));
    }
}
