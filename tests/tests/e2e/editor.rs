//! Editors over the real language server, with open buffers and files on disk.
//!
//! The test editor answers the server's requests, opens files as they are on disk, and waits until
//! diagnostics are as expected; nothing sleeps.

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
