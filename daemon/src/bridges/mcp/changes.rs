//! Telling a client that what is listed has changed.
//!
//! One subscription to the daemon, wherever the client is; each change is counted, and whoever
//! has to tell a client waits for the next number. A daemon that is gone is waited for.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::SubscriptionFilter;
use rmcp::service::{Peer, ServiceError, SubscriptionSendError, SubscriptionSink};
use skills_client::subscription::{Subscription, SubscriptionEvent};
use skills_protocol::wire::{Contextual as _, EventKind, SubscribeParams};
use tokio::sync::watch;

use super::context::McpContext;

/// How long it is waited before a daemon is looked for again.
const REST: Duration = Duration::from_secs(5);

/// Counts the changes, for as long as the server runs.
pub(super) async fn follow(desk: Arc<McpContext>) {
    loop {
        let mut moves = desk.place.moves();
        let context = desk.place.context_seen(&mut moves).await;
        let mut params =
            SubscribeParams { kinds: vec![EventKind::SkillsChanged], ..SubscribeParams::default() };
        params.set_context(context);
        let mut subscription = Subscription::new(desk.client.clone(), params);
        loop {
            tokio::select! {
                heard = subscription.next() => match heard {
                    // What happened before it has begun is told by nobody.
                    Ok(SubscriptionEvent::Begun(_) | SubscriptionEvent::Event(_)) => desk.note_change(),
                    Err(error) => {
                        tracing::warn!(%error, "changes are not followed");
                        tokio::time::sleep(REST).await;
                    }
                },
                moved = moves.changed() => {
                    if moved.is_err() {
                        return;
                    }
                    subscription.end().await;
                    desk.note_change();
                    break;
                }
            }
        }
    }
}

/// Tells a client that greeted with `initialize`, until it is gone.
pub(super) async fn tell(peer: Peer<RoleServer>, mut changes: watch::Receiver<u64>) {
    while changes.changed().await.is_ok() {
        if let Err(error) = tell_once(&peer).await {
            tracing::debug!(%error, "nobody listens any more");
            return;
        }
    }
}

async fn tell_once(peer: &Peer<RoleServer>) -> Result<(), ServiceError> {
    peer.notify_tool_list_changed().await?;
    peer.notify_prompt_list_changed().await?;
    peer.notify_resource_list_changed().await
}

/// Tells one that listens, of what it wants to hear.
pub(super) async fn tell_listener(
    sink: &SubscriptionSink,
    mut changes: watch::Receiver<u64>,
) -> Result<(), SubscriptionSendError> {
    while changes.changed().await.is_ok() {
        let wants = sink.accepted();
        if wants.tools_list_changed == Some(true) {
            sink.notify_tool_list_changed().await?;
        }
        if wants.prompts_list_changed == Some(true) {
            sink.notify_prompt_list_changed().await?;
        }
        if wants.resources_list_changed == Some(true) {
            sink.notify_resource_list_changed().await?;
        }
    }
    Ok(())
}

/// Returns what of a filter can be told.
pub(super) fn heard(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut filter = requested.clone();
    filter.resource_subscriptions = None;
    filter
}
