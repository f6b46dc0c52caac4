//! Properties of every text: no panic, exact spans, errors affect no other key, and agreement with
//! another YAML library on valid YAML.

pub(crate) mod keys;
mod models;
pub(crate) mod render;

use proptest::prelude::*;

use crate::diagnostic::ProblemCode;
use crate::parse::tests::models::{Model, Writer, frontmatter, sentence};
use crate::parse::tests::render::document;
use crate::parse::tree::{Entry, Value, ValueKind};
use crate::parse::{Document, MAX_DIAGNOSTICS, MAX_FRONTMATTER, invariants, parse};

/// Sample frontmatters with common constructs.
const SAMPLES: &[&str] = &[
    "---\nname: pdf-tools\ndescription: Reads and fills PDF forms. Use when asked for PDFs.\n\
     license: MIT\nallowed-tools: Read, Bash(pdftk *)\n---\n# PDF\n",
    "---\r\nname: \"crlf\"\r\ndescription: >-\r\n  Folded over\r\n  lines.\r\nmetadata:\r\n  \
     author: someone\r\n  version: '1.0'\r\n---\r\nBody\r\n",
    "---\n# comment\nname: 文書\ndescription: |\n  日本語の説明。\n\n  Two paragraphs 🦀.\ntags:\n  \
     - é # remark\n  - [a, {b: c}]\n  -\npaths: [\"src/**/*.rs\", docs/*.md]\n---\n",
    "---\nhooks:\n  PreToolUse:\n    - matcher: \"Bash\"\n      hooks:\n        - type: command\n\
     \x20         command: |\n            echo \"x: y\"\nbase: &b {x: 1}\nuse: *b\nempty:\n---\nx\n",
];

fn entries(document: &Document) -> &[Entry] {
    document.frontmatter.as_ref().map_or(&[], |it| &it.entries)
}

/// Asserts that every entry that is complete before the cut is kept unchanged.
#[track_caller]
fn assert_kept(whole: &str, cut: usize) {
    let full = parse(whole);
    let prefix = &whole[..cut];
    let document = parse(prefix);
    invariants::document(prefix, &document);
    let kept = entries(&document);
    for (index, pair) in entries(&full).windows(2).enumerate() {
        if pair[1].span.start <= cut {
            assert_eq!(kept.get(index).map(|it| &it.key), Some(&pair[0].key), "{prefix:?}");
            assert_eq!(kept[index].value, pair[0].value, "{prefix:?}");
        }
    }
}

fn cuts(text: &str) -> impl Iterator<Item = usize> {
    (0..=text.len()).filter(|at| text.is_char_boundary(*at))
}

#[test]
fn every_prefix_of_a_sample_keeps_complete_entries() {
    for sample in SAMPLES {
        assert!(parse(sample).diagnostics.is_empty(), "{}", document(sample, &parse(sample)));
        for cut in cuts(sample) {
            assert_kept(sample, cut);
        }
    }
}

#[test]
fn frontmatter_is_independent_of_the_body() {
    for sample in SAMPLES {
        let whole = parse(sample);
        let head = &sample[..whole.body.start];
        assert_eq!(entries(&parse(head)), entries(&whole));
    }
}

#[test]
fn oversized_frontmatter_is_truncated() {
    let line = "  more text in this line\n";
    let text = format!(
        "---\nname: a\nd: |\n{}z: b\n---\nbody\n",
        line.repeat(MAX_FRONTMATTER / line.len() + 1)
    );
    let document = parse(&text);
    assert_eq!(document.body.slice(&text), "body\n");
    assert_eq!(
        document.frontmatter.as_ref().unwrap().get("name").unwrap().value.as_str(),
        Some("a")
    );
    assert_eq!(document.diagnostics.len(), 1);
    assert_eq!(document.diagnostics[0].code, ProblemCode::TooLarge);
}

#[test]
fn number_of_diagnostics_is_limited() {
    let text = format!("---\n{}---\n", "a: b: c\n".repeat(2 * MAX_DIAGNOSTICS));
    let document = parse(&text);
    assert_eq!(document.diagnostics.len(), MAX_DIAGNOSTICS);
    assert_eq!(document.diagnostics.last().unwrap().code, ProblemCode::TooMany);
    assert_eq!(entries(&document).len(), 2 * MAX_DIAGNOSTICS);
}

