//! An independent reader that implements each agent's published discovery rules literally.
//!
//! It is slow, uses `std::fs`, and shares no code with the product: each agent is one function that
//! can be compared with its column of the published table. It reads only simple files, as the
//! random trees contain (`key: value` on one line), because broken files are tested elsewhere;
//! [`is_plain`] tells whether a real file is simple enough.

mod agents;

use std::fs;
use std::path::{Path, PathBuf};

pub use agents::{AGENTS, listed};

/// Location that an agent runs in.
#[derive(Clone, Debug)]
pub struct AgentLocation {
    /// The agent's working directory, absolute.
    pub cwd: PathBuf,
    /// HOME.
    pub home: PathBuf,
}

/// A skill that an agent lists: its name, and its canonical path.
pub type Listed = (String, PathBuf);

/// A SKILL.md found by a walk.
#[derive(Clone, Debug)]
struct FoundSkill {
    /// Path as reached, with links.
    path: PathBuf,
    /// Canonical path, or `None` if the file cannot be read.
    real: Option<PathBuf>,
}

/// Fields of a simple SKILL.md.
#[derive(Clone, Debug, Default)]
struct SkillFields {
    has_frontmatter: bool,
    name: Option<String>,
    description: Option<String>,
    paths: bool,
}

impl AgentLocation {
    /// Returns the nearest directory, from the working directory up, that contains `.git`.
    fn worktree(&self) -> Option<PathBuf> {
        self.cwd.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_path_buf)
    }

    /// Returns the working directory and its parents up to and including `last`, nearest first.
    fn up_to(&self, last: &Path) -> Vec<PathBuf> {
        let above = self.cwd.ancestors().take_while(|dir| dir.starts_with(last));
        above.map(Path::to_path_buf).collect()
    }

    /// Returns the directories up to the worktree's top, or outside git only the working directory.
    fn up_to_worktree(&self) -> Vec<PathBuf> {
        self.up_to(&self.worktree().unwrap_or_else(|| self.cwd.clone()))
    }
}

/// Returns the subdirectories, links followed, sorted by the bytes of their names, each with
/// whether it is a link.
fn directories(dir: &Path) -> Vec<(PathBuf, bool)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<(PathBuf, bool)> = entries
        .flatten()
        .map(|entry| (entry.path(), entry.file_type().is_ok_and(|it| it.is_symlink())))
        .filter(|(path, _)| path.is_dir())
        .collect();
    found.sort_by(|one, other| one.0.file_name().cmp(&other.0.file_name()));
    found
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_hidden(path: &Path) -> bool {
    name_of(path).starts_with('.')
}

/// Returns the SKILL.md of a directory, if an entry has exactly that name.
fn skill_in(dir: &Path) -> Option<FoundSkill> {
    let path = dir.join("SKILL.md");
    fs::symlink_metadata(&path).ok()?;
    let real = fs::canonicalize(&path).ok().filter(|it| it.is_file());
    Some(FoundSkill { path, real })
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
}

fn fields(found: &FoundSkill) -> Option<SkillFields> {
    let text = fs::read_to_string(found.real.as_ref()?).ok()?;
    let mut fields = SkillFields::default();
    let Some(rest) = text.strip_prefix("---\n") else { return Some(fields) };
    fields.has_frontmatter = true;
    for line in rest.lines().take_while(|line| *line != "---") {
        match line.split_once(": ") {
            Some(("name", value)) => fields.name = Some(value.trim().trim_matches('"').to_owned()),
            Some(("description", value)) => fields.description = Some(value.to_owned()),
            Some(("paths", _)) => fields.paths = true,
            _ => {}
        }
    }
    Some(fields)
}

/// Returns whether all agents read a SKILL.md alike: only fields of the standard, a name of
/// lowercase letters, digits and hyphens, a one-line description, a body, and nothing that one of
/// them rejects.
pub fn is_plain(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    let Some((block, body)) = text.strip_prefix("---\n").and_then(|it| it.split_once("\n---\n"))
    else {
        return false;
    };
    let Ok(serde_yaml::Value::Mapping(map)) = serde_yaml::from_str(block) else { return false };
    let is_known = |key: &serde_yaml::Value| {
        key.as_str().is_some_and(|it| ["name", "description", "license"].contains(&it))
    };
    let text_of = |key: &str| map.get(key).and_then(serde_yaml::Value::as_str).unwrap_or_default();
    let (name, description) = (text_of("name"), text_of("description"));
    let is_letter = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    let on_its_line = block.lines().any(|line| {
        let value = line.strip_prefix("description: ").unwrap_or_default().trim();
        value.trim_matches('"') == description.trim()
            || value.trim_matches('\'') == description.trim()
    });
    map.keys().all(is_known)
        && map.get("license").is_none_or(serde_yaml::Value::is_string)
        && (1..=64).contains(&name.len())
        && name.chars().all(is_letter)
        && !description.trim().is_empty()
        && on_its_line
        && !body.trim().is_empty()
        && !text.contains('\r')
        && !path.with_file_name("agents").join("openai.yaml").exists()
}
