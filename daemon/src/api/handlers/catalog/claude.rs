//! Claude Code's listing, as far as discovery does not decide it: its order, the labels behind names
//! and the notes behind descriptions.
//!
//! Measured with 2.1.330: a label is the `name` field behind the name that the directory gives. It is
//! shown once, and only if no skill or command has that name. Skills that are switched off or hidden
//! count; those whose `paths` wait do not.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use skills_agents::claude_text::is_label;
use skills_agents::field_table::NAME;
use skills_agents::loaders::read_text;
use skills_agents::profile::Scope;
use skills_discovery::discover::{Candidate, Resolution, SkillState, holder};
use skills_engine::View;
use skills_render::locale;
use skills_render::prompt_listing::ListedSkill;

/// The agent's own commands and skills, with those that only its terminal offers.
const OWN: &str = "__remote-workflow add-dir agents auto-mode-setup autocompact branch btw bug cd clear color compact config context copy diff doctor effort exit export fast feedback focus fork goal heapdump help hooks ide init insights keybindings list-agents login logout mcp memory mobile model output-style passes permissions plan plugin plugin-authoring powerup recap release-notes reload-plugins reload-skills rename resume rewind sandbox security-review skills status statusline stickers tasks team-onboarding terminal-setup theme tui usage workflow-launch-exec workflows";

/// Labels and notes for the skills of a listing.
pub(super) struct Additions<'v> {
    view: &'v View,
    /// Labels by the skills' files.
    labels: HashMap<&'v Path, String>,
}

impl<'v> Additions<'v> {
    pub(super) fn of(view: &'v View) -> Self {
        Self { view, labels: labels(view) }
    }

    pub(super) fn apply(&mut self, candidate: &Candidate, skill: &mut ListedSkill<'v>) {
        let resolution = &self.view.resolution;
        if candidate.name_only || resolution.with_text(candidate).is_none() {
            return;
        }
        let root = &resolution.roots[candidate.root];
        if candidate.description.is_none() {
            let is_command = root.scope == Scope::Command;
            skill.description = if is_command { "Custom command" } else { "Skill" };
        }
        match (root.scope, &candidate.namespace) {
            (Scope::Nested | Scope::Additional, Some(dir)) if root.plugin.is_none() => {
                let bare = candidate.name.strip_prefix(&format!("{dir}:")).unwrap_or_default();
                skill.note = Some(format!(
                    "(scoped to {dir}/ — use this instead of the unscoped \"{bare}\" skill when the files being changed are under {dir}/)"
                ));
                return;
            }
            (Scope::Nested, None) => {
                let cwd = &self.view.ctx.cwd;
                let dir = holder(&self.view.ctx, &root.path);
                let [root, dir] = [&root.path, &dir]
                    .map(|it| it.strip_prefix(cwd).unwrap_or(it).display().to_string());
                skill.note =
                    Some(format!("(from {root} — applies when working on files under {dir}/)"));
            }
            _ => {}
        }
        skill.label = self.labels.remove(&*candidate.path);
    }
}

/// Sorts skills: those of each root by name, then all commands, the plugins' commands and skills,
/// provided skills, and skills with a note.
pub(super) fn sort(resolution: &Resolution, skills: &mut [&Candidate]) {
    let place = |it: &Candidate| {
        let root = &resolution.roots[it.root];
        match root.scope {
            Scope::Nested => (5, 0),
            Scope::Command if root.plugin.is_some() => (2, it.root),
            _ if root.plugin.is_some() => (3, it.root),
            Scope::Additional if it.namespace.is_some() => (5, 0),
            Scope::Command => (1, 0),
            Scope::Bundled | Scope::Remote | Scope::Mcp => (4, it.root),
            _ => (0, it.root),
        }
    };
    skills.sort_by(|a, b| {
        let (place, other) = (place(a), place(b));
        let by_name = || match place.0 {
            0 | 1 | 5 => locale::compare(&a.name, &b.name),
            _ => Ordering::Equal,
        };
        place.cmp(&other).then_with(by_name)
    });
}

fn labels(view: &View) -> HashMap<&Path, String> {
    let resolution = &view.resolution;
    let is_loaded = |it: &&Candidate| {
        use SkillState::{Conditional, Invalid, Refused, Shadowed, Untrusted};
        !matches!(it.state, Conditional | Invalid | Refused | Shadowed | Untrusted)
    };
    let loaded = || resolution.candidates.iter().filter(is_loaded);
    let mut taken: HashSet<String> = loaded().map(|it| it.name.clone()).collect();
    taken.extend(OWN.split(' ').map(str::to_owned));
    let mut labels = HashMap::new();
    for candidate in loaded() {
        let label = label(view, candidate).filter(|it| is_label(it));
        if let Some(label) = label.filter(|it| taken.insert(it.clone())) {
            labels.insert(&*candidate.path, label);
        }
    }
    labels
}

fn label(view: &View, candidate: &Candidate) -> Option<String> {
    let resolution = &view.resolution;
    let field = read_text(&view.ctx.profile, candidate.record()?, &NAME)?;
    let (plugin, namespace) = (resolution.plugin_of(candidate), &candidate.namespace);
    match (plugin, namespace) {
        (Some(plugin), Some(_)) if field.starts_with(&format!("{}:", plugin.name)) => Some(field),
        (Some(_), Some(namespace)) => Some(format!("{namespace}:{field}")),
        _ if resolution.roots[candidate.root].scope == Scope::Command => None,
        _ => Some(field),
    }
}
