//! [`Activation`]: pattern matcher of a view's conditional skills, shared by views with the same
//! conditional skills.
//!
//! Activating a skill or discovering a directory changes the view but mostly not its patterns, so
//! matchers are cached by content as long as a view uses them.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};

use skills_discovery::activate::Matcher;
use skills_discovery::discover::{Candidate, Resolution, SkillState};
use skills_platform::lock::lock;

/// Matcher of a view's conditional skills.
#[derive(Debug)]
pub struct Activation {
    matcher: Arc<Matcher>,
    /// Indexes of the candidates that the matcher covers.
    candidates: Box<[u32]>,
}

impl Activation {
    /// Returns the candidates that a path activates, each with its matching pattern, as indexes.
    /// `relative` is relative to the working directory.
    pub fn hits(&self, relative: &Path) -> Vec<(usize, usize)> {
        let hits = self.matcher.matches(relative).into_iter();
        hits.map(|it| (self.candidates[it.skill] as usize, it.pattern)).collect()
    }
}

/// Matchers in use, by content hash.
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
        // Each entry is inserted or removed in one step, so a panic leaves the map consistent.
        let mut kept = lock(&self.0);
        let matcher = kept.get(&key).and_then(Weak::upgrade).unwrap_or_else(|| {
            let matcher = Arc::new(Matcher::new(candidates.iter().map(patterns)));
            kept.retain(|_, it| it.strong_count() > 0);
            kept.insert(key, Arc::downgrade(&matcher));
            matcher
        });
        Activation { matcher, candidates }
    }
}
