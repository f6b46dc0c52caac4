//! Any text as the files that declare plugins.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::plugin_manifests::check(bytes));
