//! Heavy calls: how many run at a time, in which order they begin, and how they end early.
//!
//! A heavy call reads many files or makes a large answer. Each runs on a thread of its own, below
//! the priority of the threads that serve, and few run at a time. Waiting calls begin in turns by
//! connection, so that a connection with many of them delays another by one call at most. Calls of
//! the user and matches of hooks have limits of their own, so that no other call delays them.
//! Invariant: a call whose client has hung up or cancelled never begins, or ends early by its
//! [`Cancel`]; it counts as running until its thread has ended.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use skills_engine::cancel::Cancel;
use skills_platform::lock::lock;
use skills_protocol::error::RpcError;
use skills_protocol::wire::HeavyCallCounts;
use tokio::sync::oneshot;

use crate::rpc::peer::ClientPeer;
use crate::rpc::refusal;

/// Heavy calls of one kind that run at a time.
const MAX_RUNNING: usize = 2;

/// Heavy calls of one kind and one connection that run at a time.
const MAX_RUNNING_PER_CONNECTION: usize = 1;

/// Nice value added to the thread of a heavy call.
const NICE: i32 = 10;

/// The heavy calls of a daemon; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeavyCalls(Arc<Mutex<Queue>>);

/// Kinds of heavy calls. A call waits only for calls of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeavyKind {
    Agents,
    /// Calls of connections that may answer for the user.
    User,
    /// Matches of hooks, which an agent waits for before it uses a tool.
    Hooks,
}

/// The kind of a call, and the number of its connection.
type Caller = (HeavyKind, u64);

#[derive(Debug, Default)]
struct Queue {
    /// The callers of the calls that run.
    running: Vec<Caller>,
    /// The callers with calls that wait, the next one first.
    waiting: VecDeque<(Caller, VecDeque<oneshot::Sender<RunningSlot>>)>,
    n_begun: u64,
    n_cancelled: u64,
}

impl Queue {
    /// Removes the calls whose client has gone.
    fn remove_cancelled(&mut self) {
        for (_, waiting) in &mut self.waiting {
            waiting.retain(|it| !it.is_closed());
        }
        self.waiting.retain(|it| !it.1.is_empty());
    }
}

/// A slot among the calls that run, freed when dropped.
#[derive(Debug)]
struct RunningSlot {
    /// None if it was dropped.
    calls: Option<HeavyCalls>,
    caller: Caller,
}

impl Drop for RunningSlot {
    fn drop(&mut self) {
        if let Some(calls) = self.calls.take() {
            let mut queue = lock(&calls.0);
            let running = queue.running.iter().position(|it| *it == self.caller);
            running.map(|it| queue.running.swap_remove(it));
            calls.begin_waiting(&mut queue);
        }
    }
}

/// Cancels the work when the call is dropped.
struct CancelOnDrop {
    cancel: Cancel,
    calls: HeavyCalls,
    is_done: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if !self.is_done {
            self.cancel.cancel();
            lock(&self.calls.0).n_cancelled += 1;
        }
    }
}

