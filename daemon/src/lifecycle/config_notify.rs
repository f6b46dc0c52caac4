//! What others write while nobody calls: the user edits the configuration, and another process, as
//! `skillsd trust` without a daemon or a daemon on another socket, keeps what the user has said.
//!
//! Each call looks for itself, so that this is for those alone who wait to be told: what is written
//! is taken up at once, the views that it changes change, and their subscribers hear of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::lifecycle::config_watch::Disturbance;
use crate::service::Service;

/// How long is waited for more of the same: one commit is many writes, and most are our own.
const SETTLING: Duration = Duration::from_millis(50);

/// Takes up what others write until the daemon ends.
pub(crate) async fn keep(service: Arc<Service>) {
    let disturbance = match Disturbance::new() {
        Ok(disturbance) => disturbance,
        Err(error) => {
            tracing::warn!(%error, "what others write is taken up by the next call");
            return;
        }
    };
    let (files, mut disturbance) = (service.files_of_others(), Arc::new(disturbance));
    let mut is_followed = false;
    loop {
        if !is_followed {
            let (followed, all) = (Arc::clone(&disturbance), files.clone());
            // A home on a server may not answer, now or ever.
            let follow = spawn_blocking(move || all.iter().for_each(|it| followed.follow(it)));
            tokio::select! {
                () = service.closing.cancelled() => return,
                _ = follow => {}
            }
        }
        // Also what came before it was followed.
        if service.bus.is_followed() {
            service.refresh_settings().await;
        }
        let Some(next) = Arc::get_mut(&mut disturbance) else { return };
        tokio::select! {
            () = service.closing.cancelled() => return,
            heard = next.next() => match heard {
                Ok(is_more) => is_followed = !is_more,
                Err(error) => {
                    tracing::warn!(%error, "what others write is not heard of any more");
                    return;
                }
            },
        }
        sleep(SETTLING).await;
    }
}
