//! Owners of roots and settings files: the user, an administrator, a repository or a registry.
//!
//! An owner follows from who declares a path and from where the path leads. A path that a
//! repository's file declares is the repository's wherever it leads, and a path that leads into the
//! worktree is the worktree's, also where the user declares it. Paths are compared after links are resolved,
//! never by their text.

use std::cell::Cell;
use std::sync::Arc;

use skills_agents::profile::RootBase;
use skills_syntax::path::AbsPath;

use super::roots::{value, variable};
use super::tree::{PathStatus, Tree};
use super::{DiscoveryContext, Policy, Worktree};

/// The owner of a root or a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// An administrator.
    Managed,
    /// The user, in the home directory or by a path that the user's own files declare.
    User,
    /// A repository: the path leads into a worktree, or a repository's file declares it. The same
    /// goes for a path that a variable names, unless the daemon itself has the variable.
    Repository,
    /// A registry that skillsd fetches from.
    Registry,
}

impl Owner {
    /// Returns whether the user or an administrator has chosen it, so that it needs no trust.
    pub fn is_own(self) -> bool {
        match self {
            Self::Managed | Self::User => true,
            Self::Repository | Self::Registry => false,
        }
    }
}

/// Decides who owns the paths of one site.
pub(super) struct Owners<'a> {
    ctx: &'a DiscoveryContext,
    tree: &'a dyn Tree,
    policy: Arc<Policy>,
    /// The top of the worktree, as it was reached.
    top: AbsPath,
    real_top: AbsPath,
    /// The canonical tops of this worktree and of the main one that it is linked to. A worktree
    /// that holds the home directory is not among them: the user's files in it are the user's.
    tops: Vec<AbsPath>,
    /// The home directory as `HOME` names it, and its canonical path.
    home: Option<(AbsPath, AbsPath)>,
    /// The canonical home directory of the user whom the daemon serves, whatever `HOME` names.
    users_home: Option<AbsPath>,
    /// False once the tree has left a question open.
    complete: Cell<bool>,
}

impl<'a> Owners<'a> {
    pub(super) fn new(ctx: &'a DiscoveryContext, worktree: &Worktree, tree: &'a dyn Tree) -> Self {
        let top = worktree.top.clone();
        let mut owners = Self {
            ctx,
            tree,
            policy: tree.policy(),
            real_top: top.clone(),
            top,
            tops: Vec::new(),
            home: None,
            users_home: None,
            complete: Cell::new(true),
        };
        owners.real_top = owners.real(&worktree.top);
        owners.home = variable(ctx, "HOME").ok().map(|it| (it.clone(), owners.real(&it)));
        owners.users_home = match &owners.policy.environment {
            Some(own) => value(own, "HOME").ok().map(|home| owners.real(&home)),
            None => owners.home.as_ref().map(|(_, real)| real.clone()),
        };
        let main = worktree.repository.main().map(|it| owners.real(it));
        let tops = [Some(owners.real_top.clone()), main];
        owners.tops = tops.into_iter().flatten().filter(|it| !owners.holds_home(it)).collect();
        owners
    }

