//! Renders parsed documents for expect tests.

use std::fmt::Write;

use crate::parse::tree::{Entry, ScalarStyle, Value, ValueKind};
use crate::parse::{Closing, Document, OpeningKind, parse};
use crate::text::{LineIndex, Span};

/// Parses `text` and compares the rendered document, including diagnostics.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "so that calls read `check(text, expect![…])`")]
pub(crate) fn check(text: &str, expected: expect_test::Expect) {
    expected.assert_eq(&document(text, &parse(text)));
}

/// Checks the content between the `---` lines.
#[track_caller]
pub(crate) fn check_yaml(content: &str, expected: expect_test::Expect) {
    check(&format!("---\n{content}---\nbody\n"), expected);
}

pub(crate) fn document(text: &str, document: &Document) -> String {
    let mut out = String::new();
    let index = LineIndex::new(text);
    let place = |span: Span| {
        let (line, column) = index.display(text, span.start);
        format!("{line}:{column} {:?}", span.slice(text))
    };
    if let Some(it) = &document.frontmatter {
        if it.opening != OpeningKind::FirstLine {
            writeln!(out, "opening {:?} {}", it.opening, place(it.open)).unwrap();
        }
        entries(text, &it.entries, 0, &mut out);
        for comment in &it.comments {
            writeln!(out, "comment {}", place(*comment)).unwrap();
        }
        for anchor in &it.anchors {
            writeln!(out, "anchor {} = {}", anchor.name, place(anchor.value)).unwrap();
        }
        if it.closing != Closing::Dashes {
            writeln!(out, "closing {:?} {:?}", it.closing, it.close.map(place)).unwrap();
        }
        if let Err(error) = &it.strict {
            writeln!(out, "not YAML {}: {error}", place(error.span)).unwrap();
        }
    }
    if document.body.slice(text) != "body\n" {
        writeln!(out, "body {:?}", document.body.slice(text)).unwrap();
    }
    for it in &document.diagnostics {
        writeln!(out, "{:?} {} {}: {}", it.severity, it.code, place(it.span), it.message).unwrap();
    }
    out
}

fn entries(text: &str, list: &[Entry], depth: usize, out: &mut String) {
    for entry in list {
        let key = &entry.key;
        write!(out, "{:1$}{2}", "", depth * 2, key.text).unwrap();
        if key.span.slice(text) != key.text {
            write!(out, " from {:?}", key.span.slice(text)).unwrap();
        }
        if let Some(of) = entry.duplicate_of {
            write!(out, " (again, after {of})").unwrap();
        }
        out.push_str(if entry.recovered { " ~ " } else { " = " });
        value(text, &entry.value, depth, out);
    }
}

fn value(text: &str, it: &Value, depth: usize, out: &mut String) {
    let written = it.span.slice(text);
    match &it.kind {
        ValueKind::Null => writeln!(out, "null {written:?}").unwrap(),
        ValueKind::Alias { target } => {
            writeln!(out, "{written} -> {:?}", target.map(|it| it.slice(text))).unwrap();
        }
        ValueKind::Scalar { style, text: read } => {
            let style = match style {
                ScalarStyle::Plain => "",
                ScalarStyle::SingleQuoted => "single ",
                ScalarStyle::DoubleQuoted => "double ",
                ScalarStyle::Literal => "literal ",
                ScalarStyle::Folded => "folded ",
            };
            write!(out, "{style}{read:?}").unwrap();
            let bare = written.get(1..written.len().saturating_sub(1));
            if written != read && bare != Some(read) {
                write!(out, " from {written:?}").unwrap();
            }
            out.push('\n');
        }
        ValueKind::Sequence { flow, items } => {
            writeln!(out, "{}", if *flow { written } else { "list" }).unwrap();
            for item in items {
                write!(out, "{:1$}- ", "", depth * 2 + 2).unwrap();
                value(text, item, depth + 1, out);
            }
        }
        ValueKind::Mapping { flow, entries: list } => {
            writeln!(out, "{}", if *flow { written } else { "mapping" }).unwrap();
            entries(text, list, depth + 1, out);
        }
    }
}
