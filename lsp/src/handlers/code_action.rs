//! `textDocument/codeAction`: the fixes of what is wrong here, all of them at once, and changes of
//! shape.

use std::collections::HashMap;

use serde_json::Value;
use skills_ide::rename::Renaming;
use skills_ide::{Conversion, RefactorKind, Refactoring};
use skills_lint::{Fix, Offer};
use skills_syntax::edit::Edit;
use skills_syntax::text::Span;
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, CodeActionParams,
    CodeActionResponse, CodeActionTriggerKind, CreateFile, CreateFileOptions,
    DocumentChangeOperation, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier,
    Range, ResourceOp, TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::handlers::execute_command::{apply_edit, make_executable};
use crate::handlers::{converting, rename};
use crate::settings::Settings;
use crate::texts::Texts;
use crate::{from_proto, to_proto};

/// The kind of the action that applies every fix which is the only right one.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.skillsd");

/// Up to this many bytes a text is short, and checked in less than a millisecond.
const SHORT: usize = 64 * 1024;

/// What can be done in a range of a skill.
#[derive(Default)]
struct Found {
    actions: Vec<CodeAction>,
    /// The names that the skill or its directory can be given, each with the action that does so and
    /// lacks its edit still: other files have a part in it.
    renamings: Vec<(String, CodeAction)>,
    /// What becomes of a command.
    conversion: Option<Conversion>,
}

/// Returns the actions for a range of a text that is checked; nothing for others.
pub(crate) async fn code_action(
    document: &Document,
    params: &CodeActionParams,
    texts: Texts<'_>,
) -> Option<CodeActionResponse> {
    let settings = texts.session.settings();
    if let Some(path) = document.path()
        && rename::stays_inside(path, texts).await.is_err()
    {
        return None;
    }
    let found =
        |scene: &AnalysisContext| found(document, params.range, &params.context, scene, settings);
    let Found { mut actions, renamings, conversion } =
        texts.session.in_scene(document, found).await?;
    let is_automatic = params.context.trigger_kind == Some(CodeActionTriggerKind::AUTOMATIC);
    drop_creations_outside(&mut actions, texts).await;
    for (name, action) in renamings {
        let Some(meant) = texts.meant_by(document) else { continue };
        // What would collide, or the client cannot do, is not offered.
        if rename::allowed(&Renaming::new(&meant.skill.path, &name), &meant, texts).is_err() {
            continue;
        }
        // Whoever has a part in it takes a walk of the worktree to find, and some clients ask each
        // time that the cursor moves.
        if settings.resolves_actions {
            let data = serde_json::json!({"skill": document.uri(), "name": name});
            actions.push(CodeAction { data: Some(data), ..action });
        } else if !is_automatic && let Ok(edit) = rename::renamed(&meant, &name, texts).await {
            actions.push(CodeAction { edit: Some(edit), ..action });
        }
    }
    if let Some(found) = conversion {
        actions.extend(converting::action(document, found, is_automatic, texts).await);
    }
    Some(actions.into_iter().filter_map(|it| offered(it, document, settings)).collect())
}

/// Drops the actions that would create a file where a link leads out of the worktree.
async fn drop_creations_outside(actions: &mut Vec<CodeAction>, texts: Texts<'_>) {
    let created = |action: &CodeAction| {
        let DocumentChanges::Operations(all) = action.edit.as_ref()?.document_changes.as_ref()?
        else {
            return None;
        };
        all.iter().find_map(|it| match it {
            DocumentChangeOperation::Op(ResourceOp::Create(it)) => from_proto::path(&it.uri),
            _ => None,
        })
    };
    let paths: Vec<_> = actions.iter().filter_map(created).collect();
    if paths.is_empty() {
        return;
    }
    let leads_out = texts.session.source().leads_out(paths).await.unwrap_or_default();
    let mut leads_out = leads_out.into_iter();
    actions.retain(|it| created(it).is_none() || leads_out.next() == Some(false));
}

