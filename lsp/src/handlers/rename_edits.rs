//! Collects the text edits for moved files and renamed skills.
//!
//! Names are searched in the files that agents read, paths in all files. Each file is edited once,
//! even if several paths lead to it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skills_agents::references::{LinkBases, TextSearch};
use skills_ide::moves::{Move, Moves, relative};
use skills_ide::rename::{Renaming, edits};
use skills_lint::PathKind;
use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{
    DocumentChangeOperation, OneOf, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit,
};

use crate::document::Document;
use crate::settings::Encoding;
use crate::snapshot::OverlaySnapshot;
use crate::texts::{FileKey, ResolvedSkill, Texts, can_mention_skills};
use crate::to_proto;

/// The edits of each file.
#[derive(Default)]
pub(super) struct RenameEdits(BTreeMap<FileKey, EditedFile>);

/// A file, by the first path found, and its edits so far.
struct EditedFile {
    path: AbsPath,
    document: Arc<Document>,
    is_open: bool,
    edits: Vec<Edit>,
}

impl RenameEdits {
    fn add(&mut self, identity: FileKey, found: EditedFile) {
        match self.0.get_mut(&identity) {
            Some(known) => known.edits.extend(found.edits),
            None => {
                self.0.insert(identity, found);
            }
        }
    }

    /// Returns the operations that edit the files, sorted by path.
    pub(super) fn into_operations(self, encoding: Encoding) -> Vec<DocumentChangeOperation> {
        let mut edited: Vec<EditedFile> = self.0.into_values().collect();
        edited.sort_by(|a, b| a.path.cmp(&b.path));
        let operation = |it: EditedFile| operation(&it.document, it.is_open, it.edits, encoding);
        edited.into_iter().filter_map(operation).collect()
    }

    /// Returns the operations, with `more` edits of the skill's own file, and the path by which
    /// that is edited.
    pub(super) async fn operations(
        mut self,
        resolved: &ResolvedSkill,
        more: Vec<Edit>,
        texts: Texts<'_>,
    ) -> (Vec<DocumentChangeOperation>, AbsPath) {
        let own = |it: &&mut EditedFile| resolved.all_paths.contains(&it.path);
        let mut path = resolved.skill.path.clone();
        if let Some(own) = self.0.values_mut().find(own) {
            own.edits.extend(more);
            path.clone_from(&own.path);
        } else if let Some((document, is_open)) = texts.document(&path).await {
            let found = EditedFile { path: path.clone(), document, is_open, edits: more };
            self.add(FileKey::Path(path.clone()), found);
        }
        (self.into_operations(texts.session.settings().encoding), path)
    }
}

/// Returns the operation that edits a document; `None` without edits. Overlapping edits, such as
/// for a name inside a path, are applied once.
pub(super) fn operation(
    document: &Document,
    is_open: bool,
    mut edits: Vec<Edit>,
    encoding: Encoding,
) -> Option<DocumentChangeOperation> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|it| it.span);
    edits.dedup_by(|it, before| it.span.start < before.span.end);
    let edit = |it: &Edit| OneOf::Left(to_proto::text_edit(document, it, encoding));
    let text_document = OptionalVersionedTextDocumentIdentifier {
        uri: document.uri().clone(),
        version: is_open.then(|| document.version()),
    };
    let edits = edits.iter().map(edit).collect();
    Some(DocumentChangeOperation::Edit(TextDocumentEdit { text_document, edits }))
}

