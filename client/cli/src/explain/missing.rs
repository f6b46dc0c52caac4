//! Summary of search roots that do not exist: there are dozens, and only their names matter.
//!
//! Agents search the same few names at every level between the working directory and the worktree
//! root, so levels with the same missing names share a line.

use std::path::{Path, PathBuf};

use skills_protocol::path::{decode, encode, encoding_of};
use skills_protocol::wire::Step;

use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{plain_exact, wrap};

/// Maximum number of roots that are listed one by one.
const MAX_LISTED: usize = 3;

/// Directories in which the same names are missing.
struct MissingNames {
    dirs: Vec<String>,
    names: Vec<String>,
}

/// Returns the lines for these roots.
pub(super) fn lines(roots: &[&Step], terminal: &Terminal) -> Vec<String> {
    let paths: Vec<PathBuf> = roots.iter().filter_map(|step| path(step)).collect();
    let room = terminal.width.map(|width| width.saturating_sub(5));
    if paths.len() <= MAX_LISTED {
        let names: Vec<String> = paths.iter().map(|path| terminal.local_path(path)).collect();
        let lead = if names.len() == 1 { "does not exist:" } else { "do not exist:" };
        return painted(&hanging(&format!("{lead} {}", names.join(", ")), "", room));
    }
    let mut lines = vec![format!("{} search roots do not exist:", paths.len())];
    for level in levels(&paths, terminal) {
        let line = format!("{} in {}", level.names.join(", "), level.dirs.join(", "));
        lines.extend(hanging(&line, "  ", room));
    }
    painted(&lines)
}

/// Returns one line for these roots: their paths if they are few, and otherwise their number.
pub(super) fn summary(roots: &[&Step], terminal: &Terminal) -> Vec<String> {
    let listed = lines(roots, terminal);
    if listed.len() == 1 {
        return listed;
    }
    painted(&[format!("{} directories do not exist; `--all` lists them", roots.len())])
}

fn painted(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| paint(style::FAINT, line)).collect()
}

// Wraps a line and indents its continuation.
fn hanging(line: &str, indent: &str, room: Option<usize>) -> Vec<String> {
    let lines = wrap(line, room.map(|room| room.saturating_sub(indent.len() + 2)));
    let lead = |nth| if nth == 0 { "" } else { "  " };
    lines.iter().enumerate().map(|(nth, line)| format!("{indent}{}{line}", lead(nth))).collect()
}

fn path(step: &Step) -> Option<PathBuf> {
    decode(step.root.as_deref()?, step.path_encoding).ok()
}

fn levels(paths: &[PathBuf], terminal: &Terminal) -> Vec<MissingNames> {
    let mut levels: Vec<MissingNames> = Vec::new();
    for path in paths {
        let (dir, name) = split(path);
        let (dir, name) = (terminal.local_path(dir), name_text(name));
        match levels.iter_mut().find(|level| level.dirs == [dir.as_str()]) {
            Some(level) => level.names.push(name),
            None => levels.push(MissingNames { dirs: vec![dir], names: vec![name] }),
        }
    }
    let mut merged: Vec<MissingNames> = Vec::new();
    for level in levels {
        match merged.iter_mut().find(|other| other.names == level.names) {
            Some(other) => other.dirs.extend(level.dirs),
            None => merged.push(level),
        }
    }
    merged
}

// `/w/.claude/skills` becomes `.claude/skills` in `/w`: the name is the last two components.
fn split(path: &Path) -> (&Path, &Path) {
    let dir = path.parent().and_then(Path::parent).unwrap_or(path);
    (dir, path.strip_prefix(dir).unwrap_or(path))
}

fn name_text(name: &Path) -> String {
    plain_exact(&encode(name, encoding_of([name])))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_protocol::wire::{Outcome, StepKind};

    use super::*;
    use crate::tests::sample::{terminal, uncolored};

    #[track_caller]
    fn check(roots: &[&str], width: Option<usize>, expected: &Expect) {
        let step = |root: &&str| Step {
            root: Some((*root).to_owned()),
            ..Step::new(StepKind::Root, Outcome::Missing)
        };
        let steps: Vec<Step> = roots.iter().map(step).collect();
        let steps: Vec<&Step> = steps.iter().collect();
        expected.assert_eq(&uncolored(&lines(&steps, &terminal(width)).join("\n")));
    }

    #[test]
    fn few_missing_roots_are_listed() {
        check(&["/home/ann/.claude/skills"], None, &expect!["does not exist: ~/.claude/skills"]);
        check(
            &["/w/.claude/skills", "/w/.agents/skills", "/skills"],
            None,
            &expect!["do not exist: /w/.claude/skills, /w/.agents/skills, /skills"],
        );
    }

    #[test]
    fn levels_with_the_same_missing_names_share_a_line() {
        let roots = [
            "/home/ann/shop/web/.codex/skills",
            "/home/ann/shop/.agents/skills",
            "/home/ann/shop/.codex/skills",
            "/home/ann/.agents/skills",
            "/home/ann/.codex/skills",
            "/home/ann/.config/opencode/skills",
        ];
        check(
            &roots,
            None,
            &expect![[r#"
            6 search roots do not exist:
              .codex/skills in ~/shop/web
              .agents/skills, .codex/skills in ~/shop, ~
              opencode/skills in ~/.config"#]],
        );
        check(
            &roots,
            Some(40),
            &expect![[r#"
            6 search roots do not exist:
              .codex/skills in ~/shop/web
              .agents/skills, .codex/skills
                in ~/shop, ~
              opencode/skills in ~/.config"#]],
        );
    }
}
