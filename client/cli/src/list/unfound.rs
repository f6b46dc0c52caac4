//! Skill files of the worktree that an agent does not find: nested, too deep, misplaced, or with
//! another spelling of SKILL.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::path::decode;
use skills_protocol::wire::{Step, StepKind};
use skills_syntax::text::join_and;

use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{plain_exact, wrap};

/// Rule by which a file is found once a file near it is touched.
const TOUCHED: &str = "nested/touched";

/// Rule by which a file is in none of an agent's directories.
const MISPLACED: &str = "roots/searched";

/// Rule by which the search for files ended at a limit.
const LIMIT: &str = "walk/bounds";

/// Maximum number of directories that the line about waiting skills names.
const MAX_DIRS: usize = 3;

/// Returns the steps about files that the agent does not find, out of those of a directory.
pub(super) fn steps(steps: &[Step]) -> Vec<Step> {
    let is_unfound = |it: &&Step| it.kind == StepKind::Candidate && it.root.is_none();
    steps.iter().filter(is_unfound).cloned().collect()
}

/// Returns the files that two agents do not find, each with the reason that helps most: a skill
/// that waits for a touch is nearer to its reader than one in no agent's directory.
pub(super) fn common(first: Vec<Step>, second: &[Step]) -> Vec<Step> {
    let rank = |it: &Step| match it.rule.as_deref() {
        Some(TOUCHED) => 0,
        Some(MISPLACED) => 2,
        _ => 1,
    };
    let both = first.into_iter().filter_map(|it| {
        let other = second.iter().find(|other| other.path == it.path)?;
        Some(if rank(other) < rank(&it) { other.clone() } else { it })
    });
    both.collect()
}

/// Renders the line about the skills that are found once a file near them is touched; empty without
/// such skills. `agent` is named if the list is about several.
pub(super) fn render_waiting(
    steps: &[Step],
    agent: Option<&str>,
    cwd: &Path,
    terminal: &Terminal,
) -> String {
    let mut dirs: BTreeMap<String, u64> = BTreeMap::new();
    for step in steps.iter().filter(|it| it.rule.as_deref() == Some(TOUCHED)) {
        let path = decode(step.path.as_deref().unwrap_or_default(), step.path_encoding).ok();
        let below = path.as_deref().and_then(|it| it.strip_prefix(cwd).ok());
        let first = below.and_then(|it| it.iter().next()).unwrap_or_default();
        *dirs.entry(plain_exact(&first.to_string_lossy())).or_default() += 1;
    }
    let number: u64 = dirs.values().sum();
    if number == 0 {
        return String::new();
    }
    // A single other directory is named too.
    let n_named = if dirs.len() == MAX_DIRS + 1 { dirs.len() } else { MAX_DIRS };
    let n_others = dirs.len().saturating_sub(n_named);
    let mut names: Vec<_> = dirs.keys().take(n_named).map(|it| format!("{it}/")).collect();
    if n_others > 0 {
        names.push(format!("{n_others} other directories"));
    }
    let is_partial = steps.iter().any(|it| it.rule.as_deref() == Some(LIMIT));
    let at_least = if is_partial { "at least " } else { "" };
    let whose = agent.map(|it| format!(" for {it}")).unwrap_or_default();
    let line = format!(
        "{at_least}{number} more below {}{whose}: loaded when a file there is touched",
        join_and(&names)
    );
    let lines = wrap(&line, terminal.width);
    lines.iter().map(|it| paint(style::WAITING, it) + "\n").collect()
}

