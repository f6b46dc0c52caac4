//! [`Mailbox`]: events that wait to be sent on one connection.
//!
//! Any thread puts events in; the connection's task takes them out.
//!
//! Invariant: at most one event per subscription and kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use skills_platform::lock::lock;
use skills_protocol::wire::{Event, EventKind, EventParams};

/// Pending events of one connection.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    waker: AtomicWaker,
    /// True if the connection ever subscribed; lets others skip the lock.
    used: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<(u64, EventKind), Event>,
    /// Subscriptions whose id has been sent to the client.
    announced: BTreeSet<u64>,
}

impl Mailbox {
    /// Adds an event; replaces one of the same subscription and kind.
    pub(crate) fn put(&self, subscription: u64, event: &Event) {
        let mut state = lock(&self.state);
        state.waiting.insert((subscription, event.kind), event.clone());
        let wakes = state.announced.contains(&subscription);
        drop(state);
        if wakes {
            self.waker.wake();
        }
    }

    /// Allows the events of a subscription to be sent, since its id is in the next answer.
    pub(crate) fn announce(&self, subscription: u64) {
        lock(&self.state).announced.insert(subscription);
        self.used.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Removes a subscription that has ended.
    pub(crate) fn forget(&self, subscription: u64) {
        let mut state = lock(&self.state);
        state.announced.remove(&subscription);
        state.waiting.retain(|(id, _), _| *id != subscription);
    }

    /// Returns true if a subscription is left.
    pub(crate) fn is_subscribed(&self) -> bool {
        self.used.load(Ordering::Acquire) && !lock(&self.state).announced.is_empty()
    }

    /// Takes the events that may be sent; wakes the task when there are more.
    pub(crate) fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Vec<EventParams>> {
        if !self.used.load(Ordering::Acquire) {
            // Only calls of this task subscribe, and they ran before this poll.
            return Poll::Pending;
        }
        // Registers before the check, so that an event added later wakes the task.
        self.waker.register(cx.waker());
        let mut state = lock(&self.state);
        let State { waiting, announced } = &mut *state;
        let ready = waiting.extract_if(.., |(id, _), _| announced.contains(id));
        let ready: Vec<_> = ready
            .map(|((id, _), result)| EventParams { subscription: id.to_string(), result })
            .collect();
        if ready.is_empty() { Poll::Pending } else { Poll::Ready(ready) }
    }
}
