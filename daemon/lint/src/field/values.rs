//! Rules about values that a field does not accept, or that contradict each other.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use skills_agents::field_table::{
    AGENT, ALLOWED_TOOLS, Agent, BACKGROUND, CLAUDE_CHANGES, CLAUDE_SKILLS, CONTEXT,
    DISABLE_MODEL_INVOCATION, DISALLOWED_TOOLS, EFFORT, Field, MODEL, SPECIFICATION, Shape,
    USER_INVOCABLE,
};
use skills_agents::fields::FieldValue;
use skills_agents::profile::Profile;
use skills_syntax::diagnostic::Severity;
use skills_syntax::parse::Entry;
use skills_syntax::suggest;
use skills_syntax::text::Span;

use crate::affected_agents::{join_or, with_verb};
use crate::agent_name;
use crate::expression::expression;
use crate::finding::{Finding, Tag};
use crate::rule::{PASSING, Rule};
use crate::rule_id::RuleId;
use crate::subject::Cx;

pub(crate) static VALUE: Rule = Rule::new(
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

pub(crate) static DEPRECATED: Rule = Rule::new(
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

pub(crate) static CONTRADICTION: Rule = Rule::new(
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

pub(crate) static LENGTH: Rule = Rule::new(
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

pub(super) fn check_value(
    cx: &Cx<'_>,
    field: &'static Field,
    entry: &Entry,
    out: &mut Vec<Finding>,
) {
    let Shape::Choice { open, .. } = field.shape else { return };
    let readers = cx.readers(field);
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
    static VERSIONED: LazyLock<Regex> =
        LazyLock::new(|| expression(r"^(?:claude-)?([a-z]+)-\d(?:[.-]\d(?:-\d{8})?|-\d{8})$"));
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

pub(super) fn check_contradictions(cx: &Cx<'_>, out: &mut Vec<Finding>) {
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