/// Returns an action as the client takes it: some take commands alone, and what such a client cannot
/// be asked for is not offered.
fn offered(
    action: CodeAction,
    document: &Document,
    settings: Settings,
) -> Option<CodeActionOrCommand> {
    if settings.action_literals {
        return Some(CodeActionOrCommand::CodeAction(action));
    }
    let command = match action.edit {
        Some(edit) if settings.applies_edits => Some(apply_edit(action.title, document, &edit)),
        Some(_) => None,
        None => action.command,
    };
    command.map(CodeActionOrCommand::Command)
}

/// Returns an action that was chosen with the edit that it lacks still.
pub(crate) async fn resolve(action: CodeAction, texts: Texts<'_>) -> Result<CodeAction, Error> {
    let Some(data) = &action.data else { return Ok(action) };
    let said = |key: &str| data.get(key).and_then(Value::as_str);
    if let Some(command) = said("command") {
        let document = texts.session.document(command);
        let gone = || rename::refusal("the command is not open any more; open it and choose again");
        let document = document.ok_or_else(gone)?;
        let edit = converting::resolved(&document, texts).await?;
        return Ok(CodeAction { edit: Some(edit), ..action });
    }
    let (Some(skill), Some(name)) = (said("skill"), said("name")) else {
        let why = format!("the data of `{}` are `{{skill, name}}` or `{{command}}`", action.title);
        return Err(Error { message: why.into(), ..Error::invalid_params("") });
    };
    let document = texts.session.document(skill);
    let Some(meant) = document.and_then(|it| texts.meant_by(&it)) else {
        return Err(rename::refusal("the skill is not open any more; open it and choose again"));
    };
    let edit = rename::renamed(&meant, name, texts).await?;
    Ok(CodeAction { edit: Some(edit), ..action })
}

fn found(
    document: &Document,
    range: Range,
    context: &CodeActionContext,
    scene: &AnalysisContext,
    settings: Settings,
) -> Option<Found> {
    if !from_proto::is_checked(document.uri()) {
        return None;
    }
    let wanted = |kind: &CodeActionKind| match &context.only {
        Some(only) => only.iter().any(|it| {
            let (asked, offered) = (it.as_str(), kind.as_str());
            offered == asked || offered.starts_with(&format!("{asked}."))
        }),
        None => true,
    };
    let findings = document.findings(scene);
    let Found { mut actions, mut renamings, mut conversion } = Found::default();
    if wanted(&CodeActionKind::QUICKFIX) {
        let asked = from_proto::span(document, range, settings.encoding);
        let here = findings.iter().filter(|it| touch(it.diagnostic.span, asked));
        for finding in here {
            let quick = |title: &str| {
                let page = scene.rules_page.as_deref();
                let mended = to_proto::diagnostic(document, finding, page, settings.encoding);
                CodeAction {
                    title: title.to_owned(),
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![mended]),
                    ..CodeAction::default()
                }
            };
            let edited = |fix: &Fix| {
                let edit = Some(edit(document, &fix.edits, settings));
                let is_preferred = Some(finding.only_fix().is_some());
                CodeAction { edit, is_preferred, ..quick(&fix.title) }
            };
            actions.extend(finding.fixes.iter().map(edited));
            for offer in &finding.offers {
                let title = offer.title();
                match offer {
                    Offer::Draft(fix) => {
                        actions.push(CodeAction { is_preferred: Some(false), ..edited(fix) });
                    }
                    Offer::MakeExecutable(file) => {
                        let command = make_executable(title.clone(), document.uri(), file);
                        actions.push(CodeAction { command: Some(command), ..quick(&title) });
                    }
                    Offer::RenameDirectory(name) | Offer::RenameSkill(name) => {
                        renamings.push((name.clone(), quick(&title)));
                    }
                    // The mark is the editor's: it would write it again.
                    Offer::RemoveMark => {}
                }
            }
        }
    }
    // It takes some checks of the whole text, and lamps ask for all there is with each step.
    let is_cheap = context.only.is_some() || document.text().len() <= SHORT;
    if wanted(&FIX_ALL) && is_cheap {
        let again = |text: &str| document.with_text(text).findings_to_mend(scene);
        let settled = skills_lint::settle(document.text(), findings, again);
        if !settled.edits.is_empty() {
            actions.push(CodeAction {
                title: "Fix all that has one right answer".to_owned(),
                kind: Some(FIX_ALL),
                edit: Some(edit(document, &settled.edits, settings)),
                ..CodeAction::default()
            });
        }
    }
    let kinds = [CodeActionKind::REFACTOR_EXTRACT, CodeActionKind::REFACTOR_REWRITE];
    if kinds.iter().any(wanted) && from_proto::is_skill(document.uri()) {
        let offset = from_proto::offset(document, range.start, settings.encoding);
        let found = document.as_subject(|it| skills_ide::refactorings(it, scene, offset));
        let actions_here = found.iter().filter_map(|it| refactoring(document, it, settings));
        actions.extend(actions_here.filter(|it| it.kind.as_ref().is_some_and(wanted)));
    }
    if wanted(&CodeActionKind::REFACTOR_REWRITE) {
        conversion = document.as_subject(skills_ide::conversion);
    }
    Some(Found { actions, renamings, conversion })
}

