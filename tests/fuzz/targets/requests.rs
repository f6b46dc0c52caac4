//! Any bytes as the parameters of a method.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::requests::check(bytes));
