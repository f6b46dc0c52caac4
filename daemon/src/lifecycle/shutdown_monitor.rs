//! [`ShutdownMonitor`] shuts the daemon down when its socket is gone or when it is idle.
//!
//! A daemon whose socket was removed or replaced would live on unreachable beside its successor, so
//! it exits and the next client starts a new one. A daemon started by a client also exits after a
//! time without clients. Both are ordinary shutdowns: calls in flight are answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use skills_engine::watch::backend::WatchScope;
use skills_engine::watch::subscription::Subscription;
use tokio::time::sleep;

use crate::lifecycle::daemon::Daemon;
use crate::rpc::server::Server;
use crate::rpc::socket::SocketIdentity;

/// Polling interval if the socket's directory cannot be watched. A client that finds no socket
/// waits at most this long, because we still hold the lock.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Default time without a connection after which a daemon started by a client exits.
const IDLE_EXIT: Duration = Duration::from_mins(30);

pub(crate) struct ShutdownMonitor {
    pub(crate) daemon: Daemon,
    pub(crate) server: Arc<Server>,
    pub(crate) socket_identity: SocketIdentity,
    pub(crate) spawned: bool,
}

impl ShutdownMonitor {
    /// Runs until the daemon shuts down, and triggers the shutdown if there is reason to.
    pub(crate) async fn run(self) {
        let mut quiet_since = Instant::now();
        let mut served = self.server.served();
        let mut watch = self.watch_socket();
        // Changes to the socket before the watch began cause no event.
        if self.shut_down_if_lost() {
            return;
        }
        loop {
            let limit = self.idle_limit();
            let interval = interval(limit, watch.is_some());
            tokio::select! {
                () = self.daemon.closing().cancelled() => return,
                () = wait_for_event(watch.as_mut()) => {}
                () = elapsed(interval) => {}
            }
            // Applies changes of the log level and the limits without waiting for a call.
            self.daemon.parts.resolver.refresh_settings().await;
            if self.shut_down_if_lost() {
                return;
            }
            let now_served = self.server.served();
            if self.daemon.parts.server.open.load(Ordering::Relaxed) > 0 || now_served != served {
                (quiet_since, served) = (Instant::now(), now_served);
            }
            if limit.is_some_and(|it| quiet_since.elapsed() >= it) && !self.is_kept().await {
                tracing::info!(idle = ?quiet_since.elapsed(), "exiting: idle without a client");
                self.daemon.closing().cancel();
                return;
            }
        }
    }

    /// Watches the socket's directory; none if that fails.
    fn watch_socket(&self) -> Option<Subscription> {
        let dir = self.socket_identity.directory()?;
        let mut watch = self.daemon.parts.resolver.engine.watch().subscribe();
        watch.take_if(|it| !it.watch_entries(dir, WatchScope::Names));
        if watch.is_none() {
            tracing::warn!("cannot watch the socket's directory; polling instead");
        }
        watch
    }

    /// Shuts the daemon down if its socket is gone, and returns whether it does.
    fn shut_down_if_lost(&self) -> bool {
        let is_lost = self.socket_identity.is_lost();
        if is_lost {
            tracing::warn!("exiting: the socket was removed or replaced");
            self.daemon.closing().cancel();
        }
        is_lost
    }

    fn idle_limit(&self) -> Option<Duration> {
        match self.daemon.parts.resolver.settings.user().idle_exit {
            Some(0) => None,
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => self.spawned.then_some(IDLE_EXIT),
        }
    }

    /// Returns whether a client has pinned a worktree.
    async fn is_kept(&self) -> bool {
        let status = self.daemon.parts.resolver.engine.status().await;
        // Without an engine no worktree is pinned.
        status.is_ok_and(|it| it.worktrees.iter().any(|worktree| worktree.pinned))
    }
}

/// Waits for an event in the socket's directory; forever if it is not watched.
async fn wait_for_event(watch: Option<&mut Subscription>) {
    match watch {
        Some(watch) => drop(watch.changed().await),
        None => std::future::pending().await,
    }
}

async fn elapsed(interval: Option<Duration>) {
    match interval {
        Some(interval) => sleep(interval).await,
        None => std::future::pending().await,
    }
}

/// Returns the time until the next check: a fraction of the idle limit, so that it is kept
/// accurately. None if there is no limit and the socket's directory is watched, so that an idle
/// daemon does not wake.
fn interval(limit: Option<Duration>, is_watched: bool) -> Option<Duration> {
    let part = limit.map(|it| (it / 4).max(POLL_INTERVAL / 20));
    if is_watched { part } else { Some(part.map_or(POLL_INTERVAL, |it| it.min(POLL_INTERVAL))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_a_short_limit() {
        assert_eq!(interval(None, true), None);
        assert_eq!(interval(None, false), Some(POLL_INTERVAL));
        assert_eq!(interval(Some(IDLE_EXIT), true), Some(IDLE_EXIT / 4));
        assert_eq!(interval(Some(IDLE_EXIT), false), Some(POLL_INTERVAL));
        assert_eq!(interval(Some(Duration::from_secs(1)), true), Some(Duration::from_millis(250)));
        assert_eq!(interval(Some(Duration::ZERO), true), Some(Duration::from_millis(100)));
    }
}
