//! Directories that may not be read, and where a skill could be all the same.

use std::io;
use std::path::Path;

use skills_discovery::discover::{Fault, FaultKind};
use skills_syntax::path::AbsPath;

use super::{SKILL_FILE, Task};

/// What directories of skills are called.
const NAMES: [&str; 2] = ["skills", "skill"];

/// Returns the directory that a walk could not list, where it is one of skills: `asked` itself, a
/// root of an agent or what is below one, or what is below a directory that is called so. Where the
/// skill in it can be read all the same, as by agents that know its name, returns that one.
pub(super) fn shut(error: &ignore::Error, asked: &Path, task: &Task) -> Option<AbsPath> {
    let is_denied = error.io_error().is_some_and(|it| it.kind() == io::ErrorKind::PermissionDenied);
    let dir = path_of(error).filter(|_| is_denied)?;
    let roots = task.views.iter().flat_map(|it| &it.resolution.roots);
    let is_named =
        |it: &Path| it.file_name().is_some_and(|it| NAMES.iter().any(|name| it == *name));
    let matters = dir == asked
        || roots.into_iter().any(|it| dir.starts_with(&*it.path))
        || dir.strip_prefix(asked).is_ok_and(|it| it.ancestors().any(is_named));
    let dir = AbsPath::new(dir).ok().filter(|_| matters)?;
    let skill = dir.child(SKILL_FILE);
    Some(if skill.is_file() { skill } else { dir })
}

/// Returns what is the matter with a path that may not be read, where that is a directory.
pub(super) fn told(path: &AbsPath) -> Option<Fault> {
    path.is_dir().then(|| Fault { kind: FaultKind::Shut, detail: String::new() })
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