impl HeavyCalls {
    /// Runs `work` on a thread of its own once it is its connection's turn.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        peer: &ClientPeer,
        work: impl FnOnce(&Cancel) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let kind = if peer.may_grant() { HeavyKind::User } else { HeavyKind::Agents };
        self.run_as((kind, peer.nth()), work).await
    }

    /// Runs `work` for a match of hooks, which waits only for other matches.
    pub(crate) async fn run_for_hooks<T: Send + 'static>(
        &self,
        peer: &ClientPeer,
        work: impl FnOnce(&Cancel) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        self.run_as((HeavyKind::Hooks, peer.nth()), work).await
    }

    async fn run_as<T: Send + 'static>(
        &self,
        caller: Caller,
        work: impl FnOnce(&Cancel) -> Result<T, RpcError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let mut on_drop =
            CancelOnDrop { cancel: Cancel::default(), calls: self.clone(), is_done: false };
        let slot = self.wait_for_slot(caller).await?;
        let cancel = on_drop.cancel.clone();
        let (reply, answer) = oneshot::channel();
        // One type for all closures, so that starting a thread is compiled once.
        let run: Box<dyn FnOnce() + Send> = Box::new(move || {
            // Not supported everywhere; the thread then keeps its priority.
            let _ = rustix::process::setpriority_process(None, NICE);
            // Unwind safety: nothing of the work is used after a panic.
            let result = catch_unwind(AssertUnwindSafe(|| work(&cancel)));
            drop(slot);
            // The caller may be gone.
            let _ = reply.send(result.unwrap_or_else(|_| Err(refusal::panicked())));
        });
        if let Err(error) = thread::Builder::new().name("heavy".to_owned()).spawn(run) {
            tracing::warn!(%error, "no thread for a heavy call");
            return Err(RpcError::internal(format!("no thread can be started: {error}"))
                .with_hint("Try again when fewer programs run."));
        }
        let result = answer.await.unwrap_or_else(|_| Err(refusal::panicked()));
        on_drop.is_done = true;
        result
    }

    /// Returns the numbers of running, waiting, begun and cancelled calls.
    pub(crate) fn counts(&self) -> HeavyCallCounts {
        let queue = lock(&self.0);
        let waiting = queue.waiting.iter().flat_map(|it| &it.1);
        HeavyCallCounts {
            running: queue.running.len() as u64,
            waiting: waiting.filter(|it| !it.is_closed()).count() as u64,
            begun: queue.n_begun,
            cancelled: queue.n_cancelled,
        }
    }

    async fn wait_for_slot(&self, caller: Caller) -> Result<RunningSlot, RpcError> {
        let (give, given) = oneshot::channel();
        {
            let mut queue = lock(&self.0);
            queue.remove_cancelled();
            match queue.waiting.iter_mut().find(|it| it.0 == caller) {
                Some((_, waiting)) => waiting.push_back(give),
                None => queue.waiting.push_back((caller, VecDeque::from([give]))),
            }
            self.begin_waiting(&mut queue);
        }
        given.await.map_err(|_| refusal::panicked())
    }

    /// Gives slots to calls that wait, as many as may run.
    fn begin_waiting(&self, queue: &mut Queue) {
        loop {
            let running = &queue.running;
            let may = |it: &(Caller, _)| {
                let of_kind = running.iter().filter(|other| other.0 == it.0.0);
                let of_one = running.iter().filter(|other| **other == it.0);
                of_kind.count() < MAX_RUNNING && of_one.count() < MAX_RUNNING_PER_CONNECTION
            };
            let Some(next) = queue.waiting.iter().position(may) else { return };
            let Some((caller, mut waiting)) = queue.waiting.remove(next) else { return };
            while let Some(give) = waiting.pop_front() {
                match give.send(RunningSlot { calls: Some(self.clone()), caller }) {
                    Ok(()) => {
                        queue.running.push(caller);
                        queue.n_begun += 1;
                        break;
                    }
                    // The caller has gone; the lock is held, so that nothing is given back.
                    Err(mut slot) => slot.calls = None,
                }
            }
            if !waiting.is_empty() {
                queue.waiting.push_back((caller, waiting));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::*;

    async fn until(calls: &HeavyCalls, is_so: impl Fn(HeavyCallCounts) -> bool) {
        let wait = async {
            while !is_so(calls.counts()) {
                sleep(Duration::from_millis(1)).await;
            }
        };
        let waited = timeout(Duration::from_secs(20), wait).await;
        assert!(waited.is_ok(), "{:?}", calls.counts());
    }

    #[tokio::test]
    async fn turns_go_round_by_connection() {
        let calls = HeavyCalls::default();
        let peers: Vec<_> = (0..3).map(|it| Arc::new(ClientPeer::new(it))).collect();
        let (order, mut begun) = tokio::sync::mpsc::unbounded_channel();
        let (release, held) = mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let mut tasks = Vec::new();
        for of in [0, 0, 0, 0, 1, 2, 1] {
            let (calls, peer) = (calls.clone(), Arc::clone(&peers[of]));
            let (order, held) = (order.clone(), Arc::clone(&held));
            let n_before = calls.counts();
            tasks.push(tokio::spawn({
                let calls = calls.clone();
                async move {
                    let work = move |_: &Cancel| {
                        order.send(of).unwrap();
                        let _ = held.lock().unwrap().recv();
                        Ok(())
                    };
                    calls.run(&peer, work).await
                }
            }));
            let n_known = |it: HeavyCallCounts| it.begun + it.waiting;
            until(&calls, |it| n_known(it) > n_known(n_before)).await;
        }
        assert_eq!(calls.counts().running, MAX_RUNNING as u64);
        let mut order = Vec::new();
        for nth in 0..tasks.len() {
            // One ends after the other, so that the order is that in which they began. The end of
            // a call lets none begin if all that wait are of a connection with a running call.
            let of = loop {
                if nth >= MAX_RUNNING {
                    release.send(()).unwrap();
                }
                if let Ok(of) = timeout(Duration::from_secs(1), begun.recv()).await {
                    break of.unwrap();
                }
            };
            order.push(of);
        }
        drop(release);
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        // The first two began at once; then the third connection, before the rest of the first.
        let second = order.iter().position(|it| *it == 2).unwrap();
        assert!(second <= 3, "{order:?}");
        until(&calls, |it| it.running == 0).await;
        assert_eq!(calls.counts().begun, 7);
    }

    #[tokio::test]
    async fn call_that_is_dropped_is_cancelled_and_one_that_waits_never_begins() {
        let calls = HeavyCalls::default();
        let peer = Arc::new(ClientPeer::new(1));
        let (begun, has_begun) = oneshot::channel();
        let run = |begun: Option<oneshot::Sender<()>>| {
            let (calls, peer) = (calls.clone(), Arc::clone(&peer));
            tokio::spawn(async move {
                let work = move |cancel: &Cancel| {
                    begun.map(|it| it.send(()));
                    while !cancel.is_cancelled() {
                        thread::sleep(Duration::from_millis(1));
                    }
                    Ok(())
                };
                calls.run(&peer, work).await
            })
        };
        let first = run(Some(begun));
        has_begun.await.unwrap();
        let second = run(None);
        until(&calls, |it| it.waiting == 1).await;
        second.abort();
        first.abort();
        until(&calls, |it| it.running == 0 && it.cancelled == 2).await;
        assert_eq!(calls.counts().begun, 1);
    }

    #[tokio::test]
    async fn cancelled_calls_leave_the_queue_while_others_run() {
        let calls = HeavyCalls::default();
        let _running = calls.wait_for_slot((HeavyKind::Agents, 1)).await.unwrap();
        for _ in 0..1000 {
            // The first poll puts the call into the queue, and dropping it cancels the call.
            assert!(
                timeout(Duration::ZERO, calls.wait_for_slot((HeavyKind::Agents, 1))).await.is_err()
            );
        }
        let n_queued: usize = lock(&calls.0).waiting.iter().map(|it| it.1.len()).sum();
        assert!(n_queued <= 1, "{n_queued} cancelled calls are queued");
    }

    #[tokio::test]
    async fn panic_is_an_answer_and_frees_the_slot() {
        let calls = HeavyCalls::default();
        let peer = ClientPeer::new(1);
        let work = |_: &Cancel| -> Result<(), RpcError> { panic!("on purpose") };
        assert!(calls.run(&peer, work).await.is_err());
        assert_eq!(calls.run(&peer, |_| Ok(5)).await, Ok(5));
    }
}
