//! [`Survey`]: decides, before a root is walked, which of its directories are within the budget.
//!
//! Breadth-first, so that directories near the root fit the budget even if a deep one is huge. The
//! result depends on the tree only: the live index and a fresh scan stop at the same place.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::iter::successors;
use std::os::unix::ffi::OsStrExt;

use skills_agents::profile::{RootContent, WalkBudget, WalkRule};
use skills_syntax::path::AbsPath;

use super::candidate::SKILL_FILE;
use super::disk::{FileId, ItemKind, ListedItem, Listing};
use super::walker::{COMMAND, EntryAction, PLUGIN, Walker, is_shallow, leads};
use super::{Bound, SkipReason, SkippedEntry};

/// Maximum number of repeated visits of directories through links. Beyond it each directory is
/// walked once, at its path nearest to the root.
pub(super) const MAX_REPEATED_VISITS: usize = 1_000;

/// The directories of a root that the walk may enter.
pub(super) struct Survey {
    /// False if the tree could not answer every query.
    pub(super) known: bool,
    /// Number of directories met, counted once per path.
    pub(super) directories: usize,
    /// Number of directories met again by another path, unless the depth limits it.
    pub(super) repeated: usize,
    /// First path of each directory, and its depth below the root.
    pub(super) nearest: HashMap<FileId, (u16, AbsPath)>,
    /// The depth at which the budget for directories ends, and how many directories of that depth
    /// are within it.
    pub(super) last: Option<(u16, usize)>,
    /// Directories with more entries or files than the rest of the budget.
    pub(super) refused: HashSet<FileId>,
    /// Directories whose links are not followed.
    pub(super) unlinked: HashSet<FileId>,
    /// The places at which the budget ends.
    pub(super) skips: Vec<SkippedEntry>,
    /// The rest of the budget.
    left: WalkBudget,
}

impl Walker<'_> {
    /// Computes which directories below a root are within its budget.
    pub(super) fn survey(
        &mut self,
        path: &AbsPath,
        walk: &WalkRule,
        root_content: RootContent,
    ) -> Survey {
        let mut survey = Survey {
            known: true,
            directories: 0,
            repeated: 0,
            nearest: HashMap::new(),
            last: None,
            refused: HashSet::new(),
            unlinked: HashSet::new(),
            skips: Vec::new(),
            left: walk.budget,
        };
        let (mut level, mut depth) = (vec![path.clone()], 0);
        while !level.is_empty() {
            let mut next = Vec::new();
            for (nth, dir) in level.into_iter().enumerate() {
                if survey.directories >= walk.budget.directories {
                    survey.last = Some((depth, nth));
                    survey.over(dir, Bound::Directories, walk.budget.directories);
                    return survey;
                }
                survey.directories += 1;
                match self.survey_directory(&mut survey, walk, root_content, &dir, depth) {
                    Some(below) => next.extend(below),
                    None => return survey,
                }
            }
            (level, depth) = (next, depth + 1);
        }
        survey
    }

    /// Surveys one directory and returns those below it that are entered. Returns `None` if links
    /// lead to the same directories too often.
    fn survey_directory(
        &mut self,
        survey: &mut Survey,
        walk: &WalkRule,
        root_content: RootContent,
        dir: &AbsPath,
        depth: u16,
    ) -> Option<Vec<AbsPath>> {
        let mut below = Vec::new();
        let Some(listing) = self.tree.list(dir) else {
            survey.known = false;
            return Some(below);
        };
        let Ok(listing) = listing else { return Some(below) };
        let is_repeated = survey.nearest.contains_key(&listing.id);
        if is_repeated && !walk.repeats {
            survey.repeated += 1;
            return Some(below);
        }
        if is_repeated && walk.max_depth.is_none() {
            survey.repeated += 1;
            if survey.has_too_many_repeats() {
                return None;
            }
            if self.find_link_loop(walk, dir, depth, listing.id).is_some() {
                return Some(below);
            }
        }
        survey.nearest.entry(listing.id).or_insert_with(|| (depth, dir.clone()));
        // The budget counts a directory once.
        if !is_repeated {
            survey.take_entries(&walk.budget, dir, &listing, root_content);
        }
        if survey.refused.contains(&listing.id)
            || depth > 0 && is_shallow(walk, dir)
            || self.is_leaf(walk, root_content, depth, &listing)
        {
            return Some(below);
        }
        if !is_repeated {
            survey.take_links(&walk.budget, dir, &listing);
        }
        let follows = !survey.unlinked.contains(&listing.id);
        for item in listing.items.iter().filter(|it| follows || !leads(it)) {
            match self.entry_action(walk, dir, depth, item) {
                EntryAction::Enter(child) => below.push(child),
                EntryAction::Pending => survey.known = false,
                EntryAction::Skip(_) | EntryAction::NotDirectory => {}
            }
        }
        Some(below)
    }

    /// Returns the ancestor of `dir` with the same file id, if links lead in a circle. Searches up to
    /// the root, `depth` levels above. A depth limit ends circles by itself, so nothing is searched.
    pub(super) fn find_link_loop(
        &self,
        walk: &WalkRule,
        dir: &AbsPath,
        depth: u16,
        id: FileId,
    ) -> Option<AbsPath> {
        let above = successors(dir.parent(), AbsPath::parent).take(depth.into());
        let is_same = |it: &AbsPath| {
            self.tree.list(it).is_some_and(|it| it.is_ok_and(|listing| listing.id == id))
        };
        walk.max_depth.is_none().then(|| above.into_iter().find(is_same)).flatten()
    }

    /// Returns true if nothing below the directory is walked.
    fn is_leaf(
        &self,
        walk: &WalkRule,
        root_content: RootContent,
        depth: u16,
        listing: &Listing,
    ) -> bool {
        let is_skill = |it: &ListedItem| {
            it.name == SKILL_FILE
                && it.kind != ItemKind::Directory
                && (it.kind != ItemKind::Link || walk.file_links)
        };
        let is_plugin = root_content == RootContent::Skills
            && depth == 1
            && self.profile.plugins_beside_skills().is_some()
            && listing.items.iter().any(|it| it.name == PLUGIN);
        is_plugin || depth > 0 && !walk.into_skills && listing.items.iter().any(is_skill)
    }
}

