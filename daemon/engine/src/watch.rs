//! The watch service: one reader of changes on the disk, with inotify or `notify` as its backend.

pub mod backend;
pub(crate) mod cookie;
mod file_watch;
pub mod hints;
#[cfg(target_os = "linux")]
pub mod inotify;
pub(crate) mod mounts;
pub mod notify_watcher;
pub(crate) mod routes;
pub mod service;
pub mod stamp;
pub mod subscription;
pub(crate) mod writes;
