//! List of one profile as a table, and the message for an empty list.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::wire::{
    DetectResult, Entry, ExplainResult, ListResult, Scope, SkillCost, State, Step,
};

use crate::explain::tree::roots_considered;
use crate::heading::{self, labelled};
use crate::listing_costs::{ListingCosts, cut_mark};
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{continued, count, cut, join_or_stack, pad, plain, width, wrap};

pub(crate) struct TableOptions<'a> {
    pub(crate) all: bool,
    pub(crate) tokens: bool,
    /// The costs of the skills whose entries are marked or counted.
    pub(crate) costs: &'a ListingCosts,
    pub(crate) detected: &'a DetectResult,
    pub(crate) cwd: &'a Path,
    /// True if the current directory is a checkout with the bundled sample worktree.
    pub(crate) in_checkout: bool,
}

impl TableOptions<'_> {
    fn cost(&self, skill: &Entry) -> Option<&SkillCost> {
        self.costs.get(&(skill.path.clone(), skill.name.clone()))
    }

    fn tokens_of(&self, skill: &Entry) -> String {
        self.cost(skill).map_or_else(String::new, |it| count(it.tokens, "token"))
    }
}

/// Renders the table of skills and its summary line; empty if there are no skills.
///
/// `skips` are steps of candidates that are not skills; each is shown below its root.
pub(crate) fn render(
    result: &ListResult,
    skips: &[Step],
    options: &TableOptions<'_>,
    terminal: &Terminal,
) -> String {
    let is_shown = |skill: &&Entry| options.all || skill.state.is_listed();
    let shown: Vec<&Entry> = result.skills.iter().filter(is_shown).collect();
    let mut text = String::new();
    let n_listed = result.skills.iter().filter(|skill| skill.state.is_listed()).count();
    if n_listed > 0 {
        let counted = Some(count(n_listed as u64, "skill"));
        text.push_str(&heading::render_one(options.detected, counted, terminal));
        text.push('\n');
    }
    let columns = Columns::of(&shown, options, terminal);
    for (scope, root, skills) in grouped(&shown) {
        let encoding = skills[0].path_encoding;
        let shown = terminal.path_from(options.cwd, root, encoding);
        let heading = paint(style::HEADING, shown);
        let heading = terminal.link(root, encoding, heading);
        let _ = writeln!(text, "{heading}  {}", paint(style::FAINT, scope));
        for skill in skills {
            push_row(skill, &columns, options, terminal, &mut text);
        }
        let is_here = |step: &&Step| step.root.as_deref() == Some(root);
        push_skips(skips.iter().filter(is_here), options.cwd, terminal, &mut text);
        text.push('\n');
    }
    // Roots without visible skills.
    let mut rest: BTreeMap<&str, Vec<&Step>> = BTreeMap::new();
    for step in skips {
        if let Some(root) = step.root.as_deref()
            && !shown.iter().any(|skill| skill.root == root)
        {
            rest.entry(root).or_default().push(step);
        }
    }
    for (root, steps) in rest {
        let heading = terminal.path_from(options.cwd, root, steps[0].path_encoding);
        let _ = writeln!(text, "{}", paint(style::HEADING, heading));
        push_skips(steps.into_iter(), options.cwd, terminal, &mut text);
        text.push('\n');
    }
    if n_listed > 0 {
        push_footer(result, options, terminal, &mut text);
    }
    // Without a footer, the last group has no line below it.
    text.truncate(text.trim_end_matches('\n').len());
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn push_skips<'a>(
    steps: impl Iterator<Item = &'a Step>,
    cwd: &Path,
    terminal: &Terminal,
    text: &mut String,
) {
    for step in steps {
        let path = step.path.as_deref().unwrap_or_default();
        let path = terminal.path_from(cwd, path, step.path_encoding);
        let reason = step.reason.as_deref().unwrap_or("could not be used");
        let line = format!("{path}: {}", terminal.prose_from(cwd, reason));
        let _ = writeln!(text, "  {}", paint(style::WAITING, continued(&line, 2, terminal.width)));
    }
}

