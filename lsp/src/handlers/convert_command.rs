//! The code action that converts a command to a skill: moves its file to a directory with a valid
//! skill name, and updates all mentions and paths.

use skills_ide::rename::Renaming;
use skills_ide::{Conversion, convert_command};
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{CodeAction, CodeActionDisabled, CodeActionKind, WorkspaceEdit};

use super::rename;
use crate::document::Document;
use crate::texts::{ResolvedSkill, Texts};

/// Returns the action that converts a command, without its edit if the client resolves edits. If
/// the conversion is not possible, returns a disabled action with the reason, for clients that show
/// those.
pub(crate) async fn action(
    document: &Document,
    found: Conversion,
    is_automatic: bool,
    texts: Texts<'_>,
) -> Option<CodeAction> {
    let settings = texts.session.settings();
    let resolved = texts.with_disk_identity(&texts.skill_of(document)?).await;
    let action = CodeAction {
        title: format!("Convert the command to a skill `{}`", found.name),
        kind: Some(CodeActionKind::REFACTOR_REWRITE),
        ..CodeAction::default()
    };
    let renaming = Renaming::to_skill(&resolved.skill.path, &found.name);
    if let Err(error) = rename::check_possible(&renaming, &resolved, texts).await {
        let disabled = Some(CodeActionDisabled { reason: error.message.into_owned() });
        return settings.shows_disabled.then_some(CodeAction { disabled, ..action });
    }
    if settings.resolves_actions {
        let data = serde_json::json!({"command": document.uri()});
        return Some(CodeAction { data: Some(data), ..action });
    }
    // The search for mentions walks the worktree.
    if is_automatic {
        return None;
    }
    let edit = edit(&resolved, found, texts).await.ok();
    edit.map(|it| CodeAction { edit: Some(it), ..action })
}

/// Returns the edit of the chosen action.
pub(crate) async fn resolve(document: &Document, texts: Texts<'_>) -> Result<WorkspaceEdit, Error> {
    let gone = || rename::refusal("the command has changed; try again");
    let found = document.as_subject(convert_command).ok_or_else(gone)?;
    let resolved = texts.skill_of(document).ok_or_else(gone)?;
    edit(&texts.with_disk_identity(&resolved).await, found, texts).await
}

async fn edit(
    resolved: &ResolvedSkill,
    found: Conversion,
    texts: Texts<'_>,
) -> Result<WorkspaceEdit, Error> {
    let renaming = Renaming::to_skill(&resolved.skill.path, &found.name);
    rename::rename_edit(&renaming, resolved, found.edits, texts).await
}
