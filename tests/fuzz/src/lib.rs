//! Assertions of the fuzz targets: one function for each untrusted format.
//!
//! Each function takes any bytes and panics if an invariant does not hold. The targets call them
//! with fuzzer input; `tests/tests/seeds.rs` calls them with every seed.

pub mod agent_settings;
pub mod configuration;
pub mod disk;
pub mod framing;
pub mod git_files;
pub mod globs;
pub mod plugin_manifests;
pub mod registry_index;
pub mod requests;
pub mod shell_paths;
pub mod skill_files;

use skills_syntax::text::LineIndex;

/// The line that separates the parts of an input.
const SEPARATOR: &str = "\n=====\n";

/// Asserts that a position counted from 1 lies in the text.
fn assert_place(text: &str, line: u32, column: u32) {
    assert!(line >= 1 && column >= 1, "{line}:{column} in {text:?}");
    let length = LineIndex::new(text).line(line - 1).map(|it| it.slice(text).chars().count());
    assert!(length.is_some_and(|it| column as usize <= it + 1), "{line}:{column} in {text:?}");
}

/// Selects one item by the length of the input, so that each input stays cheap.
fn chosen<'a, T: ?Sized>(of: &[&'a T], input: &[u8]) -> &'a T {
    of[input.len() % of.len()]
}

/// Splits an input into `N` texts at lines of five equals signs; missing parts are empty.
fn parts<const N: usize>(bytes: &[u8]) -> [String; N] {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(N, SEPARATOR);
    std::array::from_fn(|_| parts.next().unwrap_or_default().to_owned())
}
