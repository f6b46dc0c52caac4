//! `textDocument/rename` and `prepareRename`: a skill or a command under another name.
//!
//! Its directory or its file, its `name:` and every reference change in one edit, or nothing does:
//! what would collide, and a client that cannot rename files, is refused with the reason.

use std::path::Path;

use skills_agents::command;
use skills_discovery::discover::{Entry, is_built_in};
use skills_ide::moves::Move;
use skills_ide::rename::{AccessPath, RenameKind, Renaming, edits, move_obstacle, name_obstacle};
use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::ls_types::{
    DocumentChangeOperation, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier,
    Position, PrepareRenameResponse, RenameFile, ResourceOp, TextDocumentEdit, Uri, WorkspaceEdit,
};

use super::rename_edits::follow;
use crate::document::Document;
use crate::settings::{Encoding, Settings};
use crate::texts::{Meant, ReferencingFile, Texts};
use crate::{from_proto, to_proto};

/// Returns what would be renamed at a position; nothing where no skill is named.
pub(crate) fn prepare_rename(
    document: &Document,
    position: Position,
    texts: Texts<'_>,
) -> Result<Option<PrepareRenameResponse>, Error> {
    let settings = texts.session.settings();
    let offset = from_proto::offset(document, position, settings.encoding);
    let Some((meant, span)) = texts.meant_at(document, offset) else { return Ok(None) };
    let placeholder = name(&meant)?;
    can_move(RenameKind::of(&meant.skill.path), settings)?;
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
        range: to_proto::range(document, span, settings.encoding),
        placeholder,
    }))
}

/// Returns the edit that gives the skill at a position another name.
pub(crate) async fn rename(
    document: &Document,
    position: Position,
    new: &str,
    texts: Texts<'_>,
) -> Result<Option<WorkspaceEdit>, Error> {
    let settings = texts.session.settings();
    let offset = from_proto::offset(document, position, settings.encoding);
    let Some((meant, _)) = texts.meant_at(document, offset) else {
        return Err(refusal("no skill is named here"));
    };
    Ok(Some(renamed(&meant, new.trim(), texts).await?))
}

/// Returns the edit that gives a skill and its directory, or a command and its file, another name.
pub(crate) async fn renamed(
    meant: &Meant,
    new: &str,
    texts: Texts<'_>,
) -> Result<WorkspaceEdit, Error> {
    let meant = &texts.identified(meant).await;
    edited(&Renaming::new(&meant.skill.path, new), meant, Vec::new(), texts).await
}

/// Returns the edit that makes of a skill what it is renamed to, with more edits of its own text.
pub(super) async fn edited(
    renaming: &Renaming<'_>,
    meant: &Meant,
    more: Vec<Edit>,
    texts: Texts<'_>,
) -> Result<WorkspaceEdit, Error> {
    stays_inside(&meant.skill.path, texts).await?;
    possible(renaming, meant, texts).await?;
    let moves = renaming.moves(&meant.places);
    let changed = match renaming.kind {
        RenameKind::Skill => text_edits(renaming, meant, texts).await,
        RenameKind::Command | RenameKind::Conversion => {
            let places = texts.session.all_places();
            let edited = follow(&moves, &[(renaming, meant)], &places, texts).await;
            match edited {
                Some(edited) => Some(edited.operations(meant, more, texts).await),
                None => None,
            }
        }
    };
    let unknown = || refusal("what names the skill cannot be found out now; try again");
    let (mut operations, own) = changed.ok_or_else(unknown)?;
    if !renaming.is_moved() && !texts.session.settings().renames_files {
        return Ok(plain(operations));
    }
    // By the way by which the editor has it open, since all lead to the same.
    let old = if renaming.kind == RenameKind::Skill { own.parent().unwrap_or(own) } else { own };
    let moved = moves.all().iter().find(|it| it.old == old);
    if let Some(Move { old, new }) = moved
        && let (Some(old_uri), Some(new_uri)) =
            (Uri::from_file_path(&**old), Uri::from_file_path(&**new))
    {
        // Last: the edits before it speak of the files where they are.
        let rename = RenameFile { old_uri, new_uri, options: None, annotation_id: None };
        operations.push(DocumentChangeOperation::Op(ResourceOp::Rename(rename)));
    }
    Ok(WorkspaceEdit {
        document_changes: Some(DocumentChanges::Operations(operations)),
        ..WorkspaceEdit::default()
    })
}

