//! Rules `description/*`: problems with the description, which is all that a model sees before it
//! chooses a skill.

mod wording;

use skills_agents::field_table::{
    Agent, CLAUDE_MAX_DESCRIPTION, CLAUDE_SKILLS, CODEX, DESCRIPTION, GEMINI, NAME, OPENCODE,
    OnViolation, PLUGIN, SPECIFICATION, WHEN_TO_USE,
};
use skills_agents::loaders::LoadRule;
use skills_agents::profile::DescriptionRule;
use skills_agents::scalar::YamlType;
use skills_agents::yaml_library::YamlLibrary;
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::Edit;
use skills_syntax::parse::{Closing, Frontmatter, ScalarStyle, Value, ValueKind};
use skills_syntax::text::{Span, grouped};

use super::affected_agents::with_verb;
use super::field;
use super::finding::{Finding, Fix, Offer};
use super::rule::{PASSING, Rule};
use super::rule_id::RuleId;
use super::subject::Cx;

use wording::{DRAFT, check_wording};
pub(super) use wording::{MARKUP, NO_USE_CASE, PERSON, UNWRITTEN};

pub(super) static MISSING: Rule = Rule::new(
    RuleId::DescriptionMissing,
    Severity::Warning,
    "The skill has no description.",
    "The description is all that a model sees before it chooses a skill. Most agents drop a skill without one.",
    "Add a `description:` that says what the skill does and when to use it.",
)
.choosable()
.whole_file()
.sources(&[&SPECIFICATION, &CODEX, &GEMINI, &OPENCODE])
.texts("---\nname: pdf\n---\nRead the file.\n", PASSING);

pub(super) static EMPTY: Rule = Rule::new(
    RuleId::DescriptionEmpty,
    Severity::Warning,
    "The description is empty.",
    "Most agents treat an empty description as missing.",
    "Describe what the skill does and when to use it.",
)
.sources(&[&SPECIFICATION, &CODEX])
.texts("---\nname: pdf\ndescription: \"\"\n---\nRead the file.\n", PASSING);

pub(super) static TYPE: Rule = Rule::new(
    RuleId::DescriptionType,
    Severity::Warning,
    "The description is not a string.",
    "Numbers, booleans, lists and maps are not strings in YAML. Agents that require a string drop the skill.",
    "Quote the description.",
)
.fixable()
.sources(&[&OPENCODE, &PLUGIN])
.texts("---\nname: pdf\ndescription: 42\n---\nRead the file.\n", PASSING);

pub(super) static LENGTH: Rule = Rule::new(
    RuleId::DescriptionLength,
    Severity::Warning,
    "The description is longer than 1,024 characters.",
    "The specification allows no more. Codex shows its model the first 1,021 characters and `...`.",
    "Move details that do not affect the choice of the skill into the body.",
)
.sources(&[&SPECIFICATION, &CODEX])
.texts(LONG, PASSING);

pub(super) static LISTING: Rule = Rule::new(
    RuleId::DescriptionListing,
    Severity::Warning,
    "Claude Code truncates the description and `when_to_use` in its skill listing.",
    "The listing shows 1,536 characters of both together; the rest never reaches the model.",
    "Start with the words that users say, and shorten the rest.",
)
.agents(&[Agent::ClaudeCode])
.sources(&[&CLAUDE_SKILLS])
.texts(LISTED, PASSING);

/// A hundred digits for each of the numbers.
macro_rules! hundreds {
    (@ $nth:literal) => {
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
    };
    ($($nth:literal)*) => {
        concat!($(hundreds!(@ $nth)),*)
    };
}

const LONG: &str = concat!(
    "---\nname: pdf\ndescription: Use when asked. ",
    hundreds!(1 2 3 4 5 6 7 8 9 10),
    "012345678901234567890123456789\n---\nRead the file.\n"
);

const LISTED: &str = concat!(
    "---\nname: pdf\ndescription: Use when asked. ",
    hundreds!(1 2 3 4 5 6 7 8),
    "\nwhen_to_use: ",
    hundreds!(1 2 3 4 5 6 7 8),
    "\n---\nRead the file.\n"
);

const MAX: usize = 1024;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(frontmatter) = cx.delimited() else { return };
    if frontmatter.closing != Closing::Dashes || !cx.has_room_for_fields() {
        return;
    }
    let Some(entry) = cx.entry(DESCRIPTION.key) else {
        // Claude Code describes a command by its first line.
        if cx.is_command {
            return;
        }
        let finding = missing(cx, &MISSING, cx.opening(), "`description` is missing");
        out.push(finding.offer(Offer::Draft(draft(cx, frontmatter))));
        return;
    };
    let value = frontmatter.resolve(&entry.value);
    let what = YamlType::of(value, YamlLibrary::JsYaml3);
    match value.as_str() {
        _ if what == YamlType::Null => {
            out.push(missing(cx, &EMPTY, entry.key.span, "`description` is empty"));
        }
        Some(text) if text.trim().is_empty() => {
            out.push(missing(cx, &EMPTY, entry.value.span, "`description` is empty"));
        }
        text => {
            if what != YamlType::Text {
                out.push(field::not_text(cx, &TYPE, entry, what, DROPPED));
            }
            if let Some(text) = text {
                check_length(cx, &entry.value, text, out);
                check_wording(cx, &entry.value, text, out);
            }
        }
    }
}

