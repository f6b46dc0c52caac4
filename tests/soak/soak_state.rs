//! State shared by all threads of the soak test: worktrees, end of the run, quiet points, counters.

use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use skills_testkit::fixture::write_skill;
use skills_testkit::{Framing, Home, Wire};

/// Number of worktrees.
const WORKTREES: usize = 20;

/// Timeout for an answer, on a machine with other load.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Number of messages that are printed; further ones are only counted.
const SHOWN: u64 = 20;

/// Connects to one of the daemon's sockets.
pub(crate) fn connect(socket: &Path, framing: Framing) -> Wire {
    let wire = Wire::connect(socket, framing).expect("the daemon listens");
    wire.set_timeout(TIMEOUT);
    wire
}

/// State shared by the threads of a run.
pub(crate) struct SoakState<'a> {
    pub(crate) home: &'a Home,
    pub(crate) tops: Vec<PathBuf>,
    start: Instant,
    time: Duration,
    /// Read-locked while changing the disk, write-locked while the disk must be quiet.
    quiet: RwLock<()>,
    calls: AtomicU64,
    operations: AtomicU64,
    checks: AtomicU64,
    wrong: AtomicU64,
    failures: AtomicU64,
    first: Mutex<Vec<String>>,
}

/// The counters at the end of a run.
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) operations: u64,
    pub(crate) checks: u64,
    pub(crate) wrong: u64,
    pub(crate) failures: u64,
    /// The first reported wrong answers and failures.
    pub(crate) first: Vec<String>,
}

impl<'a> SoakState<'a> {
    /// Creates the worktrees, with a few skills each, and starts the clock.
    pub(crate) fn new(home: &'a Home, time: Duration) -> Self {
        let tops: Vec<PathBuf> =
            (0..WORKTREES).map(|nth| home.worktree(&format!("w{nth:02}"), "")).collect();
        for top in &tops {
            for name in ["a", "b", "c"] {
                write_skill(&top.join(".claude/skills").join(name), name, "Says when to use it.");
            }
        }
        write_skill(&home.path().join(".claude/skills/own"), "own", "A skill of the user.");
        Self {
            home,
            tops,
            start: Instant::now(),
            time,
            quiet: RwLock::default(),
            calls: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            checks: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            first: Mutex::default(),
        }
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns whether the run continues.
    pub(crate) fn is_running(&self) -> bool {
        self.elapsed() < self.time
    }

    /// Sleeps, but not past the end of the run.
    pub(crate) fn rest(&self, time: Duration) {
        thread::sleep(time.min(self.time.saturating_sub(self.elapsed())));
    }

    /// Returns a random worktree.
    pub(crate) fn top(&self, dice: &mut Dice) -> &Path {
        &self.tops[dice.below(self.tops.len())]
    }

    /// Waits until the disk may be changed.
    pub(crate) fn changing(&self) -> RwLockReadGuard<'_, ()> {
        self.quiet.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no thread changes the disk, and blocks further changes.
    pub(crate) fn quiet(&self) -> RwLockWriteGuard<'_, ()> {
        self.quiet.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_operation(&self) {
        self.operations.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_check(&self) {
        self.checks.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a wrong answer, and prints the first ones.
    pub(crate) fn wrong(&self, message: &str) {
        if self.wrong.fetch_add(1, Ordering::Relaxed) < SHOWN {
            self.tell(format!("wrong: {message}"));
        }
    }

    /// Runs a unit of work, and counts a panic in it as a failure.
    pub(crate) fn attempt(&self, work: impl FnOnce()) {
        let Err(cause) = catch_unwind(AssertUnwindSafe(work)) else { return };
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("panicked");
        if self.failures.fetch_add(1, Ordering::Relaxed) < SHOWN {
            self.tell(format!("failed: {text}"));
        }
        self.rest(Duration::from_secs(1));
    }

    /// Prints a line on standard error.
    pub(crate) fn say(&self, line: &str) {
        // A closed standard error is no reason to stop.
        let _ = writeln!(io::stderr(), "{:>7.0} s  {line}", self.elapsed().as_secs_f64());
    }

    fn tell(&self, message: String) {
        self.say(&message);
        self.first.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// Returns the counters.
    pub(crate) fn counts(&self) -> Counts {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        Counts {
            calls: self.calls.load(Ordering::Relaxed),
            operations: self.operations.load(Ordering::Relaxed),
            checks: self.checks.load(Ordering::Relaxed),
            wrong: self.wrong.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            first: first.clone(),
        }
    }
}

/// Repeatable random numbers (Marsaglia's xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: usize) -> Self {
        let mut dice = Self((seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        dice.below(1);
        dice
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("it is below a usize")
    }

    /// Returns a random item.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}
