//! Formats the frontmatter: two spaces per level, one space after a colon, no trailing white space.
//!
//! Comments, the order of keys, the quoting of values and the body are kept. Lines are only
//! re-indented, and the result is discarded if any agent's loader would read it differently. A
//! frontmatter that is not valid YAML is not formatted.

use std::collections::HashMap;

use skills_agents::loaders::load_as;
use skills_agents::profile;
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_syntax::edit::Edit;
use skills_syntax::parse::{
    Closing, Document, Entry, Frontmatter, Key, OpeningKind, Value, ValueKind,
};
use skills_syntax::text::{Span, after_line_end, line_end};

/// Spaces per indentation level.
const INDENT: usize = 2;

/// Returns the edits that format the frontmatter; empty if it is formatted already or cannot be
/// formatted safely.
pub fn format(text: &str, document: &Document) -> Vec<Edit> {
    let Some(frontmatter) = document.frontmatter.as_ref().filter(|it| {
        it.opening == OpeningKind::FirstLine && it.closing == Closing::Dashes && it.strict.is_ok()
    }) else {
        return Vec::new();
    };
    let content = frontmatter.content.slice(text);
    let formatted = formatted(text, frontmatter);
    if formatted == content {
        return Vec::new();
    }
    let mut whole = text.to_owned();
    whole.replace_range(frontmatter.content.range(), &formatted);
    if !is_equivalent(text, document, &whole) {
        return Vec::new();
    }
    edits(text, frontmatter.content, &formatted)
}

/// The planned indentation of a line.
#[derive(Clone, Copy, Debug, Default)]
struct LinePlan {
    /// The new indentation; `None` keeps the current one.
    indent: Option<usize>,
    /// The first line of the multi-line value that this line continues; both are shifted alike.
    within: Option<usize>,
}

/// The lines of a frontmatter and the plan for each.
struct Lines<'a> {
    text: &'a str,
    spans: Vec<Span>,
    plans: Vec<LinePlan>,
    /// Edits that normalize white space within a line.
    gaps: Vec<Edit>,
    line_break: &'static str,
}

