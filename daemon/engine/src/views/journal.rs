//! [`Journal`]: bounded history of one view, the source of `since`.
//!
//! Each published state of a view is one step. A step stores the previous state of each candidate
//! that it changed, so that a later state and the steps since an earlier one yield the exact
//! difference; candidates that changed and changed back are not part of it. A query older than the
//! history gets the whole list.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use skills_agents::skill::LocatedDiagnostic;
use skills_discovery::discover::{Candidate, Reason, Resolution, SkillFile, SkillState};
use skills_platform::lock::lock;
use skills_syntax::path::AbsPath;

/// Maximum number of steps.
const MAX_STEPS: usize = 64;

/// Maximum number of changes in all steps, besides those of the last.
const MAX_CHANGES: usize = 256;

/// Difference between an earlier state of a list and the current one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Indexes of candidates that were added to the list or changed, in order.
    pub changed: Vec<usize>,
    /// Entries that are no longer in the list.
    pub removed: Vec<RemovedEntry>,
}

/// An entry that was removed from a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedEntry {
    /// Its last name.
    pub name: String,
    /// Path of its SKILL.md.
    pub path: AbsPath,
}

/// History of one view.
#[derive(Debug)]
pub(crate) struct Journal(Mutex<Log>);

#[derive(Debug)]
struct Log {
    /// Tick of the state before the first step.
    base: u64,
    steps: VecDeque<Publication>,
    /// Number of changes in all steps.
    n_changes: usize,
}

/// One publication.
#[derive(Debug)]
struct Publication {
    tick: u64,
    changes: Box<[CandidateChange]>,
}

/// Change of one candidate in a step.
#[derive(Debug)]
struct CandidateChange {
    path: AbsPath,
    before: Option<Past>,
    /// True if its position among the others changed.
    moved: bool,
}

/// A candidate's earlier state.
#[derive(Clone, Debug)]
struct Past {
    name: Box<str>,
    state: SkillState,
    content_hash: u64,
}

/// Changes between two states, before they are recorded.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    each: Vec<CandidateChange>,
    /// True if paths do not identify candidates; earlier history is discarded.
    unclear: bool,
    /// Indexes of new or changed candidates that the agent now drops or that cannot be read at the
    /// moment.
    pub(crate) invalid: Vec<usize>,
    /// True if the findings of any file changed.
    pub(crate) findings: bool,
}

impl Changes {
    /// Compares two states of a view.
    pub(crate) fn between(old: &Resolution, new: &Resolution) -> Self {
        let (before, after) = (&old.candidates, &new.candidates);
        let same = |(a, b): &(&Candidate, &Candidate)| looks_same(old, a, new, b);
        let head = before.iter().zip(after).take_while(same).count();
        let (before_rest, after_rest) = (&before[head..], &after[head..]);
        let tail = before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(same).count();
        let before_rest = &before_rest[..before_rest.len() - tail];
        let after_rest = &after_rest[..after_rest.len() - tail];
        if before_rest.is_empty() && after_rest.is_empty() {
            return Self::default();
        }
        let places: HashMap<_, _> =
            before_rest.iter().enumerate().map(|(index, it)| (&it.path, index)).collect();
        let paths: HashSet<_> = after_rest.iter().map(|it| &it.path).collect();
        let outside = before[..head].iter().chain(&before[before.len() - tail..]);
        let unclear = places.len() < before_rest.len()
            || paths.len() < after_rest.len()
            || outside.clone().any(|it| paths.contains(&it.path) || places.contains_key(&it.path));
        if unclear {
            return Self { unclear, findings: true, ..Self::default() };
        }
        let mut found = Self::default();
        let mut last = None;
        for (index, candidate) in after_rest.iter().enumerate() {
            let place = places.get(&candidate.path).copied();
            // A candidate that keeps its relative order has not moved.
            let moved = place.is_some() && place < last;
            last = last.max(place);
            let was = place.map(|it| &before_rest[it]);
            if moved || !was.is_some_and(|it| looks_same(old, it, new, candidate)) {
                let is_stale = candidate.file.as_ref().is_some_and(|it| it.stale.is_some());
                if candidate.state == SkillState::Invalid || is_stale {
                    found.invalid.push(head + index);
                }
                found.findings |= findings(was) != findings(Some(candidate));
                let before = was.map(|it| Past::of(old, it));
                found.each.push(CandidateChange { path: candidate.path.clone(), before, moved });
            }
        }
        for candidate in before_rest.iter().filter(|it| !paths.contains(&it.path)) {
            found.findings |= !findings(Some(candidate)).is_empty();
            let before = Some(Past::of(old, candidate));
            found.each.push(CandidateChange { path: candidate.path.clone(), before, moved: false });
        }
        found
    }

    /// Returns true if any candidate was added, removed or changed.
    pub(crate) fn any(&self) -> bool {
        self.unclear || !self.each.is_empty()
    }
}

impl Journal {
    /// Returns the journal of a view first published at this tick.
    pub(crate) fn new(tick: u64) -> Self {
        Self(Mutex::new(Log { base: tick, steps: VecDeque::new(), n_changes: 0 }))
    }