// Groups are in order of first appearance, which is the profile's order of roots.
fn grouped<'a>(shown: &[&'a Entry]) -> Vec<(Scope, &'a str, Vec<&'a Entry>)> {
    let mut groups: Vec<(Scope, &str, Vec<&Entry>)> = Vec::new();
    let mut known: BTreeMap<(Scope, &str), usize> = BTreeMap::new();
    for skill in shown {
        let at = *known.entry((skill.scope, &skill.root)).or_insert(groups.len());
        if at == groups.len() {
            groups.push((skill.scope, &skill.root, Vec::new()));
        }
        groups[at].2.push(skill);
    }
    groups
}

struct Columns {
    name: usize,
    state: Option<usize>,
    tokens: Option<usize>,
    description: Option<usize>,
    // True if descriptions get their own lines.
    is_below: bool,
}

impl Columns {
    const INDENT: usize = 2;
    const GAP: usize = 2;
    // Longer names have a line of their own instead of squeezing every description.
    const WIDEST_NAME: usize = 32;
    // A narrower description is useless.
    const NARROWEST_DESCRIPTION: usize = 24;

    fn of(shown: &[&Entry], options: &TableOptions<'_>, terminal: &Terminal) -> Self {
        let names = shown.iter().map(|skill| width(&shown_name(skill)));
        let name = names.max().unwrap_or(0).min(Self::WIDEST_NAME);
        let states = shown.iter().map(|skill| skill.state.as_str().len());
        let state = options.all.then(|| states.max().unwrap_or(0));
        let tokens = shown.iter().map(|skill| width(&options.tokens_of(skill)));
        let tokens = options.tokens.then(|| tokens.max().unwrap_or(0));
        let others = [state, tokens].into_iter().flatten().map(|it| it + Self::GAP);
        let taken = Self::INDENT + name + Self::GAP + others.sum::<usize>();
        let description = terminal.width.map(|width| width.saturating_sub(taken));
        let is_below = description.is_some_and(|room| room < Self::NARROWEST_DESCRIPTION);
        Self { name, state, tokens, description, is_below }
    }
}

fn shown_name(skill: &Entry) -> String {
    plain(&skill.name)
}

fn push_row(
    skill: &Entry,
    columns: &Columns,
    options: &TableOptions<'_>,
    terminal: &Terminal,
    text: &mut String,
) {
    let name = shown_name(skill);
    let is_below = columns.is_below || terminal.width.is_some() && width(&name) > columns.name;
    // The last column of a line is not padded.
    let ends_at = |is_last: bool, room: usize| if is_last && is_below { 0 } else { room };
    let name = pad(&name, ends_at(columns.state.is_none(), columns.name));
    let name = if skill.state.is_listed() { paint(style::NAME, name) } else { name };
    let name = terminal.link(&skill.path, skill.path_encoding, name);
    let state = columns.state.map_or(String::new(), |room| {
        let state = pad(skill.state.as_str(), ends_at(true, room));
        format!("{}  ", paint(style::state_style(skill.state), state))
    });
    let tokens = columns
        .tokens
        .map_or(String::new(), |room| format!("{:>room$}  ", options.tokens_of(skill)));
    let notes = notes(skill, options.cost(skill));
    let below = || terminal.width.map(|it| it.saturating_sub(2 * Columns::INDENT));
    let room = if is_below { below() } else { columns.description };
    let room = room.map(|room| room.saturating_sub(width(&notes)));
    let description = plain(skill.description.as_deref().unwrap_or("(no description)"));
    let description = room.map_or(description.clone(), |room| cut(&description, room));
    let notes = paint(style::WAITING, notes);
    let gap = if is_below { "\n    " } else { "" };
    let row = format!("  {name}  {state}{tokens}{gap}{description}{notes}");
    for line in row.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if columns.state.is_some()
        && let Some(reason) = &skill.reason
    {
        for line in wrap(
            &terminal.prose_from(options.cwd, reason),
            terminal.width.map(|width| width.saturating_sub(4)),
        ) {
            let _ = writeln!(text, "    {}", paint(style::FAINT, line));
        }
    }
}

