//! Checks of names of subagents, which may be built into Claude Code or files of the worktree.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use skills_agents::field_table::{AGENT, Agent};
use skills_syntax::diagnostic::Severity;
use skills_syntax::suggest;
use skills_syntax::text::Span;

use super::expression::expression;
use super::finding::Finding;
use super::fs_context::PathKind;
use super::rule::Rule;
use super::subject::Cx;

/// Reports a name that nearly equals that of a built-in agent or of one of the project, unless the
/// project has an agent of that name.
pub(super) fn check(
    cx: &Cx<'_>,
    rule: &'static Rule,
    written: &str,
    span: Span,
) -> Option<Finding> {
    let words: Vec<&str> = AGENT.values.iter().map(|it| it.name).collect();
    if words.contains(&written) {
        return None;
    }
    // The skill is in `.claude/skills/NAME`.
    let file = format!("../../agents/{written}.md");
    if matches!(cx.fs.look(&file), Some(PathKind::File { .. })) {
        return None;
    }
    let files = cx.fs.first_matches("**/.claude/agents/**/*.md");
    let stem = |it: &'_ String| {
        let name = it.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".md").unwrap_or(name).to_owned()
    };
    let own: Vec<String> = files.iter().map(stem).collect();
    if own.iter().any(|it| it == written) {
        return None;
    }
    let built_in = words
        .iter()
        .copied()
        .find(|it| it.eq_ignore_ascii_case(written))
        .or_else(|| misspelled_agent(written, &words, 0));
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    // The agent's name may be another form of its file's name.
    let is_form = |it: &str| {
        !doubles_end(written, it) && (it.starts_with(written) || written.starts_with(it))
    };
    let in_case = own.iter().copied().find(|it| it.eq_ignore_ascii_case(written));
    let own = || {
        let slip = || misspelled_agent(written, &own, MIN_OWN_LEN).filter(|it| !is_form(it));
        in_case.or_else(slip)
    };
    let (message, near) = if let Some(near) = built_in {
        (format!("Claude Code has no built-in agent `{written}`"), near)
    } else {
        (format!("`.claude/agents` has no agent `{written}`"), own()?)
    };
    let message = format!("{message}; did you mean `{near}`?");
    // The file can have a name in another case.
    let severity = if in_case == Some(near) { Severity::Information } else { Severity::Warning };
    let finding = Finding::new(rule, span, message).severity(severity);
    let help = "Write a built-in agent's name, or that of a file in `.claude/agents`.";
    Some(finding.help(help).draft(format!("Change to `{near}`"), span, near))
}

/// A call of a subagent in a body: `Task(subagent_type="Explore")`.
static CALLS: LazyLock<Regex> = LazyLock::new(|| {
    expression(r#"\bsubagent_type["']?\s*[=:]\s*["'](?P<name>[A-Za-z][\w-]*)["']"#)
});

/// Maximum number of different names in the calls of a body that are checked.
const MAX_NAMES: usize = 64;

/// Reports misspelled names in the calls of a body, each once. Other agents, such as Cursor, write
/// names of their own in the same form.
pub(super) fn check_calls(cx: &Cx<'_>, rule: &'static Rule, out: &mut Vec<Finding>) {
    let body = cx.document.body;
    let written = body.slice(cx.text);
    if !cx.applies_to(&[Agent::ClaudeCode]) || !written.contains("subagent_type") {
        return;
    }
    let mut seen = HashSet::new();
    let names = CALLS.captures_iter(written).filter_map(|it| it.name("name"));
    for name in names.filter(|it| seen.insert(it.as_str())).take(MAX_NAMES) {
        let span = Span::new(body.start + name.start(), body.start + name.end());
        let finding = check(cx, rule, name.as_str(), span);
        out.extend(finding.map(|it| it.severity(Severity::Information)));
    }
}

/// Minimum length of the name of a worktree's agent that is recognised with a typing error.
const MIN_OWN_LEN: usize = 4;

/// Returns the agent whose name differs by one typing error, in any case, if both names have a
/// minimum length. A user's own agent can have a longer name: `explorer`.
fn misspelled_agent<'n>(written: &str, words: &[&'n str], min_len: usize) -> Option<&'n str> {
    const MAX_COMPARED: usize = 64;
    let lower = written.to_lowercase();
    let is_slip = |meant: &str| {
        let meant = meant.to_lowercase();
        let is_longer =
            lower.starts_with(&meant) && !meant.contains('-') && !doubles_end(&lower, &meant);
        let is_long = lower.len().min(meant.len()) >= min_len;
        is_long
            && !is_longer
            && suggest::has_same_digits(&lower, &meant)
            && suggest::n_errors(&lower, &meant) == 1
    };
    words.iter().copied().find(|it| written.len() <= MAX_COMPARED && is_slip(it))
}

/// Returns whether a word is another one with its last letter twice: `Plann`.
fn doubles_end(word: &str, meant: &str) -> bool {
    let rest = word.strip_prefix(meant);
    rest.is_some_and(|it| it.chars().count() == 1 && it.chars().next() == meant.chars().next_back())
}

#[cfg(test)]
mod tests {
    use super::MAX_NAMES;
    use crate::testing::Fixture;

    #[test]
    fn misspelled_agent_is_found_only_among_the_first_names_of_a_body() {
        for (n, expected) in [(MAX_NAMES - 1, 1), (MAX_NAMES, 0)] {
            let others = (0..n).map(|it| format!("Task(subagent_type=\"own-{it}\")\n"));
            let text = format!(
                "---\nname: pdf\ndescription: Reads. Use when asked.\n---\n{}Task(subagent_type=\"Explroe\")\n",
                others.collect::<String>()
            );
            let found = Fixture::new(&text).check();
            let n_found = found.iter().filter(|it| it.rule.id.as_str() == "ref/unknown").count();
            assert_eq!(n_found, expected, "{n}");
        }
    }
}
