//! Subscription to change events that survives its connection ([`Subscription`]).
//!
//! The daemon drops subscriptions with their connection, and daemons restart more often than
//! clients. This type subscribes again at the next daemon and reports it as
//! [`SubscriptionEvent::Begun`]. Events in between are lost: a client that keeps a list fetches the
//! difference with `since`.
//! Invariant: after [`SubscriptionEvent::Begun`] every change is reported, at least by the latest
//! event of its kind.

use skills_protocol::method::{EventsEvent, EventsSubscribe, EventsUnsubscribe, Notification};
use skills_protocol::wire::{
    Event, EventParams, SubscribeParams, SubscribeResult, UnsubscribeParams,
};

use crate::ClientError;
use crate::client::Client;
use crate::connection::Connection;
use crate::spawn::pauses;

/// Follows the changes of a view across daemon restarts.
pub struct Subscription {
    client: Client,
    params: SubscribeParams,
    active: Option<(Connection, String)>,
}

/// Message from a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionEvent {
    /// The subscription has begun, for the first time or again: changes before it are unknown.
    Begun(SubscribeResult),
    /// A change event.
    Event(Event),
}

impl Subscription {
    /// Returns a subscription that has not begun yet.
    pub fn new(client: Client, params: SubscribeParams) -> Self {
        Self { client, params, active: None }
    }

    /// Waits for the next event, and reconnects if the connection is lost.
    ///
    /// # Errors
    /// No daemon can be reached or started, or it refuses the subscription.
    pub async fn next(&mut self) -> Result<SubscriptionEvent, ClientError> {
        let mut pauses = pauses();
        loop {
            let Some((connection, name)) = &self.active else {
                match self.begin().await {
                    Err(error) if error.is_broken_connection() => match pauses.next() {
                        Some(pause) => tokio::time::sleep(pause).await,
                        None => return Err(error),
                    },
                    begun => return begun.map(SubscriptionEvent::Begun),
                }
                continue;
            };
            let note = connection.next_note_of(EventsEvent::METHOD, name).await;
            let Some(params) = note.and_then(|it| it.params) else {
                self.active = None;
                continue;
            };
            let event = serde_json::from_str::<EventParams>(params.get());
            return event
                .map(|it| SubscriptionEvent::Event(it.result))
                .map_err(|source| ClientError::Form { method: EventsEvent::METHOD, source });
        }
    }

    /// Ends the subscription at the daemon. A dropped subscription continues until its connection
    /// closes, and counts against the limit of subscriptions per connection.
    pub async fn end(self) {
        if let Some((connection, subscription)) = self.active {
            // A closed connection has ended the subscription too.
            let _ = connection.call::<EventsUnsubscribe>(&UnsubscribeParams { subscription }).await;
        }
    }

    async fn begin(&mut self) -> Result<SubscribeResult, ClientError> {
        let connection = self.client.connection().await?;
        let result = connection.call::<EventsSubscribe>(&self.params).await?;
        self.active = Some((connection, result.subscription.clone()));
        Ok(result)
    }
}