/// Refuses to write a file to which a link leads out of its worktree.
pub(super) async fn stays_inside(path: &AbsPath, texts: Texts<'_>) -> Result<(), Error> {
    let leads_out = texts.session.source().leads_out(vec![path.clone()]).await.unwrap_or_default();
    if leads_out.contains(&true) {
        let path = path.display();
        return Err(refusal(format!(
            "`{path}` leads out of the worktree by a link; edit its target"
        )));
    }
    Ok(())
}

/// Says why a skill cannot be renamed so, by what is known and by what is on the disk.
pub(super) async fn possible(
    renaming: &Renaming<'_>,
    meant: &Meant,
    texts: Texts<'_>,
) -> Result<(), Error> {
    allowed(renaming, meant, texts)?;
    if renaming.is_moved() {
        let unknown = || refusal("what is on the disk cannot be found out now; try again");
        let (ways, target) = accesses(renaming, meant, texts).await.ok_or_else(unknown)?;
        if let Some(why) = move_obstacle(renaming, &ways, target) {
            return Err(refusal(why));
        }
    }
    Ok(())
}

/// Returns what the disk has of all ways to a skill, and of where it would be; nothing where nobody
/// can say.
async fn accesses(
    renaming: &Renaming<'_>,
    meant: &Meant,
    texts: Texts<'_>,
) -> Option<(Vec<AccessPath>, Option<Entry>)> {
    let target = renaming.target()?;
    let directories = meant.ways.iter().filter_map(AbsPath::parent);
    let asked = meant.ways.iter().cloned().chain(directories).chain([target]);
    let entries = texts.session.source().entries(asked.collect()).await?;
    let (files, rest) = entries.split_at_checked(meant.ways.len())?;
    let (target, directories) = rest.split_last()?;
    let access = |(path, (file, directory)): (&AbsPath, (&Option<Entry>, &Option<Entry>))| {
        AccessPath { path: path.clone(), file: *file, directory: *directory }
    };
    let entries = files.iter().zip(directories);
    Some((meant.ways.iter().zip(entries).map(access).collect(), *target))
}

/// Says why a skill cannot have another name, by what is known without the disk.
pub(crate) fn allowed(
    renaming: &Renaming<'_>,
    meant: &Meant,
    texts: Texts<'_>,
) -> Result<(), Error> {
    name(meant)?;
    if renaming.is_moved() {
        can_move(renaming.kind, texts.session.settings())?;
    }
    if let Some(why) = in_the_way(renaming, meant, texts) {
        return Err(refusal(why));
    }
    let is_open = |dir: &Path| texts.session.folders().iter().any(|it| it.starts_with(dir));
    let moved = renaming.file_move().filter(|it| it.old != it.new && is_open(&it.old));
    if let Some(Move { old, .. }) = moved {
        return Err(refusal(format!("`{}` is open as a folder of its own", old.display())));
    }
    Ok(())
}

