//! Renders the steps of an explanation as a tree.
//!
//! The daemon sends flat steps in the order of discovery. This module nests candidates under their
//! root and rules under their candidate.

use std::fmt::Write as _;

use skills_protocol::path::decode;
use skills_protocol::wire::{Evidence, Outcome, Step, StepKind};

use crate::explain::missing;
use crate::style::{self, mark, outcome_mark, paint};
use crate::terminal::Terminal;
use crate::text::{count, plain, width, wrap};

/// Presentation of roots that do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingRoots {
    /// Each has a line.
    Listed,
    /// All share one line.
    Counted,
}

pub(crate) fn render(steps: &[Step], missing_roots: MissingRoots, terminal: &Terminal) -> String {
    let mut text = String::new();
    // Settings that are missing or change nothing are left out.
    let is_relevant = |step: &&Step| {
        step.kind != StepKind::Settings
            || !matches!(step.outcome, Outcome::Missing | Outcome::Passed)
    };
    let steps: Vec<Step> = steps.iter().filter(is_relevant).cloned().collect();
    let (missing, nodes): (Vec<_>, Vec<_>) = nodes(&steps)
        .into_iter()
        .partition(|it| missing_roots == MissingRoots::Counted && is_missing(it));
    let mut lines = root_lines(&nodes, terminal);
    if !missing.is_empty() {
        let missing: Vec<&Step> = missing.iter().map(|it| it.step).collect();
        lines.push((None, missing::summary(&missing, terminal)));
    }
    push_tree(lines, "", terminal, &mut text);
    text
}

/// Renders the search roots among the steps, one line each, without their candidates.
pub(crate) fn roots_considered(steps: &[Step], terminal: &Terminal) -> String {
    let roots = steps.iter().filter(|step| step.kind == StepKind::Root);
    let roots: Vec<StepNode<'_>> =
        roots.map(|step| StepNode { step, children: Vec::new() }).collect();
    let mut text = String::new();
    for line in root_lines(&roots, terminal).into_iter().flat_map(|(_, lines)| lines) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

struct StepNode<'a> {
    step: &'a Step,
    children: Vec<StepNode<'a>>,
}

/// Lines of the top level, with the node whose children follow them.
type TreeLines<'a, 'n> = (Option<&'n StepNode<'a>>, Vec<String>);

// Steps come in the order root, candidate, rule. A step without a parent (a path outside of every
// root) is at the top level.
fn nodes(steps: &[Step]) -> Vec<StepNode<'_>> {
    let mut top: Vec<StepNode<'_>> = Vec::new();
    for step in steps {
        let siblings = match (step.kind, top.last()) {
            (StepKind::Candidate, Some(last)) if holds(last.step, step) => {
                children_of_last(&mut top)
            }
            // Rules about the whole view come before all roots.
            (StepKind::Rule, Some(last)) if last.step.kind != StepKind::Rule => {
                let siblings = children_of_last(&mut top);
                if siblings.last().is_some_and(|last| last.step.kind == StepKind::Candidate) {
                    children_of_last(siblings)
                } else {
                    siblings
                }
            }
            (StepKind::Settings | StepKind::Root | StepKind::Candidate | StepKind::Rule, _) => {
                &mut top
            }
        };
        siblings.push(StepNode { step, children: Vec::new() });
    }
    top
}

fn children_of_last<'a, 'n>(nodes: &'n mut [StepNode<'a>]) -> &'n mut Vec<StepNode<'a>> {
    &mut nodes.last_mut().expect("the caller looked at the last one").children
}

fn holds(root: &Step, candidate: &Step) -> bool {
    root.kind == StepKind::Root && root.root.is_some() && root.root == candidate.root
}

fn push_tree(lines: Vec<TreeLines<'_, '_>>, lead: &str, terminal: &Terminal, text: &mut String) {
    let n_lines = lines.len();
    for (nth, (node, lines)) in lines.into_iter().enumerate() {
        let is_last = nth + 1 == n_lines;
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        for (nth, line) in lines.iter().enumerate() {
            let lead = format!("{lead}{}", if nth == 0 { branch } else { below });
            let _ = writeln!(text, "{}{line}", paint(style::FAINT, lead));
        }
        let Some(node) = node else { continue };
        let lead = format!("{lead}{below}");
        let room = terminal.width.map(|all| all.saturating_sub(width(&lead) + width(branch)));
        let children = node.children.iter();
        let lines = children.map(|it| (Some(it), step_lines(it.step, node.step, room, terminal)));
        push_tree(lines.collect(), &lead, terminal, text);
    }
}

