//! Tests that requests reuse the work done for the version of a document.

use std::sync::Arc;

use skills_lint::SkillDirFacts;
use skills_syntax::markdown::n_bodies;
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{
    CodeActionContext, CodeActionParams, PartialResultParams, Position, Range,
    TextDocumentIdentifier, WorkDoneProgressParams,
};

use super::{
    code_action, definition, diagnostic, document_highlight, document_link, document_symbol,
    folding_range, hover, rename, selection_range, semantic_tokens,
};
use crate::analysis::AnalysisContext;
use crate::document::{Document, Revision};
use crate::session::Session;
use crate::settings::Settings;
use crate::texts::Texts;

const URI: &str = "file:///w/.claude/skills/a/SKILL.md";

fn document(text: String) -> Document {
    Document::new(URI.parse().unwrap(), 1, Revision::default(), text)
}

#[tokio::test]
async fn all_requests_for_a_version_split_its_body_once() {
    let line = "Fix $issue, see [x](x.md), `/other` and ${CLAUDE_SKILL_DIR}.\n";
    let text = format!("---\nname: a\narguments: [issue]\n---\n# A\n{}# B\n", line.repeat(20));
    let document = document(text);
    let settings = Settings { creates_files: true, resolves_actions: true, ..Settings::default() };
    let (analysis, session) = (AnalysisContext::default(), Arc::new(Session::default()));
    let texts = Texts { session: &session };
    let before = n_bodies();
    diagnostic::diagnostics(&document, &analysis, settings.encoding);
    let once = n_bodies() - before;
    assert_eq!(once, 1, "one for the check");
    for position in [(2, 13), (6, 6), (6, 20), (6, 30), (6, 50)] {
        let position = Position { line: position.0, character: position.1 };
        let range = Range::new(position, position);
        definition::definition(&document, position, texts).await;
        hover::hover(&document, position, &analysis, settings);
        document_highlight::document_highlight(&document, position, settings);
        selection_range::selection_range(&document, &[position], settings);
        let _ = rename::prepare_rename(&document, position, texts);
        let _ = rename::rename(&document, position, "ticket", texts).await;
        let params = CodeActionParams {
            text_document: TextDocumentIdentifier { uri: document.uri().clone() },
            range,
            context: CodeActionContext::default(),
            work_done_progress_params: WorkDoneProgressParams::default(),
            partial_result_params: PartialResultParams::default(),
        };
        session.start_serving(settings);
        code_action::code_action(&document, &params, texts).await;
        // The fix loop and suppressions check other texts.
        semantic_tokens::semantic_tokens(&document, None, &analysis, settings);
    }
    document_link::document_link(&document, &analysis, settings);
    document_symbol::document_symbol(&document, settings);
    folding_range::folding_range(&document, settings);
    assert_eq!(n_bodies() - before, once);
}

#[test]
fn refactoring_asks_for_no_path_if_the_files_are_known() {
    let document = document(format!("---\nname: a\n---\n# A\n{}", "line\n".repeat(12)));
    let titles = |files: &[&str]| {
        let files = Some(files.iter().map(|it| (*it).to_owned()).collect());
        let facts = SkillDirFacts { files, ..SkillDirFacts::default() };
        let analysis =
            AnalysisContext { facts: Some(Arc::new(facts)), ..AnalysisContext::default() };
        let titles = document.as_subject(|it| {
            let offered = skills_ide::refactorings(it, document.body(), &analysis, 30);
            offered.into_iter().map(|it| it.title).collect::<Vec<_>>()
        });
        // A new answer would check the whole document again.
        assert!(analysis.missing.borrow().is_empty());
        titles
    };
    assert_eq!(titles(&[]), ["Extract `A` to `references/a.md`"]);
    assert_eq!(titles(&["references/a.md"]), ["Extract `A` to `references/a-2.md`"]);
}

#[test]
fn findings_are_checked_once_and_verified_near_the_request() {
    let keys: Vec<String> = (0..40).map(|it| format!("unknown-{it}: x\n")).collect();
    let text =
        format!("---\nname: a\ndescription: Reads. Use when asked.\n{}---\nb\n", keys.concat());
    let document = document(text);
    let analysis = AnalysisContext {
        root: AbsPath::new("/w".as_ref()).ok(),
        facts: Some(Arc::default()),
        ..AnalysisContext::default()
    };
    diagnostic::diagnostics(&document, &analysis, Settings::default().encoding);
    let checked = document.unverified_findings(&analysis);
    let span = document.parsed().frontmatter.as_ref().unwrap().entries[20].key.span;
    let here = document.findings_at(span, &analysis);
    assert_eq!(here.len(), 1);
    let whole = &document.findings(&analysis)[18];
    assert_eq!(here[0].diagnostic, whole.diagnostic);
    assert_eq!(here[0].fixes, whole.fixes, "as in the whole verification");
    assert!(Arc::ptr_eq(&checked, &document.unverified_findings(&analysis)));
}
