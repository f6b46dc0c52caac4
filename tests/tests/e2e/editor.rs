//! Editors over the real language server: what is seen across files, with buffers over the disk.
//!
//! The editor of these tests answers what the server asks, opens files as they are on the disk, and
//! waits for diagnostics until they are as expected; nothing sleeps.

mod across;
mod agreeing;
mod apart;
mod assisting;
pub(crate) mod client;
mod commands;
mod encodings;
mod fixes;
mod moving;
mod odd;
mod renaming;
mod settings;
mod socket;
mod vicinity;
mod waiting;
mod ways;
