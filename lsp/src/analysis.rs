//! The context in which one open document is analyzed.
//!
//! [`AnalysisContext`] answers the rules' questions from cached values. A question without a cached
//! answer is recorded in [`MissingAnswers`] and the rule reports nothing for now. The answer is
//! then fetched, and the document is analyzed again, so no keystroke waits for the disk.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skills_agents::profile::Profile;
use skills_lint::{BundledTexts, FsContext, PathKind, SkillDirFacts, SkillSet};
use skills_syntax::path::AbsPath;

use crate::snapshot::OverlaySnapshot;

/// The files that one glob matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GlobMatches {
    /// The number of matching files; `None` if unknown.
    pub(crate) count: Option<usize>,
    /// The first matching files, relative to the worktree.
    pub(crate) files: Vec<String>,
}

/// Questions that an analysis asked and the cache could not answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MissingAnswers {
    /// True if facts about files near the skill were asked for.
    pub(crate) facts: bool,
    /// Paths relative to the skill's directory.
    pub(crate) looks: BTreeSet<String>,
    pub(crate) globs: BTreeSet<String>,
    /// Globs whose complete file lists are needed, not only the first few files.
    pub(crate) listings: BTreeSet<String>,
}

impl MissingAnswers {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { facts, looks, globs, listings } = self;
        !facts && looks.is_empty() && globs.is_empty() && listings.is_empty()
    }
}

/// Cached values for the analysis of one document.
#[derive(Debug, Default)]
pub(crate) struct AnalysisContext {
    pub(crate) path: Option<AbsPath>,
    /// The workspace root that the document belongs to.
    pub(crate) root: Option<AbsPath>,
    pub(crate) snapshot: Arc<OverlaySnapshot>,
    pub(crate) facts: Option<Arc<SkillDirFacts>>,
    pub(crate) globs: Arc<BTreeMap<String, GlobMatches>>,
    pub(crate) listings: Arc<BTreeMap<String, GlobMatches>>,
    /// The generation of the workspace state; it grows with each change.
    pub(crate) generation: u64,
    /// The address of the page that documents the rules, if there is one.
    pub(crate) rules_page: Option<Arc<str>>,
    /// True if a backend can fetch missing answers.
    pub(crate) can_fetch: bool,
    pub(crate) missing: RefCell<MissingAnswers>,
}

impl AnalysisContext {
    /// Returns the profiles that the document is checked for, and the severity of each rule.
    pub(crate) fn settings(&self) -> skills_lint::Settings<'_> {
        let profiles: Vec<&Profile> =
            self.snapshot.skill_set.rankings().iter().map(|it| &*it.profile).collect();
        if profiles.is_empty() {
            let levels = self.snapshot.levels.clone();
            return skills_lint::Settings { levels, ..skills_lint::Settings::default() };
        }
        skills_lint::Settings { profiles, levels: self.snapshot.levels.clone() }
    }

    /// Returns the files that a glob matches, if cached.
    pub(crate) fn glob_matches(&self, glob: &str) -> Option<&GlobMatches> {
        let cached = self.globs.get(glob);
        if cached.is_none() {
            self.missing.borrow_mut().globs.insert(glob.to_owned());
        }
        cached
    }

    fn facts(&self) -> Option<&SkillDirFacts> {
        if self.facts.is_none() {
            self.missing.borrow_mut().facts = true;
        }
        self.facts.as_deref()
    }
}

impl FsContext for AnalysisContext {
    fn look(&self, relative: &str) -> Option<PathKind> {
        let cached = self.facts().and_then(|it| it.looks.get(relative));
        if cached.is_none() {
            self.missing.borrow_mut().looks.insert(relative.to_owned());
        }
        *cached?
    }

    fn files(&self) -> Option<&[String]> {
        self.facts()?.files.as_deref()
    }

    fn bundled_texts(&self) -> Option<&BundledTexts> {
        self.facts()?.texts.as_ref()
    }

    fn matches(&self, glob: &str) -> Option<usize> {
        self.glob_matches(glob)?.count
    }

    fn first_matches(&self, glob: &str) -> Vec<String> {
        let cached = self.listings.get(glob);
        if cached.is_none() {
            self.missing.borrow_mut().listings.insert(glob.to_owned());
        }
        cached.map(|it| it.files.clone()).unwrap_or_default()
    }

    fn skill_set(&self) -> &SkillSet {
        &self.snapshot.skill_set
    }

    fn is_git_ignored(&self) -> Option<bool> {
        self.facts()?.is_git_ignored
    }

    fn link_target(&self) -> Option<&AbsPath> {
        self.facts()?.link_target.as_ref()
    }

    fn file_target(&self) -> Option<&AbsPath> {
        self.facts()?.file_target.as_ref()
    }

    fn is_top(&self) -> bool {
        self.facts().is_some_and(|it| it.is_top)
    }

    fn depth(&self) -> Option<usize> {
        self.facts()?.depth
    }

    fn plugin(&self) -> Option<&str> {
        self.facts()?.plugin.as_deref()
    }
}
