//! Activation for agents that read their skills once: rules by which touched files add skills.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{DEFAULT, NestedRule, Profile, RootBase, RootRule, Text, find};

impl Profile {
    /// Returns the rules by which touched files add skills to a session of this profile.
    ///
    /// An agent that searches no nested directories itself gets the directories and the activation
    /// of the default profile. Its own rules still decide which skills it may see: settings, trust,
    /// names and requirements. A user's own setting of these rules stays.
    pub fn for_touches(self: &Arc<Self>) -> Arc<Self> {
        let is_set = |it: &str| self.configured.contains(&it);
        let activates = self.nested != NestedRule::Never;
        let default = find(DEFAULT).filter(|_| !activates && !is_set("nested"));
        let Some(default) = default else { return Arc::clone(self) };
        let known: HashSet<_> = self.roots.iter().flat_map(directories).collect();
        let added = default.roots.iter().map(|it| {
            // A file that two roots find is shadowed in one of them.
            let is_new = |(_, dir): &(&Text, _)| !known.contains(dir);
            let new = it.relative.iter().zip(directories(it)).filter(is_new);
            RootRule { relative: new.map(|(relative, _)| relative.clone()).collect(), ..it.clone() }
        });
        let added = added.filter(|it| !it.relative.is_empty());
        let own = self.roots.iter().cloned();
        // The agent's own skills keep their names.
        let roots = if self.duplicates.last_wins() {
            added.chain(own).collect()
        } else {
            own.chain(added).collect()
        };
        Arc::new(Self {
            roots,
            conditional: self.conditional || !is_set("conditional"),
            hides_from_model: true,
            nested: default.nested.clone(),
            // Separates the views of these rules from those of the profile.
            revision: !self.revision,
            ..(**self).clone()
        })
    }
}

/// Kind of the directory that contains a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    Project,
    Added,
    Home,
}

/// Returns the directories of a root in a project, an added directory or the home directory; none
/// for other roots.
fn directories(root: &RootRule) -> Vec<(Holder, PathBuf)> {
    let (holder, below): (Holder, &str) = match &root.base {
        RootBase::Ancestors { .. } => (Holder::Project, ""),
        RootBase::Additional => (Holder::Added, ""),
        RootBase::Home => (Holder::Home, ""),
        RootBase::Variable { below_home, .. } => (Holder::Home, below_home),
        _ => return Vec::new(),
    };
    root.relative.iter().map(|it| (holder, Path::new(below).join(&**it))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_touches_keep_the_settings_and_trust_of_the_agent() {
        for id in ["codex", "gemini-cli", "opencode", "qwen-code"] {
            let own = find(id).expect("built in");
            let touches = own.for_touches();
            assert!(touches.conditional && touches.nested != NestedRule::Never, "{id}");
            assert_eq!((&touches.settings, &touches.trust), (&own.settings, &own.trust), "{id}");
            assert_ne!(touches.key(), own.key(), "{id}");
            assert!(own.roots.iter().all(|it| touches.roots.contains(it)), "{id}");
            let all: Vec<_> = touches.roots.iter().flat_map(directories).collect();
            let of_own = own.roots.iter().flat_map(directories);
            for dir in of_own {
                assert_eq!(all.iter().filter(|it| **it == dir).count(), 1, "{id}: {dir:?}");
            }
        }
        for id in [DEFAULT, "claude-code"] {
            let own = find(id).expect("built in");
            assert!(Arc::ptr_eq(own, &own.for_touches()), "{id}");
        }
    }
}