fn formatted(text: &str, frontmatter: &Frontmatter) -> String {
    let mut lines = Lines::new(text, frontmatter.content);
    lines.entries(&frontmatter.entries, 0);
    lines.gaps.sort_by_key(|it| it.span);
    lines.render()
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, content: Span) -> Self {
        let mut spans = Vec::new();
        let mut at = content.start;
        while at < content.end {
            let end = line_end(text, at).unwrap_or(content.end).min(content.end);
            spans.push(Span::new(at, end));
            at = after_line_end(text, end).min(content.end).max(end);
            if at == end {
                break;
            }
        }
        let plans = vec![LinePlan::default(); spans.len()];
        let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { text, spans, plans, gaps: Vec::new(), line_break }
    }

    fn line_of(&self, offset: usize) -> Option<usize> {
        self.spans.partition_point(|it| it.start <= offset).checked_sub(1)
    }

    /// Returns whether only white space precedes `offset` on its line.
    fn is_first(&self, line: usize, offset: usize) -> bool {
        Span::new(self.spans[line].start, offset).slice(self.text).trim().is_empty()
    }

    fn entries(&mut self, entries: &[Entry], indent: usize) {
        for entry in entries {
            let Some(line) = self.line_of(entry.key.span.start) else { continue };
            if self.is_first(line, entry.key.span.start) {
                self.plans[line].indent = Some(indent);
            }
            self.colon(&entry.key, &entry.value);
            self.value(&entry.value, line, indent);
        }
    }

    /// Replaces the white space after a colon by one space.
    fn colon(&mut self, key: &Key, value: &Value) {
        let between = Span::new(key.span.end, value.span.start);
        let written = between.slice(self.text);
        if value.span.is_empty() || written.contains('\n') {
            return;
        }
        if let Some(blanks) = written.strip_prefix(':')
            && blanks != " "
            && !blanks.is_empty()
            && blanks.trim().is_empty()
        {
            let span = Span::new(between.start + 1, between.end);
            self.gaps.push(Edit { span, text: " ".to_owned() });
        }
    }

    fn value(&mut self, value: &Value, line: usize, indent: usize) {
        match &value.kind {
            ValueKind::Mapping { flow: false, entries } => self.entries(entries, indent + INDENT),
            ValueKind::Sequence { flow: false, items } => {
                for item in items {
                    self.item(item, indent + INDENT);
                }
            }
            ValueKind::Mapping { flow: true, .. }
            | ValueKind::Sequence { flow: true, .. }
            | ValueKind::Scalar { .. }
            | ValueKind::Null
            | ValueKind::Alias { .. } => self.shift_with(value.span, line),
        }
    }

    /// Plans the line of a list item whose dash starts the line.
    fn item(&mut self, item: &Value, indent: usize) {
        let Some(line) = self.line_of(item.span.start) else { return };
        let before = Span::new(self.spans[line].start, item.span.start);
        let written = before.slice(self.text);
        let Some(dash) = written.find('-').filter(|at| written[..*at].trim().is_empty()) else {
            return self.shift_with(item.span, line);
        };
        // Nested dashes and anchors are left as they are.
        if !written[dash + 1..].trim().is_empty() || item.span.is_empty() {
            return self.shift_with(item.span, line);
        }
        self.plans[line].indent = Some(indent);
        let blanks = Span::new(before.start + dash + 1, before.end);
        if blanks.len() != 1 {
            self.gaps.push(Edit { span: blanks, text: " ".to_owned() });
        }
        match &item.kind {
            ValueKind::Mapping { flow: false, entries } => self.entries(entries, indent + INDENT),
            _ => self.value(item, line, indent),
        }
    }

    /// Marks the continuation lines of a value to be shifted with its first line.
    fn shift_with(&mut self, span: Span, first: usize) {
        for line in first + 1..self.spans.len() {
            if self.spans[line].start >= span.end {
                break;
            }
            self.plans[line].within = Some(first);
        }
    }

    fn render(&self) -> String {
        let mut written = String::with_capacity(self.text.len().min(4096));
        let mut shifts = vec![0_isize; self.spans.len()];
        let targets = self.new_indents();
        for line in 0..self.spans.len() {
            let indent = self.indent(line);
            shifts[line] = match self.plans[line].within {
                Some(first) => shifts[first],
                None => targets[line].cast_signed() - indent.cast_signed(),
            };
        }
        let mut blank = true;
        for (line, span) in self.spans.iter().enumerate() {
            let source = span.slice(self.text);
            let end = Span::new(span.end, self.spans.get(line + 1).map_or(span.end, |it| it.start));
            let end = if end.is_empty() { "" } else { end.slice(self.text) };
            let carried = self.plans[line].within.is_some();
            if source.trim().is_empty() && !carried {
                // One blank line between keys is intentional, more are not.
                if !blank && !self.rest_is_blank(line) {
                    written.push_str(self.line_break);
                }
                blank = true;
                continue;
            }
            blank = false;
            let line_text = self.with_gaps(*span);
            let moved =
                if source.trim().is_empty() { line_text } else { shift(&line_text, shifts[line]) };
            // Trailing white space may be part of a multi-line value.
            let last = self.plans.get(line + 1).is_none_or(|it| it.within.is_none());
            let kept =
                if carried || !last { moved.as_str() } else { moved.trim_end_matches([' ', '\t']) };
            written.push_str(kept);
            written.push_str(if end.is_empty() { self.line_break } else { end });
        }
        written
    }

    fn rest_is_blank(&self, line: usize) -> bool {
        (line..self.spans.len()).all(|it| self.spans[it].slice(self.text).trim().is_empty())
    }

    fn indent(&self, line: usize) -> usize {
        let source = self.spans[line].slice(self.text);
        source.len() - source.trim_start_matches(' ').len()
    }

    /// Returns the new indentation of each line. A comment takes that of the next key with the same
    /// current indentation.
    fn new_indents(&self) -> Vec<usize> {
        let mut targets = vec![0; self.spans.len()];
        // The new indentation of the next key, by its current indentation.
        let mut next: HashMap<usize, usize> = HashMap::new();
        for line in (0..self.spans.len()).rev() {
            let indent = self.indent(line);
            targets[line] = if let Some(planned) = self.plans[line].indent {
                next.insert(indent, planned);
                planned
            } else if self.spans[line].slice(self.text).trim_start().starts_with('#') {
                next.get(&indent).copied().unwrap_or(indent)
            } else {
                indent
            };
        }
        targets
    }

    fn with_gaps(&self, span: Span) -> String {
        let mut line = span.slice(self.text).to_owned();
        let first = self.gaps.partition_point(|it| it.span.start < span.start);
        let gaps = self.gaps[first..].iter().take_while(|it| it.span.start <= span.end);
        let gaps: Vec<&Edit> = gaps.filter(|it| span.covers(it.span)).collect();
        for gap in gaps.into_iter().rev() {
            let range = gap.span.start - span.start..gap.span.end - span.start;
            line.replace_range(range, &gap.text);
        }
        line
    }
}

fn shift(line: &str, by: isize) -> String {
    if by >= 0 {
        return " ".repeat(by.unsigned_abs()) + line;
    }
    let blanks = line.len() - line.trim_start_matches(' ').len();
    line[by.unsigned_abs().min(blanks)..].to_owned()
}

/// Returns whether two texts have equal parse trees and load identically in every profile.
fn is_equivalent(text: &str, document: &Document, other: &str) -> bool {
    let parsed = parse(other);
    let (Some(before), Some(after)) = (&document.frontmatter, &parsed.frontmatter) else {
        return false;
    };
    if after.strict.is_err()
        || !same_entries(&before.entries, &after.entries)
        || document.body.slice(text) != parsed.body.slice(other)
        || before.comments.len() != after.comments.len()
    {
        return false;
    }
    let facts = |text: &str| FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
    // The file facts differ, but no loader depends on them.
    let one = SkillRecord::from_document(text, document, facts(text), DecodeFacts::default());
    let two = SkillRecord::from_document(other, &parsed, facts(other), DecodeFacts::default());
    profile::builtin().iter().all(|it| {
        let (one, two) = (load_as(it, &one, "skill"), load_as(it, &two, "skill"));
        one.verdict == two.verdict && one.name == two.name && one.description == two.description
    })
}