// Lines of the top level. Consecutive missing roots share lines.
fn root_lines<'a, 'n>(nodes: &'n [StepNode<'a>], terminal: &Terminal) -> Vec<TreeLines<'a, 'n>> {
    let columns = nodes
        .iter()
        .filter(|node| is_root(node) && !is_missing(node))
        .map(|node| width(&root_name(node.step, terminal)))
        .max()
        .unwrap_or(0);
    let mut lines = Vec::new();
    let mut rest = nodes;
    while let Some((node, after)) = rest.split_first() {
        let n_missing = rest.iter().take_while(|node| is_missing(node)).count();
        if n_missing > 0 {
            let roots: Vec<&Step> = rest[..n_missing].iter().map(|node| node.step).collect();
            lines.push((None, missing::lines(&roots, terminal)));
            rest = &rest[n_missing..];
            continue;
        }
        let room = terminal.width.map(|width| width.saturating_sub(3));
        let texts = if is_root(node) {
            root_line(node.step, columns, room, terminal)
        } else {
            step_lines(node.step, node.step, room, terminal)
        };
        lines.push((Some(node), texts));
        rest = after;
    }
    lines
}

fn is_root(node: &StepNode<'_>) -> bool {
    node.step.kind == StepKind::Root
}

fn is_missing(node: &StepNode<'_>) -> bool {
    is_root(node) && node.step.outcome == Outcome::Missing && node.children.is_empty()
}

fn root_name(step: &Step, terminal: &Terminal) -> String {
    step.root.as_deref().map_or_else(String::new, |root| terminal.path(root, step.path_encoding))
}

/// Returns the line of a root, with its reason on further lines if they do not fit.
fn root_line(step: &Step, columns: usize, room: Option<usize>, terminal: &Terminal) -> Vec<String> {
    let mut facts = Vec::new();
    match (step.outcome, step.found) {
        (Outcome::Searched, Some(0)) => facts.push("no skills".to_owned()),
        (Outcome::Searched, Some(found)) => facts.push(count(found, "skill")),
        (Outcome::Missing, _) => facts.push("does not exist".to_owned()),
        (Outcome::Unreadable, _) => facts.push("cannot be read".to_owned()),
        (Outcome::Skipped, _) => facts.push("skipped".to_owned()),
        (
            Outcome::Searched | Outcome::Kept | Outcome::Dropped | Outcome::Passed | Outcome::Noted,
            _,
        ) => {}
    }
    facts.extend(step.scope.map(|scope| scope.to_string()));
    let reason = step.reason.as_deref().map(|reason| terminal.prose(reason));
    let style = if step.outcome == Outcome::Unreadable { style::BAD } else { style::FAINT };
    let name = root_name(step, terminal);
    let blanks = " ".repeat(columns.saturating_sub(width(&name)));
    let name = match &step.root {
        Some(root) => terminal.link(root, step.path_encoding, name),
        None => name,
    };
    let name = paint(style::HEADING, format!("{name}{blanks}"));
    let line = |facts: &[String]| format!("{name}  {}", paint(style, facts.join(" · ")));
    let whole = line(&facts.iter().cloned().chain(reason.clone()).collect::<Vec<_>>());
    match reason {
        Some(reason) if room.is_some_and(|room| width(&whole) > room) => {
            let reason = wrap(&reason, room.map(|room| room.saturating_sub(2)));
            let reason = reason.into_iter().map(|it| paint(style, format!("  {it}")));
            std::iter::once(line(&facts).trim_end().to_owned()).chain(reason).collect()
        }
        _ => vec![whole],
    }
}

fn step_lines(step: &Step, parent: &Step, room: Option<usize>, terminal: &Terminal) -> Vec<String> {
    match step.kind {
        StepKind::Root => root_line(step, 0, room, terminal),
        StepKind::Candidate => candidate_lines(step, parent, room, terminal),
        StepKind::Settings | StepKind::Rule => rule_lines(step, room, terminal),
    }
}

fn candidate_lines(
    step: &Step,
    parent: &Step,
    room: Option<usize>,
    terminal: &Terminal,
) -> Vec<String> {
    let mark = step.state.map_or_else(|| outcome_mark(step.outcome), |state| mark(Some(state)));
    let name = candidate_name(step, parent, terminal);
    let name = match &step.path {
        Some(path) => terminal.link(path, step.path_encoding, name),
        None => name,
    };
    let state = step.state.map(|state| paint(style::state_style(state), state));
    let first = format!("{mark} {name}  {}", state.unwrap_or_default());
    let mut lines = vec![first.trim_end().to_owned()];
    push_reason(step, room, terminal, &mut lines);
    push_source(step, room, &mut lines);
    lines
}

