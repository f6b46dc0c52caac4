//! Any text as patterns of `paths:` and as paths.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::globs::check(bytes));