/// Renders all files by their reason; empty without files.
pub(super) fn render(steps: &[Step], cwd: &Path, terminal: &Terminal) -> String {
    let mut reasons: Vec<(&str, Vec<&Step>)> = Vec::new();
    for step in steps {
        let reason = step.reason.as_deref().unwrap_or_default();
        match reasons.iter_mut().find(|it| it.0 == reason) {
            Some((_, steps)) => steps.push(step),
            None => reasons.push((reason, vec![step])),
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", paint(style::HEADING, "Other skill files"));
    for (reason, steps) in reasons {
        for line in
            wrap(&terminal.prose_from(cwd, reason), terminal.width.map(|it| it.saturating_sub(2)))
        {
            let _ = writeln!(text, "  {}", paint(style::WAITING, line));
        }
        for step in steps {
            let path = step.path.as_deref().unwrap_or_default();
            let shown = terminal.path_from(cwd, path, step.path_encoding);
            let _ = writeln!(text, "    {}", terminal.link(path, step.path_encoding, shown));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use skills_protocol::wire::Outcome;

    use super::*;
    use crate::tests::sample::{terminal, uncolored};

    fn step(path: &str, rule: &str, reason: &str) -> Step {
        Step {
            path: Some(format!("/home/ann/shop/{path}")),
            rule: Some(rule.into()),
            reason: Some(reason.into()),
            ..Step::new(StepKind::Candidate, Outcome::Dropped)
        }
    }

    fn nested(path: &str) -> Step {
        step(path, TOUCHED, "Claude Code searches there once a file near it is touched")
    }

    #[test]
    fn file_that_no_agent_finds_has_the_most_useful_reason() {
        let misplaced = |path| step(path, MISPLACED, "it is in none of the directories");
        let first = vec![misplaced("web/x/SKILL.md"), misplaced("docs/y"), misplaced("only")];
        let second = vec![nested("web/x/SKILL.md"), misplaced("docs/y")];
        for (one, other) in [(first.clone(), second.clone()), (second, first)] {
            let rules = common(one, &other).into_iter().map(|it| (it.path, it.rule));
            let rules: Vec<_> = rules.map(|(path, rule)| (path.unwrap(), rule.unwrap())).collect();
            let expected = [("web/x/SKILL.md", TOUCHED), ("docs/y", MISPLACED)];
            let whole =
                |(path, rule): (&str, &str)| (format!("/home/ann/shop/{path}"), rule.to_owned());
            assert_eq!(rules, expected.map(whole));
        }
    }

    #[test]
    fn waiting_skills_are_counted_by_directory() {
        let cwd = Path::new("/home/ann/shop");
        let line =
            |steps: &[Step], agent| uncolored(&render_waiting(steps, agent, cwd, &terminal(None)));
        let mut steps = vec![
            nested("packages/a/.claude/skills/x/SKILL.md"),
            nested("packages/b/.claude/skills/y/SKILL.md"),
            step("docs/z/SKILL.md", "roots/searched", "it is in none of them"),
        ];
        assert_eq!(
            line(&steps, None),
            "2 more below packages/: loaded when a file there is touched\n"
        );
        for dir in ["web", "api", "ios", "tools"] {
            steps.push(nested(&format!("{dir}/.claude/skills/z/SKILL.md")));
        }
        assert_eq!(
            line(&steps[..6], None),
            "5 more below api/, ios/, packages/ and web/: loaded when a file there is touched\n"
        );
        steps.push(step("", LIMIT, "it has too many files"));
        assert_eq!(
            line(&steps, Some("claude-code")),
            "at least 6 more below api/, ios/, packages/ and 2 other directories for claude-code: \
             loaded when a file there is touched\n"
        );
        assert_eq!(line(&steps[2..3], None), "");
    }

    #[test]
    fn files_are_grouped_by_reason() {
        let steps = [
            nested("web/.claude/skills/x/SKILL.md"),
            step("docs/z/SKILL.md", "roots/searched", "it is in none of the searched directories"),
            nested("web/.claude/skills/y/SKILL.md"),
        ];
        let text = render(&steps, Path::new("/home/ann/shop/web"), &terminal(Some(40)));
        expect![[r#"
            Other skill files
              Claude Code searches there once a file
              near it is touched
                .claude/skills/x/SKILL.md
                .claude/skills/y/SKILL.md
              it is in none of the searched
              directories
                ~/shop/docs/z/SKILL.md
        "#]]
        .assert_eq(&uncolored(&text));
    }
}
