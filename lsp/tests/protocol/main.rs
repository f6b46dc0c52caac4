//! Tests of the server through LSP messages over an in-memory stream.
//!
//! The tests use the public API only. Results are rendered as a few lines of text, so that
//! expectations are easy to review.

mod editor;

mod initialize;

mod diagnostics;

mod uris;

mod encodings;

mod shutdown;

mod progress;

mod refresh;

mod rename;

mod robustness;

mod settings;

mod formatting_and_actions;

mod mock_backend;

mod disk_changes;

mod typing;