/// Returns a change of shape as an action; nothing where the client cannot make it.
fn refactoring(
    document: &Document,
    refactoring: &Refactoring,
    settings: Settings,
) -> Option<CodeAction> {
    let Refactoring { title, kind, edits, creates } = refactoring;
    let edit = if let Some((path, text)) = creates.as_ref().filter(|_| settings.creates_files) {
        let uri = Uri::from_file_path(&**path)?;
        let options = CreateFileOptions { overwrite: Some(false), ignore_if_exists: None };
        let create = DocumentChangeOperation::Op(ResourceOp::Create(CreateFile {
            uri: uri.clone(),
            options: Some(options),
            annotation_id: None,
        }));
        let content = changed(uri, None, vec![TextEdit::new(Range::default(), text.clone())]);
        let edits = edits.iter().map(|it| to_proto::text_edit(document, it, settings.encoding));
        let own = changed(document.uri().clone(), Some(document.version()), edits.collect());
        let changes = Some(DocumentChanges::Operations(vec![create, content, own]));
        WorkspaceEdit { document_changes: changes, ..WorkspaceEdit::default() }
    } else if creates.is_some() {
        return None;
    } else {
        edit(document, edits, settings)
    };
    Some(CodeAction {
        title: title.clone(),
        kind: Some(match kind {
            RefactorKind::Extract => CodeActionKind::REFACTOR_EXTRACT,
            RefactorKind::Rewrite => CodeActionKind::REFACTOR_REWRITE,
        }),
        edit: Some(edit),
        ..CodeAction::default()
    })
}

fn changed(uri: Uri, version: Option<i32>, edits: Vec<TextEdit>) -> DocumentChangeOperation {
    DocumentChangeOperation::Edit(TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    })
}

/// Whether two spans have a place in common; a cursor beside one counts.
fn touch(one: Span, other: Span) -> bool {
    one.start <= other.end && other.start <= one.end
}

