//! Selection ranges: expands a selection from the word under the cursor to the whole text.

use skills_syntax::markdown::Body;
use skills_syntax::parse::{Document, Entry, Value, ValueKind};
use skills_syntax::text::Span;

use super::sections::sections;
use crate::cursor_context::{CursorContext, context_at};

/// Returns the ranges around `offset`, smallest first; each contains the previous one and is
/// larger. Takes the parsed body.
pub fn selection_ranges(text: &str, document: &Document, body: &Body, offset: usize) -> Vec<Span> {
    let offset = text.floor_char_boundary(offset);
    let mut around = vec![word(text, offset), line(text, offset), Span::new(0, text.len())];
    match &document.frontmatter {
        Some(frontmatter) if !document.body.contains(offset) && offset < document.body.end => {
            let end = frontmatter.close.map_or(frontmatter.content.end, |it| it.end);
            around.push(Span::new(frontmatter.open.start, end));
            around.push(frontmatter.content);
            in_entries(&frontmatter.entries, &mut around);
            if let CursorContext::Value { word, .. } = context_at(text, document, offset) {
                around.push(word);
            }
            for entry in &frontmatter.entries {
                around.extend(inside_brackets(text, entry, offset));
            }
        }
        Some(_) | None => in_body(text, document, body, offset, &mut around),
    }
    nested_spans(around, offset)
}

/// Returns the spans that contain `offset` and each other, smallest first.
fn nested_spans(mut spans: Vec<Span>, offset: usize) -> Vec<Span> {
    spans.retain(|it| it.start <= offset && offset <= it.end && !it.is_empty());
    spans.sort_by_key(|it| it.len());
    let mut steps: Vec<Span> = Vec::new();
    for span in spans {
        match steps.last() {
            Some(last) if *last == span || !span.covers(*last) => {}
            Some(_) | None => steps.push(span),
        }
    }
    steps
}

fn in_entries(entries: &[Entry], around: &mut Vec<Span>) {
    for entry in entries {
        around.extend([entry.span, entry.key.span]);
        in_value(&entry.value, around);
    }
}

fn in_value(value: &Value, around: &mut Vec<Span>) {
    around.push(value.span);
    match &value.kind {
        ValueKind::Mapping { entries, .. } => in_entries(entries, around),
        ValueKind::Sequence { items, .. } => {
            for item in items {
                in_value(item, around);
            }
        }
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {}
    }
}

/// Returns the text inside the quotes or brackets of a single-line value.
fn inside_brackets(text: &str, entry: &Entry, offset: usize) -> Option<Span> {
    const PAIRS: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('[', ']'), ('{', '}')];
    let value = entry.value.span;
    let written = value.slice(text);
    let is_pair = |(open, close): &(char, char)| {
        written.len() > 1 && written.starts_with(*open) && written.ends_with(*close)
    };
    let is_here = value.start <= offset && offset <= value.end;
    (is_here && !written.contains('\n') && PAIRS.iter().any(is_pair))
        .then(|| Span::new(value.start + 1, value.end - 1))
}

fn in_body(text: &str, document: &Document, body: &Body, offset: usize, around: &mut Vec<Span>) {
    around.push(document.body);
    around.extend(&body.links);
    for code in &body.codes {
        around.push(*code);
        let ticks = text[..code.start].bytes().rev().take_while(|it| *it == b'`').count();
        around.push(Span::new(code.start - ticks, (code.end + ticks).min(text.len())));
    }
    for fence in &body.fences {
        let end = line(text, fence.content.end).end;
        around.push(Span::new(fence.content.start, fence.content.end));
        around
            .push(Span::new(fence.open.start, if fence.closed { end } else { fence.content.end }));
    }
    around.extend(sections(document, body).into_iter().map(|it| it.span));
    around.extend(paragraph(text, document.body, offset));
}

/// Returns the paragraph around `offset`: the lines up to the nearest blank lines.
fn paragraph(text: &str, body: Span, offset: usize) -> Option<Span> {
    let here = line(text, offset);
    if here.slice(text).trim().is_empty() {
        return None;
    }
    let (mut first, mut last) = (here, here);
    while first.start > body.start {
        let before = line(text, first.start - 1);
        if before.slice(text).trim().is_empty() {
            break;
        }
        first = before;
    }
    while last.end < body.end {
        let next = line(text, skills_syntax::text::after_line_end(text, last.end));
        if next.slice(text).trim().is_empty() || next.start <= last.start {
            break;
        }
        last = next;
    }
    Some(Span::new(first.start.max(body.start), last.end))
}