// Relative to the root in the line above.
fn candidate_name(step: &Step, parent: &Step, terminal: &Terminal) -> String {
    let Some(path) = step.path.as_deref() else {
        return step.name.as_deref().map(plain).unwrap_or_default();
    };
    let root = parent.root.as_deref().filter(|_| parent.kind == StepKind::Root);
    let beneath = root.and_then(|root| {
        let root = decode(root, parent.path_encoding).ok()?;
        let path = decode(path, step.path_encoding).ok()?;
        Some(terminal.local_path(path.strip_prefix(root).ok()?))
    });
    beneath.unwrap_or_else(|| terminal.path(path, step.path_encoding))
}

fn push_reason(step: &Step, room: Option<usize>, terminal: &Terminal, lines: &mut Vec<String>) {
    if let Some(reason) = &step.reason {
        let wrapped = wrap(&terminal.prose(reason), room.map(|room| room.saturating_sub(2)));
        lines.extend(wrapped.into_iter().map(|line| format!("  {line}")));
    }
}

fn rule_lines(step: &Step, room: Option<usize>, terminal: &Terminal) -> Vec<String> {
    let reason = step.reason.as_deref().or(step.rule.as_deref()).unwrap_or_default();
    let reason = terminal.prose(reason);
    let mut lines = wrap(&reason, room.map(|room| room.saturating_sub(2)));
    lines[0] = format!("{} {}", outcome_mark(step.outcome), lines[0]);
    for line in &mut lines[1..] {
        line.insert_str(0, "  ");
    }
    if let Some(file) = &step.file {
        let mut place = terminal.path(file, step.path_encoding);
        for number in [step.line, step.column].into_iter().map_while(|number| number) {
            let _ = write!(place, ":{number}");
        }
        lines.push(format!("  {}", terminal.link(file, step.path_encoding, place)));
    }
    push_source(step, room, &mut lines);
    lines
}

// The source is only shown for rules that decided something.
fn push_source(step: &Step, room: Option<usize>, lines: &mut Vec<String>) {
    if step.outcome != Outcome::Passed
        && let Some(source) = rule_source(step)
    {
        let wrapped = wrap(&source, room.map(|room| room.saturating_sub(2)));
        lines.extend(wrapped.iter().map(|line| format!("  {}", paint(style::FAINT, line))));
    }
}

