//! `textDocument/codeAction`: the fixes of what is wrong here, and all of them at once.

use std::collections::HashMap;

use skills_core::rules::{self, Edit};
use skills_core::text::Span;
use tower_lsp::ls_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Uri,
    WorkspaceEdit,
};

use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// The kind of the action that applies every fix which is the only right one.
pub(crate) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.skillsd");

/// Returns the actions for a range of a skill; nothing for other texts.
pub(crate) fn code_action(
    document: &Document,
    range: Range,
    context: &CodeActionContext,
    settings: Settings,
) -> Option<Vec<CodeActionOrCommand>> {
    if !from_proto::is_skill(document.uri()) {
        return None;
    }
    let wanted = |kind: &CodeActionKind| match &context.only {
        Some(only) => only.iter().any(|it| {
            let (asked, offered) = (it.as_str(), kind.as_str());
            offered == asked || offered.starts_with(&format!("{asked}."))
        }),
        None => true,
    };
    let findings = document.findings();
    let mut actions = Vec::new();
    if wanted(&CodeActionKind::QUICKFIX) {
        let asked = from_proto::span(document, range, settings.encoding);
        let here = findings.iter().filter(|it| touch(it.diagnostic.span, asked));
        for finding in here {
            let diagnostic = to_proto::diagnostic(document, finding, settings.encoding);
            let is_only = finding.only_fix().is_some();
            for fix in &finding.fixes {
                actions.push(CodeAction {
                    title: fix.title.clone(),
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: Some(vec![diagnostic.clone()]),
                    edit: Some(edit(document, &fix.edits, settings)),
                    is_preferred: Some(is_only),
                    ..CodeAction::default()
                });
            }
        }
    }
    if wanted(&FIX_ALL) {
        let (fixed, count) = rules::apply_fixes(document.text(), &findings);
        if count > 0 {
            let whole = Edit { span: Span::new(0, document.text().len()), text: fixed };
            actions.push(CodeAction {
                title: "Fix all that has one right answer".to_owned(),
                kind: Some(FIX_ALL),
                edit: Some(edit(document, &[whole], settings)),
                ..CodeAction::default()
            });
        }
    }
    Some(actions.into_iter().map(CodeActionOrCommand::CodeAction).collect())
}

/// Whether two spans have a place in common; a cursor beside one counts.
fn touch(one: Span, other: Span) -> bool {
    one.start <= other.end && other.start <= one.end
}

fn edit(document: &Document, edits: &[Edit], settings: Settings) -> WorkspaceEdit {
    let edits = edits.iter().map(|it| {
        TextEdit::new(to_proto::range(document, it.span, settings.encoding), it.text.clone())
    });
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
        let found = code_action(&document, Range::new(at, at), &context, Settings::default());
        let found = found.unwrap().into_iter().map(|it| match it {
            CodeActionOrCommand::CodeAction(action) => action,
            CodeActionOrCommand::Command(command) => panic!("{command:?}"),
        });
        found.collect()
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
}
