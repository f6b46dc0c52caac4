//! List of one profile as a table, and the message for an empty list.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::wire::{DetectResult, Entry, ExplainResult, ListResult, Scope, State, Step};

use crate::explain::tree::roots_considered;
use crate::heading::{self, agent_name};
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{count, cut, pad, parted, plain, width, wrap};

/// Options of rendering a list.
pub(crate) struct TableOptions<'a> {
    pub(crate) all: bool,
    /// The agent whose list it is.
    pub(crate) detected: &'a DetectResult,
    pub(crate) cwd: &'a Path,
    /// True if the current directory is a checkout with the bundled sample worktree.
    pub(crate) in_checkout: bool,
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
    let columns = Columns::of(&shown, options.all, terminal);
    for (scope, root, skills) in grouped(&shown) {
        let encoding = skills[0].path_encoding;
        let heading = paint(style::HEADING, terminal.path(root, encoding));
        let heading = terminal.link(root, encoding, heading);
        let _ = writeln!(text, "{heading}  {}", paint(style::FAINT, scope));
        for skill in skills {
            push_row(skill, &columns, terminal, &mut text);
        }
        let is_here = |step: &&Step| step.root.as_deref() == Some(root);
        push_skips(skips.iter().filter(is_here), terminal, &mut text);
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
        let heading = terminal.path(root, steps[0].path_encoding);
        let _ = writeln!(text, "{}", paint(style::HEADING, heading));
        push_skips(steps.into_iter(), terminal, &mut text);
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

fn push_skips<'a>(steps: impl Iterator<Item = &'a Step>, terminal: &Terminal, text: &mut String) {
    for step in steps {
        let path = step.path.as_deref().unwrap_or_default();
        let path = terminal.path(path, step.path_encoding);
        let reason = step.reason.as_deref().unwrap_or("could not be used");
        let line = format!("  {path}: {}", terminal.prose(reason));
        let _ = writeln!(text, "{}", paint(style::WAITING, line));
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

/// Column widths, equal in all groups.
struct Columns {
    name: usize,
    state: Option<usize>,
    description: Option<usize>,
    // True if descriptions get their own lines.
    is_below: bool,
}

impl Columns {
    const INDENT: usize = 2;
    const GAP: usize = 2;
    // Longer names overflow instead of squeezing every description.
    const WIDEST_NAME: usize = 32;
    // A narrower description is useless.
    const NARROWEST_DESCRIPTION: usize = 24;

    fn of(shown: &[&Entry], all: bool, terminal: &Terminal) -> Self {
        let names = shown.iter().map(|skill| width(&shown_name(skill)));
        let name = names.max().unwrap_or(0).min(Self::WIDEST_NAME);
        let states = shown.iter().map(|skill| skill.state.as_str().len());
        let state = all.then(|| states.max().unwrap_or(0));
        let taken = Self::INDENT + name + Self::GAP + state.map_or(0, |state| state + Self::GAP);
        let description = terminal.width.map(|width| width.saturating_sub(taken));
        let is_below = description.is_some_and(|room| room < Self::NARROWEST_DESCRIPTION);
        let below = terminal.width.map(|width| width.saturating_sub(2 * Self::INDENT));
        Self { name, state, description: if is_below { below } else { description }, is_below }
    }
}

fn shown_name(skill: &Entry) -> String {
    plain(&skill.name)
}

fn push_row(skill: &Entry, columns: &Columns, terminal: &Terminal, text: &mut String) {
    // The last column of a line is not padded.
    let ends_at = |is_last: bool, room: usize| if is_last && columns.is_below { 0 } else { room };
    let name = pad(&shown_name(skill), ends_at(columns.state.is_none(), columns.name));
    let name = if skill.state.is_listed() { paint(style::NAME, name) } else { name };
    let name = terminal.link(&skill.path, skill.path_encoding, name);
    let state = columns.state.map_or(String::new(), |room| {
        let state = pad(skill.state.as_str(), ends_at(true, room));
        format!("{}  ", paint(style::state_style(skill.state), state))
    });
    let notes = notes(skill);
    let room = columns.description.map(|room| room.saturating_sub(width(&notes)));
    let description = plain(skill.description.as_deref().unwrap_or("(no description)"));
    let description = room.map_or(description.clone(), |room| cut(&description, room));
    let notes = paint(style::WAITING, notes);
    let gap = if columns.is_below { "\n    " } else { "" };
    let row = format!("  {name}  {state}{gap}{description}{notes}");
    for line in row.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if columns.state.is_some()
        && let Some(reason) = &skill.reason
    {
        for line in
            wrap(&terminal.prose(reason), terminal.width.map(|width| width.saturating_sub(4)))
        {
            let _ = writeln!(text, "    {}", paint(style::FAINT, line));
        }
    }
}

// Problems of a listed skill.
fn notes(skill: &Entry) -> String {
    let mut notes = Vec::new();
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
    let others = not_shown(result);
    let advice = others.as_ref().filter(|_| !options.all).map(|_| "skillsd list --all".to_owned());
    let parts: Vec<String> = [others, advice].into_iter().flatten().collect();
    for line in parted(&parts, terminal.width).lines() {
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
    let others = not_shown(result).map(|others| format!(" · {others}"));
    let why = options.detected.reason.as_deref().map(|it| format!(" · {}", terminal.prose(it)));
    let mut text = format!(
        "No skill for {} in {cwd}{}{}\n\n",
        agent_name(&options.detected.profile, &options.detected.agent),
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
    let sample = ("cargo run --release -- list tests/samples/worktree", "lists a sample");
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
mod tests {
    use std::sync::LazyLock;

    use expect_test::{Expect, expect};
    use skills_protocol::wire::{Outcome, Step, StepKind, Verdict};

    use super::*;
    use crate::sample::{detected, in_state, list, shop, skill, terminal, uncolored};

    static DETECTED: LazyLock<DetectResult> = LazyLock::new(detected);

    fn options(all: bool) -> TableOptions<'static> {
        let cwd = Path::new("/home/ann/shop");
        TableOptions { all, detected: &DETECTED, cwd, in_checkout: false }
    }

    #[track_caller]
    fn check(result: &ListResult, all: bool, width: Option<usize>, expected: &Expect) {
        let text = uncolored(&render(result, &[], &options(all), &terminal(width)));
        // Paths stay whole, so that they can be copied.
        let lines = text.lines().filter(|line| !line.contains('/'));
        let widest = lines.map(super::width).max().unwrap_or(0);
        assert!(width.is_none_or(|width| widest <= width), "{widest} columns");
        expected.assert_eq(&text);
    }

    #[test]
    fn skills_are_grouped_by_root_and_cut_to_the_width() {
        check(
            &shop(),
            false,
            Some(72),
            &expect![[r#"
                as Claude Code · 3 skills · detected: CLAUDECODE is set

                ~/shop/.agents/skills  project
                  commit         Writes a commit message in the house style.
                  accessibility  Checks a page against WCAG 2.2 and says w…  (1 warning)

                ~/.agents/skills  user
                  pdf            Fills, splits and merges PDF files…  (broken right now)

                3 not shown: 1 conditional, 1 shadowed, 1 invalid · skillsd list --all
            "#]],
        );
    }

    #[test]
    fn pipe_gets_full_descriptions() {
        check(
            &shop(),
            false,
            None,
            &expect![[r#"
                as Claude Code · 3 skills · detected: CLAUDECODE is set

                ~/shop/.agents/skills  project
                  commit         Writes a commit message in the house style.
                  accessibility  Checks a page against WCAG 2.2 and says what to change.  (1 warning)

                ~/.agents/skills  user
                  pdf            Fills, splits and merges PDF files. Use it for every form that a customer sends.  (broken right now)

                3 not shown: 1 conditional, 1 shadowed, 1 invalid · skillsd list --all
            "#]],
        );
    }

    #[test]
    fn all_adds_state_and_reason() {
        check(
            &shop(),
            true,
            Some(72),
            &expect![[r#"
                as Claude Code · 3 skills · detected: CLAUDECODE is set

                ~/shop/.agents/skills  project
                  commit              active       Writes a commit message in the house…
                  accessibility       active       Checks a page against W…  (1 warning)
                  database-migration  conditional  Writes a migration and its way back.
                    no file that matches `migrations/**` was touched yet

                ~/shop/.claude/skills  project
                  commit              shadowed     Writes a commit message.
                    `~/shop/.agents/skills/commit/SKILL.md` has the same name and comes
                    first
                  changelog           invalid      (no description)
                    `description` is missing (SKILL.md:1:1)

                ~/.agents/skills  user
                  pdf                 active       Fills, splits an…  (broken right now)

                3 not shown: 1 conditional, 1 shadowed, 1 invalid
            "#]],
        );
    }

    #[test]
    fn narrow_table_puts_descriptions_on_their_own_lines() {
        check(
            &shop(),
            true,
            Some(50),
            &expect![[r#"
                as Claude Code
                3 skills
                detected: CLAUDECODE is set

                ~/shop/.agents/skills  project
                  commit              active
                    Writes a commit message in the house style.
                  accessibility       active
                    Checks a page against WCAG 2.2 a…  (1 warning)
                  database-migration  conditional
                    Writes a migration and its way back.
                    no file that matches `migrations/**` was
                    touched yet

                ~/shop/.claude/skills  project
                  commit              shadowed
                    Writes a commit message.
                    `~/shop/.agents/skills/commit/SKILL.md` has
                    the same name and comes first
                  changelog           invalid
                    (no description)
                    `description` is missing (SKILL.md:1:1)

                ~/.agents/skills  user
                  pdf                 active
                    Fills, splits and merges…  (broken right now)

                3 not shown: 1 conditional, 1 shadowed, 1 invalid
            "#]],
        );
    }

    #[test]
    fn long_name_does_not_widen_the_column() {
        let skills = vec![skill("a", "Short."), skill(&"n".repeat(64), "Long.")];
        check(
            &list(skills),
            false,
            None,
            &expect![[r#"
                as Claude Code · 2 skills · detected: CLAUDECODE is set

                ~/shop/.agents/skills  project
                  a                                 Short.
                  nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn  Long.
            "#]],
        );
    }

    #[test]
    fn control_characters_are_escaped() {
        let hostile = skill("x\u{1b}]0;gone\u{7}", "line one\n\n\u{1b}[2Jline two \u{202e}abc");
        check(
            &list(vec![hostile]),
            false,
            None,
            &expect![[r#"
                as Claude Code · 1 skill · detected: CLAUDECODE is set

                ~/shop/.agents/skills  project
                  x\u{1b}]0;gone\u{7}  line one \u{1b}[2Jline two \u{202e}abc
            "#]],
        );
    }

    #[test]
    fn empty_list_shows_searched_roots_and_next_commands() {
        let root = |path: &str, outcome, found| Step {
            root: Some(path.into()),
            found,
            ..Step::new(StepKind::Root, outcome)
        };
        let explained = ExplainResult {
            clock: "c".into(),
            health: Vec::new(),
            name: None,
            path: None,
            path_encoding: None,
            profile: "agentskills".into(),
            verdict: Verdict { state: None, summary: "no skills".into(), next: None },
            steps: vec![
                root("/home/ann/shop/.agents/skills", Outcome::Searched, Some(0)),
                root("/home/ann/shop/.claude/skills", Outcome::Missing, None),
                root("/home/ann/shop/.codex/skills", Outcome::Missing, None),
                root("/home/ann/.agents/skills", Outcome::Unreadable, None),
            ],
        };
        let options = TableOptions { in_checkout: true, ..options(false) };
        let text =
            uncolored(&render_none(&list(Vec::new()), &explained, &options, &terminal(Some(72))));
        expect![[r#"
            No skill for Claude Code in ~/shop · detected: CLAUDECODE is set

            Searched
              ~/shop/.agents/skills  no skills
              do not exist: ~/shop/.claude/skills, ~/shop/.codex/skills
              ~/.agents/skills       cannot be read

            Next
              skillsd explain NAME                                explains why an agent does not see a skill
              cargo run --release -- list tests/samples/worktree  lists a sample
        "#]].assert_eq(&text);
    }

    #[test]
    fn empty_list_counts_skills_that_are_not_shown() {
        let skills = vec![in_state(skill("a", "A."), State::Invalid, "no description")];
        let explained = ExplainResult {
            clock: "c".into(),
            health: Vec::new(),
            name: None,
            path: None,
            path_encoding: None,
            profile: "agentskills".into(),
            verdict: Verdict { state: None, summary: "no skills".into(), next: None },
            steps: Vec::new(),
        };
        let text = render_none(&list(skills), &explained, &options(false), &terminal(Some(72)));
        expect![[r#"
            No skill for Claude Code in ~/shop · 1 not shown: 1 invalid · detected: CLAUDECODE is set

            Next
              skillsd list --all    also lists skills that are not shown, with reasons
              skillsd explain NAME  explains why an agent does not see a skill
        "#]]
        .assert_eq(&uncolored(&text));
    }

    #[test]
    fn all_shows_rows_when_no_skill_is_visible() {
        let skills = vec![in_state(skill("a", "A."), State::Ignored, "switched off in settings")];
        check(
            &list(skills),
            true,
            Some(60),
            &expect![[r#"
                ~/shop/.agents/skills  project
                  a  ignored  A.
                    switched off in settings
            "#]],
        );
    }
}