fn edit(document: &Document, edits: &[Edit], settings: Settings) -> WorkspaceEdit {
    let edits = edits.iter().map(|it| to_proto::text_edit(document, it, settings.encoding));
    let changes: HashMap<Uri, Vec<TextEdit>> =
        HashMap::from([(document.uri().clone(), edits.collect())]);
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

#[cfg(test)]
mod tests {
    use tower_lsp::ls_types::Position;

    use super::*;
    use crate::session::Revision;

    const TEXT: &str =
        "---\nname: pdf\ndescription: Reads: PDFs. Use it when there is one.\n---\n\n# PDF\n";

    fn actions(line: u32, only: Option<Vec<CodeActionKind>>) -> Vec<CodeAction> {
        let uri = "file:///w/.claude/skills/pdf/SKILL.md".parse().unwrap();
        let document = Document::new(uri, 1, Revision::default(), TEXT.to_owned());
        let at = Position { line, character: 18 };
        let context = CodeActionContext { only, ..CodeActionContext::default() };
        let range = Range::new(at, at);
        found(&document, range, &context, &AnalysisContext::default(), Settings::default())
            .unwrap()
            .actions
    }

    #[test]
    fn a_finding_offers_its_fix_where_it_lies() {
        let quick = Some(vec![CodeActionKind::QUICKFIX]);
        let [fix] = &actions(2, quick.clone())[..] else { panic!("not one fix") };
        let edits = fix.edit.as_ref().unwrap().changes.as_ref().unwrap();
        let texts: Vec<_> = edits.values().flatten().map(|it| &*it.new_text).collect();
        assert!(texts.concat().contains(['"', '\'']), "{texts:?}");
        assert_eq!(actions(5, quick), []);
    }

    #[test]
    fn all_fixes_are_one_action_of_its_own_kind() {
        let all = actions(5, Some(vec![CodeActionKind::new("source.fixAll")]));
        assert_eq!(all.iter().map(|it| it.kind.clone()).collect::<Vec<_>>(), [Some(FIX_ALL)]);
    }

    #[test]
    fn all_fixes_are_made_with_what_they_uncover_and_touch_nothing_else() {
        let uri: Uri = "file:///w/.claude/skills/pdf/SKILL.md".parse().unwrap();
        let text = "---\nname: pdf\ndescription: Reads. Use when asked.\nallowed-tools: \"Raed, Bash(x\"\n---\n# PDF\n";
        let context = CodeActionContext { only: Some(vec![FIX_ALL]), ..Default::default() };
        let edits = |text: &str| {
            let document = Document::new(uri.clone(), 1, Revision::default(), text.to_owned());
            let settings = Settings::default();
            let scene = AnalysisContext::default();
            let found = found(&document, Range::default(), &context, &scene, settings).unwrap();
            let edits = found.actions.into_iter().filter_map(|it| it.edit?.changes);
            edits.flat_map(HashMap::into_values).flatten().collect::<Vec<_>>()
        };
        let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        for edit in edits(text).into_iter().rev() {
            let (start, end) = (edit.range.start, edit.range.end);
            assert_eq!((start.line, end.line), (3, 3), "the line that is wrong");
            let columns = start.character as usize..end.character as usize;
            lines[3].replace_range(columns, &edit.new_text);
        }
        assert_eq!(lines[3], "allowed-tools: \"Read Bash(x)\"");
        assert_eq!(edits(&lines.join("\n")), []);
    }

    #[test]
    fn a_change_of_files_is_for_clients_that_make_it() {
        let uri: Uri = "file:///w/.claude/skills/pdf/SKILL.md".parse().unwrap();
        let lines = "line\n".repeat(12);
        let text = format!("---\nname: pdf\n---\n# Forms\n{lines}");
        let document = Document::new(uri, 3, Revision::default(), text);
        let only = Some(vec![CodeActionKind::REFACTOR]);
        let context = CodeActionContext { only, ..CodeActionContext::default() };
        let at = Position { line: 4, character: 0 };
        let actions = |creates_files| {
            let settings = Settings { creates_files, ..Settings::default() };
            let range = Range::new(at, at);
            let found =
                found(&document, range, &context, &AnalysisContext::default(), settings).unwrap();
            serde_json::to_value(found.actions).unwrap()
        };
        assert_eq!(actions(false), serde_json::json!([]));
        let action = &actions(true)[0];
        assert_eq!(action["kind"], "refactor.extract");
        let steps = &action["edit"]["documentChanges"];
        assert_eq!(steps[0]["kind"], "create");
        assert_eq!(steps[0]["uri"], "file:///w/.claude/skills/pdf/references/forms.md");
        assert!(steps[1]["edits"][0]["newText"].as_str().unwrap().starts_with("# Forms\nline"));
        assert_eq!(steps[2]["textDocument"]["version"], 3);
    }
}
