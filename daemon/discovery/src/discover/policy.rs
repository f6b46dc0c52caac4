//! The user's decisions about skills: permission rules of the user's configuration, and trust.
//!
//! They come with the tree.

use std::collections::BTreeMap;

use skills_syntax::path::AbsPath;

use super::context::Environment;
use crate::permission::{Author, Rule, SkillRule, SourceLocation};

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

/// Returns a rule of skillsd's own configuration, read from `file`.
pub(super) fn rule(written: &SkillRule, author: Author, file: &AbsPath) -> Rule {
    let source = SourceLocation { file: file.clone(), at: written.at };
    let pattern = written.pattern.as_str().into();
    Rule { author, agent: None, pattern, action: written.action, source }
}

/// The user's trust decisions by canonical path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustDecisions(BTreeMap<AbsPath, bool>);

impl TrustDecisions {
    /// Creates the table from decisions.
    pub fn new(decisions: impl IntoIterator<Item = (AbsPath, bool)>) -> Self {
        Self(decisions.into_iter().collect())
    }

    /// Returns the decision for a path and the directory it was made for: the nearest ancestor with
    /// a decision. `None` if no decision applies.
    pub fn decision(&self, path: &AbsPath) -> Option<(&AbsPath, bool)> {
        path.ancestors().find_map(|it| self.0.get_key_value(&it)).map(|(dir, it)| (dir, *it))
    }

    /// Returns all decisions, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&AbsPath, bool)> {
        self.0.iter().map(|(dir, it)| (dir, *it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text.as_ref()).unwrap()
    }

    #[test]
    fn nearest_trust_decision_applies() {
        let trusts = TrustDecisions::new([(path("/w"), true), (path("/w/vendor"), false)]);
        let decision = |text: &str| trusts.decision(&path(text)).map(|it| it.1);
        assert_eq!(decision("/w/.claude/skills"), Some(true));
        assert_eq!(decision("/w/vendor/x"), Some(false));
        assert_eq!(decision("/worktree"), None, "a name is not a path");
        assert_eq!(decision("/"), None);
    }
}
