//! Converts to LSP types: byte offsets to positions, findings to diagnostics, entries to symbols.
//!
//! The only module that writes line and column numbers. Values that LSP cannot express are dropped
//! here.

use skills_discovery::discover::address_of;
use skills_ide::Section;
use skills_lint::{Finding, Fix, Related, Tag};
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::Edit;
use skills_syntax::parse::{Entry, ValueKind};
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;
use tower_lsp::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    DocumentSymbol, FoldingRange, FoldingRangeKind, Location, NumberOrString, Position, Range,
    SymbolInformation, SymbolKind, TextEdit, Uri,
};

use crate::document::Document;
use crate::settings::Encoding;

/// The `source` of all diagnostics.
pub(crate) const SOURCE: &str = "skillsd";

/// The maximum length of a value shown beside its key, in characters.
const MAX_DETAIL: usize = 80;

/// Returns the position of a byte offset; inside a line break, the end of the line.
pub(crate) fn position(document: &Document, offset: usize, encoding: Encoding) -> Position {
    let (text, lines) = (document.text(), document.lines());
    let at = lines.position(offset);
    let character = match encoding {
        Encoding::Utf8 => at.column.min(lines.line(at.line).map_or(0, |line| line.len() as u32)),
        Encoding::Utf16 => lines.utf16_column(text, offset),
        Encoding::Utf32 => lines.char_column(text, offset),
    };
    Position { line: at.line, character }
}

/// Returns the range of a span.
pub(crate) fn range(document: &Document, span: Span, encoding: Encoding) -> Range {
    let [start, end] = [span.start, span.end].map(|it| position(document, it, encoding));
    Range { start, end }
}

/// Returns an edit as an LSP text edit.
pub(crate) fn text_edit(document: &Document, edit: &Edit, encoding: Encoding) -> TextEdit {
    TextEdit::new(range(document, edit.span, encoding), edit.text.clone())
}

/// Returns a finding as a diagnostic. It links to the rule's section of the rules page; the help is
/// the last line of the message.
pub(crate) fn diagnostic(
    document: &Document,
    finding: &Finding,
    rules_page: Option<&str>,
    encoding: Encoding,
) -> Diagnostic {
    let found = &finding.diagnostic;
    let message = match &found.help {
        Some(help) => format!("{}\nhelp: {help}", found.message),
        None => found.message.clone(),
    };
    let related: Vec<_> = finding.related.iter().filter_map(related).collect();
    Diagnostic {
        range: range(document, found.span, encoding),
        severity: Some(severity(found.severity)),
        code: Some(NumberOrString::String(finding.rule.id.as_str().to_owned())),
        code_description: rules_page
            .and_then(|it| finding.rule.address(it).parse().ok())
            .map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: finding.tag.map(|it| vec![tag(it)]),
        data: data(document, finding, encoding),
    }
}

fn tag(tag: Tag) -> DiagnosticTag {
    match tag {
        Tag::Unnecessary => DiagnosticTag::UNNECESSARY,
        Tag::Deprecated => DiagnosticTag::DEPRECATED,
    }
}

/// Returns the URI of a file; `None` for skills without a file, such as prompts of MCP servers and
/// built-in skills.
pub(crate) fn uri(path: &AbsPath) -> Option<Uri> {
    if address_of(path).is_some() { None } else { Uri::from_file_path(&**path) }
}

/// Returns the start of another file, because related findings have no line.
fn related(related: &Related) -> Option<DiagnosticRelatedInformation> {
    let uri = uri(&related.path)?;
    let location = Location::new(uri, Range::default());
    Some(DiagnosticRelatedInformation { location, message: related.message.clone() })
}

/// Returns the `data` of a diagnostic: the names of the affected profiles.
pub(crate) fn about(profiles: &[String]) -> serde_json::Map<String, serde_json::Value> {
    let mut data = serde_json::Map::new();
    if !profiles.is_empty() {
        data.insert("profiles".to_owned(), profiles.into());
    }
    data
}

