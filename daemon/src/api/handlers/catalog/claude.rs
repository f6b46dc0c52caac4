//! Claude Code's listing, as far as discovery does not decide it: its order, the labels behind
//! names and the notes behind descriptions.
//!
//! Measured with 2.1.330: a label is the `name` field behind the name that the directory gives. It
//! is shown once, and only if no skill or command has that name. Skills that are switched off or
//! hidden count; those whose `paths` wait do not.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use skills_agents::claude_text::{is_label, is_name};
use skills_agents::field_table::NAME;
use skills_agents::loaders::read_text;
use skills_agents::profile::Scope;
use skills_discovery::discover::{Candidate, OWN_COMMANDS, Resolution, SkillState, holder};
use skills_engine::View;
use skills_render::locale;
use skills_render::prompt_listing::ListedSkill;
use skills_syntax::path::AbsPath;

/// Labels and notes for the skills of a listing.
pub(super) struct ListingNotes<'v> {
    view: &'v View,
    /// Labels by the skills' files.
    labels: HashMap<&'v Path, String>,
    /// Names of the skills and commands that the agent loads, and of its own.
    names: HashSet<&'v str>,
}

impl<'v> ListingNotes<'v> {
    pub(super) fn of(view: &'v View) -> Self {
        let loaded = loaded(view).map(|it| &*it.name);
        let names = loaded.chain(OWN_COMMANDS.split(' ')).collect();
        Self { view, labels: labels(view), names }
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
                // Measured: where only nested skills share the name, none has it alone.
                if root.scope == Scope::Nested && !self.names.contains(bare) {
                    skill.note = Some(self.origin(&root.path));
                    return;
                }
                skill.note = Some(format!(
                    "(scoped to {dir}/ — use this instead of the unscoped \"{bare}\" skill when the files being changed are under {dir}/)"
                ));
                return;
            }
            (Scope::Nested, None) => {
                skill.note = Some(self.origin(&root.path));
            }
            _ => {}
        }
        skill.label = self.labels.remove(&*candidate.path);
    }

    /// Returns the note that names a nested directory of skills.
    fn origin(&self, root: &AbsPath) -> String {
        let cwd = &self.view.ctx.cwd;
        let dir = holder(&self.view.ctx, root);
        let [root, dir] =
            [root, &dir].map(|it| it.strip_prefix(cwd).unwrap_or(it).display().to_string());
        format!("(from {root} — applies when working on files under {dir}/)")
    }
}

/// Returns the skills and commands that the agent loads.
fn loaded(view: &View) -> impl Iterator<Item = &Candidate> {
    let is_loaded = |it: &&Candidate| {
        use SkillState::{Conditional, Invalid, Refused, Shadowed, Untrusted};
        !matches!(it.state, Conditional | Invalid | Refused | Shadowed | Untrusted)
    };
    view.resolution.candidates.iter().filter(is_loaded)
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

/// Returns the first skill whose `name` field is `typed`, with or without the name of its plugin.
///
/// Measured: the agent need not show the field as a label, but takes no text that cannot be a name.
pub(in crate::api::handlers) fn labelled(view: &View, typed: &str) -> Option<usize> {
    if !is_name(typed) || OWN_COMMANDS.split(' ').any(|it| it == typed) {
        return None;
    }
    let is_typed = |it: Option<String>| it.is_some_and(|it| it == typed);
    let is_meant = |it: &&Candidate| is_typed(label(view, it)) || is_typed(field(view, it));
    let found = loaded(view).find(is_meant)?;
    view.resolution.candidates.iter().position(|it| std::ptr::eq(it, found))
}

fn labels(view: &View) -> HashMap<&Path, String> {
    let mut taken: HashSet<String> = loaded(view).map(|it| it.name.clone()).collect();
    taken.extend(OWN_COMMANDS.split(' ').map(str::to_owned));
    let mut labels = HashMap::new();
    for candidate in loaded(view) {
        let label = label(view, candidate).filter(|it| is_label(it));
        if let Some(label) = label.filter(|it| taken.insert(it.clone())) {
            labels.insert(&*candidate.path, label);
        }
    }
    labels
}

/// Returns the `name` field with the name of the plugin before it.
fn label(view: &View, candidate: &Candidate) -> Option<String> {
    let field = field(view, candidate)?;
    Some(match (view.resolution.plugin_of(candidate), &candidate.namespace) {
        (Some(plugin), Some(_)) if field.starts_with(&format!("{}:", plugin.name)) => field,
        (Some(_), Some(namespace)) => format!("{namespace}:{field}"),
        _ => field,
    })
}

/// Returns the `name` field. A command has one only if a plugin provides it.
fn field(view: &View, candidate: &Candidate) -> Option<String> {
    let resolution = &view.resolution;
    let is_in_plugin = resolution.plugin_of(candidate).is_some() && candidate.namespace.is_some();
    if !is_in_plugin && resolution.roots[candidate.root].scope == Scope::Command {
        return None;
    }
    read_text(&view.ctx.profile, candidate.record()?, &NAME)
}
