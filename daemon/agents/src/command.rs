//! Paths of Claude Code's commands: Markdown files below `.claude/commands`, an older kind of
//! skill.
//!
//! The file name is the command's name, directories below `commands` form its namespace, and
//! frontmatter is optional. In other respects a command is read like a SKILL.md.

use std::path::{Component, Path};

use skills_syntax::path::AbsPath;

pub fn is_command(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "md") && below_commands(path).is_some()
}

/// Returns the name of a command: its directories below `commands` and its file name, joined by
/// colons.
pub fn name(path: &Path) -> Option<String> {
    let mut parts = below_commands(path).filter(|_| is_command(path))?;
    let last = parts.pop()?;
    parts.push(last.strip_suffix(".md").unwrap_or(&last).to_owned());
    Some(parts.join(":"))
}

/// Returns the path of the command `name` in the same `commands` directory.
pub fn sibling(command: &AbsPath, name: &str) -> Option<AbsPath> {
    Some(agent_dir(command)?.child("commands").child(format!("{}.md", name.replace(':', "/"))))
}

/// Returns the `.claude` directory that contains the command.
pub fn agent_dir(command: &AbsPath) -> Option<AbsPath> {
    let n_parts = below_commands(command)?.len();
    // One more level for `commands` itself.
    command.ancestors().nth(n_parts + 1)
}

/// Returns the parts of a path below the last `.claude/commands`.
fn below_commands(path: &Path) -> Option<Vec<String>> {
    let parts: Vec<_> = path
        .components()
        .filter_map(|it| match it {
            Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    let at = parts.windows(2).rposition(|it| it[0] == ".claude" && it[1] == "commands")?;
    let below = parts[at + 2..].to_vec();
    (!below.is_empty()).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sibling_is_in_the_same_commands_directory() {
        let command = AbsPath::new(Path::new("/w/.claude/commands/git/push.md")).unwrap();
        let at = |name| sibling(&command, name).unwrap().into_path_buf();
        assert_eq!(at("git:pull"), Path::new("/w/.claude/commands/git/pull.md"));
        assert_eq!(at("a:b:c"), Path::new("/w/.claude/commands/a/b/c.md"));
        assert_eq!(agent_dir(&command).unwrap().into_path_buf(), Path::new("/w/.claude"));
    }

    #[test]
    fn command_is_recognised_by_its_path() {
        let named = |path: &str| name(Path::new(path));
        assert_eq!(named("/w/.claude/commands/deploy.md").as_deref(), Some("deploy"));
        assert_eq!(named("/w/.claude/commands/git/push.md").as_deref(), Some("git:push"));
        for other in [
            "/w/.claude/commands/deploy.txt",
            "/w/.claude/commands",
            "/w/commands/deploy.md",
            "/w/.claude/skills/commands/SKILL.md",
        ] {
            assert_eq!(named(other), None, "{other}");
            assert!(!is_command(Path::new(other)), "{other}");
        }
    }
}
