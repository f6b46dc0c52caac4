//! Locking of mutexes whose data stay consistent if a thread panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. Each update under it must be complete before anything can panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
