//! Rules `field/*`: unread keys, values of the wrong type and contradictory fields.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use skills_agents::field_table::tools::find_tool;
use skills_agents::field_table::{
    self, AGENT, ALLOWED_TOOLS, ARGUMENT_HINT, Agent, BACKGROUND, CLAUDE_CHANGES, CLAUDE_SKILLS,
    COMPATIBILITY, CONTEXT, CORPUS, Coercion, DESCRIPTION, DISABLE_MODEL_INVOCATION,
    DISALLOWED_TOOLS, EFFORT, Field, FieldStatus, HOOKS, KeyKind, MODEL, NAME, PATHS, PLUGIN,
    SPECIFICATION, Shape, USER_INVOCABLE, fields,
};
use skills_agents::fields::{FieldReading, FieldValue, TypeMismatch};
use skills_agents::loaders::LoadRule;
use skills_agents::profile::Profile;
use skills_agents::scalar::YamlType;
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::Edit;
use skills_syntax::parse::{Entry, ScalarStyle, ValueKind};
use skills_syntax::text::Span;
use skills_syntax::{quote, suggest};

use super::affected_agents::{join_first, join_or, with_verb};
use super::agent_name;
use super::finding::Finding;
use super::finding::Tag;
use super::rule::Rule;
use super::rule_id::RuleId;
use super::subject::Cx;

const PASSING: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";

/// Keys that are similar to a field but also words of their own.
const WORDS: [&str; 4] = ["mode", "module", "models", "modes"];

/// Keys of subagents, rules and instructions of other tools, with the field of skills for the same
/// purpose.
static FOREIGN: [(&str, &Field); 4] =
    [("tools", &ALLOWED_TOOLS), ("globs", &PATHS), ("applyTo", &PATHS), ("apply-to", &PATHS)];

/// Minimum similarity of a key to a field.
const MIN_SIMILARITY: f64 = 0.8;

pub(super) static UNKNOWN: Rule = Rule::new(
    RuleId::FieldUnknown,
    Severity::Hint,
    "No agent reads the key.",
    "The key has no effect. Information for people belongs under `metadata`, which every agent accepts.",
    "Remove the key, or move it under `metadata`.",
)
.choosable()
.sources(&[&SPECIFICATION, &CORPUS])
.texts("---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\npriority: high\n---\nRead the file.\n", PASSING);

