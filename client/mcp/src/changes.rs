//! List-changed notifications for MCP clients.
//!
//! One subscription to the daemon follows the client's directory. Each change increments a counter,
//! and the tasks that notify clients wait for it. If the daemon is gone, the subscription is
//! retried.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::SubscriptionFilter;
use rmcp::service::{Peer, ServiceError, SubscriptionSendError, SubscriptionSink};
use skills_client::subscription::{Subscription, SubscriptionEvent};
use skills_protocol::wire::{Contextual as _, EventKind, SubscribeParams};
use tokio::sync::watch;

use crate::context::McpContext;

/// Pause before subscribing again.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Counts changes as long as the server runs.
pub(crate) async fn follow(mcp: Arc<McpContext>) {
    loop {
        let mut moves = mcp.directory.moves();
        let context = mcp.directory.context_and_mark(&mut moves).await;
        let mut params =
            SubscribeParams { kinds: vec![EventKind::SkillsChanged], ..SubscribeParams::default() };
        params.set_context(context);
        let mut subscription = Subscription::new(mcp.client.clone(), params);
        loop {
            tokio::select! {
                heard = subscription.next() => match heard {
                    // Changes before the subscription began cause no event.
                    Ok(SubscriptionEvent::Begun(_) | SubscriptionEvent::Event(_)) => mcp.note_change(),
                    Err(error) => {
                        tracing::warn!(%error, "subscription failed; retrying");
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                },
                moved = moves.changed() => {
                    if moved.is_err() {
                        return;
                    }
                    subscription.end().await;
                    mcp.note_change();
                    break;
                }
            }
        }
    }
}

/// Notifies a client that sent `initialize`, until it disconnects.
pub(crate) async fn tell(peer: Peer<RoleServer>, mut changes: watch::Receiver<u64>) {
    while changes.changed().await.is_ok() {
        if let Err(error) = tell_once(&peer).await {
            tracing::debug!(%error, "the client is gone");
            return;
        }
    }
}

async fn tell_once(peer: &Peer<RoleServer>) -> Result<(), ServiceError> {
    peer.notify_tool_list_changed().await?;
    peer.notify_prompt_list_changed().await?;
    peer.notify_resource_list_changed().await
}

/// Sends a `subscriptions/listen` client the notifications that it accepted.
pub(crate) async fn tell_listener(
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

/// Returns the supported part of a requested filter.
pub(crate) fn supported_filter(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut filter = requested.clone();
    filter.resource_subscriptions = None;
    filter
}
