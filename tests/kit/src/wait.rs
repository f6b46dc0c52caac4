//! Waiting for a condition, with a deadline.
//!
//! Tests do not sleep for a fixed time: they name a condition, continue as soon as it holds, and
//! fail with that name if it never does.

use std::thread;
use std::time::{Duration, Instant};

/// Default timeout of a test; generous, because it is only spent on failure.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Calls `probe` until it returns a value, which is returned; panics after [`DEADLINE`].
#[track_caller]
pub fn wait_for<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    match within(DEADLINE, probe) {
        Some(found) => found,
        None => panic!("timed out after {DEADLINE:?} waiting for {what}"),
    }
}

/// Calls `probe` until it returns a value or `limit` has passed.
///
/// The probe runs at least once, even if `limit` is zero.
pub fn within<T>(limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    // Starts short, because most conditions hold within a millisecond, and grows, to leave the
    // processor to the process under test.
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(found) = probe() {
            return Some(found);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::park_timeout(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_for_returns_when_the_condition_holds() {
        let mut asked = 0;
        let found = wait_for("the third time", || {
            asked += 1;
            (asked == 3).then_some(asked)
        });
        assert_eq!(found, 3);
    }

    #[test]
    fn within_returns_none_at_the_deadline() {
        assert_eq!(within(Duration::from_millis(5), || None::<()>), None);
    }
}
