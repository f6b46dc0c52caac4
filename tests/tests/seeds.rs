//! What the fuzz targets start from and have found, through the same assertions on every run.
//!
//! Fuzzing needs a tool of its own and minutes; this needs neither, so that a file that once
//! broke the parser, or reaches where few do, is tried with each change.

use std::fs;
use std::path::{Path, PathBuf};

use skills_core::skill::invariants;

/// Returns the seeds of one target.
fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let entries = fs::read_dir(&dir).unwrap_or_else(|cause| panic!("{}: {cause}", dir.display()));
    let paths = entries.map(|entry| entry.expect("our own tree can be read").path());
    paths.map(|path| (path.clone(), fs::read(path).expect("a seed is a file"))).collect()
}

/// Asserts `holds` of every seed of a target, and names those of which it does not hold.
#[track_caller]
fn check(target: &str, holds: fn(&[u8])) {
    let seeds = seeds(target);
    assert!(seeds.len() > 10, "{} seeds of `{target}`", seeds.len());
    let broken =
        seeds.iter().filter(|(_, bytes)| std::panic::catch_unwind(|| holds(bytes)).is_err());
    let broken: Vec<_> = broken.map(|(path, _)| path.display().to_string()).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn what_was_found_between_the_dashes_holds() {
    check("frontmatter", invariants::frontmatter);
}

#[test]
fn what_was_found_in_whole_files_holds() {
    check("file", invariants::file);
    // A block is a file as well, one without dashes.
    check("frontmatter", invariants::file);
}

#[test]
fn seeds_stay_small() {
    let size = |target| seeds(target).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    assert!(size("frontmatter") + size("file") <= 300_000, "thin them out with `cargo fuzz cmin`");
}
