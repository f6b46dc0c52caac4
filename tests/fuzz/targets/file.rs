//! Any bytes as a whole SKILL.md: marks, encodings, dashes, frontmatter and body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skills_agents::invariants;

fuzz_target!(|bytes: &[u8]| invariants::file(bytes));
