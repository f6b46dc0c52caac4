//! The git worktree that a working directory belongs to, and the repository behind it.
//!
//! Where `.git` is a file it names a directory, and anybody may have written it. What it names is
//! taken for this worktree's repository only where that directory names the worktree in turn, as
//! git itself writes it; else it leads nowhere, and why is kept for `explain`.

use skills_syntax::path::AbsPath;

use super::Resolution;
use super::tree::{Place, Tree};

/// The worktree a working directory belongs to.
pub(super) struct Worktree {
    pub(super) top: AbsPath,
    pub(super) in_git: bool,
    pub(super) foreign: Option<AbsPath>,
    pub(super) repository: Repository,
}

/// Where the repository of a worktree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repository {
    /// There is none: this is not in git.
    None,
    /// In the worktree's own `.git` directory.
    Own,
    /// The worktree is linked to a repository that other worktrees share (`git worktree add`).
    Linked {
        /// The directory that they share.
        common: AbsPath,
        /// The top of the main worktree; a bare repository has none.
        main: Option<AbsPath>,
    },
    /// Elsewhere, for this worktree alone: a submodule's.
    Apart(AbsPath),
    /// `.git` is a file, and what it names is not this worktree's repository: why, as a sentence
    /// fragment with `.git` as its subject.
    Unproven(String),
}

impl Repository {
    /// Returns the directory that git calls the common one; none where nothing proves one.
    pub fn common(&self, top: &AbsPath) -> Option<AbsPath> {
        match self {
            Self::None | Self::Unproven(_) => None,
            Self::Own => Some(top.child(".git")),
            Self::Linked { common, .. } => Some(common.clone()),
            Self::Apart(git) => Some(git.clone()),
        }
    }

    /// Returns the top of the main worktree, where this one is linked to it.
    pub fn main(&self) -> Option<&AbsPath> {
        match self {
            Self::Linked { main, .. } => main.as_ref(),
            Self::None | Self::Own | Self::Apart(_) | Self::Unproven(_) => None,
        }
    }
}

impl Worktree {
    /// Returns the worktree that a resolution found.
    pub(super) fn known(resolution: &Resolution) -> Self {
        Self {
            top: resolution.worktree.clone(),
            in_git: resolution.in_git,
            foreign: resolution.foreign.clone(),
            repository: resolution.repository.clone(),
        }
    }

    /// Finds the top of the git worktree that holds `cwd`; outside git that is `cwd` itself.
    ///
    /// The search stops at an ancestor that belongs to neither the user nor root, as git's own
    /// does (`safe.directory`): what a stranger put above us decides nothing.
    pub(super) fn of(cwd: &AbsPath, tree: &dyn Tree, complete: &mut bool) -> Self {
        let repository = Repository::None;
        let outside = |foreign| Self { top: cwd.clone(), in_git: false, foreign, repository };
        for dir in cwd.ancestors() {
            if dir != *cwd {
                match tree.look(&dir) {
                    None => *complete = false,
                    Some(Place::Directory { foreign: true }) => return outside(Some(dir)),
                    Some(_) => {}
                }
            }
            let repository = match tree.look(&dir.child(".git")) {
                None => {
                    *complete = false;
                    continue;
                }
                Some(Place::Directory { .. }) => Repository::Own,
                Some(Place::File) => match named(&dir, tree) {
                    Ok(repository) => repository,
                    Err(Doubt::Unknown) => {
                        *complete = false;
                        Repository::None
                    }
                    Err(Doubt::Why(why)) => Repository::Unproven(why),
                },
                Some(_) => continue,
            };
            return Self { top: dir, in_git: true, foreign: None, repository };
        }
        outside(None)
    }
}

/// Why a `.git` file leads nowhere.
enum Doubt {
    /// The tree does not know yet.
    Unknown,
    Why(String),
}

