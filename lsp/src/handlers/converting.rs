//! A command as a skill: its file in a directory of its own, under a name that the standard takes,
//! and with it all that speaks of the command or leads to it.

use skills_ide::rename::Renaming;
use skills_ide::{Conversion, conversion};
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{CodeAction, CodeActionDisabled, CodeActionKind, WorkspaceEdit};

use super::rename;
use crate::document::Document;
use crate::texts::{Meant, Texts};

/// Returns the action that makes a skill of a command, without its edit where the client asks for
/// that when it is chosen. What is in the way is its reason where the client shows one; others are
/// not offered it.
pub(crate) async fn action(
    document: &Document,
    found: Conversion,
    is_automatic: bool,
    texts: Texts<'_>,
) -> Option<CodeAction> {
    let settings = texts.session.settings();
    let meant = texts.identified(&texts.meant_by(document)?).await;
    let action = CodeAction {
        title: format!("Convert the command to a skill `{}`", found.name),
        kind: Some(CodeActionKind::REFACTOR_REWRITE),
        ..CodeAction::default()
    };
    let renaming = Renaming::to_skill(&meant.skill.path, &found.name);
    if let Err(error) = rename::possible(&renaming, &meant, texts).await {
        let disabled = Some(CodeActionDisabled { reason: error.message.into_owned() });
        return settings.shows_disabled.then_some(CodeAction { disabled, ..action });
    }
    if settings.resolves_actions {
        let data = serde_json::json!({"command": document.uri()});
        return Some(CodeAction { data: Some(data), ..action });
    }
    // Who speaks of it takes a walk of the worktree to find.
    if is_automatic {
        return None;
    }
    let edit = edit(&meant, found, texts).await.ok();
    edit.map(|it| CodeAction { edit: Some(it), ..action })
}

/// Returns the edit of the action for a command, once it is chosen.
pub(crate) async fn resolved(
    document: &Document,
    texts: Texts<'_>,
) -> Result<WorkspaceEdit, Error> {
    let gone = || rename::refusal("there is no such command any more; choose again");
    let found = document.as_subject(conversion).ok_or_else(gone)?;
    let meant = texts.meant_by(document).ok_or_else(gone)?;
    edit(&texts.identified(&meant).await, found, texts).await
}

async fn edit(meant: &Meant, found: Conversion, texts: Texts<'_>) -> Result<WorkspaceEdit, Error> {
    let renaming = Renaming::to_skill(&meant.skill.path, &found.name);
    rename::edited(&renaming, meant, found.edits, texts).await
}
