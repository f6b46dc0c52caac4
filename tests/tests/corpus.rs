//! Parses every file of a corpus of real and odd SKILL.md files and compares the result with the
//! record.
//!
//! The corpus is not part of the repository. `SKILLSD_CORPUS` is the folder that holds it:
//! `dev.tar.gz` (real files at their own paths), `dev-expected.jsonl` and `odd/` with its own
//! `expected.jsonl`. Without the variable the tests are skipped with a message; if `CI` is set they
//! fail. The files are data: some are hostile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value as Json;
use skills_agents::skill::parse;
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::apply;
use skills_syntax::parse::{Document, Entry, Frontmatter, Value, ValueKind};
use skills_syntax::text::{Span, decode};
use skills_testkit::Corpus;
use skills_testkit::corpus::Recorded;

/// Files that we read differently from the record, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "odd/95-synthetic-exclamation-tag.md",
        "recorded without its `!important`, which is meant as text: the whole line is read",
    ),
    (
        "odd/96-synthetic-template-braces.md",
        "recorded as a printed mapping; `{{…}}` is read as its source text",
    ),
    ("odd/125-synthetic-nul-in-frontmatter.md", "recorded with its NUL bytes, which are dropped"),
];

/// Odd files missing in the record because no strict reader finds a frontmatter, with the name that
/// a lenient reader finds.
const WITHOUT_RECORD: &[(&str, Option<&str>)] = &[
    ("54-name-reserved-word-and-symlink-target.md", None),
    ("55-no-frontmatter-heading.md", None),
    ("56-no-frontmatter-flavour-fragment.md", None),
    ("57-no-frontmatter-fixture.md", None),
    ("103-synthetic-leading-blank-line.md", Some("demo")),
    ("104-synthetic-html-comment-first.md", Some("demo")),
    ("105-synthetic-heading-first.md", Some("demo")),
    ("106-synthetic-code-fence-first.md", Some("demo")),
    ("107-synthetic-no-opening-dashes.md", Some("demo")),
    ("108-synthetic-never-closed.md", Some("demo")),
    ("109-synthetic-closed-by-six-dashes.md", Some("demo")),
    ("110-synthetic-closed-by-dashes-and-text.md", Some("demo")),
    ("111-synthetic-closed-by-dots.md", Some("demo")),
    ("112-synthetic-closing-dashes-indented.md", Some("demo")),
    ("114-synthetic-bold-pseudo-frontmatter.md", None),
    ("115-synthetic-toml-frontmatter.md", None),
    ("116-synthetic-json-file.md", None),
    ("117-synthetic-engine-suffix.md", None),
    ("118-synthetic-empty-file.md", None),
    ("119-synthetic-empty-frontmatter.md", None),
    ("120-synthetic-symlink-as-text.md", None),
    ("121-synthetic-git-lfs-pointer.md", None),
    ("122-synthetic-utf16le.md", None),
];