/// Returns an edit that inserts a placeholder description after the name.
fn draft(cx: &Cx<'_>, frontmatter: &Frontmatter) -> Fix {
    let line = format!("description: {DRAFT}");
    let edits = match frontmatter.get(NAME.key).filter(|_| !cx.is_in_braces()) {
        Some(name) => {
            let span = Span::empty(cx.lines_of(name).end);
            vec![Edit { span, text: format!("{line}{}", cx.line_break()) }]
        }
        None => cx.put_first(&line).into_iter().collect(),
    };
    Fix { title: "Add a description".to_owned(), edits }
}

/// Load rules that a skill without a textual description violates.
const DROPPED: &[LoadRule] = &[LoadRule::DescriptionRequired, LoadRule::DescriptionText];

fn missing(cx: &Cx<'_>, rule: &'static Rule, span: Span, what: &str) -> Finding {
    let dropped = cx.profiles_that_drop(DROPPED);
    let unlisted = cx.profiles_where(|_, it| {
        it.unlisted.as_ref().is_some_and(|it| it.rule == LoadRule::DescriptionListed)
    });
    let guessed = cx.profiles_where(|it, _| {
        matches!(
            it.description,
            DescriptionRule::ElseFirstBodyLine
                | DescriptionRule::BlankElseFirstBodyLine
                | DescriptionRule::ElseFirstHeading
        )
    });
    let told = (dropped.as_slice(), unlisted.as_slice(), guessed.as_slice());
    let (about, severity, message) = match told {
        ([], [], []) => (&[][..], Severity::Warning, what.to_owned()),
        ([], [], guessed) => {
            let who = with_verb(guessed, "uses", "use");
            (guessed, Severity::Warning, format!("{what}; {who} the first line of the body"))
        }
        ([], hidden, _) => {
            let who = with_verb(hidden, "does not list", "do not list");
            (hidden, Severity::Warning, format!("{who} this skill: {what}"))
        }
        (dropped, _, _) => {
            let who = with_verb(dropped, "drops", "drop");
            (dropped, Severity::Error, format!("{who} this skill: {what}"))
        }
    };
    Finding::new(rule, span, message).severity(severity).about(about)
}

fn check_length(cx: &Cx<'_>, value: &Value, text: &str, out: &mut Vec<Finding>) {
    let length = text.trim().chars().count();
    if length > MAX {
        let cut = cx.profiles_where(|it, _| it.reader.is_some_and(cuts_long_description));
        let who = match cut.as_slice() {
            [] => String::new(),
            them => format!("; {} only 1,021", with_verb(them, "shows", "show")),
        };
        let length = grouped(length as u64);
        let message = format!("the description has {length} characters; the maximum is 1,024{who}");
        let dropped = cx.profiles_that_drop(&[LoadRule::DescriptionLength]);
        let (severity, message) = match dropped.as_slice() {
            [] => (Severity::Warning, message),
            them => {
                let who = with_verb(them, "drops", "drop");
                (Severity::Error, format!("{who} this skill: {message}"))
            }
        };
        let finding = Finding::new(&LENGTH, span_after(cx, value, text, MAX), message);
        out.push(finding.severity(severity).about(&dropped));
    }
    if !cx.applies_to(LISTING.agents) {
        return;
    }
    let more = cx.fields.and_then(|it| it.text(&WHEN_TO_USE)).unwrap_or_default();
    let more_length = more.trim().chars().count();
    if length + more_length > CLAUDE_MAX_DESCRIPTION {
        let (value, text, from) = match cx.entry(WHEN_TO_USE.key) {
            Some(entry) if length <= CLAUDE_MAX_DESCRIPTION => {
                (&entry.value, &*more, CLAUDE_MAX_DESCRIPTION - length)
            }
            _ => (value, text, CLAUDE_MAX_DESCRIPTION),
        };
        let total = grouped((length + more_length) as u64);
        let message = format!("Claude Code lists only the first 1,536 of these {total} characters");
        out.push(Finding::new(&LISTING, span_after(cx, value, text, from), message));
    }
}

/// Returns whether the agent itself cuts a description that is longer than the specification
/// allows.
fn cuts_long_description(agent: Agent) -> bool {
    let limit = DESCRIPTION.reader(agent).and_then(|it| it.limit);
    limit.is_some_and(|it| it.breach == OnViolation::Cut && it.max == Some(MAX))
}

/// Returns the part of a value after `count` characters, or the value's first line if its text
/// differs from its source.
fn span_after(cx: &Cx<'_>, value: &Value, text: &str, count: usize) -> Span {
    let quotes = match value.kind {
        ValueKind::Scalar { style: ScalarStyle::Plain, .. } => 0,
        ValueKind::Scalar {
            style: ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted, ..
        } => 1,
        _ => return cx.line(value.span.start).within(value.span),
    };
    let inner = Span::new(value.span.start + quotes, value.span.end.saturating_sub(quotes));
    if inner.slice(cx.text) != text {
        return cx.line(value.span.start).within(value.span);
    }
    let at = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    Span::new(inner.start + at, inner.end)
}
