//! What changes in all texts when files move and skills get other names with that.
//!
//! Whoever moves them says what goes where, and which skills are called otherwise then. The names
//! are looked for in what agents read, the paths in every text; each text is edited once, by
//! whatever ways it is reached.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skills_agents::references::{LinkBases, TextSearch};
use skills_ide::moves::{Move, Moves, relative};
use skills_ide::rename::{Renaming, edits};
use skills_lint::Look;
use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::DocumentChangeOperation;

use super::rename::operation;
use crate::document::Document;
use crate::settings::Encoding;
use crate::snapshot::OverlaySnapshot;
use crate::texts::{Identity, Meant, Texts, is_text};

/// The texts that are looked at, with what changes in each.
#[derive(Default)]
pub(super) struct RenameEdits(BTreeMap<Identity, Edited>);

/// A text, by the path at which it was first met, and what was found in it so far.
struct Edited {
    path: AbsPath,
    document: Arc<Document>,
    is_open: bool,
    edits: Vec<Edit>,
}

impl RenameEdits {
    fn add(&mut self, identity: Identity, found: Edited) {
        match self.0.get_mut(&identity) {
            Some(known) => known.edits.extend(found.edits),
            None => {
                self.0.insert(identity, found);
            }
        }
    }

    /// Returns the operations that edit the texts, sorted by path.
    pub(super) fn into_operations(self, encoding: Encoding) -> Vec<DocumentChangeOperation> {
        let mut edited: Vec<Edited> = self.0.into_values().collect();
        edited.sort_by(|a, b| a.path.cmp(&b.path));
        let operation = |it: Edited| operation(&it.document, it.is_open, it.edits, encoding);
        edited.into_iter().filter_map(operation).collect()
    }

    /// Returns the same with more edits of a skill's own text, and the path by which that is edited.
    pub(super) async fn operations(
        mut self,
        meant: &Meant,
        more: Vec<Edit>,
        texts: Texts<'_>,
    ) -> (Vec<DocumentChangeOperation>, AbsPath) {
        let own = |it: &&mut Edited| meant.ways.contains(&it.path);
        let mut path = meant.skill.path.clone();
        if let Some(own) = self.0.values_mut().find(own) {
            own.edits.extend(more);
            path.clone_from(&own.path);
        } else if let Some((document, is_open)) = texts.document(&path).await {
            let found = Edited { path: path.clone(), document, is_open, edits: more };
            self.add(Identity::Path(path.clone()), found);
        }
        (self.into_operations(texts.session.settings().encoding), path)
    }
}

/// Returns what changes in all texts, seen from these places; nothing where nobody can say.
pub(super) async fn follow(
    moves: &Moves,
    named: &[(&Renaming<'_>, &Meant)],
    places: &[(AbsPath, Arc<OverlaySnapshot>)],
    texts: Texts<'_>,
) -> Option<RenameEdits> {
    let mut edited = RenameEdits::default();
    for (renaming, meant) in named {
        name(renaming, meant, texts, &mut edited).await?;
    }
    lead(moves, places, texts, &mut edited).await?;
    Some(edited)
}

/// Gives a skill its new name wherever it is named.
async fn name(
    renaming: &Renaming<'_>,
    meant: &Meant,
    texts: Texts<'_>,
    edited: &mut RenameEdits,
) -> Option<()> {
    for speaker in texts.speakers(meant).await? {
        let (text, parsed) = (speaker.document.text(), speaker.document.parsed());
        let at = if speaker.is_own { renaming.path } else { &speaker.path };
        let edits = edits(renaming, at, text, parsed, &speaker.references);
        let (path, document, is_open) = (speaker.path, speaker.document, speaker.is_open);
        edited.add(speaker.identity, Edited { path, document, is_open, edits });
    }
    Some(())
}

/// Has the paths of all texts lead where they did.
async fn lead(
    moves: &Moves,
    places: &[(AbsPath, Arc<OverlaySnapshot>)],
    texts: Texts<'_>,
    edited: &mut RenameEdits,
) -> Option<()> {
    let mut paths: BTreeMap<AbsPath, LinkBases> = BTreeMap::new();
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
    for (identity, path) in texts.each_once(known, |it| moves.new_path(it).is_some()).await {
        let before = edited.0.get(&identity).map(|it| (it.path.clone(), Arc::clone(&it.document)));
        let (path, document, is_open) = if let Some((path, document)) = before {
            (path, document, false)
        } else {
            let Some((document, is_open)) = texts.document(&path).await else { continue };
            (path, document, is_open)
        };
        let place = || texts.session.place(&document).unwrap_or_default().bases(&path);
        let bases = paths.get(&path).cloned().unwrap_or_else(place);
        let edits = led(moves, &path, &bases, &document, texts).await;
        edited.add(identity, Edited { path, document, is_open, edits });
    }
    Some(())
}

/// Returns what changes of the paths in one text; what it speaks of is looked at where that counts.
async fn led(
    moves: &Moves,
    path: &AbsPath,
    bases: &LinkBases,
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
fn search(moves: &Moves, overlaid: &OverlaySnapshot) -> TextSearch {
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
    TextSearch {
        top: overlaid.top.clone(),
        home: overlaid.home.clone(),
        skills: overlaid.skills.iter().map(|it| it.path.clone()).collect(),
        words,
        below,
    }
}
