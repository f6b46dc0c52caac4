//! Profile `agentskills`: the union of the roots that clients of the open standard read.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::frontmatter::Frontmatter;
use super::location::{AgentLocation, name_of, sub_dirs};
use super::skill::Skill;

/// Roots below each directory from the working directory up, and below HOME, in this order.
const ROOTS: [&str; 8] = [
    ".agents/skills", ".claude/skills", ".opencode/skills", ".opencode/skill", ".codex/skills",
    ".gemini/skills", ".github/skills", ".cursor/skills",
];

/// Further roots below HOME, after [`ROOTS`].
const HOME_ROOTS: [&str; 3] =
    [".config/opencode/skills", ".config/opencode/skill", ".config/agents/skills"];

/// Maximum depth below a root.
const DEPTH: usize = 6;

/// Lists the skills of profile `agentskills` at `location`.
pub fn agentskills(location: &AgentLocation) -> Vec<Skill> {
    let upward = location.upward();
    let project = upward.iter().flat_map(|dir| ROOTS.map(|root| dir.join(root)));
    let user = ROOTS.iter().chain(&HOME_ROOTS).map(|root| location.home.join(root));

    let mut found = Vec::new();
    for root in project.chain(user) {
        let mut above = Vec::new();
        walk(&root, 0, &mut above, &mut found);
    }

    let mut targets = HashSet::new();
    let mut names = HashSet::new();
    let mut listed = Vec::new();
    for dir in found {
        let Ok(target) = fs::canonicalize(&dir) else { continue };
        if !targets.insert(target) {
            continue;
        }
        let path = dir.join("SKILL.md");
        let Some(frontmatter) = read(&path) else { continue };
        let (Some(name), Some(description)) =
            (frontmatter.text("name"), frontmatter.text("description"))
        else {
            continue;
        };
        if names.insert(name.clone())
            && !frontmatter.is_true("disable-model-invocation")
            && frontmatter.items("paths").is_empty()
        {
            listed.push(Skill { name, path, description });
        }
    }
    listed
}

/// Adds the skill directories below `dir`, which is `depth` levels below its root. `above` holds
/// the real directories on the way, so that a link back to one of them ends the walk.
fn walk(dir: &Path, depth: usize, above: &mut Vec<PathBuf>, found: &mut Vec<PathBuf>) {
    let Ok(real) = fs::canonicalize(dir) else { return };
    if above.contains(&real) {
        return;
    }
    if depth > 0 && dir.join("SKILL.md").symlink_metadata().is_ok() {
        found.push(dir.to_path_buf());
        return;
    }
    if depth == DEPTH {
        return;
    }
    above.push(real);
    for sub_dir in sub_dirs(dir) {
        let name = name_of(&sub_dir);
        if !name.starts_with('.') && name != "node_modules" {
            walk(&sub_dir, depth + 1, above, found);
        }
    }
    above.pop();
}

/// Reads a SKILL.md; `None` if this profile's agents reject the whole file.
fn read(path: &Path) -> Option<Frontmatter> {
    if !path.is_file() {
        return None;
    }
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    Frontmatter::per_key(&text)
}
