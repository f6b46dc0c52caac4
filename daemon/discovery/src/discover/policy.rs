//! skillsd's own settings about skills: the user's configuration, and a worktree's `.skillsd.toml`.
//!
//! The user's configuration comes with the tree. The worktree's file is read and watched like an
//! agent's, so that an edit appears in the next list. The configuration's key table decides which
//! keys it may set; they can only make rules stricter.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use skills_syntax::path::AbsPath;

use super::links;
use super::settings::{NoteScope, Settings};
use super::tree::{PathStatus, Tree};
use super::trust::TrustDecisions;
use super::{Environment, SettingsFile, SettingsOutcome, Worktree};
use crate::permission::{Author, Rule, SkillRule, SourceLocation};

/// Name of a repository's own configuration file, at the top of its worktree.
pub const REPOSITORY_FILE: &str = ".skillsd.toml";

/// The user's decisions about skills, apart from agents' settings files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Rules of the user's configuration, in file order.
    pub rules: Vec<Rule>,
    /// Trust decisions for directories.
    pub trusts: TrustDecisions,
    /// True if skills of a worktree need trust in every profile.
    pub requires_trust: bool,
    /// The daemon's own variables; `None` if the context's variables are the daemon's. Their `HOME`
    /// is the user's home directory, and a directory that another variable names belongs to the
    /// user only if the variable has the same value here.
    pub environment: Option<Environment>,
}

impl Policy {
    /// Returns the rules of the user's configuration, read from `file`.
    pub fn rules(rules: &[SkillRule], file: &AbsPath) -> Vec<Rule> {
        rules.iter().map(|it| rule(it, Author::User, file)).collect()
    }
}

fn rule(written: &SkillRule, author: Author, file: &AbsPath) -> Rule {
    let source = SourceLocation { file: file.clone(), at: written.at };
    let pattern = written.pattern.as_str().into();
    Rule { author, agent: None, pattern, action: written.action, source }
}

/// Adds the rules of skillsd's own configuration to the agent's settings.
pub(super) fn read(worktree: &Worktree, tree: &dyn Tree, settings: &mut Settings) {
    let mut rules = tree.policy().rules.clone();
    rules.extend(of_repository(&worktree.top.child(REPOSITORY_FILE), tree, settings));
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
fn of_repository(path: &AbsPath, tree: &dyn Tree, settings: &mut Settings) -> Vec<Rule> {
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
