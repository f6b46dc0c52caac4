//! Rules `field/*`: unread keys, values of the wrong type and contradictory fields.

mod keys;
mod value_type;
mod values;

use std::collections::BTreeMap;

use skills_agents::field_table::{
    self, ARGUMENT_HINT, Agent, CLAUDE_SKILLS, COMPATIBILITY, DESCRIPTION,
    DISABLE_MODEL_INVOCATION, Field, FieldStatus, HOOKS, KeyKind, NAME,
};
use skills_agents::profile::Profile;
use skills_syntax::diagnostic::Severity;
use skills_syntax::parse::Entry;

use super::affected_agents::join_first;
use super::finding::{Finding, Tag};
use super::rule::Rule;
use super::rule_id::RuleId;
use super::subject::Cx;

pub(super) use keys::{INERT, MISSPELLED, UNKNOWN, misspelled_field};
use keys::{add_removal_fixes, is_other_key, misspelled, unknown_key};
use value_type::check_types;
pub(super) use value_type::{TYPE, not_text};
pub(super) use values::{CONTRADICTION, DEPRECATED, LENGTH, VALUE};
use values::{check_contradictions, check_value};

pub(super) static UNREAD: Rule = Rule::new(
    RuleId::FieldUnread,
    Severity::Hint,
    "No active agent reads the key.",
    "The key has no effect for the active agents; another agent may read it.",
    "Keep the key for the agent that reads it, or remove it.",
)
.sources(&[&CLAUDE_SKILLS])
.texts(
    "//- /w/.codex/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\neffort: high\n---\nRead the file.\n",
    "//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\neffort: high\n---\nRead the file.\n",
);

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(frontmatter) = cx.frontmatter() else { return };
    // Misspelled keys, by the field they resemble.
    let mut slips: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    let mut above: Option<&Entry> = None;
    for entry in &frontmatter.entries {
        let above = above.replace(entry);
        if entry.duplicate_of.is_some() {
            continue;
        }
        match field_table::classify_key(&entry.key.text) {
            KeyKind::Field(field) => check_field(cx, field, entry, out),
            // Qwen Code's spelling of `allowed-tools`.
            KeyKind::Misspelled(_)
                if entry.key.text == "allowedTools"
                    && cx.profiles().iter().any(|it| it.reader == Some(Agent::QwenCode)) => {}
            KeyKind::Misspelled(field) => slips.entry(field.key).or_default().push(entry),
            KeyKind::Unknown if is_key(entry) => match misspelled_field(&entry.key.text) {
                Some(field) if !is_other_key(field, entry) => {
                    slips.entry(field.key).or_default().push(entry);
                }
                Some(_) | None => out.push(unknown_key(cx, entry, above)),
            },
            // The parser reports text that is not a key.
            KeyKind::Unknown => {}
        }
    }
    for (key, entries) in slips {
        let Some(field) = field_table::find(key) else { continue };
        out.extend(entries.iter().map(|it| misspelled(cx, field, it, &entries)));
    }
    check_contradictions(cx, out);
}

fn is_key(entry: &Entry) -> bool {
    let key = &entry.key.text;
    let is_text = key.contains('\n') || entry.recovered && key.contains(' ');
    !key.is_empty() && !is_text && !entry.key.span.is_empty()
}

fn check_field(cx: &Cx<'_>, field: &'static Field, entry: &Entry, out: &mut Vec<Finding>) {
    if let FieldStatus::Unread { belongs_under } = field.standing {
        let message = format!(
            "no agent reads `{}` at the top level; move it under `{belongs_under}`",
            field.key
        );
        let finding = Finding::new(&INERT, entry.key.span, message).tag(Tag::Unnecessary);
        out.push(add_removal_fixes(cx, finding, entry));
        return;
    }
    check_unread(cx, field, entry, out);
    if ![NAME.key, DESCRIPTION.key, HOOKS.key].contains(&field.key) {
        check_types(cx, field, entry, out);
    }
    check_value(cx, field, entry, out);
    let is_empty = entry.value.as_str().is_some_and(|it| it.trim().is_empty());
    if field.key == ARGUMENT_HINT.key && (is_empty || entry.value.is_null()) {
        let message = "`argument-hint` is empty, so the command menu shows none";
        let span = if entry.value.span.is_empty() { entry.key.span } else { entry.value.span };
        let finding = Finding::new(&VALUE, span, message).severity(Severity::Hint);
        let finding = finding.help("Write a short example such as `[file]`, or remove the field.");
        out.push(finding.draft("Remove the key", cx.removal(entry), ""));
    }
    if field.key == COMPATIBILITY.key
        && let Some(text) = entry.value.as_str()
    {
        let length = text.trim().chars().count();
        // While a key is being typed, its value is still missing.
        let is_empty = length == 0 && !entry.value.span.is_empty();
        if length > 500 || is_empty {
            let span = cx.line(entry.value.span.start).within(entry.value.span);
            let message = format!("`compatibility` has {length} characters; 1 to 500 are allowed");
            out.push(Finding::new(&LENGTH, span, message));
        }
    }
}

/// Returns whether it is known which fields the agent of a profile, or of its base, reads.
fn is_reading_known(profile: &Profile) -> bool {
    profile.base.as_deref().map_or(profile.reader.is_some(), is_reading_known)
}

fn check_unread(cx: &Cx<'_>, field: &'static Field, entry: &Entry, out: &mut Vec<Finding>) {
    let is_standard = field.reader(Agent::AgentSkills).is_some_and(|it| !it.ours);
    let profiles = cx.profiles();
    let unknown: Vec<_> = profiles.iter().filter(|it| !is_reading_known(it)).collect();
    let hides = |it: &&&Profile| field.key == DISABLE_MODEL_INVOCATION.key && it.hides_from_model;
    let is_read = !cx.readers(field).is_empty() || unknown.iter().any(hides);
    if is_standard || is_read || unknown.len() == profiles.len() {
        return;
    }
    let names: Vec<&str> =
        field.readers.iter().filter(|it| !it.ours).map(|it| it.agent.name()).collect();
    let verb = match (names.len(), unknown.is_empty()) {
        (1, true) => "reads",
        (_, true) => "read",
        (1, false) => "is known to read",
        (_, false) => "are known to read",
    };
    let message = format!("only {} {verb} `{}`", join_first(&names), field.key);
    out.push(Finding::new(&UNREAD, entry.key.span, message).tag(Tag::Unnecessary));
}
