//! An independent reader that implements each agent's published discovery rules literally.
//!
//! It is slow, uses `std::fs`, and shares no code with the product: each agent is one function that
//! can be compared with its column of the published table. It reads only simple files, as the
//! random trees contain (`key: value` on one line), because broken files are tested elsewhere;
//! [`is_plain`] tells whether a real file is simple enough.

mod agents;
mod files;
mod location;

use std::fs;
use std::path::Path;

pub use agents::{AGENTS, listed};
pub use files::Listed;
pub use location::AgentLocation;

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
