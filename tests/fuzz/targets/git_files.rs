//! Any text as a `.git` file and the files behind it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::git_files::check(bytes));
