//! Rules of skillsd's own configuration: the user's, and those of a worktree's `.skillsd.toml`.
//!
//! The user's rules come with the tree. The worktree's file is read and watched like an agent's,
//! so that an edit appears in the next list. The configuration's key table decides which keys it
//! may set; they can only make rules stricter.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use skills_syntax::path::AbsPath;

use super::disk::PathStatus;
use super::links;
use super::policy::rule;
use super::settings::decisions::SettingsDecisions;
use super::settings::file::{NoteScope, SettingsFile, SettingsOutcome};
use super::tree::Tree;
use super::worktree::WorktreeLocation;
use crate::permission::{Author, Rule};

/// Name of a repository's own configuration file, at the top of its worktree.
pub const REPOSITORY_FILE: &str = ".skillsd.toml";

/// Adds the rules of skillsd's own configuration to the agent's settings.
pub(super) fn add(worktree: &WorktreeLocation, tree: &dyn Tree, settings: &mut SettingsDecisions) {
    let mut rules = tree.policy().rules.clone();
    rules.extend(repository_rules(&worktree.top.child(REPOSITORY_FILE), tree, settings));
    for rule in rules {
        let file = &rule.source.file;
        if !settings.consulted.iter().any(|it| it.path == *file) {
            let (path, outcome) = (file.clone(), SettingsOutcome::Read);
            settings.consulted.push(SettingsFile { path, outcome, notes: Vec::new() });
        }
        let message =
            format!("`permission.skill` says `{}` for `{}`", rule.action.name(), rule.pattern);
        settings.note_about(&rule.source, NoteScope::Names(rule.pattern.clone()), message);
        settings.rules.push(rule);
    }
}

/// Reads the worktree's file. Valid rules of a file with mistakes still apply, because they only
/// make stricter.
fn repository_rules(
    path: &AbsPath,
    tree: &dyn Tree,
    settings: &mut SettingsDecisions,
) -> Vec<Rule> {
    let text = match tree.look(path) {
        Some(PathStatus::File) => links::text(tree, &settings.tops, path),
        Some(_) => return Vec::new(),
        None => None,
    };
    match text {
        None => {
            settings.complete = false;
            Vec::new()
        }
        // The reader of the file's other keys reports the fault.
        Some(Err(_)) => Vec::new(),
        Some(Ok(text)) => {
            let mut hasher = DefaultHasher::new();
            text.as_str().hash(&mut hasher);
            settings.own_file = Some(hasher.finish());
            let rules = tree.skill_rules(text.as_str());
            rules.iter().map(|it| rule(it, Author::Repository, path)).collect()
        }
    }
}
