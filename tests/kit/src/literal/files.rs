//! Directories, SKILL.md files and their fields, read with `std::fs`.

use std::fs;
use std::path::{Path, PathBuf};

/// A skill that an agent lists: its name, and its canonical path.
pub type Listed = (String, PathBuf);

/// A SKILL.md found by a walk.
#[derive(Clone, Debug)]
pub(super) struct FoundSkill {
    /// Path as reached, with links.
    pub(super) path: PathBuf,
    /// Canonical path, or `None` if the file cannot be read.
    pub(super) real: Option<PathBuf>,
}

/// Fields of a simple SKILL.md.
#[derive(Clone, Debug, Default)]
pub(super) struct SkillFields {
    pub(super) has_frontmatter: bool,
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) paths: bool,
}

/// Returns the subdirectories, links followed, sorted by the bytes of their names, each with
/// whether it is a link.
pub(super) fn directories(dir: &Path) -> Vec<(PathBuf, bool)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<(PathBuf, bool)> = entries
        .flatten()
        .map(|entry| (entry.path(), entry.file_type().is_ok_and(|it| it.is_symlink())))
        .filter(|(path, _)| path.is_dir())
        .collect();
    found.sort_by(|one, other| one.0.file_name().cmp(&other.0.file_name()));
    found
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn is_hidden(path: &Path) -> bool {
    name_of(path).starts_with('.')
}

/// Returns the SKILL.md of a directory, if an entry has exactly that name.
pub(super) fn skill_in(dir: &Path) -> Option<FoundSkill> {
    let path = dir.join("SKILL.md");
    fs::symlink_metadata(&path).ok()?;
    let real = fs::canonicalize(&path).ok().filter(|it| it.is_file());
    Some(FoundSkill { path, real })
}

pub(super) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
}

pub(super) fn fields(found: &FoundSkill) -> Option<SkillFields> {
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
