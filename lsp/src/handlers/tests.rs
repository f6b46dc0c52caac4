//! Tests that requests reuse the work done for the version of a document.

use std::slice;
use std::sync::Arc;

use skills_lint::{Finding, SkillDirFacts};
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

/// Returns a document with this many unknown keys, each with a value of this length and a fix, and
/// a context whose findings are cached.
fn unknown_keys(n_keys: usize, value_len: usize) -> (Document, AnalysisContext) {
    let value = "x".repeat(value_len);
    let keys: Vec<String> = (0..n_keys).map(|it| format!("unknown-{it}: {value}\n")).collect();
    let text =
        format!("---\nname: a\ndescription: Reads. Use when asked.\n{}---\nb\n", keys.concat());
    let analysis = AnalysisContext {
        root: AbsPath::new("/w".as_ref()).ok(),
        facts: Some(Arc::default()),
        ..AnalysisContext::default()
    };
    (document(text), analysis)
}

fn n_fixes(findings: &[Finding]) -> usize {
    findings.iter().map(|it| it.fixes.len() + it.offers.len()).sum()
}

#[test]
fn findings_are_checked_once_and_have_the_same_fixes_near_a_request() {
    let (document, analysis) = unknown_keys(40, 1);
    diagnostic::diagnostics(&document, &analysis, Settings::default().encoding);
    let checked = document.unverified_findings(&analysis);
    let span = document.parsed().frontmatter.as_ref().unwrap().entries[20].key.span;
    let here = document.findings_at(span, &checked, &analysis);
    let [finding] = &here[..] else { panic!("one finding: {here:?}") };
    assert!(n_fixes(&here) > 0);
    let whole = document.verified_findings(&document.unverified_findings(&analysis), &analysis);
    let same = whole.iter().find(|it| it.diagnostic.span.touches(span)).unwrap();
    assert_eq!(finding.diagnostic, same.diagnostic);
    assert_eq!(finding.fixes, same.fixes);
    assert_eq!(n_fixes(&here), n_fixes(slice::from_ref(same)));
    assert!(Arc::ptr_eq(&checked, &document.unverified_findings(&analysis)));
}

#[test]
fn last_finding_of_very_many_has_fixes_before_and_after_the_whole_verification() {
    let (document, analysis) = unknown_keys(80, 500);
    let span = document.parsed().frontmatter.as_ref().unwrap().entries[81].key.span;
    let here = || {
        let all = document.unverified_findings(&analysis);
        document.findings_at(span, &all, &analysis)
    };
    let before = here();
    assert!(n_fixes(&before) > 0);
    let whole = document.verified_findings(&document.unverified_findings(&analysis), &analysis);
    assert!(n_fixes(&whole) < n_fixes(&document.unverified_findings(&analysis)), "not all fit");
    assert_eq!(n_fixes(&here()), n_fixes(&before));
}
