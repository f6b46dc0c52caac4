//! Assertions about parsed documents.
//!
//! Compiled only for tests and with the feature `invariants`.

use super::{Document, Entry, Key, MAX_DIAGNOSTICS, ScalarStyle, Value, ValueKind};
use crate::text::Span;

/// Asserts that every span of a document slices to its item and lies inside its parent.
///
/// # Panics
///
/// Panics if an invariant does not hold.
#[track_caller]
pub fn document(text: &str, document: &Document) {
    located(text, document.body);
    assert_eq!(document.body.end, text.len(), "the body of {text:?}");
    let diagnostics = &document.diagnostics;
    for diagnostic in diagnostics {
        located(text, diagnostic.span);
    }
    assert!(diagnostics.len() <= MAX_DIAGNOSTICS, "{text:?}");
    assert!(diagnostics.is_sorted_by_key(|it| it.span.start), "{diagnostics:#?} of {text:?}");
    let Some(it) = &document.frontmatter else {
        assert!(!diagnostics.is_empty(), "no diagnostic explains why {text:?} has no frontmatter");
        return;
    };
    let parts = [Some(it.open), Some(it.content), it.close, Some(document.body)];
    let mut before = 0;
    for part in parts.into_iter().flatten() {
        located(text, part);
        assert!(before <= part.start, "{part:?} in {text:?}");
        before = part.end;
    }
    for comment in &it.comments {
        assert!(comment.slice(text).starts_with('#'), "{comment:?} in {text:?}");
        assert!(it.content.covers(*comment), "{comment:?} in {text:?}");
    }
    for anchor in &it.anchors {
        assert_eq!(anchor.span.slice(text), format!("&{}", anchor.name));
        located(text, anchor.value);
        assert!(it.content.covers(anchor.span) && it.content.covers(anchor.value), "{text:?}");
    }
    for alias in &it.aliases {
        assert!(alias.slice(text).starts_with('*'), "{alias:?} in {text:?}");
    }
    if let Err(error) = &it.strict {
        located(text, error.span);
        assert!(it.content.covers(error.span), "{error:?} in {text:?}");
        assert!(!diagnostics.is_empty(), "no diagnostic reports the YAML error in {text:?}");
    }
    mapping(text, &it.entries, it.content);
}

/// Asserts that a span lies in the text, on character boundaries.
///
/// # Panics
///
/// Panics if it does not.
#[track_caller]
pub fn located(text: &str, span: Span) {
    assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
}

fn mapping(text: &str, list: &[Entry], parent: Span) {
    let mut at = parent.start;
    for (index, entry) in list.iter().enumerate() {
        let key = &entry.key;
        assert!(parent.covers(entry.span), "{entry:#?} in {text:?}");
        assert!(at <= entry.span.start && entry.span.covers(key.span), "{entry:#?} in {text:?}");
        assert!(key.span.end <= entry.value.span.start, "{entry:#?} in {text:?}");
        assert!(entry.value.span.end <= entry.span.end || entry.value.span.is_empty());
        let first = list.iter().position(|it| it.key.text == key.text);
        assert_eq!(entry.duplicate_of, first.filter(|it| *it < index), "{entry:#?} in {text:?}");
        name(text, key);
        value(text, &entry.value);
        at = entry.span.end;
    }
}

fn name(text: &str, key: &Key) {
    located(text, key.span);
    let written = key.span.slice(text);
    assert_eq!(written.trim_matches([' ', '\t', '\n', '\r']), written, "{key:?} in {text:?}");
    scalar(written, key.style, &key.text, text);
}

fn value(text: &str, it: &Value) {
    located(text, it.span);
    let written = it.span.slice(text);
    assert_eq!(written.trim_matches([' ', '\t', '\n', '\r']), written, "{it:?} in {text:?}");
    match &it.kind {
        ValueKind::Null => {
            assert!(matches!(written, "" | "~" | "null" | "Null" | "NULL"), "{it:?} in {text:?}");
        }
        ValueKind::Alias { .. } => assert!(written.starts_with('*'), "{it:?} in {text:?}"),
        ValueKind::Scalar { style, text: read } => scalar(written, *style, read, text),
        ValueKind::Sequence { flow, items } => {
            assert!(written.starts_with(if *flow { '[' } else { '-' }), "{it:?} in {text:?}");
            assert!(!flow || written.ends_with(']'), "{it:?} in {text:?}");
            let mut at = it.span.start;
            for item in items {
                assert!(at <= item.span.start, "{it:#?} in {text:?}");
                assert!(it.span.covers(item.span), "{it:#?} in {text:?}");
                value(text, item);
                at = item.span.end;
            }
        }
        ValueKind::Mapping { entries, .. } => mapping(text, entries, it.span),
    }
}

/// Asserts that the source and the value of a scalar match.
#[track_caller]
fn scalar(written: &str, style: ScalarStyle, read: &str, text: &str) {
    let is_one_line = !written.contains(['\n', '\r', '\0']);
    let cut = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
    let quoted = |by| written.len() >= 2 && written.starts_with(by) && written.ends_with(by);
    match style {
        // The span includes an unclosed quote or a block header followed by text, and the value
        // does not. A tag read as text is separated from its text by one space in the value.
        ScalarStyle::Plain if is_one_line && !written.starts_with(['"', '\'', '|', '>', '!']) => {
            assert_eq!(written, read, "in {text:?}");
        }
        ScalarStyle::Plain if !written.contains('\\') => {
            let said = read.split_whitespace().collect::<String>().replace('\0', "");
            assert!(said.chars().all(|it| written.contains(it)), "{read:?} in {text:?}");
        }
        ScalarStyle::Plain => {}
        ScalarStyle::SingleQuoted => {
            assert!(quoted('\''), "{written:?} in {text:?}");
            let same = !is_one_line || cut.replace("''", "'") == read;
            assert!(same, "{written:?} is read as {read:?} in {text:?}");
        }
        ScalarStyle::DoubleQuoted => {
            assert!(quoted('"'), "{written:?} in {text:?}");
            let same = !is_one_line || cut.contains('\\') || cut == read;
            assert!(same, "{written:?} is read as {read:?} in {text:?}");
        }
        ScalarStyle::Literal => assert!(written.starts_with('|'), "{written:?} in {text:?}"),
        ScalarStyle::Folded => assert!(written.starts_with('>'), "{written:?} in {text:?}"),
    }
}
