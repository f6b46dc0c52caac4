//! Reports of skill directories that cannot be listed.

use std::io;
use std::path::Path;
use std::sync::Arc;

use skills_discovery::discover::{Fault, FaultKind};
use skills_syntax::path::AbsPath;

use crate::files::skill_file::SKILL_FILE;
use crate::views::view::View;

/// Names of directories that contain skills.
const NAMES: [&str; 2] = ["skills", "skill"];

/// Returns the directory that a walk could not list, if it may contain skills: `asked` itself, a
/// directory at or below an agent's root, or one below a directory named like [`NAMES`]. Returns
/// its SKILL.md instead if that is readable, because agents that know its name can read it.
pub(super) fn skill_dir_of(
    error: &ignore::Error,
    asked: &Path,
    views: &[Arc<View>],
) -> Option<AbsPath> {
    let is_denied = error.io_error().is_some_and(|it| it.kind() == io::ErrorKind::PermissionDenied);
    let dir = path_of(error).filter(|_| is_denied)?;
    let roots = views.iter().flat_map(|it| &it.resolution.roots);
    let is_named =
        |it: &Path| it.file_name().is_some_and(|it| NAMES.iter().any(|name| it == *name));
    let matters = dir == asked
        || roots.into_iter().any(|it| dir.starts_with(&*it.path))
        || dir.strip_prefix(asked).is_ok_and(|it| it.ancestors().any(is_named));
    let dir = AbsPath::new(dir).ok().filter(|_| matters)?;
    let skill = dir.child(SKILL_FILE);
    Some(if skill.is_file() { skill } else { dir })
}

/// Returns the fault of a path without read permission if it is a directory.
pub(super) fn shut_fault(path: &AbsPath) -> Option<Fault> {
    path.is_dir().then(|| FaultKind::Shut.into())
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}
