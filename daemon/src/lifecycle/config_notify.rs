//! Picks up external writes while no call is made: the user edits the configuration, or another
//! process (`skillsd trust --no-daemon`, a daemon on another socket) stores trust decisions.
//!
//! Each call refreshes the settings itself. This task exists for subscribers: it applies changes at
//! once, so that affected views change and their subscribers are notified.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::request::Resolver;
use crate::rpc::tasks::run_blocking;

/// Debounce interval: one commit causes several writes, most of them our own.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Applies external writes until the daemon shuts down.
pub(crate) async fn run(resolver: Arc<Resolver>) {
    let watch = resolver.engine.watch();
    let Some(mut watched) = watch.subscribe() else {
        tracing::warn!("external changes are applied at the next call only");
        return;
    };
    let files = resolver.files_of_others();
    let mut is_followed = false;
    loop {
        if !is_followed {
            let Some(mut next) = watch.subscribe() else { return };
            let all = files.clone();
            // A home directory on a network file system may never answer.
            let follow = run_blocking(move || {
                for file in &all {
                    next.watch_file(file);
                }
                next
            });
            tokio::select! {
                () = resolver.shutdown.closing.cancelled() => return,
                // Replaces the former watches, which may be on replaced files.
                followed = follow => match followed {
                    Ok(followed) => watched = followed,
                    Err(error) => tracing::warn!(%error, "cannot watch the configuration and the store"),
                }
            }
        }
        // Also covers changes made before the files were watched.
        if resolver.bus.is_followed() {
            resolver.refresh_settings().await;
        }
        tokio::select! {
            () = resolver.shutdown.closing.cancelled() => return,
            replaces = watched.changed() => is_followed = !replaces,
        }
        sleep(DEBOUNCE).await;
    }
}
