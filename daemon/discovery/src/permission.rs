//! Permission: rules as agents' configuration files state them, and what follows from them.
//!
//! A rule is a statement with its place. Which of several counts differs from agent to agent;
//! [`decide`] is the one answer for all, and names the rule that it comes from. Nobody is asked
//! here, and what was answered once is a list of patterns to [`is_granted`].
//!
//! Rules have three authors. An agent's own files are decided as that agent decides them. What the
//! user's configuration of ours says comes before that, except that nothing denied becomes allowed.
//! A repository's `.skillsd.toml` can only make the outcome stricter.

mod claude_code;
mod opencode;
mod properties;
pub(crate) mod wildcard;

use skills_agents::profile::{Profile, SettingsItem};
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

pub use claude_code::is_canonical;
pub use properties::Properties;

/// Rules about skills that one file may have.
pub const RULES: usize = 1000;

/// The longest pattern of a rule, in bytes.
pub const PATTERN_BYTES: usize = 1024;

/// One rule about skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Who wrote it.
    pub author: Author,
    /// The agent inside the agent whose rule it is; none for a rule that holds for all.
    pub agent: Option<Box<str>>,
    /// Which skills it is about: a name, or a pattern in the agent's own form.
    pub pattern: Box<str>,
    /// What it says.
    pub action: Action,
    /// Where it stands.
    pub source: Source,
}

/// Who wrote a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// It stands in a configuration file of the agent.
    Agent,
    /// It is one of those that all of the agent's files make together, where files of a repository
    /// that is not trusted are among them. Such rules only make the outcome stricter.
    AgentUntrusted,
    /// It stands in the user's configuration of ours.
    User,
    /// It stands in a worktree's `.skillsd.toml`.
    Repository,
}

/// What a rule says, the mildest first.
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
    /// Returns the action of that name.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|it| it.name() == word)
    }

    /// Returns the word for it, in configuration files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A place in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub file: AbsPath,
    /// Where in it.
    pub at: LineColumn,
}

/// A rule about skills as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRule {
    /// The pattern of the names it applies to.
    pub pattern: String,
    /// The action for these names.
    pub action: Action,
    /// Its place in the file.
    pub at: LineColumn,
}

/// Which of several rules counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// The last that matches, as in opencode; without one the skill is allowed.
    LastMatch,
    /// Deny, then allow, then ask, as in Claude Code; without one a skill is asked for unless it
    /// can do no harm.
    DenyFirst,
}

impl Regime {
    /// Returns the regime of an agent: it follows from how its files write rules. One without
    /// rules denies nothing and asks nobody.
    pub fn of(profile: &Profile) -> Self {
        let lists =
            profile.settings.iter().any(|it| it.reads.contains(&SettingsItem::PermissionLists));
        if lists { Self::DenyFirst } else { Self::LastMatch }
    }
}

/// Which skill is wanted, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The skill's name, as the agent calls it.
    pub name: &'a str,
    /// The agent inside the agent.
    pub agent: Option<&'a str>,
    /// Whether the skill was fetched from elsewhere.
    pub is_remote: bool,
    /// What its frontmatter amounts to.
    pub properties: &'a Properties,
}

/// What follows from the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<'a> {
    /// What is to be done.
    pub action: Action,
    /// Why.
    pub reason: Reason<'a>,
    /// Where the user is asked: the patterns that an "always" may allow, narrowest first.
    pub suggestions: Vec<Box<str>>,
}

/// Why it is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason<'a> {
    /// This rule says so.
    Rule(&'a Rule),
    /// This rule takes the whole tool for skills away.
    ToolOff(&'a Rule),
    /// The agent fetched the skill itself, under a name of its own making.
    Canonical,
    /// No rule matches, and nothing in the skill can do harm.
    Harmless,
    /// No rule matches, and the skill has this key; none where its frontmatter is not known.
    Concern(Option<Box<str>>),
    /// No rule matches, and the agent asks nobody.
    NoRule,
}

impl<'a> Decision<'a> {
    /// Returns the rule that decided; with its source it says which line to change.
    pub fn rule(&self) -> Option<&'a Rule> {
        match self.reason {
            Reason::Rule(rule) | Reason::ToolOff(rule) => Some(rule),
            Reason::Canonical | Reason::Harmless | Reason::Concern(_) | Reason::NoRule => None,
        }
    }

    fn by(action: Action, reason: Reason<'a>) -> Self {
        Self { action, reason, suggestions: Vec::new() }
    }
}

