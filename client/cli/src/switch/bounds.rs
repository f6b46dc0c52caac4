//! Directories in which files of agents may be written: links must not lead out of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::CommandError;

/// Returns the top of the worktree around a directory; the directory itself outside of worktrees.
pub(crate) fn worktree_top(cwd: &Path) -> PathBuf {
    let found = cwd.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok());
    found.unwrap_or(cwd).to_owned()
}

/// Returns the path without links, which must be in one of `tops`. The file may be missing.
pub(crate) fn confined(path: &Path, tops: &[PathBuf]) -> Result<PathBuf, CommandError> {
    let real = real_path(path).map_err(|error| {
        CommandError::finding(format!("`{}` cannot be used", path.display()))
            .because(error.to_string())
            .with_hint("Make it a regular file in a directory that you can write to.")
    })?;
    let tops = tops.iter().filter_map(|it| real_path(it).ok());
    if tops.into_iter().any(|top| real.starts_with(top)) {
        return Ok(real);
    }
    Err(CommandError::refused(format!(
        "`{}` leads to `{}`, outside of its worktree or home",
        path.display(),
        real.display()
    ))
    .with_hint("Change that file yourself, or replace the link."))
}

/// Returns whether no link leads to the file, which may be missing.
pub(crate) fn is_real(path: &Path) -> bool {
    real_path(path).is_ok_and(|it| it == path)
}

/// Resolves links of the part that exists.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(real) if real.exists() && !real.is_file() && !real.is_dir() => {
            return Err(io::Error::other("not a regular file"));
        }
        real => return real,
    }
    if path.is_symlink() {
        return Err(io::Error::other("the link leads to no file"));
    }
    let parent = path.parent().ok_or(io::ErrorKind::NotFound)?;
    Ok(real_path(parent)?.join(path.file_name().ok_or(io::ErrorKind::InvalidInput)?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn link_out_of_the_bounds_is_refused() {
        let top = tempfile::TempDir::new().expect("made");
        let (inside, outside) = (top.path().join("in"), top.path().join("out"));
        fs::create_dir_all(inside.join("kept")).expect("made");
        fs::create_dir(&outside).expect("made");
        fs::write(outside.join("f"), "x").expect("written");
        symlink("../out", inside.join("dir")).expect("made");
        symlink("../out/f", inside.join("f")).expect("made");
        symlink("gone", inside.join("gone")).expect("made");
        symlink("kept", inside.join("link")).expect("made");
        let check = |path: &str| confined(&inside.join(path), std::slice::from_ref(&inside));
        for path in ["dir/f", "dir/new", "f", "gone"] {
            check(path).expect_err(path);
        }
        let real = inside.canonicalize().expect("there").join("kept/new/file");
        assert_eq!(check("link/new/file").expect("inside"), real);
        assert!(is_real(&real) && !is_real(&inside.join("link/new/file")));
        fs::remove_dir(inside.join("kept")).expect("removed");
        symlink("../out", inside.join("kept")).expect("made");
        assert!(!is_real(&real), "a directory has become a link");
    }
}
