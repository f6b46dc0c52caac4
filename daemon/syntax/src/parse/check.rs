//! Diagnostics about valid YAML that probably does not have the intended meaning.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Diagnostic;
use crate::parse::keys::Keys;
use crate::parse::line::is_blank;
use crate::parse::tree::{Anchor, Entry, ScalarStyle, Value, ValueKind};
use crate::parse::yaml_diagnostics;
use crate::text::Span;

/// Maximum number of entries compared pairwise instead of sorted.
const MAX_COMPARED_PAIRWISE: usize = 16;

/// Marks and reports duplicate keys in all mappings.
pub(super) fn duplicates(entries: &mut [Entry], diagnostics: &mut Vec<Diagnostic>) {
    mark_duplicates(entries, diagnostics);
    for entry in entries {
        nested_duplicates(&mut entry.value, diagnostics);
    }
}

// The recursion depth is at most `MAX_DEPTH`.
fn nested_duplicates(value: &mut Value, diagnostics: &mut Vec<Diagnostic>) {
    match &mut value.kind {
        ValueKind::Mapping { entries, .. } => duplicates(entries, diagnostics),
        ValueKind::Sequence { items, .. } => {
            for item in items {
                nested_duplicates(item, diagnostics);
            }
        }
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {}
    }
}

fn mark_duplicates(entries: &mut [Entry], diagnostics: &mut Vec<Diagnostic>) {
    for (index, of) in repeated(entries) {
        let entry = &mut entries[index];
        entry.duplicate_of = Some(of);
        diagnostics.push(yaml_diagnostics::duplicate_key(entry.key.span, &entry.key.text));
    }
}