/// Decides whether a skill may be used.
///
/// `rules` are those of one view, in the agent's order.
pub fn decide<'a>(regime: Regime, rules: &'a [Rule], request: &Request<'_>) -> Decision<'a> {
    let mut decision = by_agent(regime, Author::Agent, rules, request);
    if rules.iter().any(|it| it.author == Author::AgentUntrusted) {
        let all = by_agent(regime, Author::AgentUntrusted, rules, request);
        if all.action > decision.action {
            decision = all;
        }
    }
    if decision.action != Action::Deny
        && let Some(rule) = last_of(Author::User, rules, request.name)
    {
        decision = Decision::by(rule.action, Reason::Rule(rule));
    }
    if let Some(rule) = last_of(Author::Repository, rules, request.name)
        && rule.action > decision.action
    {
        decision = Decision::by(rule.action, Reason::Rule(rule));
    }
    // A name that is no plain text would be a pattern, and allow more than was asked for.
    let is_plain = !request.name.trim().is_empty() && !request.name.contains(['*', '?']);
    if decision.action == Action::Ask && is_plain {
        decision.suggestions = match regime {
            Regime::LastMatch => opencode::suggestions(request.name),
            Regime::DenyFirst => claude_code::suggestions(request.name),
        };
    }
    decision
}

/// Decides as the agent does by its own files.
fn by_agent<'a>(
    regime: Regime,
    author: Author,
    rules: &'a [Rule],
    request: &Request<'_>,
) -> Decision<'a> {
    if let Some(rule) = tool_off(regime, author, rules, request.agent) {
        return Decision::by(Action::Deny, Reason::ToolOff(rule));
    }
    match regime {
        Regime::LastMatch => opencode::decide(author, rules, request),
        Regime::DenyFirst => claude_code::decide(rules, request),
    }
}

/// Returns the rule of ours that counts for a name: the last one that matches.
fn last_of<'a>(author: Author, rules: &'a [Rule], name: &str) -> Option<&'a Rule> {
    let mut own = rules.iter().rev().filter(|it| it.author == author);
    own.find(|it| wildcard::matches(&it.pattern, name))
}

/// Whether one of the patterns that the user has allowed for good is about a skill, by the way in
/// which the agent reads patterns.
pub fn is_granted<'a>(
    regime: Regime,
    patterns: impl IntoIterator<Item = &'a str>,
    name: &str,
) -> bool {
    patterns.into_iter().any(|pattern| match regime {
        Regime::LastMatch => wildcard::matches(pattern, name),
        Regime::DenyFirst => claude_code::is_allowed_by(pattern, name),
    })
}

/// Whether a pattern may be about a skill, by whichever agent's way of reading patterns: for telling
/// people what bears on it, never for deciding.
pub fn may_mean(pattern: &str, name: &str) -> bool {
    let bare = name.rsplit(':').next().unwrap_or(name);
    [name, bare].into_iter().any(|name| {
        wildcard::matches(pattern, name)
            || claude_code::is_allowed_by(pattern, name)
            || pattern.to_lowercase() == name.to_lowercase()
    })
}

/// Whether a pattern of another permission than `skill` is meant: `*` and `?` are wildcards.
pub fn is_meant(pattern: &str, text: &str) -> bool {
    wildcard::matches(pattern, text)
}

/// Returns the rule of this author that takes the whole tool for skills away from the agent of that
/// name.
pub fn tool_off<'a>(
    regime: Regime,
    author: Author,
    rules: &'a [Rule],
    agent: Option<&str>,
) -> Option<&'a Rule> {
    match regime {
        Regime::LastMatch => opencode::tool_off(author, rules, agent),
        Regime::DenyFirst => claude_code::tool_off(rules),
    }
}

#[cfg(test)]
mod tests;
