//! Real agents against a scripted model: what they tell it of skills, and what our hooks add.
//!
//! The agents come from npm and are found where `SKILLSD_AGENTS` says; `tests/agents/install` puts
//! them there. Without them a run by hand says what it left out, and one under `CI=true` fails.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests: they say what they left out, and what is missing fails them"
)]

mod catalogs;
mod hooks;
mod registrations;
mod scene;
