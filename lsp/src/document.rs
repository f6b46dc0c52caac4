//! One text that the editor has open.
//!
//! Holds the text, its lines and, once somebody asks, its tree; all of them always belong
//! together. Everything here counts in bytes.

use std::sync::{Arc, OnceLock};

use skills_agents::references::{Reference, references};
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_lint::{Finding, Subject};
use skills_syntax::parse;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{LineIndex, Span};
use tower_lsp::ls_types::Uri;

use crate::analysis::AnalysisContext;
use crate::session::Revision;

/// An open text as of one version.
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

/// One step from a text to the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Edit {
    /// Puts `text` in the place of everything.
    All { text: String },
    /// Puts `text` in the place of `span`.
    Part { span: Span, text: String },
}

impl Document {
    pub(crate) fn new(uri: Uri, version: i32, revision: Revision, text: String) -> Self {
        let lines = LineIndex::new(&text);
        let path = uri.to_file_path().and_then(|it| AbsPath::new(&it).ok());
        let (parsed, record, references) = Default::default();
        Self { uri, path, version, revision, text, lines, parsed, record, references }
    }

    /// The address, letter by letter as the client writes it.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Where the text lies, where that is on a disk.
    pub(crate) fn path(&self) -> Option<&AbsPath> {
        self.path.as_ref()
    }

    /// The client's number of this state.
    pub(crate) fn version(&self) -> i32 {
        self.version
    }

    /// Our number of this state; unlike the version it never comes again.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The tree, made when first asked for.
    pub(crate) fn parsed(&self) -> &parse::Document {
        self.parsed.get_or_init(|| parse(&self.text))
    }

    /// The text as a record, made when first asked for.
    pub(crate) fn record(&self) -> &Arc<SkillRecord> {
        self.record.get_or_init(|| {
            let facts = FileFacts { size: self.text.len() as u64, truncated: false, hash: [0; 32] };
            // An editor decodes: what it holds is UTF-8, and most keep the mark out of the text.
            let bom = self.text.starts_with('\u{FEFF}');
            let origin = DecodeFacts { bom, ..DecodeFacts::default() };
            Arc::new(SkillRecord::from_document(&self.text, self.parsed(), facts, origin))
        })
    }

    /// Where the text may name skills, found when first asked for.
    pub(crate) fn references(&self) -> &[Reference] {
        self.references.get_or_init(|| references(&self.text, self.parsed()).into())
    }

    /// Returns what is wrong with the text, as far as it and what is known around it tell.
    pub(crate) fn findings(&self, scene: &AnalysisContext) -> Vec<Finding> {
        self.as_subject(|it| skills_lint::check(it, &scene.settings(), scene))
    }

    /// Returns the same for whoever makes all fixes with one right answer.
    pub(crate) fn findings_to_mend(&self, scene: &AnalysisContext) -> Vec<Finding> {
        self.as_subject(|it| skills_lint::check_to_mend(it, &scene.settings(), scene))
    }

    /// Returns what of that is shown.
    pub(crate) fn shown(&self, scene: &AnalysisContext) -> Vec<Finding> {
        self.as_subject(|it| {
            let settings = scene.settings();
            skills_lint::shown(skills_lint::check(it, &settings, scene), it, &settings, scene)
        })
    }

    /// Returns the document with another text in it, which nobody has typed.
    pub(crate) fn with_text(&self, text: &str) -> Self {
        Self::new(self.uri.clone(), self.version, self.revision, text.to_owned())
    }

    /// Calls `with` on the text as the rules see it.
    pub(crate) fn as_subject<R>(&self, with: impl FnOnce(&Subject<'_>) -> R) -> R {
        let (document, record) = (self.parsed(), &**self.record());
        with(&Subject { text: &self.text, document, record, path: self.path() })
    }

    /// Names the state that the edits since the last name have led to.
    pub(crate) fn set_version(&mut self, version: i32, revision: Revision) {
        self.version = version;
        self.revision = revision;
    }

    /// Applies one edit. A span that does not fit in the text is cut until it does.
    pub(crate) fn apply(&mut self, edit: Edit) {
        match edit {
            Edit::All { text } => {
                self.lines = LineIndex::new(&text);
                self.text = text;
            }
            Edit::Part { span, text } => {
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
        document.apply(Edit::Part { span: Span { start, end }, text: new.to_owned() });
        assert_eq!(document.text(), expected);
        assert_eq!(*document.lines(), LineIndex::new(expected));
        assert_eq!(*document.parsed(), parse(expected));
    }

    #[test]
    fn an_edit_replaces_its_span() {
        check("one two", 4, 7, "three\n", "one three\n");
        check("one", 0, 0, "---\n", "---\none");
        check("one\r\ntwo", 3, 5, "", "onetwo");
    }

    #[test]
    fn a_span_that_does_not_fit_is_cut() {
        check("one", 9, 12, "!", "one!");
        check("one", 2, 1, "!", "on!e");
        check("é", 1, 2, "!", "!");
    }
}
