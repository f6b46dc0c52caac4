//! File paths extracted from agents' shell commands.

use std::path::{Component, Path, PathBuf};

use skills_cli::shell_files;

/// Maximum number of files extracted from one command.
const MOST: usize = 512;

/// Asserts that every path is absolute, normalised and not in `/dev` or `/proc`, and that there are
/// few.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let command = String::from_utf8_lossy(input);
    let files = shell_files(&command, Path::new("/w/pkg"), Path::new("/w"), Path::new("/home/u"));
    assert!(files.len() <= MOST, "{} files of {command:?}", files.len());
    for path in &files {
        let plain: PathBuf = path.components().collect();
        assert!(path.is_absolute() && plain == *path, "{} of {command:?}", path.display());
        assert!(!path.components().any(|it| it == Component::ParentDir), "{}", path.display());
        assert!(!path.starts_with("/dev") && !path.starts_with("/proc"), "{}", path.display());
        assert!(
            !path.as_os_str().as_encoded_bytes().contains(&0),
            "{} of {command:?}",
            path.display()
        );
    }
}
