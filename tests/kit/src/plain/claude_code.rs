//! Profile `claude-code`: one level deep, named by directory, no required field.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::frontmatter::{Frontmatter, body_of};
use super::location::{AgentLocation, name_of, sub_dirs};
use super::skill::Skill;

/// Lists the skills of profile `claude-code` at `location`.
pub fn claude_code(location: &AgentLocation) -> Vec<Skill> {
    let config =
        location.claude_config_dir.clone().unwrap_or_else(|| location.home.join(".claude"));
    let mut roots = vec![PathBuf::from("/etc/claude-code/.claude/skills"), config.join("skills")];
    roots.extend(location.upward().iter().map(|dir| dir.join(".claude/skills")));

    let mut targets = HashSet::new();
    let mut names = HashSet::new();
    let mut listed = Vec::new();
    for dir in roots.iter().flat_map(|root| sub_dirs(root)) {
        let name = name_of(&dir);
        if name.starts_with('.') || name == "synced" {
            continue;
        }
        let path = dir.join("SKILL.md");
        let Some(text) = read(&path) else { continue };
        let Ok(target) = fs::canonicalize(&dir) else { continue };
        if !targets.insert(target) {
            continue;
        }
        let frontmatter = Frontmatter::strict_or_quoted(&text).unwrap_or_default();
        let is_hidden = frontmatter.is_true("disable-model-invocation")
            || !frontmatter.items("paths").is_empty();
        // A hidden skill leaves its name to others.
        if is_hidden || !names.insert(name.clone()) {
            continue;
        }
        let description = frontmatter.text("description").unwrap_or_else(|| first_line(&text));
        listed.push(Skill { name, path, description });
    }
    listed
}

fn read(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

/// Returns the first line of the body without the marks of a heading, cut at 100 UTF-16 units.
fn first_line(text: &str) -> String {
    let line = body_of(text).lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    let heading = line.trim_start_matches('#');
    let is_heading = heading.len() < line.len() && heading.starts_with(char::is_whitespace);
    let line = if is_heading { heading.trim() } else { line };
    let units: Vec<u16> = line.encode_utf16().collect();
    if units.len() <= 100 {
        return line.to_owned();
    }
    let kept = char::decode_utf16(units.into_iter().take(97)).map(|it| it.unwrap_or(' '));
    kept.chain("...".chars()).collect()
}