// Problems of a listed skill.
fn notes(skill: &Entry, cost: Option<&SkillCost>) -> String {
    let mut notes = Vec::new();
    notes.extend(cost.and_then(|it| cut_mark(it.shown)).map(str::to_owned));
    if skill.stale {
        notes.push("broken right now".to_owned());
    }
    if skill.diagnostics.error > 0 {
        notes.push(count(skill.diagnostics.error.into(), "error"));
    }
    if skill.diagnostics.warning > 0 {
        notes.push(count(skill.diagnostics.warning.into(), "warning"));
    }
    if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) }
}

fn push_footer(
    result: &ListResult,
    options: &TableOptions<'_>,
    terminal: &Terminal,
    text: &mut String,
) {
    // With `--all` they are in the table.
    let others = not_shown(result).filter(|_| !options.all);
    let advice = others.as_ref().map(|_| "skillsd list --all".to_owned());
    let n_cut = options.costs.values().filter(|it| cut_mark(it.shown).is_some()).count();
    let cut = (n_cut > 0).then(|| format!("{n_cut} not shown whole · skillsd budget"));
    let parts: Vec<String> = [cut, others, advice].into_iter().flatten().collect();
    for line in join_or_stack(&parts, terminal.width).lines() {
        let _ = writeln!(text, "{}", paint(style::HEADING, line));
    }
}

// Counts the skills that are not visible by state: `3 not shown: 1 shadowed, 2 invalid`.
fn not_shown(result: &ListResult) -> Option<String> {
    let mut states: BTreeMap<State, u64> = BTreeMap::new();
    for skill in result.skills.iter().filter(|skill| !skill.state.is_listed()) {
        *states.entry(skill.state).or_default() += 1;
    }
    let words: Vec<String> = states.iter().map(|(state, n)| format!("{n} {state}")).collect();
    let n_others: u64 = states.values().sum();
    (n_others > 0).then(|| format!("{n_others} not shown: {}", words.join(", ")))
}

/// Renders the message for an empty list: the searched roots, and next commands.
pub(crate) fn render_none(
    result: &ListResult,
    explained: &ExplainResult,
    options: &TableOptions<'_>,
    terminal: &Terminal,
) -> String {
    let cwd = terminal.local_path(options.cwd);
    let others = not_shown(result).filter(|_| !options.all).map(|others| format!(" · {others}"));
    let detected = options.detected;
    let why = detected.reason.as_deref().map(|it| format!(" · {}", terminal.prose(it)));
    let mut text = format!(
        "No skill for {} in {cwd}{}{}\n\n",
        labelled(&detected.profile, &detected.agent, detected.confidence),
        others.as_deref().unwrap_or(""),
        why.as_deref().unwrap_or("")
    );
    let roots = roots_considered(&explained.steps, terminal);
    if !roots.is_empty() {
        let _ = writeln!(text, "{}", paint(style::HEADING, "Searched"));
        text.push_str(&roots);
        text.push('\n');
    }
    let all = ("skillsd list --all", "also lists skills that are not shown, with reasons");
    let explain = ("skillsd explain NAME", "explains why an agent does not see a skill");
    let sample = ("cargo run -- list tests/samples/worktree", "lists a sample");
    let next = [
        (others.is_some() && !options.all).then_some(all),
        Some(explain),
        options.in_checkout.then_some(sample),
    ];
    let next: Vec<_> = next.into_iter().flatten().collect();
    let columns = next.iter().map(|(command, _)| width(command)).max().unwrap_or(0);
    let _ = writeln!(text, "{}", paint(style::HEADING, "Next"));
    for (command, what) in next {
        let _ = writeln!(text, "  {}  {what}", paint(style::NAME, pad(command, columns)));
    }
    text
}

#[cfg(test)]
mod tests;
