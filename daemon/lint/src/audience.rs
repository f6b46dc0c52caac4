//! Which agents a finding is about, and how they are named in a sentence.
//!
//! Of the active profiles those count that look where the file lies; for a file that lies in no
//! agent's directory all of them do, because it will be copied to one.

use std::path::{Component, Path};

use skills_agents::field_table::Agent;
use skills_agents::profile::{self, Evidence, Profile, RootBase, RootRule};

/// Returns the profiles of `active` that look where `path` lies.
pub(super) fn concerned<'a>(active: &[&'a Profile], path: Option<&Path>) -> Vec<&'a Profile> {
    let all = || active.to_vec();
    let Some(path) = path else { return all() };
    if !profile::builtin().iter().any(|it| looks_at(it, path)) {
        return all();
    }
    let there: Vec<_> = active.iter().copied().filter(|it| looks_at(it, path)).collect();
    if there.is_empty() { all() } else { there }
}

fn looks_at(profile: &Profile, path: &Path) -> bool {
    profile.roots.iter().any(|rule| root_of(rule, path).is_some())
}

/// Returns how many directories lie between a root of `profile` and the file, and the root.
pub(super) fn depth_below_root<'p>(
    profile: &'p Profile,
    path: &Path,
) -> Option<(usize, &'p RootRule, String)> {
    let mut nearest: Option<(usize, &RootRule, String)> = None;
    for rule in &profile.roots {
        if let Some((depth, root)) = root_of(rule, path)
            && nearest.as_ref().is_none_or(|it| depth < it.0)
        {
            nearest = Some((depth, rule, root));
        }
    }
    nearest
}

fn root_of(rule: &RootRule, path: &Path) -> Option<(usize, String)> {
    let prefix = match &rule.base {
        RootBase::Variable { below_home, .. } => Some(&**below_home),
        RootBase::Home | RootBase::Ancestors { .. } | RootBase::Additional => None,
        // Their place says nothing about the names of directories.
        RootBase::IfSet { .. }
        | RootBase::Absolute(_)
        | RootBase::Provided(_)
        | RootBase::Settings
        | RootBase::Plugins(_)
        | RootBase::Extensions(_)
        | RootBase::BuiltIn(_) => return None,
    };
    let parts: Vec<&str> = path.parent()?.components().filter_map(name).collect();
    rule.relative
        .iter()
        .filter_map(|relative| below(&parts, prefix, relative))
        .min_by_key(|it| it.0)
}

fn name(component: Component<'_>) -> Option<&str> {
    component.as_os_str().to_str()
}

fn below(parts: &[&str], prefix: Option<&str>, relative: &str) -> Option<(usize, String)> {
    let root: Vec<&str> =
        prefix.into_iter().flat_map(|it| it.split('/')).chain(relative.split('/')).collect();
    // A root that is only called `skills` could be anywhere.
    if !root.first()?.starts_with('.') || root.len() > parts.len() {
        return None;
    }
    let at = (0..=parts.len() - root.len()).rev().find(|&at| parts[at..].starts_with(&root))?;
    Some((parts.len() - at - root.len(), root.join("/")))
}

/// Returns the agents as the subject of a sentence: `Codex and opencode`.
pub(super) fn names(profiles: &[&Profile]) -> String {
    let names: Vec<&str> = profiles.iter().map(|it| name_of(it)).collect();
    listed(&names)
}

/// Returns the agents followed by a verb in the right number: `Codex drops`.
pub(super) fn act(profiles: &[&Profile], one: &str, several: &str) -> String {
    let is_one = matches!(profiles, [only] if only.evidence != Evidence::Standard);
    format!("{} {}", names(profiles), if is_one { one } else { several })
}

pub(super) fn name_of(profile: &Profile) -> &str {
    match profile.evidence {
        Evidence::Standard => "clients of the standard",
        Evidence::Run | Evidence::Source | Evidence::Documentation | Evidence::Configuration => {
            &profile.agent
        }
    }
}

/// Returns the words with commas and an `and`.
pub(super) fn listed(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Returns the words in backticks with commas and an `or`.
pub(super) fn choice(words: &[impl AsRef<str>]) -> String {
    let words: Vec<String> = words.iter().map(|it| format!("`{}`", it.as_ref())).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// Returns whether one of the profiles is that agent's.
pub(super) fn includes(profiles: &[&Profile], agent: Agent) -> bool {
    profiles.iter().any(|it| Agent::from_profile_id(&it.id) == Some(agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<&'static Profile> {
        let builtin = profile::builtin().iter().map(|it| &**it);
        builtin.filter(|it| !it.id.contains('@')).collect()
    }

    fn ids(path: &str) -> Vec<&'static str> {
        concerned(&all(), Some(Path::new(path))).iter().map(|it| &*it.id).collect()
    }

    #[test]
    fn a_file_concerns_those_who_look_there() {
        let claude = ["agentskills", "claude-code", "opencode", "opencode-agent-skills"];
        assert_eq!(ids("/w/.claude/skills/a/SKILL.md"), claude);
        assert_eq!(ids("/w/.gemini/skills/a/SKILL.md"), ["agentskills", "gemini-cli"]);
        assert_eq!(ids("/w/.codex/skills/a/b/SKILL.md"), ["agentskills", "codex"]);
        assert_eq!(ids("/w/skills/a/SKILL.md").len(), 6);
    }

    #[test]
    fn depth_is_counted_below_the_nearest_root() {
        let claude = profile::find("claude-code").unwrap();
        let depth = |path: &str| depth_below_root(claude, Path::new(path)).map(|it| it.0);
        assert_eq!(depth("/w/.claude/skills/a/SKILL.md"), Some(1));
        assert_eq!(depth("/w/.claude/skills/SKILL.md"), Some(0));
        assert_eq!(depth("/w/.claude/skills/a/b/SKILL.md"), Some(2));
        assert_eq!(depth("/w/skills/a/SKILL.md"), None);
    }

    #[test]
    fn agents_are_named_as_in_a_sentence() {
        let [standard, claude, ..] = all()[..] else { panic!("there are several") };
        assert_eq!(act(&[claude], "drops", "drop"), "Claude Code drops");
        assert_eq!(act(&[standard], "drops", "drop"), "clients of the standard drop");
        assert_eq!(
            act(&[claude, standard], "drops", "drop"),
            "Claude Code and clients of the standard drop"
        );
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!(choice(&["a", "b"]), "`a` or `b`");
    }
}