#[test]
fn corpus_files_parse_as_recorded() {
    let Some(Files { cases, .. }) = &*FILES else { return };
    let mut wrong = Vec::new();
    let mut refused = 0;
    for case in cases {
        let document = parse(&case.text);
        wrong.extend(invalid_spans(&case.text, &document).map(|it| format!("{}: {it}", case.path)));
        if case.is_refused(&document) {
            refused += 1;
            if !document.diagnostics.iter().any(|it| it.severity <= Severity::Warning) {
                wrong.push(format!("{}: refused, but nothing says why", case.path));
            }
        }
        if let Some(difference) = case.difference(&document)
            && !EXCEPTIONS.iter().any(|(path, _)| *path == case.path)
        {
            wrong.push(format!("{}: {difference}", case.path));
        }
    }
    eprintln!("{} files read, {refused} of them refused by some parser", cases.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(cases.len() > 3000, "the corpus is incomplete");
}

#[test]
fn odd_files_without_record_are_read_leniently() {
    let Some(Files { folder, .. }) = &*FILES else { return };
    for (file, name) in WITHOUT_RECORD {
        let bytes = fs::read(folder.join("odd").join(file)).expect("listed files exist");
        let text = decode(&bytes).text;
        let document = parse(&text);
        let read = document.frontmatter.as_ref().and_then(|it| text_of(it, "name", &text));
        assert_eq!(read.as_deref(), *name, "{file}");
        let said = document.diagnostics.iter().any(|it| it.severity <= Severity::Warning);
        assert!(said || name.is_none(), "{file}: nothing says what is odd");
    }
}

#[test]
fn corpus_exceptions_are_still_needed() {
    let Some(Files { cases, .. }) = &*FILES else { return };
    for (path, reason) in EXCEPTIONS {
        let case = cases.iter().find(|it| it.path == *path).expect("listed files exist");
        assert!(case.difference(&parse(&case.text)).is_some(), "{path} is as recorded: {reason}");
    }
}

#[test]
fn typo_in_one_entry_keeps_all_other_keys() {
    let Some(Files { cases, .. }) = &*FILES else { return };
    let mut tried = 0;
    let mut lost = Vec::new();
    // Every eighth file is enough, because files of one repository are similar.
    for case in cases.iter().step_by(8) {
        let Some(frontmatter) = parse(&case.text).frontmatter.filter(is_healthy) else { continue };
        for (at, entry) in frontmatter.entries.iter().enumerate() {
            for typed in SLIPS.iter().filter_map(|slip| slip(&case.text, entry)) {
                let (start, end) = (entry.span.start, entry.value.span.end);
                let text = format!("{}{typed}{}", &case.text[..start], &case.text[end..]);
                let read = parse(&text).frontmatter.expect("the lines of dashes are still there");
                tried += 1;
                for (other, healthy) in frontmatter.entries.iter().enumerate() {
                    let found = read.get(&healthy.key.text);
                    let same = found.is_some_and(|it| same_meaning(&it.value, &healthy.value));
                    if other != at && !same {
                        lost.push(format!(
                            "{} lost {:?} by {typed:?}",
                            case.path, healthy.key.text
                        ));
                    }
                }
            }
        }
    }
    eprintln!("{tried} slips tried");
    assert!(lost.is_empty(), "{} of {tried}:\n{}", lost.len(), lost.join("\n"));
    assert!(tried > 5_000);
}

fn is_healthy(frontmatter: &Frontmatter) -> bool {
    frontmatter.strict.is_ok() && frontmatter.entries.iter().all(|it| it.duplicate_of.is_none())
}

/// Partly typed or mistyped forms of an entry.
const SLIPS: &[fn(&str, &Entry) -> Option<String>] = &[
    |_, entry| Some(entry.key.text.clone()),
    |_, entry| Some(entry.key.text.chars().take(4).collect()),
    |text, entry| one_line(text, entry).map(|it| format!("{} {it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}: \"{it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}: '{it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}: [{it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}: {{{it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}: @{it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}: `{it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}:\n\t{it}", entry.key.text)),
    |text, entry| one_line(text, entry).map(|it| format!("{}: {it}: {it}", entry.key.text)),
];

fn one_line<'t>(text: &'t str, entry: &Entry) -> Option<&'t str> {
    let written = entry.value.span.slice(text);
    let plain = !written.contains(['\n', '\r', '"', '\'', '[', '{', '|', '>']);
    (plain && !written.is_empty()).then_some(written)
}

/// Returns whether two values are equal, ignoring positions.
fn same_meaning(a: &Value, b: &Value) -> bool {
    match (&a.kind, &b.kind) {
        (ValueKind::Scalar { text, .. }, ValueKind::Scalar { text: its, .. }) => text == its,
        (ValueKind::Sequence { items, .. }, ValueKind::Sequence { items: its, .. }) => {
            items.len() == its.len() && items.iter().zip(its).all(|(a, b)| same_meaning(a, b))
        }
        (ValueKind::Mapping { entries, .. }, ValueKind::Mapping { entries: its, .. }) => {
            let same = |(a, b): (&Entry, &Entry)| {
                a.key.text == b.key.text && same_meaning(&a.value, &b.value)
            };
            entries.len() == its.len() && entries.iter().zip(its).all(same)
        }
        (ValueKind::Null, ValueKind::Null) | (ValueKind::Alias { .. }, ValueKind::Alias { .. }) => {
            true
        }
        _ => false,
    }
}

