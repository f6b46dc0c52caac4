//! Any bytes as a stream of framed messages, cut into pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| skills_fuzz::framing::check(bytes));
