//! Health of views and the engine's status.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::Ordering;

use skills_agents::profile::RootBase;
use skills_discovery::discover::{
    DiscoveryContext, Fault, FaultKind, ReasonRule, Resolution, RootOutcome, SearchRoot,
    SkillState, SkipReason,
};

use super::state::{EngineState, ViewEntry};
use crate::files::dir_index::{DirNode, WatchState};
use crate::health::Health;
use crate::views::discovery_run::Dependencies;
use crate::views::status::{Status, WorktreeStatus};

/// Maximum number of unreadable directories reported per root.
const MOST_UNREADABLE: usize = 10;

/// Reports added directories if the agent has none.
fn unread_addition(ctx: &DiscoveryContext) -> Option<Health> {
    let profile = &ctx.profile;
    let dir = ctx.additional.first()?;
    let has_none = profile.roots.iter().all(|it| it.base != RootBase::Additional);
    has_none.then(|| Health {
        code: "add-dir",
        message: format!("{} has no added directories; these have no effect", profile.subject()),
        hint: "Leave out `--add-dir`, or name an agent that has them, such as `claude-code`.",
        path: Some(dir.to_path_buf().into()),
    })
}

/// Reports an existing root that cannot be read, and unreadable directories in it. They are read
/// again at every request.
fn unreadable(root: &SearchRoot) -> impl Iterator<Item = Health> {
    let whole = match &root.outcome {
        RootOutcome::Fault(fault) => Some((&root.path, fault, "a search root")),
        _ => None,
    };
    let parts = root.skips.iter().filter_map(|skip| match &skip.reason {
        SkipReason::Fault(fault) => Some((&skip.path, fault, "a directory in a search root")),
        _ => None,
    });
    let is_shut = |fault: &Fault| {
        use FaultKind::{Changing, Denied, Io, TooLong};
        matches!(fault.kind, Denied | Changing | TooLong | Io)
    };
    let shut = whole.into_iter().chain(parts).filter(move |(_, fault, _)| is_shut(fault));
    shut.take(MOST_UNREADABLE).map(|(path, fault, what)| Health {
        code: "unreadable",
        message: format!("{what} {fault}"),
        // These are directories.
        hint: match fault.kind {
            FaultKind::Denied => Fault::from(FaultKind::Shut).next(),
            _ => fault.next(),
        },
        path: Some(path.to_path_buf().into()),
    })
}

/// Reports the parts of a root that its budget left out.
fn over_budget(root: &SearchRoot) -> impl Iterator<Item = Health> {
    root.skips.iter().filter(|it| it.reason.is_over_budget()).map(|skip| Health {
        code: "incomplete",
        message: format!(
            "`{}` is only partly searched: {}",
            root.path.display(),
            skip.reason.message()
        ),
        hint: "Move directories without skills out of the search root, or reduce their depth.",
        path: Some(skip.path.to_path_buf().into()),
    })
}

/// Maximum number of duplicate names reported.
const MAX_DUPLICATES: usize = 10;

/// Reports skills with one name, if the agent warns of them.
fn duplicates(resolution: &Resolution) -> impl Iterator<Item = Health> {
    let notes =
        resolution.candidates.iter().flat_map(|it| it.notes.iter().map(move |note| (it, note)));
    let duplicates = notes.filter(|(_, note)| note.rule == ReasonRule::NameDuplicate);
    duplicates.take(MAX_DUPLICATES).map(|(it, note)| Health {
        code: "duplicate",
        message: note.message.clone(),
        hint: "Rename one of the two, or remove the one you do not want.",
        path: Some(it.path.to_path_buf().into()),
    })
}

impl EngineState {
    /// Returns the problems of a view.
    pub(super) fn health(
        &self,
        ctx: &DiscoveryContext,
        resolution: &Resolution,
        depends: &Dependencies,
    ) -> Vec<Health> {
        let mut health = self.watch_problems(depends);
        if !resolution.cwd_exists {
            health.push(Health {
                code: "no-directory",
                message: "the working directory does not exist, or is not a directory".into(),
                hint: "Use a directory that exists; without one, only the user's own skills are listed.",
                path: Some(ctx.cwd.to_path_buf().into()),
            });
        }
        if let Some(foreign) = &resolution.foreign {
            health.push(Health {
                code: "foreign-ancestor",
                message: "the search for the worktree's top stopped at a directory of another user"
                    .into(),
                hint: "Work as the user who owns the worktree, or change its owner.",
                path: Some(foreign.clone().into_path_buf().into()),
            });
        }
        health.extend(unread_addition(ctx));
        health.extend(resolution.roots.iter().flat_map(unreadable));
        health.extend(resolution.roots.iter().flat_map(over_budget));
        health.extend(duplicates(resolution));
        for file in &resolution.settings {
            let path: OsString = file.path.to_path_buf().into();
            health.extend(file.problems().into_iter().map(|message| Health {
                code: "agent-settings",
                message,
                hint: "Fix the agent's configuration file; `skillsd explain` shows the effect of each file.",
                path: Some(path.clone()),
            }));
        }
        if !resolution.complete {
            health.push(Health {
                code: "incomplete",
                message: "the disk changed faster than it could be read".into(),
                hint: "Retry when no process is changing these directories.",
                path: None,
            });
        }
        health
    }

