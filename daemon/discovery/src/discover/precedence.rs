//! Precedence: merges duplicate paths of one file, and decides which skill wins a name.

use std::collections::HashMap;

use skills_agents::profile::{DuplicatePolicy, NameCheck, PathIdentity, Profile, Scope};
use skills_syntax::path::AbsPath;

use super::address::shown;
use super::disk::FileId;
use super::reason_rule::ReasonRule;
use super::{Candidate, DiscoveryContext, Reason, SearchRoot, SkillState, Tree, nested, owner};

/// Marks every candidate that loses a name as shadowed, with its winner.
///
/// Files that are dropped, ignored or held back claim no name; hidden and conditional ones do.
pub(super) fn resolve_conflicts(
    ctx: &DiscoveryContext,
    roots: &[SearchRoot],
    real_paths: &RealPaths,
    candidates: &mut [Candidate],
) {
    let profile = &*ctx.profile;
    let is_nested = |it: &Candidate| roots[it.root].scope == Scope::Nested;
    same_file(profile, real_paths, candidates);
    nested::prefix(ctx, roots, candidates);
    let Some(claimants) = order(ctx, roots, candidates) else { return };
    let mut winners: HashMap<String, usize> = HashMap::new();
    for index in claimants {
        if !claims(&candidates[index]) {
            continue;
        }
        match winners.get(&candidates[index].name) {
            None => {
                winners.insert(candidates[index].name.clone(), index);
            }
            Some(&winner) => {
                let path = shown(&candidates[winner].path);
                let order = match profile.duplicates {
                    _ if is_nested(&candidates[winner]) => "nearer to a touched file",
                    DuplicatePolicy::LastWins | DuplicatePolicy::LastWinsByRace => "later",
                    DuplicatePolicy::FirstWins | DuplicatePolicy::KeepAll => "earlier",
                };
                // A built-in skill is not read from a file, so it takes no part in the race.
                let is_race = profile.duplicates == DuplicatePolicy::LastWinsByRace
                    && !candidates[index].is_built_in();
                if profile.warns_of_duplicates {
                    tell(candidates, winner, index, is_race.then(|| profile.subject()));
                }
                let race = if is_race {
                    format!(
                        "; {} reads files concurrently and may use either one",
                        profile.subject()
                    )
                } else {
                    String::new()
                };
                shadow(
                    &mut candidates[index],
                    ReasonRule::NameUnique,
                    winner,
                    format!("`{path}` has the same name and is found {order}{race}"),
                    "Rename one of the two, or remove the one you do not want.",
                );
            }
        }
    }
}

/// Returns all candidates in the order in which they claim names; `None` if the agent keeps several
/// skills with one name.
pub(super) fn order(
    ctx: &DiscoveryContext,
    roots: &[SearchRoot],
    candidates: &[Candidate],
) -> Option<Vec<usize>> {
    let mut claimants: Vec<usize> = match ctx.profile.duplicates {
        DuplicatePolicy::KeepAll => return None,
        DuplicatePolicy::FirstWins => (0..candidates.len()).collect(),
        DuplicatePolicy::LastWins | DuplicatePolicy::LastWinsByRace => {
            (0..candidates.len()).rev().collect()
        }
    };
    if nested::are_prefixed(ctx) {
        // Measured: prefixed and hidden skills lose their names to others, conditional ones to all.
        let rank = |it: &Candidate| match it.state {
            SkillState::Conditional | SkillState::Activated => 2,
            SkillState::Hidden => 1,
            _ => u8::from(nested::is_prefixed(roots, it)),
        };
        claimants.sort_by_key(|it| rank(&candidates[*it]));
    }
    if nested::wins(ctx) {
        // The sort is stable, so the deepest nested root stays first.
        claimants.sort_by_key(|it| roots[candidates[*it].root].scope != Scope::Nested);
    }
    Some(claimants)
}

/// Canonical paths of the candidates whose file is found at several paths. Two hard links are two
/// skills; a link and its target are one.
pub(super) type RealPaths = HashMap<AbsPath, AbsPath>;

