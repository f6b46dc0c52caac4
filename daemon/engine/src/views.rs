//! Views: the event loop that resolves them, their history, their full-text index and their
//! activation matchers.

pub(crate) mod activation;
pub(crate) mod discovery_run;
pub(crate) mod event;
pub(crate) mod event_loop;
pub(crate) mod idle_check;
pub(crate) mod journal;
pub(crate) mod last_used;
pub(crate) mod response_cache;
pub mod search;
pub mod snapshot_index;
pub(crate) mod status;
pub(crate) mod tracked_tree;
pub(crate) mod update;
pub(crate) mod view;
pub(crate) mod view_lease;
