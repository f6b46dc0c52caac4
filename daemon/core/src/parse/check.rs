//! Findings about a tree that YAML accepts: what is legal and still not what was meant.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::parse::line::is_blank;
use crate::parse::problem;
use crate::parse::tree::{Entry, ScalarStyle, Value, ValueKind};
use crate::text::Span;

/// Keys whose value is a sentence: a comment behind it is never meant.
const PROSE: &[&str] = &["description", "when_to_use"];

/// Marks the duplicates of all mappings in `entries` and reports them.
pub(super) fn duplicates(entries: &mut [Entry], diagnostics: &mut Vec<Diagnostic>) {
    mark(entries, diagnostics);
    for entry in entries {
        nested_duplicates(&mut entry.value, diagnostics);
    }
}

// The tree is at most `MAX_DEPTH` deep.
fn nested_duplicates(value: &mut Value, diagnostics: &mut Vec<Diagnostic>) {
    match &mut value.kind {
        ValueKind::Mapping { entries, .. } => duplicates(entries, diagnostics),
        ValueKind::Sequence { items, .. } => {
            items.iter_mut().for_each(|item| nested_duplicates(item, diagnostics));
        }
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {}
    }
}

fn mark(entries: &mut [Entry], diagnostics: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        if let Some(&of) = first.get(entry.key.text.as_str()) {
            found.push((index, of));
        } else {
            first.insert(&entry.key.text, index);
        }
    }
    for (index, of) in found {
        let entry = &mut entries[index];
        entry.duplicate_of = Some(of);
        diagnostics.push(problem::duplicate_key(entry.key.span, &entry.key.text));
    }
}

/// Reports what the plain values of the top level lose or gain against what is written.
pub(super) fn plain_values(text: &str, entries: &[Entry], diagnostics: &mut Vec<Diagnostic>) {
    for entry in entries.iter().filter(|entry| !entry.recovered) {
        let value = &entry.value;
        let ValueKind::Scalar { style: ScalarStyle::Plain, text: read } = &value.kind else {
            continue;
        };
        if value.span.slice(text).starts_with('!') {
            let span = Span::new(value.span.start, value.span.start + 1);
            diagnostics.push(problem::surprising_start(span, "!"));
        }
        if let Some(comment) = comment_behind(text, value.span.end) {
            let prose = PROSE.contains(&entry.key.text.as_str());
            // `# a remark` is one; `#1234` or `#tag` was meant as part of the sentence.
            let glued = !comment.slice(text)[1..].starts_with([' ', '#']) && comment.len() > 1;
            if prose || (glued && read.contains(' ')) {
                diagnostics.push(problem::comment_cuts_value(comment));
            }
        }
    }
}

fn comment_behind(text: &str, end: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let blanks = bytes[end..].iter().take_while(|byte| is_blank(**byte)).count();
    let start = end + blanks;
    if blanks == 0 || bytes.get(start) != Some(&b'#') {
        return None;
    }
    let line = &text[start..];
    let stop = line.find(['\n', '\r']).unwrap_or(line.len());
    Some(Span::new(start, start + line[..stop].trim_end().len()))
}
