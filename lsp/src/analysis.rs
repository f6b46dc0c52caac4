//! One open text and all that is known around it, for as long as it takes to answer about it.
//!
//! Answers the rules' questions from memory. What it cannot answer it notes, as the resolver's tree
//! does: the rule is silent for now, the answer is fetched, and the text is looked at again. So no
//! keystroke waits for the disk.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skills_agents::profile::Profile;
use skills_lint::{Facts, FsContext, Look, SkillSet};
use skills_syntax::path::AbsPath;

use crate::snapshot::OverlaySnapshot;

/// What one glob matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Globbed {
    /// How many files; nothing where that is not known.
    pub(crate) count: Option<usize>,
    /// The first of them.
    pub(crate) files: Vec<String>,
}

/// What was asked and is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Whether the facts beside the skill are wanted at all.
    pub(crate) facts: bool,
    /// Paths from the skill's directory.
    pub(crate) looks: BTreeSet<String>,
    pub(crate) globs: BTreeSet<String>,
    /// Globs whose files are wanted, and not only the first few.
    pub(crate) listings: BTreeSet<String>,
}

impl Needs {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { facts, looks, globs, listings } = self;
        !facts && looks.is_empty() && globs.is_empty() && listings.is_empty()
    }
}

/// What is known around one text.
#[derive(Debug, Default)]
pub(crate) struct AnalysisContext {
    pub(crate) path: Option<AbsPath>,
    /// The place that the text belongs to.
    pub(crate) place: Option<AbsPath>,
    pub(crate) overlaid: Arc<OverlaySnapshot>,
    pub(crate) facts: Option<Arc<Facts>>,
    pub(crate) globs: Arc<BTreeMap<String, Globbed>>,
    pub(crate) listings: Arc<BTreeMap<String, Globbed>>,
    /// Which state of what is known this is; it grows with each change.
    pub(crate) generation: u64,
    /// The address of the page about the rules, where there is one.
    pub(crate) rules_page: Option<Arc<str>>,
    /// Whether anybody answers for what is missing.
    pub(crate) is_answered: bool,
    pub(crate) needs: RefCell<Needs>,
}

impl AnalysisContext {
    /// Returns by whose rules the text is checked, and how much each matters.
    pub(crate) fn settings(&self) -> skills_lint::Settings<'_> {
        let profiles: Vec<&Profile> =
            self.overlaid.company.rankings().iter().map(|it| &*it.profile).collect();
        if profiles.is_empty() {
            let levels = self.overlaid.levels.clone();
            return skills_lint::Settings { levels, ..skills_lint::Settings::default() };
        }
        skills_lint::Settings { profiles, levels: self.overlaid.levels.clone() }
    }

    /// Returns what a glob matches.
    pub(crate) fn globbed(&self, glob: &str) -> Option<&Globbed> {
        let known = self.globs.get(glob);
        if known.is_none() {
            self.needs.borrow_mut().globs.insert(glob.to_owned());
        }
        known
    }

    fn facts(&self) -> Option<&Facts> {
        if self.facts.is_none() {
            self.needs.borrow_mut().facts = true;
        }
        self.facts.as_deref()
    }
}

impl FsContext for AnalysisContext {
    fn look(&self, relative: &str) -> Option<Look> {
        let known = self.facts().and_then(|it| it.looks.get(relative));
        if known.is_none() {
            self.needs.borrow_mut().looks.insert(relative.to_owned());
        }
        *known?
    }

    fn files(&self) -> Option<&[String]> {
        self.facts()?.files.as_deref()
    }

    fn matches(&self, glob: &str) -> Option<usize> {
        self.globbed(glob)?.count
    }

    fn first_matches(&self, glob: &str) -> Vec<String> {
        let known = self.listings.get(glob);
        if known.is_none() {
            self.needs.borrow_mut().listings.insert(glob.to_owned());
        }
        known.map(|it| it.files.clone()).unwrap_or_default()
    }

    fn company(&self) -> &SkillSet {
        &self.overlaid.company
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
}