pub(super) static MISSPELLED: Rule = Rule::new(
    RuleId::FieldMisspelled,
    Severity::Warning,
    "The key looks like a misspelled field.",
    "Agents match keys exactly, so this key has no effect.",
    "Correct the spelling of the key.",
)
.fixable()
.sources(&[&CORPUS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed_tools: [Read]\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nallowed-tools: [Read]\n---\nRead the file.\n",
);

pub(super) static INERT: Rule = Rule::new(
    RuleId::FieldInert,
    Severity::Hint,
    "No agent reads the key at the top level.",
    "The specification provides `metadata` for it. Claude Code asks the user before it runs a skill with unknown keys.",
    "Move the key under `metadata`.",
)
.choosable()
.sources(&[&SPECIFICATION, &CORPUS])
.texts("---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nauthor: me\n---\nRead the file.\n", PASSING);

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

pub(super) static TYPE: Rule = Rule::new(
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

pub(super) static VALUE: Rule = Rule::new(
    RuleId::FieldValue,
    Severity::Error,
    "The field does not accept the value.",
    "The agent ignores the field.",
    "Write one of the accepted values.",
)
.fixable()
.agents(&[Agent::ClaudeCode, Agent::VsCode])
.sources(&[&CLAUDE_SKILLS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\neffort: hihg\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\neffort: high\n---\nRead the file.\n",
);

pub(super) static DEPRECATED: Rule = Rule::new(
    RuleId::FieldDeprecated,
    Severity::Warning,
    "The value has a form that the agent reads but no longer documents.",
    "A later version may ignore the field.",
    "Write the current form.",
)
.agents(&[Agent::ClaudeCode])
.sources(&[&CLAUDE_CHANGES])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\neffort: 3\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\neffort: high\n---\nRead the file.\n",
);

pub(super) static CONTRADICTION: Rule = Rule::new(
    RuleId::FieldContradiction,
    Severity::Warning,
    "Two fields contradict each other.",
    "One of them has no effect, or nothing can start the skill.",
    "Change one of the two.",
)
.choosable()
.agents(&[Agent::ClaudeCode])
.sources(&[&CLAUDE_SKILLS])
.texts(
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nagent: Explore\n---\nRead the file.\n",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\ncontext: fork\nagent: Explore\n---\nRead the file.\n",
);

pub(super) static LENGTH: Rule = Rule::new(
    RuleId::FieldLength,
    Severity::Warning,
    "`compatibility` is empty or longer than 500 characters.",
    "The specification allows 1 to 500 characters.",
    "List only what the skill requires, or remove the key.",
)
.sources(&[&SPECIFICATION])
.texts(
    concat!(
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\ncompatibility: ",
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
        "and more\n---\nRead the file.\n"
    ),
    PASSING,
);

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(frontmatter) = cx.frontmatter() else { return };
    // Misspelled keys, by the field they resemble.
    let mut slips: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in &frontmatter.entries {
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
                Some(field) => slips.entry(field.key).or_default().push(entry),
                None => out.push(unknown_key(cx, entry)),
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
    !key.is_empty() && !key.contains([' ', '\n']) && !entry.key.span.is_empty()
}

fn unknown_key(cx: &Cx<'_>, entry: &Entry) -> Finding {
    let key = entry.key.text.as_str();
    let message = format!("no agent reads `{key}`");
    let finding = Finding::new(&UNKNOWN, entry.key.span, message).tag(Tag::Unnecessary);
    let meant = FOREIGN.iter().find(|(foreign, _)| *foreign == key).map(|(_, field)| *field);
    let finding = match meant.filter(|it| cx.entry(it.key).is_none() && fits(cx, it, entry)) {
        Some(field) => {
            let meant = field.key;
            let mut finding = finding;
            finding.diagnostic.message =
                format!("no agent reads `{key}` in a skill; did you mean `{meant}`?");
            let finding = finding.help(format!("Rename the key to `{meant}`, or remove it."));
            finding.fix(format!("Rename the key to `{meant}`"), entry.key.span, meant)
        }
        None => finding,
    };
    let finding = add_removal_fixes(cx, finding, entry);
    // The new name changes what the skill may do, or when it is loaded.
    if finding.fixes.len() == 1 { finding.into_drafts() } else { finding }
}

/// Returns whether the value of an unknown key is one of a field: tools of Claude Code, or a text
/// or list of texts.
fn fits(cx: &Cx<'_>, field: &'static Field, entry: &Entry) -> bool {
    let Some(fields) = cx.fields else { return false };
    let mut readings = field.readers.iter().map(|it| fields.coerce(&entry.value, it.reads));
    let is_read = readings.any(|it| it.faults.is_empty() && it.value.is_some());
    let written = entry.value.span.slice(cx.text);
    let words = written.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let mut words = words.filter(|it| !it.is_empty());
    let is_tool = |it: &str| find_tool(Agent::ClaudeCode, it).is_some();
    is_read && !written.is_empty() && (field.key != ALLOWED_TOOLS.key || words.all(is_tool))
}

/// Returns the field that a misspelled key resembles.
pub(super) fn misspelled_field(key: &str) -> Option<&'static Field> {
    match field_table::classify_key(key) {
        KeyKind::Field(_) => return None,
        KeyKind::Misspelled(field) => return Some(field),
        KeyKind::Unknown => {}
    }
    let keys = fields().iter().filter(|it| it.standing == FieldStatus::Read).map(|it| it.key);
    let normal = key.replace('_', "-").to_lowercase();
    let near = suggest::nearest(&normal, keys.clone(), MIN_SIMILARITY)
        .first()
        .copied()
        .or_else(|| keys.clone().find(|it| has_same_letters(key, it) || is_swapped(key, it)));
    near.and_then(field_table::find).filter(|it| is_slip(key, it.key))
}

/// Returns whether two words are equal except for case, hyphens and underscores.
fn has_same_letters(word: &str, other: &str) -> bool {
    fn letters(word: &str) -> impl Iterator<Item = char> {
        word.chars().filter(|it| !matches!(it, '-' | '_')).flat_map(char::to_lowercase)
    }
    letters(word).eq(letters(other))
}

/// Returns whether two words differ only by two swapped letters. In a short word, that is the only
/// typing error that does not make another word.
fn is_swapped(word: &str, meant: &str) -> bool {
    let (word, meant) = (word.as_bytes(), meant.as_bytes());
    let Some(at) = word.iter().zip(meant).position(|(a, b)| a != b) else { return false };
    word.len() == meant.len()
        && word.get(at + 1) == meant.get(at)
        && word.get(at) == meant.get(at + 1)
        && word.get(at + 2..) == meant.get(at + 2..)
}

/// Adds the two remedies for an unread key: move it, or remove it. A value that would be lost is
/// removed only when the user chooses so.
fn add_removal_fixes(cx: &Cx<'_>, finding: Finding, entry: &Entry) -> Finding {
    let removed = cx.removal(entry);
    match under_metadata(cx, entry) {
        Some(edits) => finding.fix_all("Move the key under `metadata`", edits).fix(
            "Remove the key",
            removed,
            "",
        ),
        None => finding.draft("Remove the key", removed, ""),
    }
}

/// Returns the edits that move a single-line value into `metadata`.
fn under_metadata(cx: &Cx<'_>, entry: &Entry) -> Option<Vec<Edit>> {
    let ValueKind::Scalar { style, text } = &entry.value.kind else { return None };
    let written = entry.value.span.slice(cx.text);
    if written.contains(['\n', '\r']) || entry.recovered || entry.value.span.is_empty() {
        return None;
    }
    if cx.is_in_braces() {
        return None;
    }
    // `metadata` contains strings: a value that parsers read as another type is quoted.
    let plain_text = *style != ScalarStyle::Plain
        || text.starts_with(char::is_alphabetic) && text.contains(char::is_whitespace);
    let value = if plain_text { written.to_owned() } else { quote::double_quote_scalar(text) };
    let key = entry.key.span.slice(cx.text);
    let lines = cx.lines_of(entry);
    let end = cx.line_break();
    let Some(metadata) = cx.entry("metadata") else {
        let text = format!("metadata:{end}  {key}: {value}{end}");
        return Some(vec![Edit { span: lines, text }]);
    };
    let removed = Edit { span: lines, text: String::new() };
    let put = |at: usize, text: String| Some(vec![Edit { span: Span::empty(at), text }, removed]);
    let behind = |it: &Entry| cx.lines_of(it).end;
    match &metadata.value.kind {
        // `metadata` is empty so far.
        ValueKind::Null if metadata.value.span.is_empty() => {
            put(behind(metadata), format!("  {key}: {value}{end}"))
        }
        ValueKind::Mapping { .. } if cx.is_in_metadata(&entry.key.text) => None,
        ValueKind::Mapping { flow: true, entries } => {
            // Inside braces, commas and brackets are syntax.
            let is_cut = |it: &str| it.contains(['[', ']', '{', '}', ',']);
            let is_plain = *style == ScalarStyle::Plain && plain_text;
            let value =
                if is_plain && is_cut(&value) { quote::double_quote_scalar(text) } else { value };
            let field = format!("{key}: {value}");
            match entries.last() {
                _ if is_cut(key) => None,
                Some(last) => put(last.span.end, format!(", {field}")),
                None => put(metadata.value.span.start + 1, field),
            }
        }
        ValueKind::Mapping { flow: false, entries } => {
            let last = entries.last()?;
            let start = cx.line(last.key.span.start).start;
            let indent = Span::new(start, last.key.span.start).slice(cx.text);
            put(behind(last), format!("{indent}{key}: {value}{end}"))
        }
        _ => None,
    }
}

/// Returns whether a key similar to a field is probably a typing error: short words are similar by
/// chance, and the plural of a single word is another word.
fn is_slip(key: &str, meant: &str) -> bool {
    let is_plural = key.strip_suffix('s') == Some(meant) && !meant.contains('-');
    (meant.len() > 4 && !is_plural) || is_swapped(key, meant)
}

/// Returns whether a misspelled key can be renamed without asking: its value fits the field, and
/// the key is not a word of its own.
fn is_certain(cx: &Cx<'_>, field: &'static Field, entry: &Entry) -> bool {
    let key = entry.key.text.as_str();
    // `path` can be a word of its own; `allowed-tool` is not.
    let is_start = field.key.strip_prefix(key).is_some() && !key.contains(['-', '_']);
    let is_glob = field.key == PATHS.key && entry.value.span.slice(cx.text).contains('*');
    let is_word = WORDS.contains(&key) || is_start && !is_glob;
    let Some(fields) = cx.fields.filter(|_| !is_word || field.misspellings.contains(&key)) else {
        return false;
    };
    let mut readings = field.readers.iter().map(|it| fields.coerce(&entry.value, it.reads));
    readings.any(|it| {
        let is_known = match &it.value {
            Some(FieldValue::Choice(item)) => {
                field.value(&item.text).is_some() || item.text.starts_with("claude-")
            }
            value => value.is_some(),
        };
        it.faults.is_empty() && is_known
    })
}

/// `alike` contains all keys that resemble this field, including this one.
fn misspelled(cx: &Cx<'_>, field: &'static Field, entry: &Entry, alike: &[&Entry]) -> Finding {
    let (key, meant) = (&entry.key.text, field.key);
    let message = format!("no agent reads `{key}`; did you mean `{meant}`?");
    let finding = Finding::new(&MISSPELLED, entry.key.span, message);
    let severity = match field.key {
        "name" if !cx.profiles_that_drop(&[LoadRule::NameRequired]).is_empty() => Severity::Error,
        _ => Severity::Warning,
    };
    let finding = finding.severity(severity);
    if cx.entry(meant).is_some() {
        return finding.help(format!("The frontmatter also has `{meant}`; remove one of the two."));
    }
    let finding = finding.fix(format!("Rename the key to `{meant}`"), entry.key.span, meant);
    if let Some(other) = alike.iter().find(|it| it.key.span != entry.key.span) {
        let other = &other.key.text;
        return finding
            .into_drafts()
            .help(format!("`{other}` resembles the same field; keep one of the two."));
    }
    if is_certain(cx, field, entry) { finding } else { finding.into_drafts() }
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

fn readers<'a>(cx: &Cx<'a>, field: &Field) -> Vec<&'a Profile> {
    cx.profiles_where(|it, _| it.reader.is_some_and(|it| field.reader(it).is_some()))
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
    let is_read = !readers(cx, field).is_empty() || unknown.iter().any(hides);
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

/// Maximum length of a key within a field that a message shows, in bytes.
const LONGEST_SHOWN_KEY: usize = 64;

fn check_types(cx: &Cx<'_>, field: &'static Field, entry: &Entry, out: &mut Vec<Finding>) {
    let Some(fields) = cx.fields else { return };
    let active = readers(cx, field);
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
    for (span, (fault, ignored)) in faults {
        let dropping: Vec<_> =
            ignored.iter().copied().filter(|it| dropped.iter().any(|d| d.id == it.id)).collect();
        out.push(type_finding(cx, field, entry, span, &fault, [&ignored, &dropping]));
    }
}

/// Returns true for Claude Code and `user-invocable`, of which it reads every value but a true one as
/// `false`.
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

fn check_value(cx: &Cx<'_>, field: &'static Field, entry: &Entry, out: &mut Vec<Finding>) {
    let Shape::Choice { open, .. } = field.shape else { return };
    let readers = readers(cx, field);
    if readers.is_empty() {
        return;
    }
    let Some(reading) = cx.fields.and_then(|it| it.read(field)).and_then(|it| it.value) else {
        return;
    };
    let span = entry.value.span;
    if let FieldValue::Integer(number) = reading {
        if field.key == EFFORT.key && number < 0 {
            let message = format!("Claude Code ignores `effort`: `{number}` is negative");
            out.push(Finding::new(&VALUE, span, message).about(&readers));
        } else if field.key == EFFORT.key {
            let message =
                "Claude Code reads a number in `effort`, but documents only names such as `high`";
            out.push(Finding::new(&DEPRECATED, span, message).tag(Tag::Deprecated));
        }
        return;
    }
    let FieldValue::Choice(item) = reading else { return };
    let is_known = match field.shape {
        Shape::Choice { open: false, .. } => field.understood(&item.text).is_some(),
        _ => field.find_value(&item.text).is_some(),
    };
    if item.text.is_empty() || is_known {
        return;
    }
    let words: Vec<&str> = field.values.iter().map(|it| it.name).collect();
    if open {
        check_open_value(cx, field, &readers, &item.text, span, &words, out);
        return;
    }
    let near = same_but_for_case(&item.text, &words)
        .or_else(|| suggest::nearest(&item.text, words.iter().copied(), 0.6).first().copied());
    // A longer text is shown only by its start.
    let written: String = item.text.lines().next().unwrap_or_default().chars().take(40).collect();
    let more = if written.len() < item.text.len() { "…" } else { "" };
    let message = format!(
        "{} `{}`: `{written}{more}` is not {}",
        with_verb(&readers, "ignores", "ignore"),
        field.key,
        join_or(&words)
    );
    let finding = Finding::new(&VALUE, span, message).about(&readers);
    out.push(match near {
        Some(near) => finding.fix(format!("Change to `{near}`"), span, near),
        None => finding,
    });
}

/// Reports a misspelled model or agent; any other word may be one that the user has.
fn check_open_value(
    cx: &Cx<'_>,
    field: &Field,
    readers: &[&Profile],
    written: &str,
    span: Span,
    words: &[&'static str],
    out: &mut Vec<Finding>,
) {
    let folded = same_but_for_case(written, words);
    let slip = suggest::nearest(written, words.iter().copied(), 0.75).first().copied();
    if field.key == AGENT.key {
        out.extend(agent_name::check(cx, &VALUE, written, span));
    }
    let is_model =
        field.key == MODEL.key && readers.iter().any(|it| it.reader == Some(Agent::ClaudeCode));
    let is_word = written.chars().all(char::is_alphabetic);
    let near = folded.or(slip).filter(|_| is_word).map(ToOwned::to_owned);
    let near = near.or_else(|| misspelled_family(written, words));
    if let Some(near) = near.filter(|_| is_model) {
        let message = format!("Claude Code has no model `{written}`; did you mean `{near}`?");
        let finding = Finding::new(&VALUE, span, message).severity(Severity::Warning);
        let finding = finding.help(model_help(words));
        out.push(finding.fix(format!("Change to `{near}`"), span, near));
    } else if let Some(id) = model_id(written, words).filter(|_| is_model) {
        // A gateway may have a model of that name.
        let message = format!("Anthropic has no model `{written}`; did you mean `{id}`?");
        let finding = Finding::new(&VALUE, span, message).severity(Severity::Information);
        let finding = finding.help(model_help(words));
        out.push(finding.draft(format!("Change to `{id}`"), span, id));
    }
}

/// Returns the help about an unknown model.
fn model_help(words: &[&str]) -> String {
    format!("Write {} or the id of a model.", join_or(words).replace(" or ", ", "))
}

/// Returns the id of a model whose version is written with a dot, or that lacks its first part:
/// `claude-sonnet-4.5`, `sonnet-4-5`.
fn model_id(written: &str, families: &[&str]) -> Option<String> {
    static VERSIONED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(?:claude-)?([a-z]+)-\d(?:[.-]\d(?:-\d{8})?|-\d{8})$")
            .expect("the expression is valid")
    });
    let found = VERSIONED.captures(written)?;
    let id = written.replace('.', "-");
    let id = if id.starts_with("claude-") { id } else { format!("claude-{id}") };
    let is_family = families.contains(&&found[1]) && &found[1] != "inherit";
    (is_family && id != written).then_some(id)
}

