//! The [`Backend`] trait, through which the server reads the disk.
//!
//! The caller of [`crate::serve`] passes in a backend: a connection to the daemon, or an engine in
//! the same process. Both use the protocol's types, so both give the same answers. An answer may be
//! missing; the server then reports only what the open documents show.

use std::pin::Pin;
use std::sync::Arc;

use skills_agents::references::TextSearch;
use skills_agents::tool_names::ToolNames;
use skills_discovery::discover::Entry;
use skills_lint::SkillDirFacts;
use skills_protocol::wire::{CheckResult, Health, PathMatches, RuleLevel, SnapshotResult};
use skills_syntax::path::AbsPath;
use tokio::task::AbortHandle;

/// A backend's answer; `None` if it cannot answer.
pub type Answer<T> = Pin<Box<dyn Future<Output = Option<T>> + Send>>;

/// Called when something may have changed.
pub type OnChange = Arc<dyn Fn() + Send + Sync>;

/// Options for a walk of a worktree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalkOptions {
    /// The maximum number of files to return for each glob.
    pub max_files: u32,
    /// If true, results of an earlier walk must not be reused.
    pub fresh: bool,
}

/// Something on the disk that the analysis of an open document depends on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WatchTarget {
    /// The configuration that applies to a workspace root: the repository's and the user's.
    Configuration(AbsPath),
    /// The file at a path, and whether it is executable.
    File(AbsPath),
    /// The entries of a directory, without its subdirectories.
    Directory(AbsPath),
    /// The directory in which the files of a glob are searched.
    Glob {
        /// The workspace root whose worktree is searched.
        root: AbsPath,
        /// The directory, relative to the top of the worktree.
        dir: String,
        /// True if files in subdirectories can match too.
        is_recursive: bool,
    },
}

/// A request for facts about the files near a skill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactsRequest {
    /// The skill's file.
    pub path: AbsPath,
    /// Paths relative to the skill's directory, whose entries are wanted.
    pub looks: Vec<String>,
}

/// The location of an open document on the disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentLocation {
    /// The top of the git worktree that contains it; `None` outside git.
    pub worktree: Option<AbsPath>,
    /// True if the file exists on the disk.
    pub exists: bool,
}

impl Default for DocumentLocation {
    /// Returns the location assumed if the backend cannot answer.
    fn default() -> Self {
        Self { worktree: None, exists: true }
    }
}

/// A watch of a backend. Dropping it ends the watch.
#[derive(Debug, Default)]
pub struct WatchHandle(Option<AbortHandle>);

impl WatchHandle {
    /// Returns the handle of a task that watches until it is aborted.
    pub fn new(task: AbortHandle) -> Self {
        Self(Some(task))
    }
}

impl Drop for WatchHandle {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Answers questions about the disk.
///
/// A root is a directory that an agent would start in.
pub trait Backend: Send + Sync + 'static {
    /// Subscribes before it returns: calls `on_change` whenever the skills that these profiles see
    /// from a root may have changed, until the returned value is dropped. Must be called within a
    /// tokio runtime.
    fn subscribe(
        &self,
        root: &AbsPath,
        profiles: &[String],
        on_change: OnChange,
    ) -> Answer<WatchHandle>;

    /// Watches the targets before it returns: calls `on_change` whenever one of them may have
    /// changed since, until the returned value is dropped. Must be called within a tokio runtime.
    fn watch(&self, targets: Vec<WatchTarget>, on_change: OnChange) -> Answer<WatchHandle>;

    /// Watches the texts that [`Self::find_texts`] may find from a root, before it returns.
    /// Calls `on_change` once when one may have changed. `None` if changes may go unreported.
    fn watch_texts(&self, _root: AbsPath, _on_change: OnChange) -> Answer<WatchHandle> {
        none()
    }

    /// Returns the skills visible from a root; `fresh` is false if nothing has changed since
    /// `since`.
    fn snapshot(
        &self,
        root: AbsPath,
        profiles: Vec<String>,
        since: Option<String>,
    ) -> Answer<SnapshotResult>;

    /// Returns the files that the globs match in the worktree of a root.
    fn match_globs(
        &self,
        root: AbsPath,
        globs: Vec<String>,
        options: WalkOptions,
    ) -> Answer<Vec<PathMatches>>;

    /// Returns the skills that a profile sees from a root and that were loaded, the one with the
    /// highest score of use first.
    fn most_used_skills(&self, root: AbsPath, profile: String) -> Answer<Vec<AbsPath>>;

    /// Returns the MCP tools and the agents that a list of tools can name in a root.
    fn tool_names(&self, _root: AbsPath) -> Answer<ToolNames> {
        none()
    }

