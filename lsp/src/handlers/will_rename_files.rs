//! `workspace/willRenameFiles`: what else changes when the client renames files and directories that
//! skills lie in, lie under, or consist of.
//!
//! Paths that would lead nowhere are written anew in every text, those that move among them. A
//! directory that is a skill's takes the skill's name along, unless the name is taken: that it is
//! renamed cannot be refused here. Of what an edit of ours asked for the texts say so already.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skills_core::path::AbsPath;
use skills_core::references::{Bases, Move, Moves, Renaming, Search, edits, is_speaker, relative};
use skills_core::rules::{Edit, Look};
use tower_lsp::ls_types::{
    DocumentChangeOperation, DocumentChanges, FileRename, Uri, WorkspaceEdit,
};

use super::rename::{in_the_way, operation};
use crate::document::Document;
use crate::known::Overlaid;
use crate::texts::{Identity, Texts, is_text};

/// A text that is edited, by the path at which it was first met, and what was found in it so far.
struct Edited {
    path: AbsPath,
    document: Arc<Document>,
    is_open: bool,
    edits: Vec<Edit>,
}

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
    let mut edited: BTreeMap<Identity, Edited> = BTreeMap::new();
    name(&moves, texts, &mut edited).await?;
    let moves = by_all_ways(moves, &places, texts).await;
    lead(&moves, &places, texts, &mut edited).await?;
    let encoding = texts.session.settings().encoding;
    let mut edited: Vec<Edited> = edited.into_values().collect();
    edited.sort_by(|a, b| a.path.cmp(&b.path));
    let operations: Vec<DocumentChangeOperation> = edited
        .into_iter()
        .filter_map(|it| operation(&it.document, it.is_open, it.edits, encoding))
        .collect();
    (!operations.is_empty()).then(|| WorkspaceEdit {
        document_changes: Some(DocumentChanges::Operations(operations)),
        ..WorkspaceEdit::default()
    })
}

/// Whether skills, or what speaks of them, have a part in a move.
fn concerns(it: &Move, places: &[(AbsPath, Arc<Overlaid>)]) -> bool {
    let skills = places.iter().flat_map(|(_, it)| &it.skills);
    let mut dirs = skills.filter_map(|it| it.path.parent());
    is_speaker(&it.old) || dirs.any(|dir| dir.starts_with(&*it.old) || it.old.starts_with(&*dir))
}

/// Returns those moves that do not end where another skill is.
fn possible(moves: &Moves, places: &[(AbsPath, Arc<Overlaid>)]) -> Moves {
    let is_taken = |it: &Move| {
        let skill = it.new.child("SKILL.md");
        moves.moved(&it.new).is_none() && places.iter().any(|(_, it)| it.at(&skill).is_some())
    };
    Moves::new(moves.all().iter().filter(|it| !is_taken(it)).cloned())
}

/// Adds what moves as seen by the other ways to the skills that have a part in it: where the parent
/// of what is renamed is reached by several paths, it is renamed by all of them.
async fn by_all_ways(moves: Moves, places: &[(AbsPath, Arc<Overlaid>)], texts: Texts<'_>) -> Moves {
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
            if is_same && !one.is_link && !two.is_link && moves.moved(&other).is_none() {
                all.push(Move { old: other, new });
            }
        }
    }
    Moves::new(all)
}

