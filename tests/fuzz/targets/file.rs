//! Any bytes as a whole SKILL.md: marks, encodings, dashes, frontmatter and body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skills_fuzz::skill_files;

fuzz_target!(|bytes: &[u8]| skill_files::file(bytes));
