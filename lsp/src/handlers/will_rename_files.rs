//! `workspace/willRenameFiles`: what else changes when the client renames files and directories that
//! skills lie in, lie under, or consist of.
//!
//! Paths that would lead nowhere are written anew in every text, those that move among them. A
//! directory that is a skill's, and a command's file or a directory of commands, takes the name
//! along, unless that is taken: that it is renamed cannot be refused here. Of what an edit of ours
//! asked for the texts say so already.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skills_agents::references::is_referencing_file;
use skills_ide::moves::{Move, Moves};
use skills_ide::rename::{RenameKind, Renaming, renamed_by_move};
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{DocumentChanges, FileRename, Uri, WorkspaceEdit};

use super::rename::in_the_way;
use super::rename_edits::follow;
use crate::snapshot::OverlaySnapshot;
use crate::texts::{Meant, Texts};

/// Returns the edits that go with files and directories that are about to be renamed by the client.
pub(crate) async fn will_rename_files(
    files: &[FileRename],
    texts: Texts<'_>,
) -> Option<WorkspaceEdit> {
    let path = |uri: &str| AbsPath::new(&uri.parse::<Uri>().ok()?.to_file_path()?).ok();
    let asked = files.iter().filter_map(|it| {
        let (old, new) = (path(&it.old_uri)?, path(&it.new_uri)?);
        Some(Move { old, new })
    });
    let places = texts.session.all_places();
    let moves = Moves::new(asked.filter(|it| concerns(it, &places)));
    let moves = possible(&moves, &places);
    if moves.all().is_empty() {
        return None;
    }
    let called = called(&moves, &places);
    let meant = called.iter().filter_map(|(path, (new, kind))| {
        let (_, overlaid) = texts.session.places_seeing(path).into_iter().next()?;
        let meant = texts.meant(overlaid.at(path)?.clone(), overlaid);
        let renaming = Renaming { path, new, kind: *kind };
        in_the_way(&renaming, &meant, texts).is_none().then_some((renaming, meant))
    });
    let meant: Vec<(Renaming<'_>, Meant)> = meant.collect();
    let named: Vec<_> = meant.iter().map(|(renaming, meant)| (renaming, meant)).collect();
    let moves = by_all_ways(moves, &places, texts).await;
    let encoding = texts.session.settings().encoding;
    let operations = follow(&moves, &named, &places, texts).await?.into_operations(encoding);
    (!operations.is_empty()).then(|| WorkspaceEdit {
        document_changes: Some(DocumentChanges::Operations(operations)),
        ..WorkspaceEdit::default()
    })
}

/// Returns what skills and commands are called by where they will lie, where that is another name.
fn called(
    moves: &Moves,
    places: &[(AbsPath, Arc<OverlaySnapshot>)],
) -> BTreeMap<AbsPath, (String, RenameKind)> {
    let skills = places.iter().flat_map(|(_, it)| &it.skills);
    let called = skills.filter_map(|it| {
        let (old, new) = (it.path.clone(), moves.new_path(&it.path)?);
        Some((old.clone(), renamed_by_move(&Move { old, new })?))
    });
    called.collect()
}

/// Whether skills, or what speaks of them, have a part in a move.
fn concerns(it: &Move, places: &[(AbsPath, Arc<OverlaySnapshot>)]) -> bool {
    let skills = places.iter().flat_map(|(_, it)| &it.skills);
    let mut dirs = skills.filter_map(|it| it.path.parent());
    is_referencing_file(&it.old)
        || dirs.any(|dir| dir.starts_with(&*it.old) || it.old.starts_with(&*dir))
}

/// Returns those moves that do not end where another skill is.
fn possible(moves: &Moves, places: &[(AbsPath, Arc<OverlaySnapshot>)]) -> Moves {
    let is_taken = |it: &Move| {
        let (new, skill) = (&it.new, it.new.child("SKILL.md"));
        let is_there = |it: &OverlaySnapshot| it.at(&skill).or_else(|| it.at(new)).is_some();
        moves.new_path(new).is_none() && places.iter().any(|(_, it)| is_there(it))
    };
    Moves::new(moves.all().iter().filter(|it| !is_taken(it)).cloned())
}

/// Adds what moves as seen by the other ways to the skills that have a part in it: where the parent
/// of what is renamed is reached by several paths, it is renamed by all of them.
async fn by_all_ways(
    moves: Moves,
    places: &[(AbsPath, Arc<OverlaySnapshot>)],
    texts: Texts<'_>,
) -> Moves {
    let mut all: Vec<Move> = moves.all().to_vec();
    for it in moves.all().iter().filter(|it| it.old.parent() == it.new.parent()) {
        let (Some(dir), Some(name)) = (it.old.parent(), it.new.file_name()) else { continue };
        for other in other_ways(&it.old, places) {
            let Some(parent) = other.parent() else { continue };
            let asked = vec![it.old.clone(), other.clone(), dir.clone(), parent.clone()];
            let entries = texts.session.source().entries(asked).await.unwrap_or_default();
            let [Some(one), Some(two), Some(dir), Some(parent_entry)] = entries[..] else {
                continue;
            };
            // A link of its own stays where it is, and so does what a link is renamed of.
            let is_same = one.id == two.id && dir.id == parent_entry.id && dir.id.is_some();
            let new = parent.child(name);
            if is_same && !one.is_link && !two.is_link && moves.new_path(&other).is_none() {
                all.push(Move { old: other, new });
            }
        }
    }
    Moves::new(all)
}

/// Returns what else may lead to a path, as the ways to skills in it and around it tell.
fn other_ways(path: &AbsPath, places: &[(AbsPath, Arc<OverlaySnapshot>)]) -> BTreeSet<AbsPath> {
    let skills = || places.iter().flat_map(|(_, it)| &it.skills);
    let mut others = BTreeSet::new();
    for skill in skills() {
        let Some(dir) = skill.path.parent() else { continue };
        for way in skills().filter(|it| it.path != skill.path && it.is_file_of(skill)) {
            let Some(way_dir) = way.path.parent() else { continue };
            if let Ok(rest) = path.strip_prefix(&*dir) {
                others.insert(way_dir.child(rest));
            } else if let Ok(rest) = dir.strip_prefix(&**path) {
                let n_up = rest.components().count();
                others.extend(way_dir.ancestors().nth(n_up).filter(|_| way_dir.ends_with(rest)));
            }
        }
    }
    others.retain(|it| it != path && it.file_name() == path.file_name());
    others
}
