//! Any text as a shell command of an agent.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::shell_paths::check(bytes));
