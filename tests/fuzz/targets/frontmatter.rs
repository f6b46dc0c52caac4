//! Any bytes as the block between two `---` lines.
//!
//! The dashes are fixed, so that the fuzzer spends its time on YAML and almost-YAML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skills_fuzz::skill_files;

fuzz_target!(|block: &[u8]| skill_files::frontmatter(block));
