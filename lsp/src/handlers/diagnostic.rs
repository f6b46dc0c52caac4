//! `textDocument/diagnostic`, and the diagnostics of a document for `publish`.

use tower_lsp::ls_types::{
    Diagnostic, DocumentDiagnosticParams, DocumentDiagnosticReport, FullDocumentDiagnosticReport,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport,
};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::session::Session;
use crate::settings::Encoding;
use crate::{from_proto, to_proto};

/// Returns the diagnostics of a document, or `unchanged` if the client has them already.
pub(crate) async fn diagnostic(
    document: Option<&Document>,
    params: &DocumentDiagnosticParams,
    session: &Session,
) -> DocumentDiagnosticReport {
    let Some(document) = document.filter(|it| from_proto::is_checked(it.uri())) else {
        return full(None, Vec::new());
    };
    session.rescan().await;
    // The result depends on the state of the disk too.
    let now = result_id(document, session.generation());
    if params.previous_result_id.as_ref() == Some(&now) {
        return DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                result_id: now,
            },
        });
    }
    let encoding = session.settings().encoding;
    let found = |analysis: &AnalysisContext| {
        (analysis.generation, diagnostics(document, analysis, encoding))
    };
    let (generation, found) = session.with_complete_analysis(document, found).await;
    full(Some(result_id(document, generation)), found)
}

/// Returns the id of a result: the document's revision and the generation of the disk state.
pub(crate) fn result_id(document: &Document, generation: u64) -> String {
    format!("{}.{generation}", document.revision().0)
}

fn full(result_id: Option<String>, items: Vec<Diagnostic>) -> DocumentDiagnosticReport {
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: FullDocumentDiagnosticReport { result_id, items },
    })
}

/// Returns the diagnostics of a document, in document order. If there are too many, the most severe
/// ones are kept.
pub(crate) fn diagnostics(
    document: &Document,
    analysis: &AnalysisContext,
    encoding: Encoding,
) -> Vec<Diagnostic> {
    let findings = document.shown_findings(analysis);
    let page = analysis.rules_page.as_deref();
    findings.iter().map(|it| to_proto::diagnostic(document, it, page, encoding)).collect()
}

#[cfg(test)]
mod tests {
    use tower_lsp::ls_types::{
        PartialResultParams, TextDocumentIdentifier, Uri, WorkDoneProgressParams,
    };

    use super::*;
    use crate::document::Revision;

    #[tokio::test]
    async fn unchanged_document_is_reported_as_unchanged() {
        let report = async |uri: &str, previous: Option<&str>| {
            let uri: Uri = uri.parse().unwrap();
            let document = Document::new(uri.clone(), 1, Revision(7), "no skill".to_owned());
            let params = DocumentDiagnosticParams {
                text_document: TextDocumentIdentifier { uri },
                identifier: None,
                previous_result_id: previous.map(str::to_owned),
                work_done_progress_params: WorkDoneProgressParams::default(),
                partial_result_params: PartialResultParams::default(),
            };
            let report = diagnostic(Some(&document), &params, &Session::default()).await;
            let report = serde_json::to_value(report).unwrap();
            let n_items = report["items"].as_array().map(Vec::len);
            (report["kind"].as_str().unwrap().to_owned(), n_items)
        };
        assert_eq!(report("file:///w/SKILL.md", None).await, ("full".to_owned(), Some(1)));
        assert_eq!(report("file:///w/SKILL.md", Some("6.0")).await, ("full".to_owned(), Some(1)));
        assert_eq!(report("file:///w/SKILL.md", Some("7.0")).await, ("unchanged".to_owned(), None));
        assert_eq!(report("file:///w/README.md", None).await, ("full".to_owned(), Some(0)));
    }
}
