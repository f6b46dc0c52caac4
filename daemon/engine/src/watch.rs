//! Watchers: change hints from inotify or `notify`, cookies that order them, mounts, reported
//! writes, and the stat cache.

pub(crate) mod cookie;
pub mod hints;
#[cfg(target_os = "linux")]
pub mod inotify;
pub(crate) mod mounts;
pub mod notify_watcher;
pub mod stat_cache;
pub(crate) mod writes;
