//! One permission rule: its author, pattern, action and position, and the limits for rules.

use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

/// Maximum number of rules about skills per file.
pub const MAX_RULES: usize = 1000;

/// Maximum length of a rule's pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1024;

/// One rule about skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Author of the rule.
    pub author: Author,
    /// The subagent that the rule applies to; `None` for a rule that applies to all.
    pub agent: Option<Box<str>>,
    /// A skill name, or a pattern in the agent's syntax.
    pub pattern: Box<str>,
    /// Action of the rule.
    pub action: Action,
    /// Position of the rule.
    pub source: SourceLocation,
}

/// Author of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A settings file of the agent.
    Agent,
    /// The agent's files merged with files of a repository that is not trusted. Such rules only
    /// make the outcome stricter.
    AgentUntrusted,
    /// The user's skillsd configuration.
    User,
    /// A worktree's `.skillsd.toml`.
    Repository,
    /// skillsd, because a mistake in a worktree's `.skillsd.toml` may hide a rule. Such a rule only
    /// makes the outcome stricter, and earlier approvals do not cover it.
    BrokenRepositoryFile,
    /// skillsd, in place of the rules of a file beyond [`MAX_RULES`]. Such a rule only makes the
    /// outcome stricter.
    OverLimit,
}

/// Action of a rule, from the mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// The skill may be used.
    Allow,
    /// The user is asked.
    Ask,
    /// The skill may not be used.
    Deny,
}

impl Action {
    /// Returns the action with this name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|it| it.name() == word)
    }

    /// Returns the name used in configuration files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Position in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file.
    pub file: AbsPath,
    /// Line and column.
    pub at: LineColumn,
}

/// Rules about skills of one skillsd configuration file, in text order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillRules {
    /// Rules without a mistake.
    pub rules: Vec<SkillRule>,
    /// First place where a mistake may hide a rule.
    pub hidden_rule: Option<LineColumn>,
}

/// A rule about skills as written in a skillsd configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRule {
    /// Pattern of the skill names it applies to.
    pub pattern: String,
    /// Action for these names.
    pub action: Action,
    /// Position in the file.
    pub at: LineColumn,
}