/// Returns the `data` of a diagnostic with its fixes, which clients return in code action requests.
fn data(document: &Document, finding: &Finding, encoding: Encoding) -> Option<serde_json::Value> {
    let fix = |it: &Fix| {
        let edits: Vec<_> = it.edits.iter().map(|it| text_edit(document, it, encoding)).collect();
        serde_json::json!({"title": it.title, "edits": edits})
    };
    let fixes: Vec<_> = finding.fixes.iter().map(fix).collect();
    let mut data = about(&finding.profiles);
    if !fixes.is_empty() {
        data.insert("fixes".to_owned(), fixes.into());
    }
    (!data.is_empty()).then(|| data.into())
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Information => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}

/// Returns entries as symbols, with the entries of nested mappings as children.
pub(crate) fn nested_symbols(
    document: &Document,
    entries: &[Entry],
    encoding: Encoding,
) -> Vec<DocumentSymbol> {
    entries.iter().map(|entry| nested_symbol(document, entry, encoding)).collect()
}

#[expect(deprecated, reason = "the type requires the deprecated field; it stays empty")]
fn nested_symbol(document: &Document, entry: &Entry, encoding: Encoding) -> DocumentSymbol {
    let children = entry.value.entries().map(|entries| nested_symbols(document, entries, encoding));
    DocumentSymbol {
        name: symbol_name(entry),
        detail: detail(entry),
        kind: symbol_kind(entry),
        tags: None,
        deprecated: None,
        range: range(document, entry.span, encoding),
        // Clients reject all symbols if one `range` does not contain its `selectionRange`.
        selection_range: range(document, entry.key.span.within(entry.span), encoding),
        children,
    }
}

/// Returns the headings as symbols, each in the section around it.
pub(crate) fn nested_headings(
    document: &Document,
    mut sections: &[Section],
    encoding: Encoding,
) -> Vec<DocumentSymbol> {
    let mut symbols = Vec::new();
    while let [first, rest @ ..] = sections {
        let inner = rest.iter().take_while(|it| first.span.covers(it.span)).count();
        let (inner, after) = rest.split_at(inner);
        let children = nested_headings(document, inner, encoding);
        symbols.push(heading_symbol(document, first, children, encoding));
        sections = after;
    }
    symbols
}

#[expect(deprecated, reason = "the type requires the deprecated field; it stays empty")]
fn heading_symbol(
    document: &Document,
    section: &Section,
    children: Vec<DocumentSymbol>,
    encoding: Encoding,
) -> DocumentSymbol {
    DocumentSymbol {
        name: section.title.slice(document.text()).trim().to_owned(),
        detail: None,
        kind: SymbolKind::STRING,
        tags: None,
        deprecated: None,
        range: range(document, trim_end(document, section.span), encoding),
        selection_range: range(document, section.title, encoding),
        children: Some(children).filter(|it| !it.is_empty()),
    }
}

/// Returns a span without the blank lines at its end.
pub(crate) fn trim_end(document: &Document, span: Span) -> Span {
    Span::new(span.start, span.start + span.slice(document.text()).trim_end().len())
}

/// Returns the headings as symbols without nesting.
#[expect(deprecated, reason = "the type requires the deprecated field; it stays empty")]
pub(crate) fn flat_headings(
    document: &Document,
    sections: &[Section],
    encoding: Encoding,
) -> Vec<SymbolInformation> {
    let symbol = |it: &Section| SymbolInformation {
        name: it.title.slice(document.text()).trim().to_owned(),
        kind: SymbolKind::STRING,
        tags: None,
        deprecated: None,
        location: Location::new(
            document.uri().clone(),
            range(document, trim_end(document, it.span), encoding),
        ),
        container_name: None,
    };
    sections.iter().map(symbol).collect()
}

/// Returns the top-level entries as symbols.
pub(crate) fn flat_symbols(
    document: &Document,
    entries: &[Entry],
    encoding: Encoding,
) -> Vec<SymbolInformation> {
    entries.iter().map(|entry| flat_symbol(document, entry, encoding)).collect()
}