#[test]
fn repeated_openings_parse_in_bounded_time() {
    let units = [
        "[", "{", "- ", "? ", "a: ", "a: [", "a:\n", "a: \"\n", "a: [b\n", "a: {b\n", "*a\n",
        "&a ", "- *a\n", "# c\n", "\t", "\ta: b\n", "a: | x\n", "- - - a: @b\n", "\"", "'", "!",
        "\0", "---x\n", "...\n", "\r", "a: b\n  c\n", "  name: @\n", "- a\n b\n", ":\n", "]\n",
        "\u{FEFF}", "{a: ",
    ];
    for unit in units {
        let repeated = unit.repeat(20_000 / unit.len());
        for text in [
            format!("---\nname: x\n{repeated}\n---\nbody\n"),
            format!("---\nname: x: y\nd:\n  e: {repeated}\n---\nbody\n"),
            format!("---\nname: x\n{repeated}"),
            repeated,
        ] {
            invariants::document(&text, &parse(&text));
        }
    }
}

#[test]
fn alias_resolves_to_its_value() {
    let text = "---\na: &x {k: &y deep}\nb: *x\nc: *y\nd: &z\n  e: *z\nf: [&l last]\ng: *l\n---\n";
    let document = parse(text);
    let frontmatter = document.frontmatter.as_ref().unwrap();
    let resolved =
        |key: &str| frontmatter.resolve(&frontmatter.get(key).unwrap().value).span.slice(text);
    assert_eq!(resolved("b"), "{k: &y deep}");
    assert_eq!(resolved("c"), "deep");
    assert_eq!(resolved("g"), "last");
    assert_eq!(resolved("a"), "{k: &y deep}");
    let inner = &frontmatter.get("d").unwrap().value.entries().unwrap()[0].value;
    assert_eq!(frontmatter.resolve(inner).span.slice(text), "e: *z");
}

#[test]
fn last_duplicate_wins() {
    let document = parse("---\nname: a\nname: b\n---\n");
    assert_eq!(document.frontmatter.unwrap().get("name").unwrap().value.as_str(), Some("b"));
}

fn ours(value: &Value) -> Model {
    match &value.kind {
        ValueKind::Scalar { text, .. } => Model::Text(text.clone()),
        ValueKind::Sequence { items, .. } => Model::List(items.iter().map(ours).collect()),
        ValueKind::Mapping { entries, .. } => Model::Map(our_entries(entries)),
        ValueKind::Null | ValueKind::Alias { .. } => unreachable!("not written"),
    }
}

fn our_entries(entries: &[Entry]) -> Vec<(String, Model)> {
    entries.iter().map(|entry| (entry.key.text.clone(), ours(&entry.value))).collect()
}

fn theirs(value: &serde_yaml::Value) -> Model {
    use serde_yaml::Value as Yaml;
    match value {
        Yaml::String(text) => Model::Text(text.clone()),
        Yaml::Sequence(items) => Model::List(items.iter().map(theirs).collect()),
        Yaml::Mapping(map) => Model::Map(
            map.iter()
                .map(|(key, value)| (key.as_str().unwrap().to_owned(), theirs(value)))
                .collect(),
        ),
        Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::Tagged(_) => {
            unreachable!("not written")
        }
    }
}

/// A typing error in a line that starts a key with a plain value.
#[derive(Clone, Copy, Debug)]
enum Slip {
    NoColon,
    NoBlank,
    OnlyHalfTheKey,
    OpenDoubleQuote,
    OpenSingleQuote,
    OpenBracket,
    OpenBrace,
    Tab,
    At,
    Backtick,
    Colon,
    Star,
    BlockHeader,
}

const SLIPS: &[Slip] = &[
    Slip::NoColon,
    Slip::NoBlank,
    Slip::OnlyHalfTheKey,
    Slip::OpenDoubleQuote,
    Slip::OpenSingleQuote,
    Slip::OpenBracket,
    Slip::OpenBrace,
    Slip::Tab,
    Slip::At,
    Slip::Backtick,
    Slip::Colon,
    Slip::Star,
    Slip::BlockHeader,
];