    /// Returns the findings for the skills below a root, as they are on the disk.
    ///
    /// Without `profiles`, those of the configuration apply. `levels` override the configured
    /// severities.
    fn check(
        &self,
        root: AbsPath,
        profiles: Vec<String>,
        levels: Vec<RuleLevel>,
    ) -> Answer<CheckResult>;

    /// Returns the address of the page that documents the rules, without a fragment.
    fn rules_page(&self) -> Answer<String>;

    /// Returns facts about the files near each skill, in order.
    fn facts(&self, requests: Vec<FactsRequest>) -> Answer<Vec<SkillDirFacts>>;

    /// Returns the directory entry at each path, in order; `None` where nothing exists.
    fn entries(&self, paths: Vec<AbsPath>) -> Answer<Vec<Option<Entry>>>;

    /// Returns each path without symbolic links; `None` if nothing is there.
    fn real_paths(&self, _paths: Vec<AbsPath>) -> Answer<Vec<Option<AbsPath>>> {
        none()
    }

    /// Returns the location of each document, in order.
    fn locate(&self, paths: Vec<AbsPath>) -> Answer<Vec<DocumentLocation>>;

    /// Returns for each path whether symlinks lead from it out of its worktree. Such files are
    /// never written.
    fn escape_worktree(&self, paths: Vec<AbsPath>) -> Answer<Vec<bool>> {
        let none = vec![false; paths.len()];
        Box::pin(std::future::ready(Some(none)))
    }

    /// Returns the files that match `search` and may contain paths to skills.
    fn find_texts(&self, search: TextSearch) -> Answer<Vec<AbsPath>>;

    /// Returns the content of a file, without a byte order mark.
    fn read_text(&self, path: AbsPath) -> Answer<String>;

    /// Makes a script of the skill at `path` executable. `relative` is relative to the skill's
    /// directory.
    fn make_executable(&self, path: AbsPath, relative: String) -> Answer<()>;

    /// Returns once a process has ended; `None` if that is never known.
    fn process_ended(&self, _process: u32) -> Answer<()> {
        none()
    }

    /// Returns reports about the daemon to show once: it has another version, or had one.
    fn daemon_reports(&self) -> &[Health] {
        &[]
    }

    /// Uses the editor's own sessions, named `NAME:ROOT`: snapshots include what those sessions
    /// activated, and the editor reports touched files itself.
    fn use_client_sessions(&self, name: String);

    /// Reports to the editor's session that the user opened or saved files.
    fn touch(&self, root: AbsPath, paths: Vec<AbsPath>) -> Answer<()>;
}

/// A backend without answers; the server then uses open documents only.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBackend;

fn none<T: Send + 'static>() -> Answer<T> {
    Box::pin(std::future::ready(None))
}

impl Backend for NoBackend {
    fn subscribe(&self, _: &AbsPath, _: &[String], _: OnChange) -> Answer<WatchHandle> {
        none()
    }

    fn watch(&self, _: Vec<WatchTarget>, _: OnChange) -> Answer<WatchHandle> {
        none()
    }

    fn snapshot(&self, _: AbsPath, _: Vec<String>, _: Option<String>) -> Answer<SnapshotResult> {
        none()
    }

    fn match_globs(&self, _: AbsPath, _: Vec<String>, _: WalkOptions) -> Answer<Vec<PathMatches>> {
        none()
    }

    fn most_used_skills(&self, _: AbsPath, _: String) -> Answer<Vec<AbsPath>> {
        none()
    }

    fn check(&self, _: AbsPath, _: Vec<String>, _: Vec<RuleLevel>) -> Answer<CheckResult> {
        none()
    }

    fn rules_page(&self) -> Answer<String> {
        none()
    }

    fn facts(&self, _: Vec<FactsRequest>) -> Answer<Vec<SkillDirFacts>> {
        none()
    }

    fn entries(&self, _: Vec<AbsPath>) -> Answer<Vec<Option<Entry>>> {
        none()
    }

    fn locate(&self, _: Vec<AbsPath>) -> Answer<Vec<DocumentLocation>> {
        none()
    }

    fn find_texts(&self, _: TextSearch) -> Answer<Vec<AbsPath>> {
        none()
    }

    fn read_text(&self, _: AbsPath) -> Answer<String> {
        none()
    }

    fn make_executable(&self, _: AbsPath, _: String) -> Answer<()> {
        none()
    }

    fn use_client_sessions(&self, _: String) {}

    fn touch(&self, _: AbsPath, _: Vec<AbsPath>) -> Answer<()> {
        none()
    }
}