fn same_but_for_case(written: &str, words: &[&'static str]) -> Option<&'static str> {
    words.iter().copied().find(|it| it.eq_ignore_ascii_case(written))
}

/// Returns the full name of a model whose family is misspelled: `claude-sonet-4-5`.
fn misspelled_family(model: &str, families: &[&str]) -> Option<String> {
    let rest = model.strip_prefix("claude-")?;
    let is_family = |it: &&str| it.len() > 3 && it.chars().all(char::is_alphabetic);
    let written = rest.split('-').find(is_family).filter(|it| !families.contains(it))?;
    let meant = families.iter().find(|it| it.len() > 3 && suggest::n_errors(written, it) == 1)?;
    Some(format!("claude-{}", rest.replacen(written, meant, 1)))
}

fn check_contradictions(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(fields) = cx.fields else { return };
    if !cx.applies_to(CONTRADICTION.agents) {
        return;
    }
    let forks = fields.text(&CONTEXT).is_some_and(|it| it == "fork");
    for field in [&AGENT, &BACKGROUND] {
        if let Some(entry) = fields.entry(field).filter(|it| !forks && !it.value.is_null()) {
            let message = format!("`{}` has no effect without `context: fork`", field.key);
            let finding = Finding::new(&CONTRADICTION, entry.key.span, message);
            let finding = finding.help("Add `context: fork`, or remove the field.");
            let finding = finding.tag(Tag::Unnecessary);
            let removed = cx.removal(entry);
            out.push(if fields.entry(&CONTEXT).is_none() {
                let edits = vec![cx.put_before(entry, "context: fork")];
                finding.fix_all("Add `context: fork`", edits).fix("Remove the key", removed, "")
            } else {
                finding.draft("Remove the key", removed, "")
            });
        }
    }
    let by_model = fields.switch(&DISABLE_MODEL_INVOCATION) != Some(true);
    let by_user = fields.switch(&USER_INVOCABLE) != Some(false);
    if let Some(entry) = fields.entry(&USER_INVOCABLE).filter(|_| !by_model && !by_user) {
        let message = "neither the model nor the user can start this skill";
        let finding = Finding::new(&CONTRADICTION, entry.span, message);
        let finding = finding.help("Allow the model or the user to start it.");
        let finding = finding.severity(Severity::Error);
        let finding = finding.draft("Let the user start it", cx.removal(entry), "");
        out.push(match fields.entry(&DISABLE_MODEL_INVOCATION) {
            Some(other) => finding.draft("Let the model start it", cx.removal(other), ""),
            None => finding,
        });
    }
    let allowed = cx.items(&ALLOWED_TOOLS);
    let allowed: HashSet<&str> = allowed.iter().map(|it| it.text.as_str()).collect();
    for tool in cx.items(&DISALLOWED_TOOLS) {
        if allowed.contains(tool.text.as_str()) {
            let message = format!("`{}` is both allowed and disallowed", tool.text);
            let finding = Finding::new(&CONTRADICTION, tool.span, message);
            out.push(finding.help("Remove it from one of the two lists."));
        }
    }
}

/// Reports a value that is not a string, with the agents that drop the skill for it by one of
/// `load_rules`.
pub(super) fn not_text(
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
