//! What is known about the other end of a connection.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jsonrpsee::ConnectionId;

use crate::rpc::events::{Mailbox, Subscription};

/// The variables that discovery depends on, as a client sent them.
pub(crate) type Environment = BTreeMap<String, OsString>;

/// One connection, as the calls on it see it.
#[derive(Debug)]
pub(crate) struct Peer {
    id: ConnectionId,
    /// Tells it from all others, whichever server they are of.
    nth: u64,
    /// True if it came by the consent socket, or is this process itself.
    may_grant: bool,
    environment: OnceLock<Environment>,
    mailbox: Arc<Mailbox>,
    subscriptions: Mutex<Subscriptions>,
    /// How many of its calls only wait for the user.
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct Subscriptions {
    by_id: BTreeMap<u64, Subscription>,
    /// Those that are being made.
    coming: usize,
}

/// A place for one subscription among those that the connection may have.
#[derive(Debug)]
pub(crate) struct SubscriptionPlace<'a>(&'a Peer);

impl Peer {
    /// Returns a connection that may not grant anything.
    pub(crate) fn new(id: usize) -> Self {
        static PEERS: AtomicU64 = AtomicU64::new(1);
        Self {
            id: ConnectionId(id),
            nth: PEERS.fetch_add(1, Ordering::Relaxed),
            may_grant: false,
            environment: OnceLock::new(),
            mailbox: Arc::default(),
            subscriptions: Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Returns a connection that may answer in the user's place.
    pub(crate) fn granting(id: usize) -> Self {
        Self { may_grant: true, ..Self::new(id) }
    }

    /// Returns true if it may answer for the user.
    pub(crate) fn may_grant(&self) -> bool {
        self.may_grant
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Returns a number that no other connection has.
    pub(crate) fn nth(&self) -> u64 {
        self.nth
    }

    /// Returns the environment that the peer introduced itself with, if any.
    pub(crate) fn environment(&self) -> Option<&Environment> {
        self.environment.get()
    }

    /// Keeps the environment for the later calls. A connection introduces itself once; what it
    /// says after that is not heard, so that its views stay the same.
    pub(crate) fn introduce(&self, environment: Environment) {
        self.environment.get_or_init(|| environment);
    }

    /// Returns where events for this connection lie until they are sent.
    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// Returns a place for one more subscription; none when there are as many as there may be.
    pub(crate) fn place_for_subscription(&self, limit: u32) -> Option<SubscriptionPlace<'_>> {
        let mut subscriptions = self.subscriptions();
        let n_taken = subscriptions.by_id.len() + subscriptions.coming;
        (n_taken < limit as usize).then(|| {
            subscriptions.coming += 1;
            SubscriptionPlace(self)
        })
    }

    /// Ends a subscription. Returns whether there was one of that name.
    pub(crate) fn unsubscribe(&self, name: &str) -> bool {
        let Ok(id) = name.parse() else { return false };
        let ended = self.subscriptions().by_id.remove(&id);
        ended.is_some()
    }

    /// Ends all subscriptions: nobody listens any more.
    pub(crate) fn unsubscribe_all(&self) {
        let ended = std::mem::take(&mut self.subscriptions().by_id);
        drop(ended);
    }

    /// Says that a call only waits for the user, as long as what is returned lives.
    pub(crate) fn waits(&self) -> Waits<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waits(self)
    }

    /// Returns how many calls only wait for the user.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        // One is put in or taken out at a time.
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that only waits for the user, which takes no place among those that work.
#[derive(Debug)]
pub(crate) struct Waits<'a>(&'a Peer);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SubscriptionPlace<'_> {
    /// Keeps the subscription, whose name goes out with the next answer. Returns the name.
    pub(crate) fn fill(self, subscription: Subscription) -> u64 {
        let id = subscription.id();
        self.0.subscriptions().by_id.insert(id, subscription);
        self.0.mailbox.announce(id);
        id
    }
}

impl Drop for SubscriptionPlace<'_> {
    fn drop(&mut self) {
        self.0.subscriptions().coming -= 1;
    }
}
