//! Asking about the daemon's own files where an answer may never come: in a home on a server that is
//! gone.
//!
//! A file on a disk of this machine is asked about on the spot, which takes a microsecond. One that
//! is kept elsewhere is asked about where threads may wait, and nobody waits for long: until the
//! answer comes no other question is asked, and what is known counts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::files::disk::is_far;

/// How long an answer is waited for. Servers that are there answer in milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a file is, for whoever asks about it; cheap to clone.
#[derive(Clone, Debug)]
pub struct RemoteFsGuard {
    /// Whether it is elsewhere, or nobody has looked where it is.
    is_far: bool,
    late: Arc<Late>,
}

/// How many questions were given up that have not been answered since.
#[derive(Debug, Default)]
struct Late(AtomicUsize);

/// One question: who ends first, whoever answers or whoever waits, leaves it to the other to see.
struct Question {
    late: Arc<Late>,
    /// How many of the two have ended.
    n_ended: AtomicUsize,
}

impl Question {
    /// Whoever waits gives up.
    fn give_up(&self) {
        if self.n_ended.fetch_add(1, Ordering::AcqRel) == 0 {
            self.late.0.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// Ends a question on the side that answers, also where that panics.
struct Answering(Arc<Question>);

impl Drop for Answering {
    fn drop(&mut self) {
        if self.0.n_ended.fetch_add(1, Ordering::AcqRel) == 1 {
            // It may come before the addition; the two make nothing all the same.
            self.0.late.0.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Default for RemoteFsGuard {
    fn default() -> Self {
        Self { is_far: true, late: Arc::default() }
    }
}

impl RemoteFsGuard {
    /// Finds out where a file is, or where it would be. Blocks on the disk.
    pub fn of(path: &Path) -> Self {
        // A link may be on one disk and what it leads to on another.
        let dir = path.ancestors().skip(1).find(|it| it.exists());
        let is_far = is_far(path) || dir.is_some_and(is_far);
        Self { is_far, late: Arc::default() }
    }

    /// Returns whether asking may wait for another machine, or may as far as anybody knows.
    pub fn is_far(&self) -> bool {
        self.is_far
    }

    /// Asks something that takes one look at the file. None where no answer comes.
    pub async fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.is_far { self.read(question).await } else { Some(question()) }
    }

    /// Asks something that takes more than one look, and so never on the spot. None where no answer
    /// comes.
    pub async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.is_late() {
            return None;
        }
        let asked =
            Arc::new(Question { late: Arc::clone(&self.late), n_ended: AtomicUsize::new(0) });
        let answering = Answering(Arc::clone(&asked));
        let answer = spawn_blocking(move || {
            let _answering = answering;
            question()
        });
        if let Ok(answer) = timeout(PATIENCE, answer).await {
            // It fails when the runtime ends or the question panicked.
            return answer.ok();
        }
        asked.give_up();
        tracing::warn!(
            "a file of skillsd's own is not answered for, and what is known of it counts"
        );
        None
    }

    /// Returns whether an answer is still to come that nobody waits for any more.
    pub fn is_late(&self) -> bool {
        self.late.0.load(Ordering::Acquire) > 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn who_is_not_answered_is_not_kept_and_asks_again_when_the_answer_has_come() {
        let reach = RemoteFsGuard::default();
        assert_eq!(reach.look(|| 1).await, Some(1));
        let (answer, waiting) = mpsc::channel();
        let hangs = move || waiting.recv().is_ok();
        assert_eq!(reach.look(hangs).await, None);
        assert!(reach.is_late());
        // Not asked at all.
        assert_eq!(reach.look(|| -> u8 { panic!("it is asked") }).await, None);
        answer.send(()).unwrap();
        while reach.is_late() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(reach.look(|| 2).await, Some(2));
    }

    #[tokio::test]
    async fn what_is_near_is_asked_on_the_spot() {
        let dir = tempfile::tempdir().unwrap();
        let reach =
            RemoteFsGuard { is_far: false, ..RemoteFsGuard::of(&dir.path().join("none/at/all")) };
        let here = std::thread::current().id();
        assert_eq!(reach.look(|| std::thread::current().id()).await, Some(here));
        assert_ne!(reach.read(|| std::thread::current().id()).await, Some(here));
    }
}
