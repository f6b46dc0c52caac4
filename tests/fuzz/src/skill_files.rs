//! Assertions about every frontmatter and every SKILL.md.
//!
//! The assertions do not judge what a text means. They check that positions exist, that a span
//! slices to its token, that parts lie in order within their parents, and that a head parses the
//! same without its body.

use skills_agents::field_table;
use skills_agents::fields::{FieldReading, FieldValue, Fields, HookGroup, HookSetting, json};
use skills_agents::loaders::{LoadVerdict, load_for_all_agents, quote_values, rewrite_as_blocks};
use skills_agents::profile::Quoting;
use skills_agents::skill::{FileFacts, SkillRecord, parse};
use skills_syntax::parse::invariants::{document, located};
use skills_syntax::parse::{Document, Entry, Frontmatter, OpeningKind};
use skills_syntax::text::{LineColumn, LineIndex, decode};

/// Asserts the invariants of any bytes between two `---` lines.
///
/// # Panics
///
/// If an invariant is violated.
#[track_caller]
pub fn frontmatter(block: &[u8]) {
    let bytes = [b"---\n", block, b"\n---\nbody\n"].concat();
    file(&bytes);
    let text = decode(&bytes).text;
    let frontmatter = parse(&text).frontmatter.expect("the first line opens it");
    assert_eq!(frontmatter.opening, OpeningKind::FirstLine, "{text:?}");
    assert!(frontmatter.close.is_some(), "{text:?}");
}

/// Asserts the invariants of any bytes read as a SKILL.md.
///
/// # Panics
///
/// If an invariant is violated.
#[track_caller]
pub fn file(bytes: &[u8]) {
    let facts = FileFacts { size: bytes.len() as u64, truncated: false, hash: [0; 32] };
    let record = SkillRecord::read(bytes, facts);
    let decoded = decode(bytes);
    let whole = decoded.text.as_str();
    text(whole);
    assert!(whole.starts_with(&*record.head), "the head of {whole:?} is {:?}", record.head);
    assert_eq!(record.bom, bytes.starts_with(b"\xEF\xBB\xBF"));
    assert_eq!(record.invalid_utf8.is_some(), std::str::from_utf8(bytes).is_err());
    assert_eq!(entries(&record.document()), entries(&parse(whole)), "the head of {whole:?}");
    let places = record.name.iter().chain(&record.description).map(|it| it.at);
    places.chain(record.invalid_utf8).for_each(|it| assert_position(whole, it));
    let mut before = 0;
    for finding in &record.findings {
        located(whole, finding.diagnostic.span);
        assert!(before <= finding.diagnostic.span.start, "{:#?} of {whole:?}", record.findings);
        before = finding.diagnostic.span.start;
        assert_position(whole, finding.start);
        assert_position(whole, finding.end);
        assert!(finding.start <= finding.end, "{finding:?} in {whole:?}");
    }
    if let Some(frontmatter) = &record.document().frontmatter {
        repairs(frontmatter.content.slice(whole));
    }
    agents(whole, record);
}

/// Asserts that every agent has an outcome, and the same one without the shortcut for portable
/// files.
fn agents(text: &str, mut record: SkillRecord) {
    let at_once = load_for_all_agents(&record, "demo");
    for (profile, reading) in &at_once {
        let is_dropped = reading.verdict == LoadVerdict::Dropped;
        assert_eq!(reading.dropped.is_some(), is_dropped, "{} of {text:?}", profile.id);
        let remarks = reading.dropped.iter().chain(&reading.unlisted).chain(&reading.notes);
        remarks.filter_map(|it| it.at).for_each(|it| assert_position(text, it));
    }
    if std::mem::take(&mut record.portable) {
        for ((profile, at_once), (_, climbed)) in
            at_once.iter().zip(load_for_all_agents(&record, "demo"))
        {
            assert_eq!(*at_once, climbed, "{} of {text:?}", profile.id);
        }
    }
}

/// Asserts that every repair is idempotent.
fn repairs(content: &str) {
    let quoting = |with| move |content: &str| quote_values(content, with);
    repair(content, rewrite_as_blocks);
    repair(content, quoting(Quoting::ClaudeCode));
    repair(content, quoting(Quoting::Codex));
    repair(content, quoting(Quoting::ClientGuide));
    repair(content, quoting(Quoting::Description));
}

fn repair(content: &str, by: impl Fn(&str) -> Option<String>) {
    if let Some(repaired) = by(content) {
        assert_eq!(by(&repaired), None, "{content:?}");
    }
}

/// Asserts the invariants of any text, and of the part that a record keeps.
///
/// # Panics
///
/// If an invariant is violated.
#[track_caller]
pub fn text(text: &str) {
    let whole = parse(text);
    document(text, &whole);
    let head = &text[..whole.body.start];
    let again = parse(head);
    document(head, &again);
    assert_eq!(entries(&again), entries(&whole), "the head of {text:?}");
    if let Some(frontmatter) = &whole.frontmatter {
        readings(text, frontmatter);
    }
}

fn entries(document: &Document) -> &[Entry] {
    document.frontmatter.as_ref().map_or(&[], |it| &it.entries)
}

/// Asserts that a position lies in the text.
#[track_caller]
fn assert_position(text: &str, position: LineColumn) {
    let index = LineIndex::new(text);
    assert!(position.line >= 1 && position.column >= 1, "{position:?} in {text:?}");
    let line = index.line(position.line - 1).map(|it| it.slice(text).chars().count());
    assert!(line.is_some_and(|it| position.column as usize <= it + 1), "{position:?} in {text:?}");
}

/// Asserts that every field can be read as every agent reads it, and that the values' spans lie in
/// the text.
fn readings(text: &str, frontmatter: &Frontmatter) {
    let fields = Fields::new(frontmatter, text);
    for field in field_table::fields() {
        fields.read(field).iter().for_each(|it| outcome(text, it));
        for reader in field.readers {
            fields.read_as(field, reader.agent).iter().for_each(|it| outcome(text, it));
        }
    }
    let converted = json(frontmatter, text, &frontmatter.entries);
    for entry in &frontmatter.entries {
        assert!(converted.contains_key(&entry.key.text), "{:?} of {text:?}", entry.key);
    }
}

fn outcome(text: &str, outcome: &FieldReading) {
    outcome.faults.iter().for_each(|it| located(text, it.span));
    match &outcome.value {
        Some(FieldValue::Text(item) | FieldValue::Choice(item)) => located(text, item.span),
        Some(FieldValue::List(items)) => items.iter().for_each(|it| located(text, it.span)),
        Some(FieldValue::Map(pairs)) => {
            pairs.iter().flat_map(|it| [&it.key, &it.value]).for_each(|it| located(text, it.span));
        }
        Some(FieldValue::Hooks(groups)) => groups.iter().for_each(|it| group(text, it)),
        Some(FieldValue::Switch(_) | FieldValue::Integer(_) | FieldValue::Json(_)) | None => {}
    }
}

fn group(text: &str, group: &HookGroup) {
    located(text, group.span);
    located(text, group.event.span);
    group.matcher.iter().for_each(|it| located(text, it.span));
    for handler in &group.handlers {
        located(text, handler.span);
        handler.kind.iter().for_each(|it| located(text, it.span));
        for (key, setting) in &handler.settings {
            located(text, key.span);
            match setting {
                HookSetting::Text(item) => located(text, item.span),
                HookSetting::Texts(items) => items.iter().for_each(|it| located(text, it.span)),
                HookSetting::Other(span) => located(text, *span),
                HookSetting::Switch(_) | HookSetting::Number(_) => {}
            }
        }
    }
}
