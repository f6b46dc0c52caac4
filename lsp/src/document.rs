//! An open document: its text, line index, and lazily parsed syntax tree.
//!
//! The parts always belong to the same version of the text. All offsets are in bytes.

use std::sync::{Arc, OnceLock};

use skills_agents::references::{Reference, references};
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_lint::{Finding, Subject};
use skills_syntax::parse;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{LineIndex, Span};
use tower_lsp::ls_types::Uri;

use crate::analysis::AnalysisContext;

/// A number for one version of one document, unique within a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Revision(pub(crate) u64);

/// One version of an open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    uri: Uri,
    path: Option<AbsPath>,
    version: i32,
    revision: Revision,
    text: String,
    lines: LineIndex,
    parsed: OnceLock<parse::Document>,
    record: OnceLock<Arc<SkillRecord>>,
    references: OnceLock<Box<[Reference]>>,
}

/// A change of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DocumentEdit {
    /// Replaces the whole text.
    All { text: String },
    /// Replaces `span` with `text`.
    Part { span: Span, text: String },
}

/// Returns the file path of a URI. A path in another scheme, such as `git:` or `vscode-remote:`, is
/// not one of this disk.
pub(crate) fn file_path(uri: &Uri) -> Option<AbsPath> {
    let is_file = uri.scheme().as_str().eq_ignore_ascii_case("file");
    AbsPath::new(&uri.to_file_path().filter(|_| is_file)?).ok()
}

impl Document {
    pub(crate) fn new(uri: Uri, version: i32, revision: Revision, text: String) -> Self {
        let lines = LineIndex::new(&text);
        let path = file_path(&uri);
        let (parsed, record, references) = Default::default();
        Self { uri, path, version, revision, text, lines, parsed, record, references }
    }

    /// The URI exactly as the client spells it.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The path of the file; `None` for documents that are not on the disk.
    pub(crate) fn path(&self) -> Option<&AbsPath> {
        self.path.as_ref()
    }

    /// The client's version number.
    pub(crate) fn version(&self) -> i32 {
        self.version
    }

    /// The server's revision; unlike the version, it is never reused.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The syntax tree, parsed on first use.
    pub(crate) fn parsed(&self) -> &parse::Document {
        self.parsed.get_or_init(|| parse(&self.text))
    }

    /// The skill record, built on first use.
    pub(crate) fn record(&self) -> &Arc<SkillRecord> {
        self.record.get_or_init(|| {
            let facts = FileFacts { size: self.text.len() as u64, truncated: false, hash: [0; 32] };
            // Editors hold decoded text, and most remove a byte order mark.
            let bom = self.text.starts_with('\u{FEFF}');
            let origin = DecodeFacts { bom, ..DecodeFacts::default() };
            Arc::new(SkillRecord::from_document(&self.text, self.parsed(), facts, origin))
        })
    }

    /// The places that may name skills, searched on first use.
    pub(crate) fn references(&self) -> &[Reference] {
        self.references.get_or_init(|| references(&self.text, self.parsed()).into())
    }

    /// Returns all findings, based on the document and the cached context.
    pub(crate) fn findings(&self, analysis: &AnalysisContext) -> Vec<Finding> {
        self.as_subject(|it| skills_lint::check(it, &analysis.settings(), analysis))
    }

    /// Returns the findings for `source.fixAll`, which applies every unambiguous fix.
    pub(crate) fn fixable_findings(&self, analysis: &AnalysisContext) -> Vec<Finding> {
        self.as_subject(|it| skills_lint::check_for_fixing(it, &analysis.settings(), analysis))
    }

    /// Returns the findings to show in the editor.
    pub(crate) fn shown_findings(&self, analysis: &AnalysisContext) -> Vec<Finding> {
        self.as_subject(|it| {
            let settings = analysis.settings();
            skills_lint::shown(skills_lint::check(it, &settings, analysis), it, &settings, analysis)
        })
    }

    /// Returns a copy with other text that was never sent by the client.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        Self::new(self.uri.clone(), self.version, self.revision, text.to_owned())
    }

    /// Calls `with` on the document as lint rules see it.
    pub(crate) fn as_subject<R>(&self, with: impl FnOnce(&Subject<'_>) -> R) -> R {
        let (document, record) = (self.parsed(), &**self.record());
        with(&Subject { text: &self.text, document, record, path: self.path() })
    }

    /// Sets the version and revision after edits were applied.
    pub(crate) fn set_version(&mut self, version: i32, revision: Revision) {
        self.version = version;
        self.revision = revision;
    }

    /// Applies one edit. A span outside the text is clamped.
    pub(crate) fn apply(&mut self, edit: DocumentEdit) {
        match edit {
            DocumentEdit::All { text } => {
                self.lines = LineIndex::new(&text);
                self.text = text;
            }
            DocumentEdit::Part { span, text } => {
                let start = self.text.floor_char_boundary(span.start);
                let end = self.text.floor_char_boundary(span.end.max(start));
                self.text.replace_range(start..end, &text);
                self.lines.replace(Span::new(start, end), &self.text);
            }
        }
        (self.parsed, self.record, self.references) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, start: usize, end: usize, new: &str, expected: &str) {
        let uri = "file:///a".parse().unwrap();
        let mut document = Document::new(uri, 1, Revision::default(), text.to_owned());
        document.parsed();
        document.apply(DocumentEdit::Part { span: Span { start, end }, text: new.to_owned() });
        assert_eq!(document.text(), expected);
        assert_eq!(*document.lines(), LineIndex::new(expected));
        assert_eq!(*document.parsed(), parse(expected));
    }

    #[test]
    fn edit_replaces_its_span() {
        check("one two", 4, 7, "three\n", "one three\n");
        check("one", 0, 0, "---\n", "---\none");
        check("one\r\ntwo", 3, 5, "", "onetwo");
    }

    #[test]
    fn out_of_range_span_is_clamped() {
        check("one", 9, 12, "!", "one!");
        check("one", 2, 1, "!", "on!e");
        check("é", 1, 2, "!", "!");
    }
}
