//! Attacks on the trust boundary and on the daemon's time and memory, each over the real socket.
//!
//! Every test plays one attacker: a hostile repository, skill author, registry or client. The table
//! in `docs/security.md` lists each case with what was tried and what happened; a tidy test keeps
//! the two equal.

#[path = "../e2e/support.rs"]
#[expect(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
mod support;

mod budgets;
mod consent;
mod execution;
mod faults;
mod links;
mod listing;
mod loosening;
mod names;
mod patterns;
mod requests;
mod sources;
mod trust;
