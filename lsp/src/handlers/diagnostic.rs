//! `textDocument/diagnostic`, and the diagnostics of a text for those who are sent them unasked.

use skills_core::diagnostic::Diagnostic as Finding;
use skills_core::parse::MAX_DIAGNOSTICS;
use tower_lsp::ls_types::{
    Diagnostic, DocumentDiagnosticParams, DocumentDiagnosticReport, FullDocumentDiagnosticReport,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport,
};

use crate::document::Document;
use crate::settings::{Encoding, Settings};
use crate::{from_proto, to_proto};

/// How many diagnostics of one text are shown. With more of them nobody reads any.
const MAX_SHOWN: usize = 100;

/// Returns what is wrong with a text, or that it is still what it was when last asked.
pub(crate) fn diagnostic(
    document: Option<&Document>,
    params: &DocumentDiagnosticParams,
    settings: Settings,
) -> DocumentDiagnosticReport {
    let Some(document) = document.filter(|it| from_proto::is_skill(it.uri())) else {
        return full(None, Vec::new());
    };
    let result_id = document.revision().0.to_string();
    if params.previous_result_id.as_ref() == Some(&result_id) {
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
        });
    }
    full(Some(result_id), diagnostics(document, settings.encoding))
}

fn full(result_id: Option<String>, items: Vec<Diagnostic>) -> DocumentDiagnosticReport {
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id, items },
    })
}

/// Returns what is wrong with a text, in its order: the gravest when there is too much.
pub(crate) fn diagnostics(document: &Document, encoding: Encoding) -> Vec<Diagnostic> {
    let shown = shown(&document.parsed().diagnostics);
    shown.iter().map(|finding| to_proto::diagnostic(document, finding, encoding)).collect()
}

fn shown(findings: &[Finding]) -> Vec<Finding> {
    if findings.len() <= MAX_SHOWN {
        return findings.to_vec();
    }
    let mut gravest: Vec<usize> = (0..findings.len()).collect();
    gravest.sort_by_key(|&index| findings[index].severity);
    let mut kept = gravest[..MAX_SHOWN].to_vec();
    kept.sort_unstable();
    let mut shown: Vec<Finding> = kept.iter().map(|&index| findings[index].clone()).collect();
    let first_left_out = gravest[MAX_SHOWN..].iter().min().expect("there are more than are shown");
    shown.push(more(findings, &findings[*first_left_out]));
    shown
}

fn more(findings: &[Finding], first: &Finding) -> Finding {
    // The last finding of a text with too many says that there are others, which nobody counted.
    let (count, beyond) = match findings.len() {
        MAX_DIAGNOSTICS => (findings.len() - 1 - MAX_SHOWN, "more than "),
        count => (count - MAX_SHOWN, ""),
    };
    let message = format!("{beyond}{count} more findings are not shown");
    Finding::information("skillsd/too-many", first.span, message)
}

#[cfg(test)]
mod tests {
    use skills_core::diagnostic::Severity;
    use skills_core::text::Span;
    use tower_lsp::ls_types::{
        PartialResultParams, TextDocumentIdentifier, Uri, WorkDoneProgressParams,
    };

    use super::*;
    use crate::session::Revision;

    fn finding(index: usize, severity: Severity) -> Finding {
        Finding { severity, ..Finding::error("a/b", Span::empty(index), index.to_string()) }
    }

    fn findings(count: usize) -> Vec<Finding> {
        (0..count).map(|index| finding(index, Severity::Warning)).collect()
    }

    #[track_caller]
    fn last(findings: &[Finding]) -> String {
        shown(findings).pop().map(|last| last.message).unwrap_or_default()
    }

    #[test]
    fn a_hundred_are_shown_and_the_number_of_the_others() {
        assert_eq!(shown(&findings(100)), findings(100));
        assert_eq!(shown(&findings(101)).len(), 101);
        assert_eq!(shown(&findings(101))[..100], findings(100));
        assert_eq!(last(&findings(101)), "1 more findings are not shown");
        assert_eq!(last(&findings(255)), "155 more findings are not shown");
        assert_eq!(last(&findings(256)), "more than 155 more findings are not shown");
    }

    #[test]
    fn the_gravest_are_shown_in_the_order_of_the_text() {
        let mut all = findings(150);
        all[149] = finding(149, Severity::Error);
        all[3] = finding(3, Severity::Hint);
        let shown = shown(&all);
        assert_eq!(shown[99].message, "149");
        assert!(shown[..100].is_sorted_by_key(|it| it.span.start));
        assert_eq!((shown[100].span, shown.len()), (Span::empty(3), 101));
    }

    #[test]
    fn a_text_that_has_not_changed_is_not_reported_again() {
        let report = |uri: &str, previous: Option<&str>| {
            let uri: Uri = uri.parse().unwrap();
            let document = Document::new(uri.clone(), 1, Revision(7), "no skill".to_owned());
            let params = DocumentDiagnosticParams {
                text_document: TextDocumentIdentifier { uri },
                identifier: None,
                previous_result_id: previous.map(str::to_owned),
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
            };
            let report = diagnostic(Some(&document), &params, Settings::default());
            let report = serde_json::to_value(report).unwrap();
            let n_items = report["items"].as_array().map(Vec::len);
            (report["kind"].as_str().unwrap().to_owned(), n_items)
        };
        assert_eq!(report("file:///w/SKILL.md", None), ("full".to_owned(), Some(1)));
        assert_eq!(report("file:///w/SKILL.md", Some("6")), ("full".to_owned(), Some(1)));
        assert_eq!(report("file:///w/SKILL.md", Some("7")), ("unchanged".to_owned(), None));
        assert_eq!(report("file:///w/README.md", None), ("full".to_owned(), Some(0)));
    }
}