    /// Returns whether the tree has answered every question so far.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.get()
    }

    /// Returns the owner of a path that a row of the profile finds by this base.
    pub(super) fn base_owner(&self, base: &RootBase, path: &AbsPath) -> Owner {
        match base {
            RootBase::Absolute(_) => self.at(Owner::Managed, path),
            RootBase::Home | RootBase::Provided(_) | RootBase::BuiltIn(_) => self.in_home(path),
            RootBase::Variable { name, below_home } => {
                self.variable_owner(Some(name), below_home, path)
            }
            RootBase::IfSet { name } => match variable(self.ctx, name) {
                Ok(dir) => self.named_by_variable(name, &dir, path),
                Err(_) => self.in_home(path),
            },
            RootBase::Settings | RootBase::Plugins(_) | RootBase::Extensions(_) => {
                self.at(Owner::User, path)
            }
            RootBase::Ancestors { .. } | RootBase::Additional => Owner::Repository,
        }
    }

    /// Returns the owner of a path below the directory that a variable names, or below the
    /// directory of the home that is used where the variable is not set.
    pub(super) fn variable_owner(
        &self,
        name: Option<&str>,
        below_home: &str,
        path: &AbsPath,
    ) -> Owner {
        let usual = self.home.as_ref().map(|(home, _)| home.child(below_home));
        match name.and_then(|it| Some((it, variable(self.ctx, it).ok()?))) {
            Some((name, dir)) if Some(&dir) != usual.as_ref() => {
                self.named_by_variable(name, &dir, path)
            }
            Some(_) | None => self.in_home(path),
        }
    }

    /// Returns the owner of a path that `declared` declares: the repository's where the path leads
    /// into the worktree.
    pub(super) fn at(&self, declared: Owner, path: &AbsPath) -> Owner {
        if declared.is_own() && self.is_inside(path) { Owner::Repository } else { declared }
    }

    /// Returns the owner of a path that a file in `fixed` declares, where `fixed` belongs to
    /// `declared`. A path beneath `fixed` has the same owner.
    pub(super) fn below(&self, fixed: &AbsPath, declared: Owner, path: &AbsPath) -> Owner {
        if self.is_beneath(path, fixed) { declared } else { self.at(declared, path) }
    }

    /// Returns whether a path leads into this worktree, or into the main one that it is linked to.
    pub(super) fn is_inside(&self, path: &AbsPath) -> bool {
        let real = self.real(path);
        self.tops.iter().any(|top| real.starts_with(&**top))
    }

    /// Returns whether a path leads into this worktree, the home directory in it or not.
    pub(super) fn is_in_worktree(&self, path: &AbsPath) -> bool {
        self.real(path).starts_with(&*self.real_top)
    }

    /// Returns whether a path leads to `dir` or beneath it.
    pub(super) fn is_beneath(&self, path: &AbsPath, dir: &AbsPath) -> bool {
        self.real(path).starts_with(&*self.real(dir))
    }

    /// Returns the path that trust in `path` is given to. A link in the worktree is trusted with
    /// the worktree; a link on the way to the worktree makes no difference.
    pub(super) fn trust_path(&self, path: &AbsPath) -> AbsPath {
        match path.strip_prefix(&self.top) {
            Ok(relative) => self.real_top.child(relative),
            Err(_) => self.real(path),
        }
    }

    /// Returns what the user has said about trusting a place.
    pub(super) fn trust_decision(&self, path: &AbsPath) -> Option<bool> {
        self.policy.trusts.decision(path).map(|(_, it)| it)
    }

    /// Returns the directory to trust for a file that lies in a repository.
    pub(super) fn trusted_for(&self, file: &AbsPath) -> AbsPath {
        if file.starts_with(&*self.top) || self.is_in_worktree(file) {
            return self.top.clone();
        }
        let top = self.worktree_of(&self.real(file));
        top.or_else(|| file.parent()).unwrap_or_else(|| file.clone())
    }

    /// Returns a path without links; of a path that is not there, the nearest directory above it
    /// without links, and the rest as written.
    pub(super) fn real(&self, path: &AbsPath) -> AbsPath {
        for above in path.ancestors() {
            match self.tree.look(&above) {
                None => break,
                Some(PathStatus::Missing | PathStatus::Fault(_)) => continue,
                Some(PathStatus::Directory { .. } | PathStatus::File | PathStatus::Special(_)) => {}
            }
            let Some(real) = self.tree.canonical(&above) else { break };
            let rest = path.strip_prefix(&above).unwrap_or("".as_ref());
            return real.child(rest);
        }
        self.complete.set(false);
        path.clone()
    }

    /// A hidden directory of the home directory is the user's, though it be a worktree itself, as
    /// long as no link leads away from it.
    fn in_home(&self, path: &AbsPath) -> Owner {
        if self.has_other_home() {
            return Owner::Repository;
        }
        let is_there = self.home.as_ref().is_some_and(|(home, real_home)| {
            let relative = path.strip_prefix(home).ok();
            relative.is_some_and(|it| {
                it.as_os_str().as_encoded_bytes().starts_with(b".")
                    && self.real(path) == real_home.child(it)
            })
        });
        if is_there { Owner::User } else { self.at(Owner::User, path) }
    }

    /// Returns the owner of a path below a directory that a variable names. A repository may set
    /// the variable, for example through `direnv`, or an agent that has the socket. The directory is
    /// the user's only where the daemon has the same value, in the home directory and outside of
    /// worktrees.
    fn named_by_variable(&self, name: &str, dir: &AbsPath, path: &AbsPath) -> Owner {
        let own = self.policy.environment.as_ref();
        let is_daemons = own.is_none_or(|own| value(own, name).is_ok_and(|it| it == *dir));
        let real = self.real(dir);
        let is_home = self.users_home.as_ref().is_some_and(|it| real.starts_with(&**it));
        if !is_daemons || !is_home || self.has_other_home() || self.worktree_of(&real).is_some() {
            return Owner::Repository;
        }
        self.at(Owner::User, path)
    }

    /// Returns whether `HOME` names another directory than the home directory of the user whom the
    /// daemon serves. Nothing that is found by way of it is the user's.
    fn has_other_home(&self) -> bool {
        self.home.as_ref().is_some_and(|(_, real)| self.users_home.as_ref() != Some(real))
    }

    /// Returns whether a path leads into any git worktree.
    pub(super) fn is_in_any_worktree(&self, path: &AbsPath) -> bool {
        self.worktree_of(&self.real(path)).is_some()
    }

    /// Returns the top of the git worktree that holds a canonical path, unless the worktree holds
    /// the home directory as well.
    fn worktree_of(&self, real: &AbsPath) -> Option<AbsPath> {
        let has_git = |dir: &AbsPath| match self.tree.look(&dir.child(".git")) {
            None => {
                self.complete.set(false);
                false
            }
            Some(PathStatus::Directory { .. } | PathStatus::File) => true,
            Some(PathStatus::Missing | PathStatus::Special(_) | PathStatus::Fault(_)) => false,
        };
        real.ancestors().find(has_git).filter(|it| !self.holds_home(it))
    }

    /// Returns whether a canonical path holds the home directory of the user whom the daemon serves.
    pub(super) fn holds_home(&self, top: &AbsPath) -> bool {
        self.users_home.as_ref().is_some_and(|home| home.starts_with(&**top))
    }
}
