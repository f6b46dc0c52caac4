//! Where the files of a worktree name skills.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use skills_core::command;
use skills_core::parse::parse;
use skills_core::path::AbsPath;
use skills_core::references::{Reference, is_speaker, linked, references};
use skills_core::text::decode;

use super::worktree::Worktree;
use crate::disk::{Disk as _, RealDisk};
use crate::view::View;

/// How much of a file is read; nobody writes more than a mebibyte to an agent.
const READ_LIMIT: u64 = 1024 * 1024;

/// A file that names skills.
pub struct Spoken {
    /// The file.
    pub path: AbsPath,
    /// Its text, without a byte order mark.
    pub text: String,
    /// Whether a byte order mark stands before the text.
    pub bom: bool,
    /// Where it names skills, in the order of the text.
    pub references: Vec<Reference>,
}

/// Returns the files that name one of these skills, sorted by path: of the worktree, and of the
/// skills that are seen from there.
pub fn spoken(
    worktree: &Worktree,
    views: &[Arc<View>],
    is_meant: impl Fn(&str) -> bool,
) -> Vec<Spoken> {
    let mut paths: BTreeSet<AbsPath> = BTreeSet::new();
    let mut directories: HashMap<AbsPath, &str> = HashMap::new();
    for candidate in views.iter().flat_map(|it| &it.resolution.candidates) {
        paths.insert(candidate.path.clone());
        let own = candidate.path.parent().filter(|_| !command::is_command(&candidate.path));
        if let Some(own) = own.filter(|_| is_meant(&candidate.name)) {
            directories.entry(own).or_insert(&candidate.name);
        }
    }
    if let Some(top) = worktree.top() {
        let speakers = worktree.files().unwrap_or_default().iter().filter(|it| is_speaker(it));
        paths.extend(speakers.map(|it| top.child(it)));
    }
    let mut seen = HashSet::new();
    let files = paths.into_iter().filter(|it| {
        // A skill that is reached by two ways speaks once.
        it.canonicalize().is_ok_and(|it| seen.insert(it))
    });
    files.filter_map(|path| of_file(path, &is_meant, &directories)).collect()
}

/// Returns the names of all skills of these views, and of their directories.
pub fn names(views: &[Arc<View>]) -> HashSet<String> {
    let candidates = views.iter().flat_map(|it| &it.resolution.candidates);
    candidates
        .flat_map(|it| {
            let own = it.own_name().and_then(|it| it.into_string().ok());
            own.into_iter().chain([it.name.clone()])
        })
        .collect()
}

fn of_file(
    path: AbsPath,
    is_meant: &impl Fn(&str) -> bool,
    directories: &HashMap<AbsPath, &str>,
) -> Option<Spoken> {
    // One that has gone or cannot be read names nothing.
    let bytes = RealDisk.read(&path, READ_LIMIT).ok()?.bytes;
    let decoded = decode(&bytes);
    let document = parse(&decoded.text);
    let mut found = references(&decoded.text, &document);
    found.retain(|it| is_meant(&it.name));
    found.extend(linked(&decoded.text, &document, &path, |it| directories.get(it).copied()));
    found.sort_by_key(|it| it.span);
    (!found.is_empty()).then_some(Spoken {
        path,
        text: decoded.text,
        bom: decoded.bom,
        references: found,
    })
}
