//! Any text as the index of a registry and as an address.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::registry_index::check(bytes));
