//! Tells the service manager that the daemon is alive, where that asks to be told.
//!
//! Alive means that a call would be answered: the runtime comes to this task, and the engine
//! comes round to its question. While the engine does not, nothing is told, and the manager ends
//! the daemon and starts another when its patience is over. Without a manager that asks, no task
//! of this kind runs and nothing wakes an idle daemon.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::service::Service;

/// Tells that the daemon is alive until it ends; `limit` is how long the manager waits for it.
pub(crate) async fn keep(service: Arc<Service>, limit: Duration) {
    let round = round(limit);
    tracing::debug!(?round, "the service manager is told that skillsd is alive");
    loop {
        let next = Instant::now() + round;
        if is_alive(service.engine.come_round(), next).await {
            tell().await;
        } else {
            tracing::warn!(within = ?round, "the engine does not answer, and so the watchdog is not told");
        }
        tokio::select! {
            () = service.closing.cancelled() => return,
            () = sleep_until(next) => {}
        }
    }
}

/// Returns whether the engine answers before the next round.
async fn is_alive<E>(answer: impl Future<Output = Result<(), E>>, next: Instant) -> bool {
    timeout_at(next, answer).await.is_ok_and(|it| it.is_ok())
}

/// Sends the message; not on a worker, because a manager that is behind lets its senders wait.
async fn tell() {
    let told = spawn_blocking(|| sd_notify::notify(&[NotifyState::Watchdog])).await;
    if let Ok(Err(error)) = told {
        tracing::warn!(%error, "failed to tell the service manager that skillsd is alive");
    }
}

/// Half of the manager's patience, which leaves a slow machine the other half. Never nothing: a
/// manager that asked for that would have the daemon do nothing else.
fn round(limit: Duration) -> Duration {
    (limit / 2).max(Duration::from_millis(10))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn rounds_are_half_of_the_patience() {
        assert_eq!(round(Duration::from_mins(2)), Duration::from_mins(1));
        assert_eq!(round(Duration::ZERO), Duration::from_millis(10));
    }

    #[tokio::test]
    async fn an_engine_that_hangs_or_has_ended_is_not_alive() {
        let soon = || Instant::now() + Duration::from_millis(20);
        assert!(is_alive(ready(Ok::<_, ()>(())), soon()).await);
        assert!(!is_alive(ready(Err(())), soon()).await);
        assert!(!is_alive(pending::<Result<(), ()>>(), soon()).await);
    }
}