/// Returns what is in the way of a name wherever the skill is seen from.
pub(super) fn in_the_way(
    renaming: &Renaming<'_>,
    meant: &Meant,
    texts: Texts<'_>,
) -> Option<String> {
    let places = texts.session.places_seeing(renaming.path);
    let mut seeing = places.iter().flat_map(|(_, it)| it.places(renaming.path));
    if let Some((ranking, _)) = seeing.find(|(it, _)| it.profile.is_reserved(renaming.new)) {
        let (agent, new) = (&ranking.profile.agent, renaming.new);
        return Some(format!(
            "{agent} keeps the directory name `{new}` for itself and reads no skill there"
        ));
    }
    let mut called = places.iter().flat_map(|(_, it)| it.called(renaming.new));
    let others = places.iter().flat_map(|(_, it)| &it.skills);
    let others = others.filter(|it| !meant.ways.contains(&it.path));
    name_obstacle(renaming, others.map(|it| (it.name.as_str(), &it.path))).or_else(|| {
        let (agent, path) = called.find(|(_, it)| !meant.ways.contains(it))?;
        let new = renaming.new;
        Some(if is_built_in(path) {
            format!("{agent} has a skill `{new}` of its own")
        } else {
            format!("{agent} calls the skill in `{}` `{new}` already", path.display())
        })
    })
}

/// Returns the operation that edits a text; none where nothing changes in it. What is found twice,
/// as a name that is a path as well, is edited once.
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

/// Returns what changes in all texts, and the path by which the skill's own is edited.
async fn text_edits(
    renaming: &Renaming<'_>,
    meant: &Meant,
    texts: Texts<'_>,
) -> Option<(Vec<DocumentChangeOperation>, AbsPath)> {
    let encoding = texts.session.settings().encoding;
    let moves = renaming.moves(&meant.places);
    let mut operations = Vec::new();
    let mut own = renaming.path.clone();
    for speaker in texts.speakers(meant).await? {
        let ReferencingFile { path, is_own, document, is_open, references, .. } = &speaker;
        if *is_own {
            own.clone_from(path);
        }
        let (text, parsed) = (document.text(), document.parsed());
        let at = if *is_own { renaming.path } else { path };
        let mut found = edits(renaming, at, text, parsed, references);
        let bases = texts.bases(&speaker, meant);
        found.extend(moves.edits(path, &bases, text, parsed, |_| false));
        operations.extend(operation(document, *is_open, found, encoding));
    }
    Some((operations, own))
}

/// Returns edits of texts for a client that knows no others.
fn plain(operations: Vec<DocumentChangeOperation>) -> WorkspaceEdit {
    let changes = operations.into_iter().filter_map(|it| match it {
        DocumentChangeOperation::Edit(it) => {
            let edits = it.edits.into_iter().filter_map(|it| match it {
                OneOf::Left(edit) => Some(edit),
                OneOf::Right(_) => None,
            });
            Some((it.text_document.uri, edits.collect()))
        }
        DocumentChangeOperation::Op(_) => None,
    });
    WorkspaceEdit { changes: Some(changes.collect()), ..WorkspaceEdit::default() }
}

/// Returns what a skill is called, where it can be called otherwise.
fn name(meant: &Meant) -> Result<String, Error> {
    let skill = &meant.skill;
    match (RenameKind::of(&skill.path), command::name(&skill.path)) {
        (RenameKind::Skill, _) => Ok(skill.name.clone()),
        (_, Some(name)) => Ok(name),
        (_, None) => {
            let (name, path) = (&skill.name, skill.path.display());
            Err(refusal(format!("`{name}` is a command of a plugin; rename its file `{path}`")))
        }
    }
}

fn can_move(kind: RenameKind, settings: Settings) -> Result<(), Error> {
    if settings.renames_files {
        return Ok(());
    }
    let what =
        if kind == RenameKind::Skill { "the skill's directory" } else { "the command's file" };
    Err(refusal(format!(
        "this editor cannot rename files for a language server; rename {what} by hand"
    )))
}

/// Returns the error of a request that cannot be done, and why.
pub(crate) fn refusal(why: impl Into<String>) -> Error {
    let why = why.into();
    // The code for a request that is well formed and cannot be done.
    Error { code: ErrorCode::ServerError(-32803), message: why.into(), data: None }
}
