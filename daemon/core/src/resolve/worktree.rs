//! The git worktree that a working directory belongs to.

use super::tree::{Place, Tree};
use crate::path::AbsPath;

/// The worktree a working directory belongs to.
pub(super) struct Worktree {
    pub(super) top: AbsPath,
    pub(super) in_git: bool,
    pub(super) foreign: Option<AbsPath>,
}

impl Worktree {
    /// Finds the top of the git worktree that holds `cwd`; outside git that is `cwd` itself.
    ///
    /// The search stops at an ancestor that belongs to neither the user nor root, as git's own
    /// does (`safe.directory`): what a stranger put above us decides nothing.
    pub(super) fn of(cwd: &AbsPath, tree: &dyn Tree, complete: &mut bool) -> Self {
        let outside = |foreign| Self { top: cwd.clone(), in_git: false, foreign };
        for dir in cwd.ancestors() {
            if dir != *cwd {
                match tree.look(&dir) {
                    None => *complete = false,
                    Some(Place::Directory { foreign: true }) => return outside(Some(dir)),
                    Some(_) => {}
                }
            }
            match tree.look(&dir.child(".git")) {
                None => *complete = false,
                Some(Place::Directory { .. } | Place::File) => {
                    return Self { top: dir, in_git: true, foreign: None };
                }
                Some(_) => {}
            }
        }
        outside(None)
    }
}