#[test]
fn formatting_preserves_meaning() {
    let Some(Files { cases, .. }) = &*FILES else { return };
    let (mut formatted, mut left, mut wrong) = (0, 0, Vec::new());
    // Every third file, because files of one repository are similar and a debug build is slow.
    for case in cases.iter().step_by(3) {
        let forms = [
            Some(case.text.clone()),
            with_doubled_indent(&case.text),
            with_extra_spaces(&case.text),
        ];
        for (form, text) in forms.into_iter().enumerate().filter_map(|(at, it)| Some((at, it?))) {
            let before = parse(&text);
            let edits = skills_ide::format(&text, &before);
            if edits.is_empty() {
                // The content of a block may be indented more than necessary.
                left += usize::from(form == 2 && before.diagnostics.is_empty());
                continue;
            }
            formatted += 1;
            let after = apply(&text, &edits);
            wrong.extend(
                formatting_difference(&text, &after).map(|it| format!("{}: {it}", case.path)),
            );
        }
    }
    eprintln!("{formatted} texts formatted, {left} left as they were");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(formatted > 1_000, "only {formatted} texts were formatted");
    assert!(left * 50 < formatted, "{left} texts were left that are sloppy");
}

/// Returns the first difference, other than whitespace, between a text and its formatted form.
fn formatting_difference(before: &str, after: &str) -> Option<&'static str> {
    let documents = (parse(before), parse(after));
    let (Some(one), Some(two)) = (&documents.0.frontmatter, &documents.1.frontmatter) else {
        return Some("the frontmatter is gone");
    };
    // Reads with another YAML library, independent of our parser.
    let read = |it: &Frontmatter, text: &str| {
        serde_yaml::from_str::<serde_yaml::Value>(it.content.slice(text)).ok()
    };
    let comments = |it: &Frontmatter, text: &str| -> Vec<String> {
        it.comments.iter().map(|it| it.slice(text).trim_end().to_owned()).collect()
    };
    let keys = |it: &Frontmatter| -> Vec<String> {
        it.entries.iter().map(|it| it.key.text.clone()).collect()
    };
    if read(one, before) != read(two, after) {
        return Some("another meaning");
    }
    if comments(one, before) != comments(two, after) || keys(one) != keys(two) {
        return Some("other comments or another order");
    }
    if documents.0.body.slice(before) != documents.1.body.slice(after) {
        return Some("another body");
    }
    (!skills_ide::format(after, &documents.1).is_empty()).then_some("another form the second time")
}

/// Returns the text with doubled indentation in its frontmatter.
fn with_doubled_indent(text: &str) -> Option<String> {
    let content = parse(text).frontmatter?.content;
    let lines = content.slice(text).split_inclusive('\n').map(|line| {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        format!("{}{line}", &line[..blanks])
    });
    let lines = lines.collect::<Vec<_>>().concat();
    let doubled = format!("{}{lines}{}", &text[..content.start], &text[content.end..]);
    (doubled != text).then_some(doubled)
}

/// Returns the text with extra spaces after colons and at line ends, and empty lines between keys.
fn with_extra_spaces(text: &str) -> Option<String> {
    let frontmatter = parse(text).frontmatter?;
    let mut spaced = text.to_owned();
    for entry in frontmatter.entries.iter().rev() {
        let written = entry.value.span.slice(text);
        if written.is_empty() || written.contains('\n') || entry.recovered {
            continue;
        }
        spaced.insert_str(entry.value.span.end, "  ");
        if Span::new(entry.key.span.end, entry.value.span.start).slice(text) == ": " {
            spaced.insert_str(entry.value.span.start, "   ");
        }
        spaced.insert_str(entry.span.start, "\n\n");
    }
    (spaced != text).then_some(spaced)
}

#[test]
fn corpus_prefixes_parse() {
    let Some(Files { cases, .. }) = &*FILES else { return };
    // Every fourth file, to stay within seconds in a debug build.
    for case in cases.iter().step_by(4) {
        // A longer body does not change the parsed document.
        let end = parse(&case.text).body.start.saturating_add(64).min(case.text.len());
        for cut in (0..end).step_by(7) {
            let prefix = &case.text[..case.text.floor_char_boundary(cut)];
            let document = parse(prefix);
            if let Some(bad) = invalid_spans(prefix, &document).next() {
                panic!("{} cut at {cut}: {bad}", case.path);
            }
        }
    }
}

// Read once for all tests; the unpacked files are removed.
static FILES: LazyLock<Option<Files>> = LazyLock::new(|| {
    let corpus = Corpus::open("real files, odd files, their prefixes and slips in them")?;
    let read =
        |Recorded { path, bytes, expected }| Case { path, text: decode(&bytes).text, expected };
    let cases = corpus.recorded().into_iter().map(read).collect();
    Some(Files { folder: corpus.folder().to_owned(), cases })
});

struct Files {
    folder: PathBuf,
    cases: Vec<Case>,
}