impl Survey {
    /// Returns true if links lead to the same directories too often to walk them by each path.
    pub(super) fn has_too_many_repeats(&self) -> bool {
        self.repeated > MAX_REPEATED_VISITS || self.repeated > 0 && self.last.is_some()
    }

    /// Takes a directory's entries and files from the rest of the budget. Refuses the directory if
    /// it has more.
    fn take_entries(
        &mut self,
        whole: &WalkBudget,
        dir: &AbsPath,
        listing: &Listing,
        root_content: RootContent,
    ) {
        let (entries, files) = (listing.items.len(), files(listing, root_content));
        if entries > self.left.entries || listing.is_too_large() {
            self.refused.insert(listing.id);
            self.over(dir.clone(), Bound::Entries, whole.entries);
        } else if files > self.left.files {
            self.refused.insert(listing.id);
            self.over(dir.clone(), Bound::Files, whole.files);
        } else {
            self.left.entries -= entries;
            self.left.files -= files;
        }
    }

    /// Takes a directory's links from the rest of the budget. None are followed if it has more.
    fn take_links(&mut self, whole: &WalkBudget, dir: &AbsPath, listing: &Listing) {
        let links = listing.items.iter().filter(|it| leads(it)).count();
        if links <= self.left.links {
            self.left.links -= links;
        } else {
            self.unlinked.insert(listing.id);
            self.over(dir.clone(), Bound::Links, whole.links);
        }
    }

    fn over(&mut self, path: AbsPath, bound: Bound, most: usize) {
        // One entry per bound is enough; there may be very many.
        let is_told = |it: &SkippedEntry| matches!(it.reason, SkipReason::OverBudget(told, _) if told == bound);
        if !self.skips.iter().any(is_told) {
            self.skips.push(SkippedEntry { path, reason: SkipReason::OverBudget(bound, most) });
        }
    }
}

/// Returns the number of files in a directory that are read.
fn files(listing: &Listing, root_content: RootContent) -> usize {
    let is_read = |it: &&ListedItem| match root_content {
        RootContent::Skills => it.name == SKILL_FILE,
        RootContent::Commands => ends_as_command(&it.name),
    };
    listing.items.iter().filter(is_read).filter(|it| it.kind != ItemKind::Directory).count()
}

fn ends_as_command(name: &OsStr) -> bool {
    name.as_bytes().ends_with(COMMAND)
}