#[expect(deprecated, reason = "the type requires the deprecated field; it stays empty")]
fn flat_symbol(document: &Document, entry: &Entry, encoding: Encoding) -> SymbolInformation {
    SymbolInformation {
        name: symbol_name(entry),
        kind: symbol_kind(entry),
        tags: None,
        deprecated: None,
        location: Location::new(document.uri().clone(), range(document, entry.span, encoding)),
        container_name: None,
    }
}

/// Returns a name that is never empty, because clients reject all symbols if one is.
fn symbol_name(entry: &Entry) -> String {
    let name = entry.key.text.trim();
    if name.is_empty() { "\"\"".to_owned() } else { name.to_owned() }
}

fn symbol_kind(entry: &Entry) -> SymbolKind {
    match entry.value.kind {
        ValueKind::Mapping { .. } => SymbolKind::OBJECT,
        ValueKind::Sequence { .. } => SymbolKind::ARRAY,
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {
            SymbolKind::PROPERTY
        }
    }
}

/// Returns the first line of a text value, shortened.
fn detail(entry: &Entry) -> Option<String> {
    let line = entry.value.as_str()?.trim().lines().next()?;
    Some(match line.char_indices().nth(MAX_DETAIL) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    })
}

/// Returns the folding range of a span; `None` if it is on one line.
pub(crate) fn fold(document: &Document, span: Span) -> Option<FoldingRange> {
    let line = |offset| document.lines().position(offset).line;
    // Uses the last byte, because the end may be on the next line.
    let (start_line, end_line) = (line(span.start), line(span.end.saturating_sub(1)));
    (start_line < end_line).then_some(FoldingRange {
        start_line,
        end_line,
        kind: Some(FoldingRangeKind::Region),
        ..FoldingRange::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Revision;

    #[track_caller]
    fn document(text: &str) -> Document {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        Document::new(uri, 1, Revision::default(), text.to_owned())
    }

    /// Checks the position of `needle` in each encoding: line, start column and end column.
    #[track_caller]
    fn check(text: &str, needle: &str, line: u32, columns: [(u32, u32); 3]) {
        let document = document(text);
        let start = text.find(needle).unwrap();
        let span = Span::new(start, start + needle.len());
        let encodings = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];
        for (encoding, (from, to)) in encodings.into_iter().zip(columns) {
            let expected = Range::new(Position::new(line, from), Position::new(line, to));
            assert_eq!(range(&document, span, encoding), expected, "{encoding:?}");
            assert_eq!(crate::from_proto::span(&document, expected, encoding), span);
        }
    }

    #[test]
    fn ranges_are_exact_in_every_encoding() {
        check("a: b", "b", 0, [(3, 4); 3]);
        check("\u{FEFF}a: b", "b", 0, [(6, 7), (4, 5), (4, 5)]);
        check("x\r\ny\r\na: b\r\n", "b", 2, [(3, 4); 3]);
        check("x\ry\na: b", "b", 2, [(3, 4); 3]);
        check("a: 🦀 b", "b", 0, [(8, 9), (6, 7), (5, 6)]);
        check("名: 漢字 b漢", "b漢", 0, [(12, 16), (6, 8), (6, 8)]);
        check("é🦀\na: 🦀🦀", "🦀🦀", 1, [(3, 11), (3, 7), (3, 5)]);
    }

    #[test]
    fn offset_inside_a_line_break_is_the_end_of_the_line() {
        let document = document("é\r\nb");
        for (encoding, column) in [(Encoding::Utf8, 2), (Encoding::Utf16, 1), (Encoding::Utf32, 1)]
        {
            for offset in [2, 3] {
                assert_eq!(position(&document, offset, encoding), Position::new(0, column));
            }
            assert_eq!(position(&document, 4, encoding), Position::new(1, 0));
            assert_eq!(position(&document, 99, encoding), Position::new(1, 1));
        }
    }
}