/// Returns the repository that the file `.git` of a directory names, if that names it in turn.
fn named(top: &AbsPath, tree: &dyn Tree) -> Result<Repository, Doubt> {
    let file = top.child(".git");
    let text = line(&file, tree)?.ok_or_else(|| doubt("it cannot be read"))?;
    let path = text.strip_prefix("gitdir:").map(str::trim).filter(|it| !it.is_empty());
    let path = path.ok_or_else(|| doubt("it does not say `gitdir: PATH`"))?;
    let git = top.join_lexically(path);
    own_directory(&git, tree)?;
    let Some(back) = line(&git.child("gitdir"), tree)? else {
        // A submodule's says in its configuration where its files are.
        let at = config(&git, "worktree", tree)?.map(|it| git.join_lexically(it));
        return match at {
            Some(at) if same(&at, top, tree)? => Ok(Repository::Apart(git)),
            _ => Err(doubt(&unanswered(&git))),
        };
    };
    let back = git.join_lexically(back);
    let holder = back.parent().filter(|_| back.file_name().is_some_and(|it| it == ".git"));
    match holder {
        Some(holder) if same(&holder, top, tree)? => {}
        _ => return Err(doubt(&unanswered(&git))),
    }
    let shared = line(&git.child("commondir"), tree)?;
    let common = shared.map(|it| git.join_lexically(it)).ok_or_else(|| doubt(&unanswered(&git)))?;
    own_directory(&common, tree)?;
    // Where git puts it; another place would let a directory name any repository as its own.
    let place = git.parent().ok_or_else(|| doubt(&unanswered(&git)))?;
    if !same(&place, &common.child("worktrees"), tree)? {
        let (git, common) = (git.display(), common.display());
        return Err(doubt(&format!("it names `{git}`, which is none of `{common}`'s worktrees")));
    }
    let main = if config(&common, "bare", tree)?.is_some_and(|it| it == "true") {
        None
    } else if let Some(at) = config(&common, "worktree", tree)? {
        Some(common.join_lexically(at))
    } else {
        common.parent().filter(|_| common.file_name().is_some_and(|it| it == ".git"))
    };
    Ok(Repository::Linked { common, main })
}

fn doubt(why: &str) -> Doubt {
    Doubt::Why(why.to_owned())
}

fn unanswered(git: &AbsPath) -> String {
    format!("it names `{}`, which does not name this worktree in turn", git.display())
}

/// Makes sure that a directory is there and is nobody else's.
fn own_directory(path: &AbsPath, tree: &dyn Tree) -> Result<(), Doubt> {
    let shown = path.display();
    match tree.look(path).ok_or(Doubt::Unknown)? {
        Place::Directory { foreign: false } => Ok(()),
        Place::Directory { foreign: true } => {
            Err(doubt(&format!("it names `{shown}`, which is another user's")))
        }
        Place::Missing | Place::File | Place::Special(_) | Place::Fault(_) => {
            Err(doubt(&format!("it names `{shown}`, where no directory is")))
        }
    }
}

/// Returns whether two paths lead to one directory.
fn same(one: &AbsPath, other: &AbsPath, tree: &dyn Tree) -> Result<bool, Doubt> {
    for path in [one, other] {
        match tree.look(path).ok_or(Doubt::Unknown)? {
            Place::Directory { .. } => {}
            _ => return Ok(false),
        }
    }
    let canonical = |it| tree.canonical(it).ok_or(Doubt::Unknown);
    Ok(canonical(one)? == canonical(other)?)
}

/// Returns what a small file says, without the blanks around it; none where there is none to read.
fn line(path: &AbsPath, tree: &dyn Tree) -> Result<Option<String>, Doubt> {
    let text = content(path, tree)?;
    Ok(text.map(|it| it.trim().to_owned()))
}

fn content(path: &AbsPath, tree: &dyn Tree) -> Result<Option<String>, Doubt> {
    let Place::File = tree.look(path).ok_or(Doubt::Unknown)? else { return Ok(None) };
    let text = tree.text(path).ok_or(Doubt::Unknown)?;
    Ok(text.ok().map(|it| it.as_str().to_owned()))
}

/// Returns a key of the section `core` in a repository's configuration.
fn config(git: &AbsPath, key: &str, tree: &dyn Tree) -> Result<Option<String>, Doubt> {
    let Some(text) = content(&git.child("config"), tree)? else { return Ok(None) };
    let mut in_core = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            in_core = section.trim_end_matches(']').trim().eq_ignore_ascii_case("core");
        } else if let Some((name, value)) = line.split_once('=').filter(|_| in_core)
            && name.trim().eq_ignore_ascii_case(key)
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
