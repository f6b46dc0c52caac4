//! Precedence: one file by two ways is one skill, and one of several claimants wins a name.

use std::collections::HashMap;

use super::tree::FileId;
use super::{Candidate, Reason, State};
use crate::profile::{Duplicates, Profile};

/// Marks every candidate that loses as shadowed, with its winner.
///
/// A file the agent drops claims nothing; one that is hidden or conditional does.
pub(super) fn settle(profile: &Profile, candidates: &mut [Candidate]) {
    same_file(candidates);
    let claimants: Vec<usize> = match profile.duplicates {
        Duplicates::KeepAll => return,
        Duplicates::FirstWins => (0..candidates.len()).collect(),
        Duplicates::LastWins => (0..candidates.len()).rev().collect(),
    };
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
                let path = candidates[winner].path.display().to_string();
                let order = match profile.duplicates {
                    Duplicates::LastWins => "later",
                    Duplicates::FirstWins | Duplicates::KeepAll => "earlier",
                };
                shadow(
                    &mut candidates[index],
                    "name/unique",
                    winner,
                    format!("`{path}` has the same name and is found {order}"),
                    "Rename one of the two, or remove the one you do not want.",
                );
            }
        }
    }
}

/// The first path by which a file is met stands for it.
fn same_file(candidates: &mut [Candidate]) {
    let mut first: HashMap<FileId, usize> = HashMap::new();
    for index in 0..candidates.len() {
        let Some(id) = candidates[index].file.as_ref().map(|it| it.id) else { continue };
        match first.get(&id) {
            None => {
                first.insert(id, index);
            }
            Some(&winner) => {
                let path = candidates[winner].path.display().to_string();
                shadow(
                    &mut candidates[index],
                    "file/identity",
                    winner,
                    format!("it is the same file as `{path}`"),
                    "Nothing needs to be done: the file is listed once.",
                );
            }
        }
    }
}

fn claims(candidate: &Candidate) -> bool {
    !matches!(candidate.state, State::Invalid | State::Shadowed)
}

fn shadow(
    candidate: &mut Candidate,
    rule: &'static str,
    winner: usize,
    message: String,
    next: &str,
) {
    if candidate.state == State::Invalid {
        return;
    }
    candidate.state = State::Shadowed;
    candidate.reason =
        Some(Reason { rule, message, at: None, next: next.to_owned(), winner: Some(winner) });
}
