//! [`ClientPeer`]: the client of one connection, its rights, environment and subscriptions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use jsonrpsee::ConnectionId;
use skills_discovery::discover::Environment;
use skills_platform::lock::lock;

use crate::rpc::events::{Mailbox, Subscription};

/// The client of one connection, as its calls see it.
#[derive(Debug)]
pub(crate) struct ClientPeer {
    id: ConnectionId,
    /// Number of the connection, unique in this process.
    nth: u64,
    /// True for connections of the consent socket and of this process.
    may_grant: bool,
    environment: OnceLock<Environment>,
    mailbox: Arc<Mailbox>,
    subscriptions: Mutex<Subscriptions>,
    /// Number of calls that wait for approval.
    waiting: AtomicUsize,
}

#[derive(Debug, Default)]
struct Subscriptions {
    by_id: BTreeMap<u64, Subscription>,
    /// Number of subscriptions that are being set up.
    coming: usize,
}

/// A reserved slot for one subscription.
#[derive(Debug)]
pub(crate) struct SubscriptionPlace<'a>(&'a ClientPeer);

impl ClientPeer {
    /// Creates a peer that may not grant anything.
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

    /// Creates a peer that may answer for the user.
    pub(crate) fn granting(id: usize) -> Self {
        Self { may_grant: true, ..Self::new(id) }
    }

    pub(crate) fn may_grant(&self) -> bool {
        self.may_grant
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// Returns the number of the connection, unique in this process.
    pub(crate) fn nth(&self) -> u64 {
        self.nth
    }

    pub(crate) fn environment(&self) -> Option<&Environment> {
        self.environment.get()
    }

    /// Stores the environment for later calls. Only the first `initialize` counts, so that the
    /// views of the connection stay the same.
    pub(crate) fn introduce(&self, environment: Environment) {
        self.environment.get_or_init(|| environment);
    }

    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// Reserves a slot for a subscription; `None` if `limit` is reached.
    pub(crate) fn place_for_subscription(&self, limit: u32) -> Option<SubscriptionPlace<'_>> {
        let mut subscriptions = lock(&self.subscriptions);
        let n_taken = subscriptions.by_id.len() + subscriptions.coming;
        (n_taken < limit as usize).then(|| {
            subscriptions.coming += 1;
            SubscriptionPlace(self)
        })
    }

    /// Ends a subscription. Returns true if it existed.
    pub(crate) fn unsubscribe(&self, name: &str) -> bool {
        let Ok(id) = name.parse() else { return false };
        let ended = lock(&self.subscriptions).by_id.remove(&id);
        ended.is_some()
    }

    pub(crate) fn unsubscribe_all(&self) {
        let ended = std::mem::take(&mut lock(&self.subscriptions).by_id);
        drop(ended);
    }

    /// Counts a call as waiting for approval until the guard is dropped.
    pub(crate) fn waits(&self) -> ApprovalWait<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        ApprovalWait(self)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// Guard of a call that waits for approval, which does not count as in flight.
#[derive(Debug)]
pub(crate) struct ApprovalWait<'a>(&'a ClientPeer);

impl Drop for ApprovalWait<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SubscriptionPlace<'_> {
    /// Stores the subscription and returns its id, which the next answer carries.
    pub(crate) fn fill(self, subscription: Subscription) -> u64 {
        let id = subscription.id();
        lock(&self.0.subscriptions).by_id.insert(id, subscription);
        self.0.mailbox.announce(id);
        id
    }
}

impl Drop for SubscriptionPlace<'_> {
    fn drop(&mut self) {
        lock(&self.0.subscriptions).coming -= 1;
    }
}
