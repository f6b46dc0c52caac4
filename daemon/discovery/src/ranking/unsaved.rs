//! Adds files that are open in an editor but not on the disk, at the position where the agent would
//! find them.
//!
//! A root is walked in name order, so a file's path determines its position among the files found,
//! and its position in the order of claims. [`Ranking::overlaid`] applies the texts.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use skills_agents::profile::{RootContent, RootRule, WalkRule};
use skills_syntax::path::AbsPath;

use super::{Ranked, RankedRoot, Ranking};
use crate::discover::{ReachedBy, SkillState, refusal};

const SKILL_FILE: &str = "SKILL.md";

impl Ranking {
    /// Returns the ranking that results if these files exist, with empty text. Files that the agent
    /// would not find are ignored.
    #[must_use]
    pub fn with<'a>(&self, files: impl IntoIterator<Item = &'a AbsPath>) -> Self {
        let mut ranking = self.clone();
        for file in files {
            if ranking.skills.iter().all(|it| it.path != *file) {
                ranking.insert(file);
            }
        }
        ranking
    }

    /// Inserts a file at the position where it would be found.
    fn insert(&mut self, file: &AbsPath) {
        let mut finding = (0..self.roots.len()).filter(|it| self.prefix(*it, file).is_some());
        // The root whose path represents the file.
        let root =
            if self.profile.duplicates.last_wins() { finding.next_back() } else { finding.next() };
        let Some(root) = root else { return };
        let Some(prefix) = self.prefix(root, file) else { return };
        let RankedRoot { path, skills, rule, awaits_trust } = &self.roots[root];
        let awaits_trust = *awaits_trust;
        let walk = self.profile.roots.get(*rule).map(|it| &it.walk);
        let steps = steps_below(path, file);
        let is_behind =
            |it: &usize| is_later(&steps_below(path, &self.skills[*it].path), &steps, walk);
        let at = skills.clone().find(is_behind).unwrap_or(skills.end);
        let claim_position = self.claim_position(at);
        for skill in &mut self.skills {
            skill.claim_position +=
                usize::from(self.unique && skill.claim_position >= claim_position);
            skill.winner = skill.winner.map(|it| it + usize::from(it >= at));
        }
        self.roots[root].skills.end += 1;
        for later in &mut self.roots[root + 1..] {
            later.skills = later.skills.start + 1..later.skills.end + 1;
        }
        let inserted = Ranked {
            path: file.clone(),
            name: String::new(),
            prefix,
            description: None,
            name_only: false,
            state: if awaits_trust { SkillState::Untrusted } else { SkillState::Active },
            reason: None,
            claim_position,
            winner: None,
            same_file: false,
        };
        self.skills.insert(at, inserted);
    }

    /// Returns the position in the order of claims for a file inserted at `at`.
    fn claim_position(&self, at: usize) -> usize {
        let before = at.checked_sub(1).map(|it| self.skills[it].claim_position);
        match before {
            _ if !self.unique => 0,
            Some(before) if self.profile.duplicates.last_wins() => before,
            None if self.profile.duplicates.last_wins() => self.skills.len(),
            Some(before) => before + 1,
            None => self.skills.first().map_or(0, |it| it.claim_position),
        }
    }

    /// Returns the prefix of a file's name in a root; `None` if the root's walk would not find it.
    fn prefix(&self, root: usize, file: &AbsPath) -> Option<String> {
        let RankedRoot { path, rule, .. } = &self.roots[root];
        let RootRule { root_content, walk, .. } = self.profile.roots.get(*rule)?;
        let dir = file.parent()?;
        let between: Vec<&OsStr> = dir.strip_prefix(&**path).ok()?.iter().collect();
        match root_content {
            RootContent::Commands => {
                let is_command = file.extension() == Some(OsStr::new("md"));
                let names = between.iter().map(|it| format!("{}:", it.to_string_lossy()));
                let is_too_deep = walk.max_depth.is_some_and(|it| between.len() > it.into());
                (is_command && !is_too_deep).then(|| names.collect())
            }
            RootContent::Skills => {
                let is_entered = |(depth, name): (usize, &&OsStr)| {
                    u16::try_from(depth)
                        .is_ok_and(|it| refusal(walk, name, it, ReachedBy::Name).is_none())
                };
                let is_below = |it: &AbsPath| it.starts_with(&**path) && it != path;
                let is_within = !walk.into_skills
                    && dir.ancestors().skip(1).take_while(is_below).any(|it| {
                        let file = it.child(SKILL_FILE);
                        self.skills.iter().any(|it| it.path == file)
                    });
                let is_found = file.file_name() == Some(OsStr::new(SKILL_FILE))
                    && (walk.root_skill || !between.is_empty())
                    && between.iter().enumerate().all(is_entered)
                    && !is_within;
                is_found.then(String::new)
            }
        }
    }
}

/// Returns whether one path is walked after another: by the order of names in the walk, and a
/// directory before its content.
fn is_later(one: &[&OsStr], other: &[&OsStr], walk: Option<&WalkRule>) -> bool {
    let differing = one.iter().zip(other).find(|(one, other)| one != other);
    let reversed = walk.is_some_and(|it| it.reversed);
    let by_path = walk.is_some_and(|it| it.by_path);
    let end: &[u8] = if by_path { b"/" } else { b"" };
    let key = |it: &OsStr| [it.as_bytes(), end].concat();
    differing.map_or(one.len() > other.len(), |(one, other)| (key(one) > key(other)) != reversed)
}

/// Returns the path components from a root to a file. A directory's own SKILL.md sorts before
/// everything below it.
fn steps_below<'a>(root: &AbsPath, file: &'a AbsPath) -> Vec<&'a OsStr> {
    let Ok(relative) = file.strip_prefix(&**root) else { return Vec::new() };
    let mut names: Vec<&OsStr> = relative.iter().collect();
    names.pop_if(|it| *it == SKILL_FILE);
    names
}
