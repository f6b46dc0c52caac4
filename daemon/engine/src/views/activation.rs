//! The matcher of a view: one for all that have the same conditional skills.
//!
//! What activating a skill or finding a directory changes is the view; the patterns that wait in
//! it mostly stay. So matchers are kept by what they are made of, as long as somebody uses them.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use skills_discovery::activate::Matcher;
use skills_discovery::discover::{Candidate, Resolution, SkillState};

/// The conditional skills of a view.
#[derive(Debug)]
pub struct Activation {
    matcher: Arc<Matcher>,
    /// The candidates that the matcher is made of.
    candidates: Box<[u32]>,
}

impl Activation {
    /// Returns the candidates that a path concerns, each with the pattern of it that matches, by
    /// their indexes. `relative` begins at the working directory.
    pub fn hits(&self, relative: &Path) -> Vec<(usize, usize)> {
        let hits = self.matcher.matches(relative).into_iter();
        hits.map(|it| (self.candidates[it.skill] as usize, it.pattern)).collect()
    }

    /// Returns the patterns that can never match: candidate, pattern, and why.
    pub fn refused(&self) -> impl Iterator<Item = (usize, usize, String)> {
        let refused = self.matcher.refused().iter();
        refused.map(|it| (self.candidates[it.skill] as usize, it.pattern, it.error.to_string()))
    }

    /// Whether this and another view share what was made for them.
    pub fn shares_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.matcher, &other.matcher)
    }
}

/// The matchers that somebody uses, by what they are made of.
#[derive(Debug, Default)]
pub(crate) struct Matchers(Mutex<HashMap<[u8; 32], Weak<Matcher>>>);

impl Matchers {
    pub(crate) fn activation(&self, resolution: &Resolution) -> Activation {
        let waits =
            |it: &Candidate| matches!(it.state, SkillState::Conditional | SkillState::Activated);
        let candidates = resolution.candidates.iter().enumerate().filter(|(_, it)| waits(it));
        let candidates: Box<[u32]> = candidates.map(|(index, _)| index as u32).collect();
        let patterns = |index: &u32| {
            let record = resolution.candidates[*index as usize].record();
            record.into_iter().flat_map(|it| it.paths.iter().map(|it| &**it))
        };
        let mut hasher = blake3::Hasher::new();
        for index in &candidates {
            let path = &resolution.candidates[*index as usize].path;
            hasher.update(path.as_os_str().as_bytes());
            for pattern in patterns(index) {
                hasher.update(b"\0").update(pattern.as_bytes());
            }
            hasher.update(b"\0\0");
        }
        let key = *hasher.finalize().as_bytes();
        // Whole after every step: entries come and go one by one.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matcher = kept.get(&key).and_then(Weak::upgrade).unwrap_or_else(|| {
            let matcher = Arc::new(Matcher::new(candidates.iter().map(patterns)));
            kept.retain(|_, it| it.strong_count() > 0);
            kept.insert(key, Arc::downgrade(&matcher));
            matcher
        });
        Activation { matcher, candidates }
    }
}
