//! A list of skills as a table, and what to say when it is empty.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::wire::{Entry, ExplainResult, ListResult, Scope, State};

use crate::cli::explain::tree::roots_considered;
use crate::cli::style::{self, paint};
use crate::cli::terminal::Terminal;
use crate::cli::text::{count, cut, pad, plain, width, wrap};

/// How a list is rendered.
pub(in crate::cli) struct View<'a> {
    pub(in crate::cli) all: bool,
    pub(in crate::cli) profile: &'a str,
    pub(in crate::cli) cwd: &'a Path,
    /// Whether the bundled sample worktree can be named by its relative path.
    pub(in crate::cli) in_checkout: bool,
}

/// Returns the table of skills and its last line; nothing when there are none at all.
pub(in crate::cli) fn render(result: &ListResult, view: &View<'_>, terminal: &Terminal) -> String {
    let is_shown = |skill: &&Entry| view.all || skill.state.is_listed();
    let shown: Vec<&Entry> = result.skills.iter().filter(is_shown).collect();
    let mut text = String::new();
    let columns = Columns::of(&shown, view.all, terminal);
    for (scope, root, skills) in grouped(&shown) {
        let heading = terminal.path(root, skills[0].path_encoding);
        let _ =
            writeln!(text, "{}  {}", paint(style::HEADING, heading), paint(style::FAINT, scope));
        for skill in skills {
            push_row(skill, &columns, terminal, &mut text);
        }
        text.push('\n');
    }
    if result.skills.iter().any(|skill| skill.state.is_listed()) {
        push_footer(result, view, &mut text);
    }
    text
}

// Groups in the order in which they first appear: the profile's own order of roots.
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

/// The widths of a table, the same in all its groups.
struct Columns {
    name: usize,
    state: Option<usize>,
    description: Option<usize>,
}

impl Columns {
    const INDENT: usize = 2;
    const GAP: usize = 2;
    // Longer names stick out; one of them must not squeeze every description.
    const WIDEST_NAME: usize = 32;

    fn of(shown: &[&Entry], all: bool, terminal: &Terminal) -> Self {
        let names = shown.iter().map(|skill| width(&shown_name(skill)));
        let name = names.max().unwrap_or(0).min(Self::WIDEST_NAME);
        let states = shown.iter().map(|skill| skill.state.as_str().len());
        let state = all.then(|| states.max().unwrap_or(0));
        let taken = Self::INDENT + name + Self::GAP + state.map_or(0, |state| state + Self::GAP);
        // On a very narrow terminal the description wraps rather than vanish.
        let description = terminal.width.map(|width| width.saturating_sub(taken).max(20));
        Self { name, state, description }
    }
}

fn shown_name(skill: &Entry) -> String {
    plain(&skill.name)
}

fn push_row(skill: &Entry, columns: &Columns, terminal: &Terminal, text: &mut String) {
    let name = pad(&shown_name(skill), columns.name);
    let name = if skill.state.is_listed() { paint(style::NAME, name) } else { name };
    let state = columns.state.map_or(String::new(), |columns| {
        format!("{}  ", paint(style::of_state(skill.state), pad(skill.state.as_str(), columns)))
    });
    let notes = notes(skill);
    let room = columns.description.map(|room| room.saturating_sub(width(&notes)));
    let description = plain(skill.description.as_deref().unwrap_or("(no description)"));
    let description = room.map_or(description.clone(), |room| cut(&description, room));
    let row = format!("  {name}  {state}{description}{}", paint(style::WAITING, notes));
    let _ = writeln!(text, "{}", row.trim_end());
    if columns.state.is_some()
        && let Some(reason) = &skill.reason
    {
        for line in wrap(&plain(reason), terminal.width.map(|width| width.saturating_sub(4))) {
            let _ = writeln!(text, "    {}", paint(style::FAINT, line));
        }
    }
}

// What a person should know about a skill although it is listed.
fn notes(skill: &Entry) -> String {
    let mut notes = Vec::new();
    if skill.stale {
        notes.push("broken, older version shown".to_owned());
    }
    if skill.diagnostics.error > 0 {
        notes.push(count(skill.diagnostics.error.into(), "error"));
    }
    if skill.diagnostics.warning > 0 {
        notes.push(count(skill.diagnostics.warning.into(), "warning"));
    }
    if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) }
}

fn push_footer(result: &ListResult, view: &View<'_>, text: &mut String) {
    let listed = result.skills.iter().filter(|skill| skill.state.is_listed()).count() as u64;
    let _ = write!(text, "{}", paint(style::HEADING, count(listed, "skill")));
    if let Some(states) = not_shown(result) {
        let others = result.skills.len() as u64 - listed;
        let tail = if view.all { "" } else { ", `--all` lists them" };
        let _ = write!(text, " · {others} not shown to the model ({states}){tail}");
    }
    text.push('\n');
}

// How many there are in each state that is not listed: `1 shadowed, 2 invalid`.
fn not_shown(result: &ListResult) -> Option<String> {
    let mut states: BTreeMap<State, u64> = BTreeMap::new();
    for skill in result.skills.iter().filter(|skill| !skill.state.is_listed()) {
        *states.entry(skill.state).or_default() += 1;
    }
    let words: Vec<String> = states.iter().map(|(state, n)| format!("{n} {state}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns what to say when no skill is listed: where it was looked, and what to do.
pub(in crate::cli) fn render_none(
    looked: &ExplainResult,
    view: &View<'_>,
    terminal: &Terminal,
) -> String {
    let cwd = terminal.local_path(view.cwd);
    let mut text = format!("No skill for `{}` in {cwd}\n\n", plain(view.profile));
    let roots = roots_considered(&looked.steps, terminal);
    if !roots.is_empty() {
        let _ = writeln!(text, "{}", paint(style::HEADING, "Looked in"));
        text.push_str(&roots);
        text.push('\n');
    }
    let next = [
        ("skillsd explain NAME", "says why an agent does not see a skill"),
        ("skillsd list --all", "lists also what is not shown to the model"),
    ];
    let sample = ("cargo run --release -- list tests/samples/worktree", "lists the bundled sample");
    let next = next.into_iter().chain(view.in_checkout.then_some(sample));
    let next: Vec<_> =
        next.filter(|(command, _)| !view.all || !command.ends_with("--all")).collect();
    let columns = next.iter().map(|(command, _)| width(command)).max().unwrap_or(0);
    let _ = writeln!(text, "{}", paint(style::HEADING, "Next"));
    for (command, what) in next {
        let _ = writeln!(text, "  {}  {what}", paint(style::NAME, pad(command, columns)));
    }
    text
}
