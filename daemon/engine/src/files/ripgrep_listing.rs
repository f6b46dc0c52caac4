//! Listing of a directory by ripgrep's ignore rules, as `rg --files --hidden` prints it.
//!
//! For agents that use ripgrep. Reads names and ignore files only; does not follow links.

use std::path::{Path, PathBuf};

use crate::files::ignored::{IgnoreOptions, walk};

/// Maximum number of files listed; a typical skill has ten.
const MAX_LISTED_FILES: usize = 20_000;

/// Returns the files below a directory that no ignore file leaves out, relative to it, in no
/// order. `.git` is left out as well.
pub fn unignored(directory: &Path) -> Vec<PathBuf> {
    // Ignore rules of parent directories apply to the directory itself, not to a link to it.
    let Ok(top) = directory.canonicalize() else { return Vec::new() };
    let git = top.join(".git");
    let options = IgnoreOptions { names: &[".rgignore", ".ignore"], within_git: true };
    let builder = walk(&top, options, move |it| it.path().parent() != Some(&git));
    let files = builder.build().filter_map(Result::ok);
    let files = files.filter(|it| it.file_type().is_some_and(|it| it.is_file()));
    let relative = files.filter_map(|it| Some(it.path().strip_prefix(&top).ok()?.to_owned()));
    relative.take(MAX_LISTED_FILES).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn ignore_files_of_parent_directories_apply() {
        let top = tempfile::tempdir().unwrap();
        let skill = top.path().join("s");
        let write = |relative: &str, text: &str| {
            let path = top.path().join(relative);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        fs::create_dir(top.path().join(".git")).unwrap();
        write(".gitignore", "*.log\n");
        write("s/.ignore", "secret\n");
        write("s/.rgignore", "other\n");
        for file in ["SKILL.md", "a.log", "secret", "other", ".hidden", "in/x"] {
            write(&format!("s/{file}"), "");
        }
        symlink("in", skill.join("link")).unwrap();
        symlink("SKILL.md", skill.join("again.md")).unwrap();
        let list = |path: &Path| {
            let mut files = unignored(path);
            files.sort();
            files.into_iter().map(|it| it.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let expected = [".hidden", ".ignore", ".rgignore", "SKILL.md", "in/x"];
        assert_eq!(list(&skill), expected);
        symlink(&skill, top.path().join("way")).unwrap();
        assert_eq!(list(&top.path().join("way")), expected);
        assert!(unignored(&top.path().join("none")).is_empty());
        // The top of its own repository: rules above it do not apply.
        write("s/.git/config", "");
        assert_eq!(list(&skill), [".hidden", ".ignore", ".rgignore", "SKILL.md", "a.log", "in/x"]);
    }
}