    /// Records the step to the state at this tick.
    pub(crate) fn push(&self, tick: u64, changes: Changes) {
        let mut log = lock(&self.0);
        if changes.unclear {
            *log = Log { base: tick, steps: VecDeque::new(), n_changes: 0 };
            return;
        }
        while log.steps.len() >= MAX_STEPS || log.n_changes > MAX_CHANGES {
            let Some(first) = log.steps.pop_front() else { break };
            log.base = first.tick;
            log.n_changes -= first.changes.len();
        }
        if log.steps.is_empty() {
            // Frees the capacity of a burst.
            log.steps = VecDeque::with_capacity(1);
        }
        log.n_changes += changes.each.len();
        log.steps.push_back(Publication { tick, changes: changes.each.into() });
    }

    /// Returns the difference between the state at `since` and `resolution`, the state at `now`;
    /// none if the history no longer covers it. `shows` returns true for states that the list
    /// contains.
    pub(crate) fn difference(
        &self,
        since: u64,
        now: u64,
        resolution: &Resolution,
        shows: &dyn Fn(SkillState) -> bool,
    ) -> Option<Difference> {
        let log = lock(&self.0);
        let known = since == log.base || log.steps.iter().any(|it| it.tick == since);
        if !known || since > now {
            return None;
        }
        // The first change of each candidate since then holds its state at that time.
        let mut then: HashMap<&AbsPath, (Option<&Past>, bool)> = HashMap::new();
        for step in log.steps.iter().filter(|it| it.tick > since && it.tick <= now) {
            for CandidateChange { path, before, moved } in &step.changes {
                let entry = then.entry(path).or_insert((before.as_ref(), false));
                entry.1 |= moved;
            }
        }
        let mut difference = Difference::default();
        if then.is_empty() {
            return Some(difference);
        }
        for (index, candidate) in resolution.candidates.iter().enumerate() {
            let Some((past, moved)) = then.remove(&candidate.path) else { continue };
            let past = past.filter(|it| shows(it.state));
            match (past, shows(candidate.state)) {
                (Some(past), true)
                    if !moved && past.content_hash == content_hash_of(resolution, candidate) => {}
                (_, true) => difference.changed.push(index),
                (Some(past), false) => difference.removed.push(past.removed_entry(&candidate.path)),
                (None, false) => {}
            }
        }
        let gone = then.into_iter().filter_map(|(path, (past, _))| Some((path, past?)));
        let gone = gone.filter(|(_, past)| shows(past.state));
        difference.removed.extend(gone.map(|(path, past)| past.removed_entry(path)));
        difference.removed.sort_by(|a, b| a.path.cmp(&b.path));
        Some(difference)
    }
}

impl Past {
    fn of(resolution: &Resolution, candidate: &Candidate) -> Self {
        Self {
            name: candidate.name.as_str().into(),
            state: candidate.state,
            content_hash: content_hash_of(resolution, candidate),
        }
    }

    fn removed_entry(&self, path: &AbsPath) -> RemovedEntry {
        RemovedEntry { name: self.name.to_string(), path: path.clone() }
    }
}

/// Returns a hash of all values that a list shows of a candidate.
fn content_hash_of(resolution: &Resolution, candidate: &Candidate) -> u64 {
    let mut hasher = DefaultHasher::new();
    listed_values(resolution, candidate).hash(&mut hasher);
    hasher.finish()
}

fn findings(candidate: Option<&Candidate>) -> &[LocatedDiagnostic] {
    candidate.and_then(Candidate::record).map_or(&[], |it| &it.findings)
}

fn looks_same(old: &Resolution, a: &Candidate, new: &Resolution, b: &Candidate) -> bool {
    a.path == b.path && listed_values(old, a) == listed_values(new, b)
}

/// Returns all values that a list shows of a candidate besides its path, for comparison. Indexes
/// are excluded: they have no meaning of their own.
fn listed_values<'a>(
    resolution: &'a Resolution,
    candidate: &'a Candidate,
) -> impl Hash + PartialEq + 'a {
    // Destructured completely, so that a new field must be considered here.
    let Candidate {
        name,
        description,
        path: _,
        root,
        directory: _,
        file,
        state,
        reason,
        notes: _,
        namespace,
        name_only,
        shown,
    } = candidate;
    let root = &resolution.roots[*root];
    let file = file.as_ref().map(|SkillFile { id: _, directory: _, record, stale }| {
        let stale = stale.as_ref().map(|it| (it.kind as u8, &it.detail));
        (record.facts.hash, record.facts.truncated, stale)
    });
    let reason = reason.as_ref().map(|it| {
        let Reason { rule, message, at, file, next: _, winner: _ } = &**it;
        (rule, message, file, at.map(|it| (it.line, it.column)))
    });
    let place = (root.scope as u8, root.path.as_os_str(), &root.label, root.owner);
    let shown = shown.as_ref().map(|it| (it.root.as_os_str(), it.path.as_os_str()));
    (name, description, place, state, file, reason, namespace, (name_only, shown))
}
