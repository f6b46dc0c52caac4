//! Picks up external writes while no call is made: the user edits the configuration, or another
//! process (`skillsd trust --no-daemon`, a daemon on another socket) stores trust decisions.
//!
//! Each call refreshes the settings itself. This task exists for subscribers: it applies changes at
//! once, so that affected views change and their subscribers are notified.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::api::request::Resolver;
use crate::lifecycle::config_watch::ConfigWatch;

/// Debounce interval: one commit causes several writes, most of them our own.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Applies external writes until the daemon shuts down.
pub(crate) async fn run(resolver: Arc<Resolver>) {
    let watch = match ConfigWatch::new() {
        Ok(watch) => watch,
        Err(error) => {
            tracing::warn!(%error, "external changes are applied at the next call only");
            return;
        }
    };
    let (files, mut watch) = (resolver.files_of_others(), Arc::new(watch));
    let mut is_followed = false;
    loop {
        if !is_followed {
            let (followed, all) = (Arc::clone(&watch), files.clone());
            // A home directory on a network file system may never answer.
            let follow = spawn_blocking(move || all.iter().for_each(|it| followed.follow(it)));
            tokio::select! {
                () = resolver.shutdown.closing.cancelled() => return,
                _ = follow => {}
            }
        }
        // Also covers changes made before the files were watched.
        if resolver.bus.is_followed() {
            resolver.refresh_settings().await;
        }
        let Some(next) = Arc::get_mut(&mut watch) else { return };
        tokio::select! {
            () = resolver.shutdown.closing.cancelled() => return,
            heard = next.next() => match heard {
                Ok(is_more) => is_followed = !is_more,
                Err(error) => {
                    tracing::warn!(%error, "stopped watching the configuration and the store; changes are applied at the next call");
                    return;
                }
            },
        }
        sleep(DEBOUNCE).await;
    }
}
