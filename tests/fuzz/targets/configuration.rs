//! Any bytes as `config.toml` and as `.skillsd.toml`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::configuration::check(bytes));
