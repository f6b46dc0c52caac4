//! Where the server learns what is on the disk: a trait, since it knows no engine and no socket.
//!
//! Whoever runs the server hands in a source: a link to the daemon, or to an engine in the same
//! process. The words are the protocol's, so that both say the same. An answer may fail to come;
//! then nothing is known, and the server says what the open texts alone tell.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

use skills_agents::references::TextSearch;
use skills_discovery::discover::Entry;
use skills_lint::Facts;
use skills_protocol::wire::{CheckResult, PathMatches, RuleLevel, SkillReference, SnapshotResult};
use skills_syntax::path::AbsPath;

/// What a source answers; nothing where it cannot.
pub type Answer<T> = Pin<Box<dyn Future<Output = Option<T>> + Send>>;

/// Is rung when something may have changed.
pub type OnChange = Arc<dyn Fn() + Send + Sync>;

/// How far a walk of a worktree goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalkOptions {
    /// How many files are named of each glob at the most.
    pub most: u32,
    /// Whether no walk of before counts.
    pub anew: bool,
}

/// Something on the disk that what is said of an open text depends on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WatchTarget {
    /// What is configured for a place, by its repository and by the user.
    Configuration(AbsPath),
    /// What is at a path, and whether it may be executed.
    File(AbsPath),
    /// What is in a directory, and not in those below.
    Directory(AbsPath),
    /// The directory of the worktree of a place where the files of a glob begin.
    Glob {
        /// The place.
        place: AbsPath,
        /// The directory, relative to the top of the worktree.
        below: String,
        /// Whether they may lie in directories below it as well.
        is_deep: bool,
    },
}

/// Where a text is, for whoever has it open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentLocation {
    /// The top of the git worktree that it is in, where it is in one.
    pub worktree: Option<AbsPath>,
    /// Whether it is on the disk at all.
    pub is_there: bool,
}

impl Default for DocumentLocation {
    /// What counts where nobody can say.
    fn default() -> Self {
        Self { worktree: None, is_there: true }
    }
}

/// Who answers for the disk. A place is the directory that an agent would work in.
pub trait Backend: Send + Sync + 'static {
    /// Rings whenever what these profiles see from a place may have changed, until what is
    /// returned is dropped. Must be called within a tokio runtime.
    fn follow(&self, place: &AbsPath, profiles: &[String], bell: OnChange) -> Box<dyn Any + Send>;

    /// Rings whenever one of these may be another one, until what is returned is dropped; once as
    /// well when they are watched, since one may have changed before. Must be called within a tokio
    /// runtime.
    fn watch(&self, nearby: Vec<WatchTarget>, bell: OnChange) -> Box<dyn Any + Send>;

    /// Returns what is seen from a place; not `fresh` where nothing has changed since.
    fn snapshot(
        &self,
        place: AbsPath,
        profiles: Vec<String>,
        since: Option<String>,
    ) -> Answer<SnapshotResult>;

    /// Returns what globs match in the worktree of a place.
    fn matches(
        &self,
        place: AbsPath,
        globs: Vec<String>,
        extent: WalkOptions,
    ) -> Answer<Vec<PathMatches>>;

    /// Returns where a skill, or all that there are, is named in the worktree of a place.
    fn references(&self, place: AbsPath, name: Option<String>) -> Answer<Vec<SkillReference>>;

    /// Returns what is wrong with the skills below a place, as they are on the disk; by the rules of
    /// the configuration's profiles where none are named, with what is decided about rules besides.
    fn check(
        &self,
        place: AbsPath,
        profiles: Vec<String>,
        levels: Vec<RuleLevel>,
    ) -> Answer<CheckResult>;

    /// Returns the address of the page about the rules, without a section; nothing where there is none.
    fn rules_page(&self) -> Answer<String>;

    /// Returns what lies beside the skill at `path`, and what is at these paths from its directory.
    fn facts(&self, path: AbsPath, looks: Vec<String>) -> Answer<Facts>;

    /// Returns what is at each of these paths, in their order; nothing for one where nothing is.
    fn entries(&self, paths: Vec<AbsPath>) -> Answer<Vec<Option<Entry>>>;

    /// Returns where each of these texts is, in their order.
    fn whereabouts(&self, paths: Vec<AbsPath>) -> Answer<Vec<DocumentLocation>>;

    /// Returns for each path whether links lead from it out of its worktree: nothing is written
    /// there.
    fn leads_out(&self, paths: Vec<AbsPath>) -> Answer<Vec<bool>> {
        let none = vec![false; paths.len()];
        Box::pin(std::future::ready(Some(none)))
    }

    /// Returns the texts that a search is for: those in which skills may be led to.
    fn texts(&self, search: TextSearch) -> Answer<Vec<AbsPath>>;

    /// Returns the text of a file, without a byte order mark.
    fn read(&self, path: AbsPath) -> Answer<String>;

    /// Makes a script of the skill at `path` executable; its path from the skill's directory.
    fn make_executable(&self, path: AbsPath, relative: String) -> Answer<()>;

    /// Says that the editor has conversations of its own, called `name:PLACE`: what they see counts,
    /// and it tells of touched files itself.
    fn converse(&self, name: String);

    /// Tells that the user works on a file: for the editor's own session.
    fn touch(&self, place: AbsPath, path: AbsPath) -> Answer<()>;
}

/// A source that knows nothing: the server says what texts alone tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

fn none<T: Send + 'static>() -> Answer<T> {
    Box::pin(std::future::ready(None))
}

impl Backend for Nothing {
    fn follow(&self, _: &AbsPath, _: &[String], _: OnChange) -> Box<dyn Any + Send> {
        Box::new(())
    }

    fn watch(&self, _: Vec<WatchTarget>, _: OnChange) -> Box<dyn Any + Send> {
        Box::new(())
    }

    fn snapshot(&self, _: AbsPath, _: Vec<String>, _: Option<String>) -> Answer<SnapshotResult> {
        none()
    }

    fn matches(&self, _: AbsPath, _: Vec<String>, _: WalkOptions) -> Answer<Vec<PathMatches>> {
        none()
    }

    fn references(&self, _: AbsPath, _: Option<String>) -> Answer<Vec<SkillReference>> {
        none()
    }

    fn check(&self, _: AbsPath, _: Vec<String>, _: Vec<RuleLevel>) -> Answer<CheckResult> {
        none()
    }

    fn rules_page(&self) -> Answer<String> {
        none()
    }

    fn facts(&self, _: AbsPath, _: Vec<String>) -> Answer<Facts> {
        none()
    }

    fn entries(&self, _: Vec<AbsPath>) -> Answer<Vec<Option<Entry>>> {
        none()
    }

    fn whereabouts(&self, _: Vec<AbsPath>) -> Answer<Vec<DocumentLocation>> {
        none()
    }

    fn texts(&self, _: TextSearch) -> Answer<Vec<AbsPath>> {
        none()
    }

    fn read(&self, _: AbsPath) -> Answer<String> {
        none()
    }

    fn make_executable(&self, _: AbsPath, _: String) -> Answer<()> {
        none()
    }

    fn converse(&self, _: String) {}

    fn touch(&self, _: AbsPath, _: AbsPath) -> Answer<()> {
        none()
    }
}