fn line(text: &str, offset: usize) -> Span {
    let start = text[..offset].rfind(['\n', '\r']).map_or(0, |it| it + 1);
    let end = text[offset..].find(['\n', '\r']).map_or(text.len(), |it| offset + it);
    Span::new(start, end)
}

fn word(text: &str, offset: usize) -> Span {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    let before = text[..offset].trim_end_matches(is_part).len();
    let behind = &text[offset..];
    Span::new(before, offset + behind.len() - behind.trim_start_matches(is_part).len())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_agents::skill::parse;

    use super::*;

    #[track_caller]
    fn check(marked: &str, expected: &Expect) {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let document = parse(&text);
        let body = Body::new(&text, document.body);
        let steps = selection_ranges(&text, &document, &body, at);
        assert!(steps.windows(2).all(|it| it[1].covers(it[0]) && it[0] != it[1]), "{steps:?}");
        let shown = steps.iter().map(|it| format!("{:?}\n", it.slice(&text)));
        expected.assert_eq(&shown.collect::<Vec<_>>().concat());
    }

    #[test]
    fn selection_expands_from_key_and_value_to_the_entry() {
        check(
            "---\nname: pdf\nmetadata:\n  te|am: docs\n---\nBody.\n",
            &expect![[r#"
                "team"
                "team: docs"
                "  team: docs"
                "metadata:\n  team: docs"
                "name: pdf\nmetadata:\n  team: docs\n"
                "---\nname: pdf\nmetadata:\n  team: docs\n---"
                "---\nname: pdf\nmetadata:\n  team: docs\n---\nBody.\n"
            "#]],
        );
        check(
            "---\nallowed-tools: Read Bash(g|it *) Grep\n---\n",
            &expect![[r#"
                "git"
                "Bash(git *)"
                "Read Bash(git *) Grep"
                "allowed-tools: Read Bash(git *) Grep"
                "allowed-tools: Read Bash(git *) Grep\n"
                "---\nallowed-tools: Read Bash(git *) Grep\n---"
                "---\nallowed-tools: Read Bash(git *) Grep\n---\n"
            "#]],
        );
    }

    #[test]
    fn selection_expands_from_an_item_of_a_multiline_value() {
        check(
            "---\nallowed-tools: >\n  Read,\n  Bash(git a|dd)\n---\n",
            &expect![[r#"
            "add"
            "Bash(git add)"
            "  Bash(git add)"
            ">\n  Read,\n  Bash(git add)"
            "allowed-tools: >\n  Read,\n  Bash(git add)"
            "allowed-tools: >\n  Read,\n  Bash(git add)\n"
            "---\nallowed-tools: >\n  Read,\n  Bash(git add)\n---"
            "---\nallowed-tools: >\n  Read,\n  Bash(git add)\n---\n"
        "#]],
        );
        check(
            "---\npaths: [src/**,\n  \"do|cs/**\"]\n---\n",
            &expect![[r#"
            "docs"
            "docs/**"
            "\"docs/**\""
            "  \"docs/**\"]"
            "[src/**,\n  \"docs/**\"]"
            "paths: [src/**,\n  \"docs/**\"]"
            "paths: [src/**,\n  \"docs/**\"]\n"
            "---\npaths: [src/**,\n  \"docs/**\"]\n---"
            "---\npaths: [src/**,\n  \"docs/**\"]\n---\n"
        "#]],
        );
    }

    #[test]
    fn selection_expands_from_a_body_word_to_its_section() {
        check(
            "---\nname: a\n---\n# One\n\nSee `scripts/r|ead.py` now.\nMore.\n\n## Two\nx\n",
            &expect![[r##"
                "read"
                "scripts/read.py"
                "`scripts/read.py`"
                "See `scripts/read.py` now."
                "See `scripts/read.py` now.\nMore."
                "# One\n\nSee `scripts/read.py` now.\nMore.\n\n## Two\nx\n"
                "---\nname: a\n---\n# One\n\nSee `scripts/read.py` now.\nMore.\n\n## Two\nx\n"
            "##]],
        );
    }

    #[test]
    fn selection_works_in_broken_and_empty_texts() {
        check("|", &expect![[""]]);
        check(
            "---\ndescription: \"op|en\n",
            &expect![[r#"
                "open"
                "\"open"
                "description: \"open"
                "description: \"open\n"
                "---\ndescription: \"open\n"
            "#]],
        );
    }
}
