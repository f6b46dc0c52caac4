//! What the daemon asks itself now and then: can clients still find it, and does it have any?
//!
//! A daemon whose socket is gone or another's would live on unreachable beside its successor, so
//! it ends and lets the next client start one in order. One that a client started ends as well
//! when nobody has come for a while. Both ends are the ordinary one: what has begun is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::lifecycle::config_watch::Disturbance;
use crate::rpc::server::Server;
use crate::rpc::socket::SocketIdentity;
use crate::service::Service;

/// How often it asks where it cannot be told. A client that finds no socket waits for so long at
/// most, because the lock is still ours.
const ROUND: Duration = Duration::from_secs(2);

/// After how long without a connection a daemon ends that a client started.
const IDLE_EXIT: Duration = Duration::from_mins(30);

/// Watches over a running daemon.
pub(crate) struct ShutdownMonitor {
    pub(crate) service: Arc<Service>,
    pub(crate) server: Arc<Server>,
    pub(crate) socket_identity: SocketIdentity,
    /// Whether a client started the daemon.
    pub(crate) spawned: bool,
}

impl ShutdownMonitor {
    /// Goes round until the daemon ends, and ends it when there is reason to.
    pub(crate) async fn keep(self) {
        let mut quiet_since = Instant::now();
        let mut served = self.server.served();
        let mut disturbance = self.socket_identity.directory().and_then(|dir| {
            let watched = Disturbance::watch(dir);
            watched
                .inspect_err(|error| tracing::warn!(%error, "the socket is looked at instead"))
                .ok()
        });
        // What happened to the socket before it was watched is told by nobody.
        if self.ends_lost() {
            return;
        }
        loop {
            let limit = self.idle_limit();
            let round = round(limit, disturbance.is_some());
            tokio::select! {
                () = self.service.closing.cancelled() => return,
                () = disturbed(disturbance.as_mut()) => {}
                () = elapsed(round) => {}
            }
            // So that a change of the log's level or of the limits needs no call.
            self.service.refresh_settings().await;
            if self.ends_lost() {
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

    /// Ends the daemon when nobody can find it any more, and returns whether it does.
    fn ends_lost(&self) -> bool {
        let is_lost = self.socket_identity.is_lost();
        if is_lost {
            tracing::warn!("the socket is gone or another's, and so skillsd ends");
            self.service.closing.cancel();
        }
        is_lost
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

/// Waits for word from the socket's directory; for ever where there is none.
async fn disturbed(disturbance: Option<&mut Disturbance>) {
    match disturbance {
        Some(disturbance) => {
            if let Err(error) = disturbance.next().await {
                tracing::warn!(%error, "the socket's directory is not heard of any more");
                std::future::pending::<()>().await;
            }
        }
        None => std::future::pending().await,
    }
}

async fn elapsed(round: Option<Duration>) {
    match round {
        Some(round) => sleep(round).await,
        None => std::future::pending().await,
    }
}

/// Returns how long to wait for: a part of the idle limit, so that it is kept to, and for ever
/// where there is none and the socket's directory is watched. An idle daemon does not wake.
fn round(limit: Option<Duration>, is_watched: bool) -> Option<Duration> {
    let part = limit.map(|it| (it / 4).max(ROUND / 20));
    if is_watched { part } else { Some(part.map_or(ROUND, |it| it.min(ROUND))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_a_short_limit() {
        assert_eq!(round(None, true), None);
        assert_eq!(round(None, false), Some(ROUND));
        assert_eq!(round(Some(IDLE_EXIT), true), Some(IDLE_EXIT / 4));
        assert_eq!(round(Some(IDLE_EXIT), false), Some(ROUND));
        assert_eq!(round(Some(Duration::from_secs(1)), true), Some(Duration::from_millis(250)));
        assert_eq!(round(Some(Duration::ZERO), true), Some(Duration::from_millis(100)));
    }
}
