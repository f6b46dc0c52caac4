//! The third opinion: each agent's discovery as its rules are published, word for word.
//!
//! Slow and literal, over `std::fs`, and sharing no code with the product: each agent is a function
//! that can be read beside its column of the published table. It reads only simple files, as the random
//! trees are made of (`key: value` on a line of its own), since what a broken file means is tested
//! elsewhere; of real files [`is_plain`] tells which are so.

mod agents;

use std::fs;
use std::path::{Path, PathBuf};

pub use agents::{AGENTS, listed};

/// Where an agent stands.
#[derive(Clone, Debug)]
pub struct Stand {
    /// The agent's working directory, absolute.
    pub cwd: PathBuf,
    /// HOME.
    pub home: PathBuf,
}

/// A skill that an agent lists: its name, and its file without links on the way.
pub type Listed = (String, PathBuf);

/// A SKILL.md as it was met.
#[derive(Clone, Debug)]
struct Met {
    /// As reached.
    path: PathBuf,
    /// Without links on the way; nothing where the file cannot be read.
    real: Option<PathBuf>,
}

/// What a SKILL.md says, in its simplest form.
#[derive(Clone, Debug, Default)]
struct Said {
    has_frontmatter: bool,
    name: Option<String>,
    description: Option<String>,
    paths: bool,
}

impl Stand {
    /// The nearest directory, from the working directory up, that holds a `.git`.
    fn worktree(&self) -> Option<PathBuf> {
        self.cwd.ancestors().find(|dir| dir.join(".git").exists()).map(Path::to_path_buf)
    }

    /// The working directory and what is above it, up to and with `last`, nearest first.
    fn up_to(&self, last: &Path) -> Vec<PathBuf> {
        let above = self.cwd.ancestors().take_while(|dir| dir.starts_with(last));
        above.map(Path::to_path_buf).collect()
    }

    /// Up to the worktree's top; outside git the working directory alone.
    fn up_to_worktree(&self) -> Vec<PathBuf> {
        self.up_to(&self.worktree().unwrap_or_else(|| self.cwd.clone()))
    }
}

/// The directories in a directory, links followed or not, sorted by the bytes of their names; with
/// whether each is a link.
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

/// The SKILL.md of a directory, if there is an entry of exactly that name.
fn skill_in(dir: &Path) -> Option<Met> {
    let path = dir.join("SKILL.md");
    fs::symlink_metadata(&path).ok()?;
    let real = fs::canonicalize(&path).ok().filter(|it| it.is_file());
    Some(Met { path, real })
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
}

fn said(met: &Met) -> Option<Said> {
    let text = fs::read_to_string(met.real.as_ref()?).ok()?;
    let mut said = Said::default();
    let Some(rest) = text.strip_prefix("---\n") else { return Some(said) };
    said.has_frontmatter = true;
    for line in rest.lines().take_while(|line| *line != "---") {
        match line.split_once(": ") {
            Some(("name", value)) => said.name = Some(value.trim().trim_matches('"').to_owned()),
            Some(("description", value)) => said.description = Some(value.to_owned()),
            Some(("paths", _)) => said.paths = true,
            _ => {}
        }
    }
    Some(said)
}

/// Returns whether a SKILL.md is one that all agents read alike: the standard's fields, a name of small
/// letters, digits and hyphens, a description on its line, a body, and nothing that one of them minds.
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
