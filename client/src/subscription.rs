//! A subscription that outlives its connection.
//!
//! The daemon forgets subscriptions with the connection they were made on, and clients come and go
//! more slowly than daemons. So this subscribes again wherever the next daemon is, and says so:
//! what happened in between is told by nobody, and whoever keeps a list asks for it with `since`.
//! Invariant: after [`Heard::Begun`] every change is told, at least by the latest of its kind.

use skills_protocol::method::{EventsEvent, EventsSubscribe, EventsUnsubscribe, Notification};
use skills_protocol::wire::{
    Event, EventParams, SubscribeParams, SubscribeResult, UnsubscribeParams,
};

use crate::ClientError;
use crate::client::Client;
use crate::connection::Connection;
use crate::spawn::pauses;

/// Follows what a place shows, from one daemon to the next.
pub struct Subscription {
    client: Client,
    params: SubscribeParams,
    begun: Option<(Connection, String)>,
}

/// What a subscription hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The subscription has begun, for the first time or again: anything may have happened before.
    Begun(SubscribeResult),
    /// Something has happened.
    Event(Event),
}

impl Subscription {
    /// Returns a subscription that has not begun yet.
    pub fn new(client: Client, params: SubscribeParams) -> Self {
        Self { client, params, begun: None }
    }

    /// Waits for what is heard next. Where the connection is lost, it is made again.
    ///
    /// # Errors
    /// No daemon can be reached or started, or it refuses the subscription.
    pub async fn next(&mut self) -> Result<Heard, ClientError> {
        let mut pauses = pauses();
        loop {
            let Some((connection, name)) = &self.begun else {
                match self.begin().await {
                    Err(error) if error.is_broken_connection() => match pauses.next() {
                        Some(pause) => tokio::time::sleep(pause).await,
                        None => return Err(error),
                    },
                    begun => return begun.map(Heard::Begun),
                }
                continue;
            };
            let note = connection.next_note_of(EventsEvent::METHOD, name).await;
            let event = note.and_then(|it| it.params).map(|params| {
                serde_json::from_str(params.get())
                    .map_err(|source| ClientError::Form { method: EventsEvent::METHOD, source })
            });
            match event.transpose()? {
                Some(EventParams { result, .. }) => return Ok(Heard::Event(result)),
                None => self.begun = None,
            }
        }
    }

    /// Ends the subscription at the daemon. One that is dropped goes on until its connection
    /// closes, and counts among those that a connection may have.
    pub async fn end(self) {
        if let Some((connection, subscription)) = self.begun {
            // With the connection it has ended as well.
            let _ = connection.call::<EventsUnsubscribe>(&UnsubscribeParams { subscription }).await;
        }
    }

    async fn begin(&mut self) -> Result<SubscribeResult, ClientError> {
        let connection = self.client.connection().await?;
        let result = connection.call::<EventsSubscribe>(&self.params).await?;
        self.begun = Some((connection, result.subscription.clone()));
        Ok(result)
    }
}
