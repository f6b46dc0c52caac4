//! `workspace/diagnostic`: what is wrong with every skill of the editor's folders, open or not.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use skills_core::rules::Level;
use skills_core::text::Span;
use skills_protocol::wire::{CheckFinding, CheckedFile, Position as Spot, RuleLevel, Severity};
use tower_lsp::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    FullDocumentDiagnosticReport, Location, NumberOrString, Position, PreviousResultId, Range,
    UnchangedDocumentDiagnosticReport, Uri, WorkspaceDiagnosticReport,
    WorkspaceDocumentDiagnosticReport, WorkspaceFullDocumentDiagnosticReport,
    WorkspaceUnchangedDocumentDiagnosticReport,
};

use crate::document::Document;
use crate::known::path;
use crate::session::Revision;
use crate::settings::Encoding;
use crate::texts::Texts;
use crate::world::{Wish, Wishes};
use crate::{from_proto, handlers, to_proto};

/// What is reported to a client that knows some of it already.
struct Report<'a> {
    previous: &'a [PreviousResultId],
    items: Vec<WorkspaceDocumentDiagnosticReport>,
}

impl Report<'_> {
    /// Reports a text whose findings have an id, unless the client has these.
    fn add(&mut self, uri: &Uri, version: Option<i32>, id: String, found: Vec<Diagnostic>) {
        let (uri, version) = (uri.clone(), version.map(i64::from));
        let is_known = self.previous.iter().any(|it| it.uri == uri && it.value == id);
        self.items.push(if is_known {
            let report = UnchangedDocumentDiagnosticReport { result_id: id };
            WorkspaceDocumentDiagnosticReport::Unchanged(
                WorkspaceUnchangedDocumentDiagnosticReport {
                    uri,
                    version,
                    unchanged_document_diagnostic_report: report,
                },
            )
        } else {
            let report = FullDocumentDiagnosticReport { result_id: Some(id), items: found };
            WorkspaceDocumentDiagnosticReport::Full(WorkspaceFullDocumentDiagnosticReport {
                uri,
                version,
                full_document_diagnostic_report: report,
            })
        });
    }

    fn has(&self, uri: &Uri) -> bool {
        self.items.iter().any(|it| match it {
            WorkspaceDocumentDiagnosticReport::Full(it) => it.uri == *uri,
            WorkspaceDocumentDiagnosticReport::Unchanged(it) => it.uri == *uri,
        })
    }

    /// Says of all others that the client has heard of that nothing is wrong with them any more.
    fn clear(&mut self) {
        for PreviousResultId { uri, .. } in self.previous {
            if self.has(uri) {
                continue;
            }
            let report = FullDocumentDiagnosticReport { result_id: None, items: Vec::new() };
            self.items.push(WorkspaceDocumentDiagnosticReport::Full(
                WorkspaceFullDocumentDiagnosticReport {
                    uri: uri.clone(),
                    version: None,
                    full_document_diagnostic_report: report,
                },
            ));
        }
    }
}

/// Returns the findings of each folder's skills: of an open text those of the text as it is. What
/// the client has already, by `previous`, is not sent again.
pub(crate) async fn workspace_diagnostic(
    texts: Texts<'_>,
    previous: &[PreviousResultId],
) -> WorkspaceDiagnosticReport {
    let session = texts.session;
    let encoding = session.settings().encoding;
    let mut report = Report { previous, items: Vec::new() };
    let open = session.documents();
    for document in open.iter().filter(|it| from_proto::is_checked(it.uri())) {
        let (generation, found) = session.with_scene(document, |scene| {
            (scene.generation, handlers::diagnostic::diagnostics(document, scene, encoding))
        });
        let id = handlers::diagnostic::result_id(document, generation);
        report.add(document.uri(), Some(document.version()), id, found);
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
            let document = match texts.document(&at).await {
                Some((document, _)) => document,
                // What cannot be read has findings too, at its beginning.
                None => match Uri::from_file_path(&*at) {
                    Some(uri) => {
                        Arc::new(Document::new(uri, 0, Revision::default(), String::new()))
                    }
                    None => continue,
                },
            };
            let found = diagnostics(&document, file, encoding);
            report.add(document.uri(), None, fingerprint(&found), found);
        }
    }
    report.clear();
    WorkspaceDiagnosticReport { items: report.items }
}

/// Returns an id for the findings of a text that nobody has open: the same for the same.
fn fingerprint(found: &[Diagnostic]) -> String {
    let mut hasher = DefaultHasher::new();
    // They are plain data, so that they can always be written.
    serde_json::to_string(found).unwrap_or_default().hash(&mut hasher);
    format!("disk.{:x}", hasher.finish())
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