struct Case {
    path: String,
    text: String,
    expected: Json,
}

impl Case {
    fn is_refused(&self, document: &Document) -> bool {
        let strict = document.frontmatter.as_ref().is_some_and(|it| it.strict.is_ok());
        !strict || self.expected["read"] != "strict"
    }

    /// Compares name, description and the set of keys with the record.
    fn difference(&self, document: &Document) -> Option<String> {
        let Some(frontmatter) = &document.frontmatter else {
            let recorded = self.expected["read"] != "no frontmatter";
            return recorded.then(|| "no frontmatter found".to_owned());
        };
        for key in ["name", "description"] {
            let expected = match &self.expected[key] {
                Json::Null => None,
                Json::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            let read = text_of(frontmatter, key, &self.text);
            if read != expected {
                return Some(format!("{key}\n  read     {read:?}\n  recorded {expected:?}"));
            }
        }
        let read: BTreeSet<&str> =
            frontmatter.entries.iter().map(|it| it.key.text.as_str()).collect();
        let recorded = self.expected["keys"].as_array().into_iter().flatten();
        let recorded: BTreeSet<&str> = recorded.filter_map(Json::as_str).collect();
        (read != recorded).then(|| format!("keys\n  read     {read:?}\n  recorded {recorded:?}"))
    }
}

fn text_of(frontmatter: &Frontmatter, key: &str, text: &str) -> Option<String> {
    frontmatter.get(key)?.value.text_or_source(text).map(str::to_owned)
}

/// Returns the spans that are not valid slices, do not nest, or do not cover the expected token.
fn invalid_spans(text: &str, document: &Document) -> impl Iterator<Item = String> {
    let mut wrong = BTreeMap::new();
    let mut check = |what: &str, span: Span, ok: bool| {
        if text.get(span.range()).is_none() || !ok {
            wrong.insert(span, format!("{what} at {span:?} is {:?}", span.slice(text)));
        }
    };
    check("body", document.body, true);
    for diagnostic in &document.diagnostics {
        check(diagnostic.code.as_str(), diagnostic.span, true);
    }
    if let Some(frontmatter) = &document.frontmatter {
        check("content", frontmatter.content, true);
        for comment in &frontmatter.comments {
            check("comment", *comment, comment.slice(text).starts_with('#'));
        }
        for anchor in &frontmatter.anchors {
            check("anchor", anchor.span, anchor.span.slice(text) == format!("&{}", anchor.name));
        }
        check_entries(text, &frontmatter.entries, frontmatter.content, &mut check);
    }
    wrong.into_values()
}

fn check_entries(
    text: &str,
    entries: &[Entry],
    parent: Span,
    check: &mut impl FnMut(&str, Span, bool),
) {
    let mut at = parent.start;
    for entry in entries {
        let key = &entry.key;
        check("key", key.span, is_written(&key.text, key.span.slice(text)));
        check("entry", entry.span, parent.covers(entry.span) && at <= entry.span.start);
        check(
            "value",
            entry.value.span,
            entry.span.covers(entry.value.span) || entry.value.is_null(),
        );
        check_value(text, &entry.value, check);
        at = entry.span.end;
    }
}

/// Returns whether the first word of a parsed text occurs in its source.
fn is_written(read: &str, source: &str) -> bool {
    let word = read.split(|it: char| !it.is_alphanumeric()).find(|it| !it.is_empty());
    source.contains(['\\', '\0']) || word.is_none_or(|word| source.contains(word))
}

fn check_value(text: &str, value: &Value, check: &mut impl FnMut(&str, Span, bool)) {
    let written = value.span.slice(text);
    let trimmed = written.trim_matches([' ', '\t', '\n', '\r']) == written;
    match &value.kind {
        ValueKind::Null => check("null", value.span, true),
        ValueKind::Scalar { text: read, .. } => {
            check("scalar", value.span, trimmed && is_written(read, written));
        }
        ValueKind::Sequence { items, flow } => {
            check(
                "list",
                value.span,
                trimmed && written.starts_with(if *flow { '[' } else { '-' }),
            );
            for item in items {
                check("item", item.span, value.span.covers(item.span) || item.is_null());
                check_value(text, item, check);
            }
        }
        ValueKind::Mapping { entries, .. } => {
            check("mapping", value.span, trimmed);
            check_entries(text, entries, value.span, check);
        }
        ValueKind::Alias { .. } => check("alias", value.span, written.starts_with('*')),
    }
}
