//! Reads the names that a list of tools can contain from Claude Code's files.

use skills_agents::tool_names::ToolNames;
use skills_syntax::path::AbsPath;
use skills_syntax::text::decode;

use super::fenced::read_fenced;
use super::fs_facts::worktree_top;
use crate::files::disk::{Disk as _, EntryKind, RealDisk};

/// Maximum size of a configuration file; Claude Code's own also holds its history.
const MOST_CONFIG_BYTES: u64 = 16 << 20;

/// Maximum size of an agent file that is read.
const MOST_AGENT_BYTES: u64 = 1 << 20;

/// Maximum number of agent files that are read.
const MOST_AGENTS: usize = 500;

/// Maximum number of nested directories of agents.
const MOST_LEVELS: usize = 4;

/// Returns the MCP tools and the agents that Claude Code knows in a directory: from the directory up
/// to the top of its worktree, and the user's own. Blocks on the disk.
///
/// `own` is the user's directory for Claude Code, and `state` the file with the user's servers.
pub fn tool_names(root: &AbsPath, own: Option<&AbsPath>, state: Option<&AbsPath>) -> ToolNames {
    let mut names = ToolNames::default();
    let top = worktree_top(root).unwrap_or_else(|| root.clone());
    let dirs: Vec<AbsPath> = root.ancestors().take_while(|it| it.starts_with(&*top)).collect();
    for dir in &dirs {
        if let Some(text) = text(&dir.child(".mcp.json"), Some(&top), MOST_CONFIG_BYTES) {
            names.add_servers(&text);
        }
    }
    if let Some(text) = state.and_then(|it| text(it, None, MOST_CONFIG_BYTES)) {
        let projects: Vec<&str> = dirs.iter().filter_map(|it| it.to_str()).collect();
        names.add_user_servers(&text, &projects);
    }
    let mut n_left = MOST_AGENTS;
    let dirs = dirs.iter().map(|it| (it.child(".claude"), Some(&top)));
    for (dir, top) in dirs.chain(own.map(|it| (it.clone(), None))) {
        for file in ["settings.json", "settings.local.json"] {
            if let Some(text) = text(&dir.child(file), top, MOST_CONFIG_BYTES) {
                names.add_settings(&text);
            }
        }
        add_agents(&dir.child("agents"), top, MOST_LEVELS, &mut n_left, &mut names);
    }
    names
}

/// Adds the agents of a directory and of those below it. Linked directories are not followed.
fn add_agents(
    dir: &AbsPath,
    top: Option<&AbsPath>,
    n_levels: usize,
    n_left: &mut usize,
    names: &mut ToolNames,
) {
    let Ok(mut listed) = RealDisk.list(dir) else { return };
    listed.entries.sort();
    for (name, kind) in &listed.entries {
        let Some(name) = name.to_str() else { continue };
        let path = dir.child(name);
        if *kind == EntryKind::Directory {
            if n_levels > 1 {
                add_agents(&path, top, n_levels - 1, n_left, names);
            }
        } else if path.extension().is_some_and(|it| it == "md") && *n_left > 0 {
            *n_left -= 1;
            if let Some(text) = text(&path, top, MOST_AGENT_BYTES) {
                names.add_agent(&text);
            }
        }
    }
}

/// Returns the text of a file; none if it cannot be read completely, or a link leads from it out of
/// the worktree.
fn text(path: &AbsPath, top: Option<&AbsPath>, limit: u64) -> Option<String> {
    let file = read_fenced(path, top, limit).ok().filter(|it| !it.truncated)?;
    Some(decode(&file.bytes).text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_come_from_the_directories_up_to_the_top_and_from_the_user() {
        let temp = tempfile::tempdir().unwrap();
        let at = |it: &str| AbsPath::new(&temp.path().canonicalize().unwrap().join(it)).unwrap();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        let servers = |name: &str| format!(r#"{{"mcpServers": {{"{name}": {{}}}}}}"#);
        let agent = |name: &str| format!("---\nname: {name}\ndescription: Helps.\n---\n");
        fs::create_dir_all(at("w/.git")).unwrap();
        fs::write(at("w/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        write("w/.mcp.json", &servers("top"));
        write("w/a/b/.mcp.json", &servers("inner"));
        write(".mcp.json", &servers("outside"));
        write("home/.claude.json", &servers("user"));
        write("w/.claude/settings.local.json", r#"{"permissions": {"ask": ["mcp__top__read"]}}"#);
        write("w/.claude/agents/deep/one.md", &agent("one"));
        write("home/.claude/agents/two.md", &agent("two"));
        write("secret.md", &agent("secret"));
        let link = at("w/.claude/agents/link.md");
        std::os::unix::fs::symlink(at("secret.md"), link).unwrap();
        let (own, state) = (at("home/.claude"), at("home/.claude.json"));
        let names = tool_names(&at("w/a/b"), Some(&own), Some(&state));
        let tools: Vec<_> = names.mcp().collect();
        assert_eq!(tools, ["mcp__inner", "mcp__top", "mcp__top__read", "mcp__user"]);
        assert_eq!(names.agents.keys().collect::<Vec<_>>(), ["one", "two"]);
    }
}