/// Returns the edits of all files in these snapshots; `None` if the backend cannot answer.
pub(super) async fn collect_edits(
    moves: &Moves,
    named: &[(&Renaming<'_>, &ResolvedSkill)],
    snapshots: &[(AbsPath, Arc<OverlaySnapshot>)],
    texts: Texts<'_>,
) -> Option<RenameEdits> {
    let mut edited = RenameEdits::default();
    for (renaming, resolved) in named {
        rename_references(renaming, resolved, texts, &mut edited).await?;
    }
    update_paths(moves, snapshots, texts, &mut edited).await?;
    Some(edited)
}

/// Adds the edits that rename all mentions of a skill.
async fn rename_references(
    renaming: &Renaming<'_>,
    resolved: &ResolvedSkill,
    texts: Texts<'_>,
    edited: &mut RenameEdits,
) -> Option<()> {
    for referencing_file in texts.referencing_files(resolved).await? {
        let (text, parsed) = (referencing_file.document.text(), referencing_file.document.parsed());
        let at = if referencing_file.is_own { renaming.path } else { &referencing_file.path };
        let edits = edits(renaming, at, text, parsed, &referencing_file.references);
        let (path, document, is_open) =
            (referencing_file.path, referencing_file.document, referencing_file.is_open);
        edited.add(referencing_file.identity, EditedFile { path, document, is_open, edits });
    }
    Some(())
}

/// Adds the edits that keep paths valid in all files.
async fn update_paths(
    moves: &Moves,
    snapshots: &[(AbsPath, Arc<OverlaySnapshot>)],
    texts: Texts<'_>,
    edited: &mut RenameEdits,
) -> Option<()> {
    let mut paths: BTreeMap<AbsPath, LinkBases> = BTreeMap::new();
    for (_, snapshot) in snapshots {
        let found = texts.session.backend().find_texts(search(moves, snapshot)).await?;
        for path in found {
            let bases = snapshot.bases(&path);
            // If several worktrees see a file, it belongs to the one that contains it.
            let is_within = bases.top.is_some();
            if is_within || !paths.contains_key(&path) {
                paths.insert(path, bases);
            }
        }
    }
    for document in texts.session.documents() {
        // Unsaved text is searched too.
        if let Some(path) = document.path().filter(|it| can_mention_skills(it)) {
            let snapshot = texts.session.snapshot_for(&document).unwrap_or_default();
            paths.entry(path.clone()).or_insert_with(|| snapshot.bases(path));
        }
    }
    let known = paths.keys().cloned().collect();
    for (identity, path) in texts.dedup_by_file(known, |it| moves.new_path(it).is_some()).await {
        let before = edited.0.get(&identity).map(|it| (it.path.clone(), Arc::clone(&it.document)));
        let (path, document, is_open) = if let Some((path, document)) = before {
            (path, document, false)
        } else {
            let Some((document, is_open)) = texts.document(&path).await else { continue };
            (path, document, is_open)
        };
        let own_bases = || texts.session.snapshot_for(&document).unwrap_or_default().bases(&path);
        let bases = paths.get(&path).cloned().unwrap_or_else(own_bases);
        let edits = path_edits(moves, &path, &bases, &document, texts).await;
        edited.add(identity, EditedFile { path, document, is_open, edits });
    }
    Some(())
}

/// Returns the edits of paths in one file. The existence of targets is checked on the disk where it
/// matters.
async fn path_edits(
    moves: &Moves,
    path: &AbsPath,
    bases: &LinkBases,
    document: &Document,
    texts: Texts<'_>,
) -> Vec<Edit> {
    let (text, parsed) = (document.text(), document.parsed());
    let lookups = RefCell::new(BTreeSet::new());
    let found = moves.edits(path, bases, text, parsed, |it| {
        lookups.borrow_mut().extend(relative(&bases.text, it));
        false
    });
    let looks: Vec<String> = lookups.into_inner().into_iter().collect();
    if looks.is_empty() {
        return found;
    }
    let facts = texts.session.backend().facts(path.clone(), looks).await.unwrap_or_default();
    moves.edits(path, bases, text, parsed, |it| {
        let look = relative(&bases.text, it).and_then(|it| facts.looks.get(&it).copied().flatten());
        matches!(look, Some(PathKind::File { .. } | PathKind::Directory))
    })
}

/// Returns the search for files to edit: those that contain the name of a moved file, and those
/// that are moved.
fn search(moves: &Moves, snapshot: &OverlaySnapshot) -> TextSearch {
    let mut words = Vec::new();
    let mut below = Vec::new();
    for Move { old, .. } in moves.all() {
        let name = old.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        // Alphanumeric parts of a name are the same in every escaping.
        let plain = name.split(|it: char| !it.is_ascii_alphanumeric());
        words.extend(plain.max_by_key(|it| it.len()).map(str::to_owned));
        below.push(old.clone());
    }
    if words.iter().any(String::is_empty) {
        words.clear();
    }
    TextSearch {
        top: snapshot.top.clone(),
        home: snapshot.home.clone(),
        skills: snapshot.skills.iter().map(|it| it.path.clone()).collect(),
        words,
        below,
    }
}
