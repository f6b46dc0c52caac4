//! The events that wait for one connection to send them.
//!
//! Anybody puts in, the connection's own task takes out. The invariant: one event for each
//! subscription and kind, so that what waits is bounded by what was subscribed to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use skills_protocol::wire::{Event, EventKind, EventParams};

/// Events on their way to one connection.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    waker: AtomicWaker,
    /// Whether there is a subscription, so that a connection without one asks no further.
    used: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    waiting: BTreeMap<(u64, EventKind), Event>,
    /// The subscriptions whose subscriber knows their name.
    announced: BTreeSet<u64>,
}

impl Mailbox {
    /// Puts an event in; it takes the place of one of the same subscription and kind.
    pub(crate) fn put(&self, subscription: u64, event: &Event) {
        let mut state = self.lock();
        state.waiting.insert((subscription, event.kind), event.clone());
        let wakes = state.announced.contains(&subscription);
        drop(state);
        if wakes {
            self.waker.wake();
        }
    }

    /// The subscriber is about to learn the subscription's name, and may be told from now on.
    pub(crate) fn announce(&self, subscription: u64) {
        self.lock().announced.insert(subscription);
        self.used.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// The subscription has ended.
    pub(crate) fn forget(&self, subscription: u64) {
        let mut state = self.lock();
        state.announced.remove(&subscription);
        state.waiting.retain(|(id, _), _| *id != subscription);
    }

    /// Returns whether anything may still come.
    pub(crate) fn is_subscribed(&self) -> bool {
        self.used.load(Ordering::Acquire) && !self.lock().announced.is_empty()
    }

    /// Takes out all that may be sent; the task is woken when there is more.
    pub(crate) fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Vec<EventParams>> {
        if !self.used.load(Ordering::Acquire) {
            // Only this task's own calls subscribe, and they come before this.
            return Poll::Pending;
        }
        // Before it is looked for: what is put in after that wakes.
        self.waker.register(cx.waker());
        let mut state = self.lock();
        let State { waiting, announced } = &mut *state;
        let ready = waiting.extract_if(.., |(id, _), _| announced.contains(id));
        let ready: Vec<_> = ready
            .map(|((id, _), result)| EventParams { subscription: id.to_string(), result })
            .collect();
        if ready.is_empty() { Poll::Pending } else { Poll::Ready(ready) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