fn rule_source(step: &Step) -> Option<String> {
    let rule = plain(step.rule.as_deref()?);
    let agent = step.agent.as_deref().map(|agent| format!(" of {}", plain(agent)));
    let version = step.version.as_deref().map(|version| format!(" {}", plain(version)));
    let evidence = step.evidence.map(|evidence| match evidence {
        Evidence::Running => " (measured on the running agent)",
        Evidence::Source => " (read in its source)",
        Evidence::Documentation => " (documented, not measured)",
        Evidence::Standard => " (from the open standard)",
        Evidence::Configuration => " (your configuration)",
    });
    let [agent, version] = [agent, version].map(Option::unwrap_or_default);
    Some(format!("rule {rule}{agent}{version}{}", evidence.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_protocol::wire::{Scope, State};

    use super::*;
    use crate::tests::sample::{terminal, uncolored};

    fn root(path: &str, found: Option<u64>) -> Step {
        let outcome = if found.is_some() { Outcome::Searched } else { Outcome::Missing };
        Step {
            root: Some(path.into()),
            scope: Some(Scope::Project),
            found,
            ..Step::new(StepKind::Root, outcome)
        }
    }

    fn candidate(root: &str, name: &str, state: State, outcome: Outcome) -> Step {
        Step {
            root: Some(root.into()),
            path: Some(format!("{root}/{name}/SKILL.md")),
            name: Some(name.into()),
            state: Some(state),
            ..Step::new(StepKind::Candidate, outcome)
        }
    }

    fn rule(rule: &str, outcome: Outcome, reason: &str) -> Step {
        Step {
            rule: Some(rule.into()),
            reason: Some(reason.into()),
            agent: Some("claude-code".into()),
            version: Some("2.1.240".into()),
            evidence: Some(Evidence::Documentation),
            ..Step::new(StepKind::Rule, outcome)
        }
    }

    #[track_caller]
    fn check(steps: &[Step], width: Option<usize>, expected: &Expect) {
        let text = uncolored(&render(steps, MissingRoots::Counted, &terminal(width)));
        // Paths stay whole, so that they can be copied.
        let lines = text.lines().filter(|line| !line.contains('/'));
        let widest = lines.map(super::width).max().unwrap_or(0);
        assert!(width.is_none_or(|width| widest <= width), "{widest} columns");
        expected.assert_eq(&text);
    }

    fn shadowed() -> Vec<Step> {
        let (agents, claude) = ("/home/ann/shop/.agents/skills", "/home/ann/shop/.claude/skills");
        let place = Step {
            file: Some(format!("{claude}/commit/SKILL.md")),
            line: Some(2),
            column: Some(7),
            ..rule(
                "same-name-first",
                Outcome::Dropped,
                "the skill of the same name in `.agents/skills` comes first, and only one is kept",
            )
        };
        vec![
            root(agents, Some(5)),
            candidate(agents, "commit", State::Active, Outcome::Kept),
            rule("description-required", Outcome::Passed, "it has a description"),
            root("/home/ann/shop/.opencode/skills", None),
            root("/home/ann/shop/.opencode/skill", None),
            root(claude, Some(3)),
            candidate(claude, "commit", State::Shadowed, Outcome::Dropped),
            rule("description-required", Outcome::Passed, "it has a description"),
            place,
            root("/home/ann/.agents/skills", None),
        ]
    }

    #[test]
    fn steps_are_nested_by_root_and_candidate() {
        check(
            &shadowed(),
            None,
            &expect![[r#"
                ├─ ~/shop/.agents/skills  5 skills · project
                │  └─ ✓ commit/SKILL.md  active
                │     └─ ✓ it has a description
                ├─ ~/shop/.claude/skills  3 skills · project
                │  └─ ✗ commit/SKILL.md  shadowed
                │     ├─ ✓ it has a description
                │     └─ ✗ the skill of the same name in `.agents/skills` comes first, and only one is kept
                │          ~/shop/.claude/skills/commit/SKILL.md:2:7
                │          rule same-name-first of claude-code 2.1.240 (documented, not measured)
                └─ do not exist: ~/shop/.opencode/skills, ~/shop/.opencode/skill, ~/.agents/skills
            "#]],
        );
    }

    #[test]
    fn long_lines_are_wrapped_inside_the_tree() {
        check(
            &shadowed(),
            Some(60),
            &expect![[r#"
                ├─ ~/shop/.agents/skills  5 skills · project
                │  └─ ✓ commit/SKILL.md  active
                │     └─ ✓ it has a description
                ├─ ~/shop/.claude/skills  3 skills · project
                │  └─ ✗ commit/SKILL.md  shadowed
                │     ├─ ✓ it has a description
                │     └─ ✗ the skill of the same name in `.agents/skills`
                │          comes first, and only one is kept
                │          ~/shop/.claude/skills/commit/SKILL.md:2:7
                │          rule same-name-first of claude-code 2.1.240
                │          (documented, not measured)
                └─ 3 directories do not exist; `--all` lists them
            "#]],
        );
    }

    #[test]
    fn file_outside_of_every_root_is_at_the_top_level() {
        let path = Some("/tmp/x/SKILL.md".to_owned());
        let stray = Step {
            path,
            reason: Some("it is in no directory that claude-code searches".into()),
            ..Step::new(StepKind::Candidate, Outcome::Dropped)
        };
        let rule = rule("depth", Outcome::Dropped, "only `skills/<name>/SKILL.md` counts");
        check(
            &[root("/home/ann/.claude/skills", Some(0)), stray, rule],
            None,
            &expect![[r#"
                ├─ ~/.claude/skills  no skills · project
                └─ ✗ /tmp/x/SKILL.md
                     it is in no directory that claude-code searches
                   └─ ✗ only `skills/<name>/SKILL.md` counts
                        rule depth of claude-code 2.1.240 (documented, not measured)
            "#]],
        );
    }

    #[test]
    fn view_rules_come_first_and_skipped_candidates_name_their_rule() {
        let claude = "/home/ann/shop/.claude/skills";
        let place = rule("worktree/linked", Outcome::Noted, "it is linked to `/home/ann/main`");
        let passed = Step {
            root: Some(claude.into()),
            path: Some(format!("{claude}/group/deep")),
            ..Step { kind: StepKind::Candidate, ..rule("walk/depth", Outcome::Dropped, "deeper") }
        };
        check(
            &[place, root(claude, Some(0)), passed],
            None,
            &expect![[r#"
            ├─ · it is linked to `~/main`
            │    rule worktree/linked of claude-code 2.1.240 (documented, not measured)
            └─ ~/shop/.claude/skills  no skills · project
               └─ ✗ group/deep
                    deeper
                    rule walk/depth of claude-code 2.1.240 (documented, not measured)
        "#]],
        );
    }

    #[test]
    fn unreadable_root_shows_the_reason() {
        let unreadable = Step {
            reason: Some("permission denied".into()),
            ..Step { outcome: Outcome::Unreadable, ..root("/etc/skills", None) }
        };
        let skipped = Step {
            reason: Some("another agent's".into()),
            ..Step { outcome: Outcome::Skipped, ..root("/home/ann/.codex/skills", None) }
        };
        check(
            &[unreadable, skipped],
            None,
            &expect![[r#"
            ├─ /etc/skills      cannot be read · project · permission denied
            └─ ~/.codex/skills  skipped · project · another agent's
        "#]],
        );
    }
}