fn same_entries(one: &[Entry], two: &[Entry]) -> bool {
    one.len() == two.len()
        && one
            .iter()
            .zip(two)
            .all(|(a, b)| a.key.text == b.key.text && same_value(&a.value, &b.value))
}

fn same_value(one: &Value, two: &Value) -> bool {
    match (&one.kind, &two.kind) {
        (ValueKind::Scalar { style: a, text: one }, ValueKind::Scalar { style: b, text: two }) => {
            a == b && one == two
        }
        (
            ValueKind::Sequence { flow: a, items: one },
            ValueKind::Sequence { flow: b, items: two },
        ) => a == b && one.len() == two.len() && one.iter().zip(two).all(|(a, b)| same_value(a, b)),
        (
            ValueKind::Mapping { flow: a, entries: one },
            ValueKind::Mapping { flow: b, entries: two },
        ) => a == b && same_entries(one, two),
        (ValueKind::Null, ValueKind::Null) | (ValueKind::Alias { .. }, ValueKind::Alias { .. }) => {
            true
        }
        _ => false,
    }
}

/// Returns one edit of the lines that differ, so that a cursor elsewhere keeps its position.
fn edits(text: &str, content: Span, formatted: &str) -> Vec<Edit> {
    let written = content.slice(text);
    let same = |(a, b): &(&str, &str)| a == b;
    let lines = |text| str::split_inclusive(text, '\n');
    let before: usize =
        lines(written).zip(lines(formatted)).take_while(same).map(|(line, _)| line.len()).sum();
    let (old, new) = (&written[before..], &formatted[before..]);
    let behind: usize =
        lines(old).rev().zip(lines(new).rev()).take_while(same).map(|(line, _)| line.len()).sum();
    let span = Span::new(content.start + before, content.end - behind);
    vec![Edit { span, text: new[..new.len() - behind].to_owned() }]
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_syntax::edit::apply;

    use super::*;

    fn format_text(text: &str) -> String {
        apply(text, &format(text, &parse(text)))
    }

    #[track_caller]
    fn check(content: &str, expected: &Expect) {
        let text = format!("---\n{content}---\n\n  body  \n");
        let formatted = format_text(&text);
        assert_eq!(format_text(&formatted), formatted, "formatting is idempotent");
        let formatted = formatted.strip_prefix("---\n").unwrap();
        let formatted = formatted.strip_suffix("---\n\n  body  \n").expect("an unchanged body");
        expected.assert_eq(formatted);
    }

    #[test]
    fn formatting_reindents_lines_and_keeps_comments() {
        check(
            "\nname:   pdf  \n\n\n# why\ndescription: a  # cut\nallowed-tools:\n- Read\n-   Grep\nmetadata:\n    # team\n    team:\tdocs\n    deep:\n     x: 1\nhooks:\n    Stop:\n    - matcher: \"*\"\n      hooks:\n      - type: command\n        command: >-\n          a\n            b\n\n",
            &expect![[r#"
                name: pdf

                # why
                description: a  # cut
                allowed-tools:
                  - Read
                  - Grep
                metadata:
                  # team
                  team: docs
                  deep:
                    x: 1
                hooks:
                  Stop:
                    - matcher: "*"
                      hooks:
                        - type: command
                          command: >-
                            a
                              b
            "#]],
        );
    }

    #[test]
    fn multiline_values_are_shifted_without_changes() {
        check(
            "description:   |+\n     one  \n\n       two\n\nwhen_to_use: one\n    two\n    three\npaths: [a,\n   b]\nmetadata:\n      x: \"a\n         b\"\n",
            &expect![[r#"
                description: |+
                     one  

                       two

                when_to_use: one
                    two
                    three
                paths: [a,
                   b]
                metadata:
                  x: "a
                     b"
            "#]],
        );
    }

    #[test]
    fn formatted_and_broken_texts_are_not_edited() {
        for text in [
            "---\nname: a\n---\n",
            "---\nname:  a: b\n---\n",
            "---\nname:  a\n",
            "# no\n",
            "",
            "\n---\nname:  a\n---\n",
        ] {
            assert_eq!(format(text, &parse(text)), [], "{text:?}");
        }
    }

    #[test]
    fn crlf_line_ends_are_kept() {
        assert_eq!(format_text("---\r\nname:  a\r\n---\r\n"), "---\r\nname: a\r\n---\r\n");
    }

    #[test]
    fn format_edit_covers_only_changed_lines() {
        let text = "---\nname: a\nlicense:  MIT\nmodel: opus\n---\n";
        let [edit] = &format(text, &parse(text))[..] else { panic!("one edit") };
        assert_eq!((edit.span.slice(text), &*edit.text), ("license:  MIT\n", "license: MIT\n"));
    }
}
