//! Any text as the agents' settings, of the user and of a repository.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::agent_settings::check(bytes));
