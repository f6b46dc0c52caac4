//! What our own configuration decides about skills: the user's, and a worktree's `.skillsd.toml`.
//!
//! The user's is the same everywhere and comes with the tree. The worktree's is a file like an
//! agent's: it is read where it lies and watched, so that an edit of it is in the next list. What
//! it can decide is the table of keys' to say, and is never more than to be stricter.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use skills_syntax::path::AbsPath;

use super::links;
use super::settings::{About, Settings};
use super::tree::{Place, Tree};
use super::trust::Trusts;
use super::{Consultation, Consulted, Environment, Worktree};
use crate::permission::{Author, Rule, SkillRule, Source};

/// Name of a repository's own configuration file, at the top of its worktree.
pub const REPOSITORY_FILE: &str = ".skillsd.toml";

/// What the user has decided about skills, besides what agents' files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The rules of the user's configuration, in its order.
    pub rules: Vec<Rule>,
    /// What the user has said about directories.
    pub trusts: Trusts,
    /// Whether what comes with a worktree waits for trust in every profile.
    pub requires_trust: bool,
    /// The daemon's own variables: its `HOME` is the user's home directory, and a directory that
    /// another variable names is the user's only by the same value here. None where the site's
    /// variables are the daemon's.
    pub environment: Option<Environment>,
}

impl Policy {
    /// Returns the rules of the user's configuration, which was read from `file`.
    pub fn rules(rules: &[SkillRule], file: &AbsPath) -> Vec<Rule> {
        rules.iter().map(|it| rule(it, Author::User, file)).collect()
    }
}

fn rule(written: &SkillRule, author: Author, file: &AbsPath) -> Rule {
    let source = Source { file: file.clone(), at: written.at };
    let pattern = written.pattern.as_str().into();
    Rule { author, agent: None, pattern, action: written.action, source }
}

/// Adds what our own configuration says to what the agent's files say.
pub(super) fn read(worktree: &Worktree, tree: &dyn Tree, settings: &mut Settings) {
    let mut rules = tree.policy().rules.clone();
    rules.extend(of_repository(&worktree.top.child(REPOSITORY_FILE), tree, settings));
    for rule in rules {
        let file = &rule.source.file;
        if !settings.consulted.iter().any(|it| it.path == *file) {
            let (path, outcome) = (file.clone(), Consultation::Read);
            settings.consulted.push(Consulted { path, outcome, notes: Vec::new() });
        }
        let message =
            format!("`permission.skill` says `{}` for `{}`", rule.action.name(), rule.pattern);
        settings.note_about(&rule.source, About::Names(rule.pattern.clone()), message);
        settings.rules.push(rule);
    }
}

/// Reads the worktree's file. Of one with mistakes counts what is right: it only makes stricter.
fn of_repository(path: &AbsPath, tree: &dyn Tree, settings: &mut Settings) -> Vec<Rule> {
    let text = match tree.look(path) {
        Some(Place::File) => links::text(tree, &settings.tops, path),
        Some(_) => return Vec::new(),
        None => None,
    };
    match text {
        None => {
            settings.complete = false;
            Vec::new()
        }
        // What cannot be read is told by whoever follows the file for its other keys.
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
