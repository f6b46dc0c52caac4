//! Systemd watchdog: notifies the service manager that the daemon is alive, if it asks for that.
//!
//! Alive means that a call would be answered: the runtime schedules this task and the engine
//! answers a ping. While the engine does not, no notification is sent, and the manager restarts the
//! daemon after its limit. Without such a manager this task does not run, so nothing wakes an idle
//! daemon.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::request::Resolver;
use crate::rpc::tasks::run_blocking;

/// Notifies the manager until the daemon shuts down; `limit` is the manager's timeout.
pub(crate) async fn run(resolver: Arc<Resolver>, limit: Duration) {
    let interval = interval(limit);
    tracing::debug!(?interval, "sending watchdog notifications");
    loop {
        let next = Instant::now() + interval;
        if is_alive(resolver.engine.ping(), next).await {
            tell().await;
        } else {
            tracing::warn!(within = ?interval, "the engine does not answer; skipping a watchdog notification");
        }
        tokio::select! {
            () = resolver.shutdown.closing.cancelled() => return,
            () = sleep_until(next) => {}
        }
    }
}

/// Returns whether the engine answers before the next round.
async fn is_alive<E>(answer: impl Future<Output = Result<(), E>>, next: Instant) -> bool {
    timeout_at(next, answer).await.is_ok_and(|it| it.is_ok())
}

/// Sends the notification. Not on a worker, because a slow manager blocks its senders.
async fn tell() {
    let told = run_blocking(|| sd_notify::notify(&[NotifyState::Watchdog])).await;
    if let Ok(Err(error)) = told {
        tracing::warn!(%error, "failed to send a watchdog notification");
    }
}

/// Returns half of the manager's timeout, which leaves the other half to a slow machine; at least
/// 10 ms, because a limit of zero would keep the daemon busy.
fn interval(limit: Duration) -> Duration {
    (limit / 2).max(Duration::from_millis(10))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn watchdog_interval_is_half_of_the_timeout() {
        assert_eq!(interval(Duration::from_mins(2)), Duration::from_mins(1));
        assert_eq!(interval(Duration::ZERO), Duration::from_millis(10));
    }

    #[tokio::test]
    async fn a_hanging_or_stopped_engine_is_not_alive() {
        let soon = || Instant::now() + Duration::from_millis(20);
        assert!(is_alive(ready(Ok::<_, ()>(())), soon()).await);
        assert!(!is_alive(ready(Err(())), soon()).await);
        assert!(!is_alive(pending::<Result<(), ()>>(), soon()).await);
    }
}