/// Returns the index of each duplicate entry with the index of the first entry of that key.
fn repeated(entries: &[Entry]) -> Vec<(usize, usize)> {
    let key = |index: usize| entries[index].key.text.as_str();
    if entries.len() <= MAX_COMPARED_PAIRWISE {
        let first = |index: usize| (0..index).find(|&before| key(before) == key(index));
        return (1..entries.len()).filter_map(|index| Some((index, first(index)?))).collect();
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let firsts = (0..entries.len()).map(|index| (index, *seen.entry(key(index)).or_insert(index)));
    firsts.filter(|(index, first)| index != first).collect()
}

/// Reports top-level plain values that lose text to a comment or that start with a tag.
pub(super) fn plain_values(
    text: &str,
    entries: &[Entry],
    keys: Keys,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for entry in entries.iter().filter(|entry| !entry.recovered) {
        let value = &entry.value;
        let is_prose = || (keys.is_prose)(&entry.key.text);
        if value.is_null() && value.span.is_empty() && is_prose() {
            let behind = &text[entry.key.span.end..];
            let colon = behind.len() - behind.trim_start_matches([' ', '\t', '"', '\'']).len();
            let cut = behind[colon..].starts_with(':').then_some(entry.key.span.end + colon + 1);
            let comment = cut.and_then(|it| comment_behind(text, it));
            diagnostics.extend(
                comment
                    .filter(|it| is_glued(it.slice(text)))
                    .map(yaml_diagnostics::comment_cuts_value),
            );
        }
        let ValueKind::Scalar { style: ScalarStyle::Plain, text: read } = &value.kind else {
            continue;
        };
        if value.span.slice(text).starts_with('!') {
            let span = Span::new(value.span.start, value.span.start + 1);
            diagnostics.push(yaml_diagnostics::surprising_start(span, "!"));
        }
        if let Some(comment) = comment_behind(text, value.span.end)
            && (is_prose() || (is_glued(comment.slice(text)) && read.contains(' ')))
        {
            diagnostics.push(yaml_diagnostics::comment_cuts_value(comment));
        }
    }
}

/// Reports unused anchors: an `&` at the start of intended text.
pub(super) fn unused_anchors(
    text: &str,
    anchors: &[Anchor],
    aliases: &[Span],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let used: BTreeSet<&str> = aliases.iter().map(|alias| &alias.slice(text)[1..]).collect();
    for anchor in anchors.iter().filter(|anchor| !used.contains(anchor.name.as_str())) {
        let between = Span::new(anchor.span.end, anchor.value.start).slice(text);
        if anchor.span.end < anchor.value.start && !between.contains(['\n', '\r']) {
            let span = Span::new(anchor.span.start, anchor.span.start + 1);
            diagnostics.push(yaml_diagnostics::surprising_start(span, "&"));
        }
    }
}

/// Returns whether a comment is probably part of a sentence: `#1234` or `#tag`, not `# remark`.
fn is_glued(comment: &str) -> bool {
    let remark = &comment[1..];
    !remark.is_empty() && !remark.starts_with([' ', '\t', '#'])
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::parse::tests::render::check_yaml as check;

    #[test]
    fn duplicate_keys_are_marked_at_every_level() {
        check(
            "name: a\nname: b\nname: c\nm:\n  os: x\n  os: y\nl:\n  - {k: 1, k: 2}\n",
            expect![[r#"
            name = "a"
            name (again, after 0) = "b"
            name (again, after 0) = "c"
            m = mapping
              os = "x"
              os (again, after 0) = "y"
            l = list
              - {k: 1, k: 2}
                k = "1"
                k (again, after 0) = "2"
            Error yaml/duplicate-key 3:1 "name": `name` is a duplicate key
            Error yaml/duplicate-key 4:1 "name": `name` is a duplicate key
            Error yaml/duplicate-key 7:3 "os": `os` is a duplicate key
            Error yaml/duplicate-key 9:12 "k": `k` is a duplicate key
        "#]],
        );
    }

    #[test]
    fn keys_differ_by_case() {
        check(
            "Name: a\nname: b\n",
            expect![[r#"
            Name = "a"
            name = "b"
        "#]],
        );
    }

    #[test]
    fn comment_inside_a_sentence_is_reported() {
        check(
            "description: See #1234 for more\n",
            expect![[r##"
            description = "See"
            comment 2:18 "#1234 for more"
            Warning yaml/comment-cuts-value 2:18 "#1234 for more": ` #` starts a comment and ends the value
        "##]],
        );
        check(
            "description: See this # for more\n",
            expect![[r##"
            description = "See this"
            comment 2:23 "# for more"
            Warning yaml/comment-cuts-value 2:23 "# for more": ` #` starts a comment and ends the value
        "##]],
        );
        check(
            "when_to_use: See\n  this #tag\nargument-hint: a b #c\n",
            expect![[r##"
            when_to_use = "See this" from "See\n  this"
            argument-hint = "a b"
            comment 3:8 "#tag"
            comment 4:20 "#c"
            Warning yaml/comment-cuts-value 3:8 "#tag": ` #` starts a comment and ends the value
            Warning yaml/comment-cuts-value 4:20 "#c": ` #` starts a comment and ends the value
        "##]],
        );
    }

    #[test]
    fn comment_instead_of_a_value_is_reported() {
        check(
            "description: #5 of the list\nwhen_to_use: # later\n",
            expect![[r##"
            description = null ""
            when_to_use = null ""
            comment 2:14 "#5 of the list"
            comment 3:14 "# later"
            Warning yaml/comment-cuts-value 2:14 "#5 of the list": ` #` starts a comment and ends the value
        "##]],
        );
    }

    #[test]
    fn comment_after_a_value_is_not_reported() {
        check(
            "version: 1 # the first\nmodel: opus #x\nname: a#b\nx: 'y' # z\n",
            expect![[r##"
            version = "1"
            model = "opus"
            name = "a#b"
            x = single "y"
            comment 2:12 "# the first"
            comment 3:13 "#x"
            comment 5:8 "# z"
        "##]],
        );
    }
}
