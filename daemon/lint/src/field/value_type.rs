//! Rule `field/type`: values of the wrong type.

use std::collections::BTreeMap;

use skills_agents::field_table::{
    Agent, CLAUDE_SKILLS, Coercion, Field, METADATA, PLUGIN, SPECIFICATION, USER_INVOCABLE,
};
use skills_agents::fields::{FieldReading, TypeMismatch};
use skills_agents::loaders::LoadRule;
use skills_agents::profile::Profile;
use skills_agents::scalar::YamlType;
use skills_syntax::diagnostic::Severity;
use skills_syntax::parse::Entry;
use skills_syntax::quote;
use skills_syntax::text::Span;

use crate::affected_agents::with_verb;
use crate::finding::Finding;
use crate::rule::Rule;
use crate::rule_id::RuleId;
use crate::subject::Cx;

pub(crate) static TYPE: Rule = Rule::new(
    RuleId::FieldType,
    Severity::Warning,
    "A value does not have the field's type.",
    "Agents ignore the field, and some drop the whole skill.",
    "Write a value of the expected type.",
)
.sources(&[&SPECIFICATION, &CLAUDE_SKILLS, &PLUGIN])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\ndisable-model-invocation: maybe\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\ndisable-model-invocation: true\n---\nRead the file.\n",
);

/// Maximum length of a key within a field that a message shows, in bytes.
const LONGEST_SHOWN_KEY: usize = 64;

pub(super) fn check_types(
    cx: &Cx<'_>,
    field: &'static Field,
    entry: &Entry,
    out: &mut Vec<Finding>,
) {
    let Some(fields) = cx.fields else { return };
    let active = cx.readers(field);
    // A custom profile may read the field.
    if active.is_empty() && cx.profiles().iter().all(|it| it.reader.is_some()) {
        return;
    }
    // A fault makes one finding, whichever agents it affects.
    let mut faults: BTreeMap<Span, (TypeMismatch, Vec<&Profile>)> = BTreeMap::new();
    for fault in fields.read(field).map(|it| it.faults).unwrap_or_default() {
        faults.entry(fault.span).or_insert((fault, Vec::new()));
    }
    for profile in active {
        let Some(agent) = profile.reader else { continue };
        let outcome = fields.read_as(field, agent).unwrap_or_default();
        // No value hides the skill as well as an untrue one does.
        let is_null = outcome == FieldReading::default() && reads_untrue_as_false(profile, field);
        let null = is_null.then_some(TypeMismatch {
            span: entry.value.span,
            expected: "a switch",
            found: YamlType::Null,
        });
        for fault in outcome.faults.into_iter().chain(null) {
            let found = faults.entry(fault.span).or_insert((fault, Vec::new()));
            if agent != Agent::AgentSkills {
                found.1.push(profile);
            }
        }
    }
    let dropped = cx.profiles_that_drop(&[LoadRule::FieldType]);
    // The specification alone has a type for every value of `metadata`.
    let is_standard = cx.applies_to(&[Agent::AgentSkills]);
    let is_free = field.key == METADATA.key && !is_standard;
    faults.retain(|_, (_, ignored)| !(is_free && ignored.is_empty()));
    for (span, (fault, ignored)) in faults {
        let dropping: Vec<_> =
            ignored.iter().copied().filter(|it| dropped.iter().any(|d| d.id == it.id)).collect();
        out.push(type_finding(cx, field, entry, span, &fault, [&ignored, &dropping]));
    }
}

/// Returns true for Claude Code and `user-invocable`, of which it reads every value but a true one
/// as `false`.
fn reads_untrue_as_false(profile: &Profile, field: &Field) -> bool {
    let reader = profile.reader.and_then(|it| field.reader(it));
    field.key == USER_INVOCABLE.key && reader.is_some_and(|it| matches!(it.reads, Coercion::Switch))
}

/// Returns the finding for a value that the agents in `ignored` do not read, and for which those in
/// `dropping` drop the skill. `span` is empty if the value is empty.
fn type_finding(
    cx: &Cx<'_>,
    field: &'static Field,
    entry: &Entry,
    span: Span,
    fault: &TypeMismatch,
    [ignored, dropping]: [&[&Profile]; 2],
) -> Finding {
    let place = if span.is_empty() { entry.key.span } else { span };
    let inner = entry.value.entries().unwrap_or_default().iter();
    let is_here = |it: &&Entry| it.value.span.contains(span.start) || it.key.span == span;
    let inner = inner.filter(|_| !span.is_empty()).find(is_here);
    let inner = inner.filter(|it| it.key.text.len() <= LONGEST_SHOWN_KEY);
    let key = inner.map_or(field.key.to_owned(), |it| format!("{}.{}", field.key, it.key.text));
    let what = format!("`{key}` has {} instead of {}", fault.found.name(), fault.expected);
    let hides = |it: &&Profile| reads_untrue_as_false(it, field);
    let hiding: Vec<_> = ignored.iter().copied().filter(hides).collect();
    let (about, message) = if !dropping.is_empty() {
        (dropping, format!("{} this skill: {what}", with_verb(dropping, "drops", "drop")))
    } else if !hiding.is_empty() {
        let verb = with_verb(&hiding, "hides", "hide");
        (&*hiding, format!("{verb} this skill from the user: {what}"))
    } else if !ignored.is_empty() {
        (ignored, format!("{} this field: {what}", with_verb(ignored, "ignores", "ignore")))
    } else if field.key == METADATA.key {
        (ignored, format!("{what} (Agent Skills specification)"))
    } else {
        (ignored, what)
    };
    // An empty value in a map is an empty text to most readers.
    let severity = match (about.is_empty(), fault.found) {
        (false, _) => Severity::Error,
        (true, YamlType::Null) if inner.is_some() => Severity::Hint,
        (true, _) => Severity::Warning,
    };
    let finding = Finding::new(&TYPE, place, message).severity(severity).about(about);
    let quotable = matches!(fault.found, YamlType::Boolean | YamlType::Number | YamlType::Date)
        && matches!(fault.expected, "a text" | "a string");
    if quotable {
        let quoted = quote::double_quote_scalar(place.slice(cx.text));
        finding.fix("Quote the value", place, quoted)
    } else {
        finding
    }
}

/// Reports a value that is not a string, with the agents that drop the skill for it by one of
/// `load_rules`.
pub(crate) fn not_text(
    cx: &Cx<'_>,
    rule: &'static Rule,
    entry: &Entry,
    what: YamlType,
    load_rules: &[LoadRule],
) -> Finding {
    let (key, span) = (&entry.key.text, entry.value.span);
    let dropped = cx.profiles_that_drop(load_rules);
    let message = format!("`{key}` is {}, not a string", what.name());
    let (severity, message) = match dropped.as_slice() {
        [] => (Severity::Warning, message),
        them => {
            (Severity::Error, format!("{} this skill: {message}", with_verb(them, "drops", "drop")))
        }
    };
    let finding = Finding::new(rule, span, message).severity(severity).about(&dropped);
    match what {
        YamlType::List | YamlType::Map | YamlType::Alias => finding,
        _ => {
            let quoted = quote::double_quote_scalar(span.slice(cx.text));
            finding.fix(format!("Quote the {key}"), span, quoted)
        }
    }
}
