//! The name of the page that a section is extracted to.

use skills_lint::{FsContext, PathKind};

/// Number of file names tried if the first ones exist.
const MAX_NAME_ATTEMPTS: usize = 9;

/// Maximum number of characters of a title used in a file name.
const MAX_SLUG_CHARS: usize = 60;

/// Returns a file name for a title.
pub(super) fn slug(title: &str) -> String {
    let mut slug = String::new();
    // File names have a limited length.
    for letter in title.chars().take(MAX_SLUG_CHARS) {
        if letter.is_alphanumeric() {
            slug.extend(letter.to_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "section".to_owned() } else { slug.to_owned() }
}

/// Returns the first variant of `name` that is not known to exist below `references/`.
pub(super) fn free_name(name: &str, fs: &dyn FsContext) -> Option<String> {
    let is_free = |name: &String| {
        let path = format!("references/{name}.md");
        // Every section has another name, and editors request the refactoring at each move of the
        // cursor, so the disk is asked only if the files are unknown. The list leaves out symlinks
        // and directories: before an edit creates the file, the caller asks the disk for the path.
        match fs.files() {
            Some(files) => !files.contains(&path),
            None => matches!(fs.look(&path), None | Some(PathKind::Missing)),
        }
    };
    let numbered = (2..=MAX_NAME_ATTEMPTS).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free)
}