/// Returns the canonical paths of files found at several paths. `complete` becomes false if the
/// tree cannot answer.
pub(super) fn real_paths(
    tree: &dyn Tree,
    candidates: &[Candidate],
    complete: &mut bool,
) -> RealPaths {
    let mut paths: HashMap<FileId, Vec<&AbsPath>> = HashMap::new();
    for it in candidates {
        if let Some(file) = &it.file {
            paths.entry(file.id).or_default().push(&it.path);
        }
    }
    let several = paths.into_values().filter(|it| it.len() > 1).flatten();
    let mut real_paths = RealPaths::new();
    for path in several {
        match owner::real(tree, path) {
            Some(real) => drop(real_paths.insert(path.clone(), real)),
            None => *complete = false,
        }
    }
    real_paths
}

/// Key by which the agent recognises one file.
#[derive(PartialEq, Eq, Hash)]
enum FileOrPath {
    File(FileId),
    Path(AbsPath),
}

/// Keeps the first place of each path, if the agent collects paths in a set.
fn same_path(candidates: &mut [Candidate]) {
    let mut seen: HashMap<AbsPath, usize> = HashMap::new();
    for index in 0..candidates.len() {
        let first = *seen.entry(candidates[index].path.clone()).or_insert(index);
        if first != index {
            same(candidates, index, first);
        }
    }
}

/// Keeps the first path of each file; the last one if the last wins a name and paths.
fn same_file(profile: &Profile, real_paths: &RealPaths, candidates: &mut [Candidate]) {
    if profile.paths == PathIdentity::AsFirstReached {
        same_path(candidates);
    }
    let mut seen: HashMap<FileOrPath, usize> = HashMap::new();
    for turn in 0..candidates.len() {
        let last_wins = profile.duplicates.last_wins() && profile.paths != PathIdentity::FirstFile;
        let index = if last_wins { candidates.len() - 1 - turn } else { turn };
        let candidate = &candidates[index];
        // A file with a refused name is listed under its other name.
        let is_refused =
            profile.name.check == NameCheck::Visible && candidate.state == SkillState::Invalid;
        let is_passed_over =
            matches!(candidate.state, SkillState::Shadowed | SkillState::Untrusted);
        if is_passed_over || is_refused {
            continue;
        }
        let Some(id) = candidate.file.as_ref().map(|it| it.id) else { continue };
        let identity = match profile.paths {
            PathIdentity::AsReached | PathIdentity::AsFirstReached | PathIdentity::FirstFile => {
                match real_paths.get(&candidate.path) {
                    Some(real) => FileOrPath::Path(real.clone()),
                    None => FileOrPath::File(id),
                }
            }
            PathIdentity::Canonical => FileOrPath::Path(candidate.path.clone()),
        };
        match seen.get(&identity) {
            None => {
                seen.insert(identity, index);
            }
            Some(&winner) => same(candidates, index, winner),
        }
    }
}

/// Shadows a candidate whose file is listed at another place.
fn same(candidates: &mut [Candidate], index: usize, winner: usize) {
    let path = shown(&candidates[winner].path);
    shadow(
        &mut candidates[index],
        ReasonRule::FileIdentity,
        winner,
        format!("it is the same file as `{path}`"),
        "Nothing needs to be done: the file is listed once.",
    );
}

/// Adds a note about the losing file to the winner. `racing` is the agent that may use either file.
fn tell(candidates: &mut [Candidate], winner: usize, loser: usize, racing: Option<&str>) {
    let [won, lost] = [winner, loser].map(|it| shown(&candidates[it].path));
    let name = &candidates[winner].name;
    let message = match racing {
        Some(agent) => {
            format!("two skills are named `{name}`: {agent} may use `{won}` or `{lost}`")
        }
        None => format!("two skills are named `{name}`: `{won}` wins over `{lost}`"),
    };
    let next = "Rename one of the two, or remove the one you do not want.".to_owned();
    candidates[winner].notes.push(Reason {
        rule: ReasonRule::NameDuplicate,
        message,
        at: None,
        file: None,
        next,
        winner: None,
    });
}

/// Returns true if the agent reads a candidate and gives it its name.
fn claims(candidate: &Candidate) -> bool {
    !candidate.state.is_out()
        && !matches!(candidate.state, SkillState::Shadowed | SkillState::Untrusted)
}

fn shadow(candidate: &mut Candidate, rule: ReasonRule, winner: usize, message: String, next: &str) {
    if candidate.state.is_out() {
        return;
    }
    candidate.state = SkillState::Shadowed;
    candidate.reason = Some(Box::new(Reason {
        rule,
        message,
        at: None,
        file: None,
        next: next.to_owned(),
        winner: Some(winner),
    }));
}
