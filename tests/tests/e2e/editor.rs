//! Editors over the real language server, with open buffers and files on disk.
//!
//! The test editor answers the server's requests, opens files as they are on disk, and waits until
//! diagnostics are as expected; nothing sleeps.

mod assist;
pub(crate) mod client;
mod commands;
mod cross_file;
mod encodings;
mod fixes;
mod judges;
mod linked_paths;
mod move_files;
mod nearby_files;
mod plugin_references;
mod rename_certainty;
mod rename_matches_references;
mod rename_skill;
mod separate_repositories;
mod settings;
mod socket;
mod unusual_renames;
mod waiting_requests;
mod workspace_pull;
