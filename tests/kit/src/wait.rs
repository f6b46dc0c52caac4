//! Waiting for a condition, with a deadline.
//!
//! No test sleeps for a fixed time and hopes: it names what it waits for, goes on as soon as that holds,
//! and fails with the name when it never does.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits unless it says otherwise; generous, because it is only spent on failure.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Returns what `probe` finds, asking again until it finds something or [`DEADLINE`] has passed.
#[track_caller]
pub fn wait_for<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    match within(DEADLINE, probe) {
        Some(found) => found,
        None => panic!("waited {DEADLINE:?} in vain for {what}"),
    }
}

/// Returns what `probe` finds within `limit`, or `None` when it found nothing by then.
///
/// The probe runs at least once, also when `limit` is zero.
pub fn within<T>(limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    // Short at first, because most conditions hold within a millisecond; longer later, to leave the
    // processor to whoever is to make the condition true.
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
