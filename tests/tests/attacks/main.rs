//! Attacks on the trust boundary and on the daemon's time and memory, over the real socket.
//!
//! Each test plays one attacker: a hostile repository, skill author, registry or client. The table
//! in `docs/security.md` lists each case with its attempt and outcome; a tidy test compares the
//! two.

#[path = "../e2e/support.rs"]
#[expect(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
mod support;

mod budgets;
mod consent;
mod execution;
mod faults;
mod heavy_calls;
mod links;
mod listing;
mod loosening;
mod names;
mod patterns;
mod report;
mod requests;
mod sources;
mod trust;