/// Returns what else may lead to a path, as the ways to skills in it and around it tell.
fn other_ways(path: &AbsPath, places: &[(AbsPath, Arc<Overlaid>)]) -> BTreeSet<AbsPath> {
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

/// Gives the skills whose directories are renamed their new names.
async fn name(
    moves: &Moves,
    texts: Texts<'_>,
    edited: &mut BTreeMap<Identity, Edited>,
) -> Option<()> {
    for Move { old, new } in moves.all() {
        let skill = old.child("SKILL.md");
        let name = new.file_name().and_then(|it| it.to_str());
        let Some(name) = name.filter(|_| old.file_name() != new.file_name()) else { continue };
        let seen = texts.session.places_seeing(&skill).into_iter().next();
        let found = seen.and_then(|(_, overlaid)| {
            let skill = overlaid.at(&skill)?.clone();
            Some(texts.meant(skill, overlaid))
        });
        let renaming = Renaming { path: &skill, new: name };
        let Some(meant) = found.filter(|it| in_the_way(&renaming, it, texts).is_none()) else {
            continue;
        };
        for speaker in texts.speakers(&meant).await? {
            let (text, parsed) = (speaker.document.text(), speaker.document.parsed());
            let at = if speaker.is_own { &skill } else { &speaker.path };
            let found = edits(&renaming, at, text, parsed, &speaker.references);
            let (path, document, is_open) = (speaker.path, speaker.document, speaker.is_open);
            let edited = edited.entry(speaker.identity);
            let edited = edited.or_insert(Edited { path, document, is_open, edits: Vec::new() });
            edited.edits.extend(found);
        }
    }
    Some(())
}

/// Has the paths of all texts lead where they did.
async fn lead(
    moves: &Moves,
    places: &[(AbsPath, Arc<Overlaid>)],
    texts: Texts<'_>,
    edited: &mut BTreeMap<Identity, Edited>,
) -> Option<()> {
    let mut paths: BTreeMap<AbsPath, Bases> = BTreeMap::new();
    for (_, overlaid) in places {
        let found = texts.session.source().texts(search(moves, overlaid)).await?;
        for path in found {
            let bases = overlaid.bases(&path);
            // Of several worktrees that see a text it belongs to the one around it.
            let is_within = bases.top.is_some();
            if is_within || !paths.contains_key(&path) {
                paths.insert(path, bases);
            }
        }
    }
    for document in texts.session.documents() {
        // What is typed but not saved counts as well.
        if let Some(path) = document.path().filter(|it| is_text(it)) {
            let place = texts.session.place(&document).unwrap_or_default();
            paths.entry(path.clone()).or_insert_with(|| place.bases(path));
        }
    }
    let known = paths.keys().cloned().collect();
    for (identity, path) in texts.each_once(known, |it| moves.moved(it).is_some()).await {
        let before = edited.get(&identity).map(|it| (it.path.clone(), Arc::clone(&it.document)));
        let (path, document, is_open) = if let Some((path, document)) = before {
            (path, document, false)
        } else {
            let Some((document, is_open)) = texts.document(&path).await else { continue };
            (path, document, is_open)
        };
        let place = || texts.session.place(&document).unwrap_or_default().bases(&path);
        let bases = paths.get(&path).cloned().unwrap_or_else(place);
        let found = led(moves, &path, &bases, &document, texts).await;
        let edited = edited.entry(identity);
        let edited = edited.or_insert(Edited { path, document, is_open, edits: Vec::new() });
        edited.edits.extend(found);
    }
    Some(())
}

/// Returns what changes of the paths in one text; what it speaks of is looked at where that counts.
async fn led(
    moves: &Moves,
    path: &AbsPath,
    bases: &Bases,
    document: &Document,
    texts: Texts<'_>,
) -> Vec<Edit> {
    let (text, parsed) = (document.text(), document.parsed());
    let asked = RefCell::new(BTreeSet::new());
    let found = moves.edits(path, bases, text, parsed, |it| {
        asked.borrow_mut().extend(relative(&bases.text, it));
        false
    });
    let looks: Vec<String> = asked.into_inner().into_iter().collect();
    if looks.is_empty() {
        return found;
    }
    let facts = texts.session.source().facts(path.clone(), looks).await.unwrap_or_default();
    moves.edits(path, bases, text, parsed, |it| {
        let look = relative(&bases.text, it).and_then(|it| facts.looks.get(&it).copied().flatten());
        matches!(look, Some(Look::File { .. } | Look::Directory))
    })
}

/// Says which texts may have to change: those that hold the name of what moves, and those that move.
fn search(moves: &Moves, overlaid: &Overlaid) -> Search {
    let mut words = Vec::new();
    let mut below = Vec::new();
    for Move { old, .. } in moves.all() {
        let name = old.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        // However a name is escaped, its plain parts are not.
        let plain = name.split(|it: char| !it.is_ascii_alphanumeric());
        words.extend(plain.max_by_key(|it| it.len()).map(str::to_owned));
        below.push(old.clone());
    }
    if words.iter().any(String::is_empty) {
        words.clear();
    }
    Search {
        top: overlaid.top.clone(),
        home: overlaid.home.clone(),
        skills: overlaid.skills.iter().map(|it| it.path.clone()).collect(),
        words,
        below,
    }
}