fn slipped(slip: Slip, text: &str) -> String {
    match slip {
        Slip::NoColon => format!("license {text}"),
        Slip::NoBlank => format!("license:{text}"),
        Slip::OnlyHalfTheKey => "licen".to_owned(),
        Slip::OpenDoubleQuote => format!("license: \"{text}"),
        Slip::OpenSingleQuote => format!("license: '{text}"),
        Slip::OpenBracket => format!("license: [{text}"),
        Slip::OpenBrace => format!("license: {{{text}"),
        Slip::Tab => format!("license:\n\tname: {text}"),
        Slip::At => format!("license: @{text}"),
        Slip::Backtick => format!("license: `{text}"),
        Slip::Colon => format!("license: {text}: {text}"),
        Slip::Star => format!("license: *{text} {text}"),
        Slip::BlockHeader => format!("license: | {text}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsing_never_panics(text in "(---[ \t]?(\r\n|\n))?[-a:#'\"\\[\\]{}|>*&!%@,? \t\r\n\u{0}é🦀\u{85}\u{FEFF}]{0,60}(\n---\n)?.{0,10}") {
        invariants::document(&text, &parse(&text));
    }

    #[test]
    fn parsing_random_lines_never_panics(lines in prop::collection::vec("[ \t]{0,4}(- |\\? )?([a-c]{1,2}: ?)?[a: #'\"\\[\\]{}|>*&!é,]{0,8}", 0..12)) {
        let text = format!("---\n{}\n---\nbody\n", lines.join("\n"));
        let document = parse(&text);
        invariants::document(&text, &document);
        let head = parse(&text[..document.body.start]);
        prop_assert_eq!(entries(&head), entries(&document));
    }

    #[test]
    fn valid_frontmatter_reads_as_its_model(entries in frontmatter(), seed: u64) {
        let text = Writer::write(&entries, seed);
        let document = parse(&text);
        invariants::document(&text, &document);
        let frontmatter = document.frontmatter.as_ref().unwrap();
        prop_assert_eq!(&document.diagnostics, &[], "{}", text);
        prop_assert_eq!(frontmatter.strict.as_ref(), Ok(&()));
        prop_assert_eq!(our_entries(&frontmatter.entries), entries, "{}", text);
    }

    #[test]
    fn serde_yaml_reads_the_same(entries in frontmatter(), seed: u64) {
        let text = Writer::write(&entries, seed);
        let frontmatter = parse(&text).frontmatter.unwrap();
        let content = frontmatter.content.slice(&text);
        let value: serde_yaml::Value = serde_yaml::from_str(content)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{content}")))?;
        prop_assert_eq!(Model::Map(our_entries(&frontmatter.entries)), theirs(&value), "{}", content);
    }

    #[test]
    fn recovery_reads_valid_pieces_as_yaml(entries in frontmatter(), seed: u64) {
        let text = Writer::write(&entries, seed);
        let broken = text.replacen("---\n", "---\nbroken: a: b\n", 1);
        let document = parse(&broken);
        invariants::document(&broken, &document);
        let read = our_entries(&document.frontmatter.unwrap().entries);
        prop_assert_eq!(&read[1..], entries.as_slice(), "{}", broken);
        prop_assert_eq!(document.diagnostics.len(), 1);
    }

    #[test]
    fn typing_error_affects_no_other_key(
        before in frontmatter(),
        after in frontmatter(),
        slip in prop::sample::select(SLIPS),
        value in sentence(),
        seed: u64,
    ) {
        let after: Vec<_> = after.into_iter().map(|(key, value)| (format!("x{key}"), value)).collect();
        let head = Writer::write(&before, seed);
        let head = head.trim_end_matches("---\nbody\n");
        let tail = Writer::write(&after, seed.rotate_left(7));
        let text = format!("{head}{}\n{}", slipped(slip, &value), &tail[4..]);
        let document = parse(&text);
        invariants::document(&text, &document);
        let read = our_entries(&document.frontmatter.unwrap().entries);
        prop_assert!(read.len() >= before.len() + after.len(), "{}", text);
        prop_assert_eq!(&read[..before.len()], before.as_slice(), "{}", text);
        prop_assert_eq!(&read[read.len() - after.len()..], after.as_slice(), "{}", text);
        prop_assert!(read.len() <= before.len() + after.len() + 1, "{}", text);
        prop_assert_eq!(document.diagnostics.len(), 1, "{}", text);
    }
}

proptest! {
    // Each case parses hundreds of texts.
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_prefix_keeps_complete_entries(entries in frontmatter(), seed: u64) {
        let text = Writer::write(&entries, seed);
        for cut in cuts(&text) {
            assert_kept(&text, cut);
        }
    }
}