    /// Returns the problems of watching the directories that a view depends on.
    fn watch_problems(&self, depends: &Dependencies) -> Vec<Health> {
        let mut health = Vec::new();
        let nodes = || {
            // Spares looking at every node of every worktree when all are watched.
            let nodes = self.scanner.needs_sweep().then(|| self.scanner.dir_index.iter());
            let needs_sweep = nodes.into_iter().flatten().filter(|(_, it)| it.needs_sweep());
            needs_sweep.filter(|(_, it)| depends.contains(it.id))
        };
        if self.wants_watching && !self.scanner.is_watching() {
            health.push(Health {
                code: "no-watcher",
                message: "the disk cannot be watched; skillsd reads it at every request".into(),
                hint: "Raise `fs.inotify.max_user_instances` with `sysctl`.",
                path: None,
            });
        }
        let over_limit = nodes().filter(|(_, it)| it.watch == WatchState::OverLimit).count();
        if over_limit > 0 {
            health.push(Health {
                code: "watch-limit",
                message: format!(
                    "skillsd has reached its limit of inotify watches; it reads {over_limit} directories at every request"
                ),
                hint: "Raise `fs.inotify.max_user_watches` with `sysctl`.",
                path: None,
            });
        }
        let read = |it: &DirNode| it.listing.is_some();
        let doubtful = nodes().filter(|(_, it)| read(it)).find_map(|(path, it)| match it.watch {
            WatchState::PartlyWatched(kind) => Some((path, kind)),
            WatchState::Unarmed
            | WatchState::Armed
            | WatchState::OverLimit
            | WatchState::Refused => None,
        });
        if let Some((path, kind)) = doubtful {
            health.push(Health {
                code: "file-system",
                message: format!(
                    "this file system ({kind}) does not report changes by other machines; skillsd reads it at every request"
                ),
                hint: "Nothing needs to be done; a local disk is faster.",
                path: Some(path.to_os_string()),
            });
        }
        // Directories passed only on the way to a root are not reported.
        let refused = nodes().find(|(_, it)| it.watch == WatchState::Refused && read(it));
        if let Some((path, _)) = refused.filter(|_| self.scanner.is_watching()) {
            health.push(Health {
                code: "not-watched",
                message: "a directory cannot be watched; skillsd reads it at every request".into(),
                hint: "Give yourself read permission if the directory is yours.",
                path: Some(path.to_os_string()),
            });
        }
        health
    }

    /// Returns the engine's status.
    pub(super) fn status(&self) -> Status {
        let nodes = self.scanner.dir_index.iter();
        let worktrees = self.worktrees.iter().map(|(top, worktree)| {
            let views = self.views.values().filter(|it| it.view.resolution.worktree == *top);
            let counts = |held: &ViewEntry| -> BTreeMap<_, _> {
                let count = |it| (it, held.view.resolution.count(it));
                SkillState::ALL.map(count).into()
            };
            let age = |it: &ViewEntry| (it.last_used.is_latest(), it.last_used.last());
            // The most recently used view represents the worktree.
            let latest = views.clone().max_by_key(|it| age(it));
            let mut by_age: Vec<_> = views.clone().collect();
            by_age.sort_by_cached_key(|it| (it.view.key.overlay.is_empty(), age(it)));
            let profile = |it: &&ViewEntry| it.view.ctx.profile.id.clone();
            let profiles = by_age.iter().map(|it| (profile(it), counts(it))).collect();
            let mut health: Vec<_> = views.clone().flat_map(|it| it.view.health.clone()).collect();
            health.sort_by_key(|it| it.code);
            health.dedup();
            WorktreeStatus {
                path: top.clone(),
                views: views.count(),
                pinned: worktree.is_pinned,
                skills: latest.map(counts).unwrap_or_default(),
                profiles,
                health,
            }
        });
        Status {
            version: self.status_version.load(Ordering::Relaxed),
            worktrees: worktrees.collect(),
            watches: nodes
                .filter(|(_, it)| {
                    matches!(it.watch, WatchState::Armed | WatchState::PartlyWatched(_))
                })
                .count(),
            watch_limit: self.watch_limit,
            rebuilds: self.rebuilds,
            counters: self.scanner.counters,
            sources: self.sources.status(),
        }
    }
}
