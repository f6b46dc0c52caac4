//! Tests that the field table is complete, unambiguous and consistent with the profiles.

use std::collections::BTreeSet;

use super::hooks::{COMMON, EVENTS, GROUP, KINDS};
use super::*;
use crate::fields::{FieldReading, Fields};
use crate::profile::{self, Evidence, NameSource, ScalarRule};
use crate::skill::parse;

#[test]
fn keys_and_misspellings_are_unique() {
    let mut seen = BTreeSet::new();
    for field in fields() {
        for key in std::iter::once(&field.key).chain(field.misspellings) {
            assert!(seen.insert(*key), "`{key}` stands twice");
        }
    }
    assert!(matches!(classify_key("name"), KeyKind::Field(it) if it.key == "name"));
    assert!(matches!(classify_key("Name"), KeyKind::Misspelled(it) if it.key == "name"));
    assert!(
        matches!(classify_key("user-invokable"), KeyKind::Misspelled(it) if it.key == "user-invocable")
    );
    assert!(
        matches!(classify_key("allowedTools"), KeyKind::Misspelled(it) if it.key == "allowed-tools")
    );
    assert!(matches!(classify_key("preamble-tier"), KeyKind::Unknown));
    assert!(find("Name").is_none());
}

#[test]
fn every_row_is_complete() {
    for field in fields() {
        let key = field.key;
        assert!(field.summary.ends_with('.'), "{key}: the summary is a sentence");
        assert!(field.details.is_empty() || field.details.ends_with('.'), "{key}");
        assert!(!field.examples.is_empty() && !field.sources.is_empty(), "{key}");
        let is_read = field.standing == FieldStatus::Read;
        assert_eq!(is_read, !field.readers.is_empty(), "{key}");
        let agents: BTreeSet<_> = field.readers.iter().map(|it| it.agent).collect();
        assert_eq!(agents.len(), field.readers.len(), "{key}: an agent reads it twice");
        assert!(field.readers.is_sorted_by_key(|it| it.agent), "{key}: agents in their order");
        let is_choice = matches!(field.shape, Shape::Choice { .. });
        assert_eq!(is_choice, !field.values.is_empty(), "{key}");
        for reader in field.readers {
            assert!(reader.note.is_empty() || reader.note.ends_with('.'), "{key}");
        }
    }
}

#[test]
fn examples_are_read_without_fault_by_every_reader() {
    for field in fields() {
        for example in field.examples {
            let text = format!("---\n{}: {example}\n---\n", field.key);
            let document = parse(&text);
            assert_eq!(document.diagnostics, [], "{text}");
            let frontmatter = document.frontmatter.unwrap();
            let read = Fields::new(&frontmatter, &text);
            let is_usable = |it: &FieldReading| it.value.is_some() && it.faults.is_empty();
            assert!(read.read(field).is_some_and(|it| is_usable(&it)), "{text}");
        }
    }
}

#[test]
fn profiles_agree_with_the_field_table() {
    for profile in profile::agents() {
        let Some(agent) = profile.reader else { continue };
        let id = &profile.id;
        assert_eq!(profile.conditional, PATHS.reader(agent).is_some(), "{id}");
        let hides = DISABLE_MODEL_INVOCATION.reader(agent).is_some();
        assert_eq!(profile.hides_from_model, hides, "{id}");
        // Documents do not say what becomes of a skill without a name.
        if profile.evidence == Evidence::Documentation {
            continue;
        }
        let name = NAME.reader(agent).unwrap();
        assert_eq!(
            profile.name.source == NameSource::Field,
            name.absent == OnMissing::Dropped,
            "{id}"
        );
        let refuses = matches!(name.reads, Coercion::String(_));
        assert_eq!(profile.name.scalars == ScalarRule::Refuse, refuses, "{id}");
        let description = DESCRIPTION.reader(agent).unwrap();
        let drops = description.absent == OnMissing::Dropped;
        assert_eq!(profile.description.drops_missing(), drops, "{id}");
    }
}

#[test]
fn fields_that_grant_run_or_fork_require_approval() {
    let asking: Vec<_> = fields()
        .iter()
        .filter(|it| it.safety != Safety::Safe && it.standing == FieldStatus::Read)
        .map(|it| it.key)
        .collect();
    assert_eq!(asking, ["allowed-tools", "context", "hooks"]);
    let inert = fields().iter().filter(|it| it.standing != FieldStatus::Read);
    assert!(inert.clone().count() > 0 && inert.clone().all(|it| it.safety == Safety::Asks));
}

#[test]
fn hook_events_and_keys_are_unique() {
    let events: BTreeSet<_> = EVENTS.iter().map(|it| it.name).collect();
    assert_eq!(events.len(), EVENTS.len());
    for event in ["PreToolUse", "PostToolUse", "PreCompact", "PermissionRequest", "SubagentStart"] {
        assert!(events.contains(event), "{event}");
    }
    for kind in &KINDS {
        let keys: BTreeSet<_> = COMMON.iter().chain(kind.keys).map(|it| it.name).collect();
        assert_eq!(keys.len(), COMMON.len() + kind.keys.len(), "{}", kind.name);
    }
    assert!(hooks::find_key(hooks::find_kind("http"), "url").is_some());
    assert!(hooks::find_key(hooks::find_kind("command"), "url").is_none());
    assert!(hooks::find_key(None, "timeout").is_some());
    assert_eq!(GROUP.each_ref().map(|it| it.name), ["matcher", "hooks"]);
}
