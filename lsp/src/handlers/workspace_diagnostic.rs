//! `workspace/diagnostic`: what is wrong with every skill of the editor's folders, open or not.

use skills_core::rules::Level;
use skills_core::text::Span;
use skills_protocol::wire::{CheckFinding, CheckedFile, Position as Spot, RuleLevel, Severity};
use tower_lsp::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    FullDocumentDiagnosticReport, Location, NumberOrString, Position, Range, Uri,
    WorkspaceDiagnosticReport, WorkspaceDocumentDiagnosticReport,
    WorkspaceFullDocumentDiagnosticReport,
};

use crate::document::Document;
use crate::known::path;
use crate::settings::Encoding;
use crate::texts::Texts;
use crate::world::{Wish, Wishes};
use crate::{from_proto, handlers, to_proto};

/// Returns the findings of each folder's skills: of an open text those of the text as it is.
pub(crate) async fn workspace_diagnostic(texts: Texts<'_>) -> WorkspaceDiagnosticReport {
    let session = texts.session;
    let encoding = session.settings().encoding;
    let mut items = Vec::new();
    let mut add = |uri: Uri, version: Option<i32>, diagnostics: Vec<Diagnostic>| {
        items.push(WorkspaceDocumentDiagnosticReport::Full(
            WorkspaceFullDocumentDiagnosticReport {
                uri,
                version: version.map(i64::from),
                full_document_diagnostic_report: FullDocumentDiagnosticReport {
                    result_id: None,
                    items: diagnostics,
                },
            },
        ));
    };
    let open = session.documents();
    for document in open.iter().filter(|it| from_proto::is_checked(it.uri())) {
        let found = session.with_scene(document, |scene| {
            handlers::diagnostic::diagnostics(document, scene, encoding)
        });
        add(document.uri().clone(), Some(document.version()), found);
    }
    let Wishes { profiles, levels } = session.wishes();
    let level =
        |Wish { glob, rule, level }| RuleLevel { rule, level: Level::word(level).to_owned(), glob };
    let levels: Vec<RuleLevel> = levels.into_iter().map(level).collect();
    for folder in session.folders() {
        let checked = session.source().check(folder, profiles.clone(), levels.clone()).await;
        let Some(checked) = checked else { continue };
        for file in &checked.files {
            let Some(at) = path(&file.path, file.path_encoding) else { continue };
            if open.iter().any(|it| it.path() == Some(&at)) {
                continue;
            }
            let Some((document, _)) = texts.document(&at).await else { continue };
            add(document.uri().clone(), None, diagnostics(&document, file, encoding));
        }
    }
    WorkspaceDiagnosticReport { items }
}

fn diagnostics(document: &Document, file: &CheckedFile, encoding: Encoding) -> Vec<Diagnostic> {
    file.findings.iter().map(|it| diagnostic(document, it, encoding)).collect()
}

fn diagnostic(document: &Document, finding: &CheckFinding, encoding: Encoding) -> Diagnostic {
    let [start, end] = [finding.range.start, finding.range.end].map(|it| offset(document, it));
    let related = finding.related.iter().filter_map(|it| {
        let uri = Uri::from_file_path(&*path(&it.path, it.path_encoding)?)?;
        let location = Location::new(uri, Range::default());
        Some(DiagnosticRelatedInformation { location, message: it.message.clone() })
    });
    let related: Vec<_> = related.collect();
    Diagnostic {
        range: to_proto::range(document, Span::new(start, end), encoding),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::INFORMATION,
            Severity::Hint => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(finding.code.clone())),
        code_description: finding.href.parse().ok().map(|href| CodeDescription { href }),
        source: Some(to_proto::SOURCE.to_owned()),
        message: match &finding.help {
            Some(help) => format!("{}\nhelp: {help}", finding.message),
            None => finding.message.clone(),
        },
        related_information: (!related.is_empty()).then_some(related),
        tags: finding.tag.map(|it| match it {
            skills_protocol::wire::FindingTag::Unnecessary => vec![DiagnosticTag::UNNECESSARY],
            skills_protocol::wire::FindingTag::Deprecated => vec![DiagnosticTag::DEPRECATED],
        }),
        data: None,
    }
}

/// Returns the byte of a place that the source counts for people: from 1, in characters.
fn offset(document: &Document, spot: Spot) -> usize {
    let position =
        Position { line: spot.line.saturating_sub(1), character: spot.column.saturating_sub(1) };
    from_proto::offset(document, position, Encoding::Utf32)
}
