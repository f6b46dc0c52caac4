//! [`LoadRequest`]: the skill to render, its invoker, and the values that its body may use.

use std::path::Path;

use skills_agents::profile::{OutputFormat, Scope};

use super::expand::{ShellMode, ShellResults};
use super::skill_file::SkillFile;
use super::substitute::Variables;

/// The party that loads a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invoker {
    /// The model, through its tool.
    Model,
    /// The user, by its name.
    User,
}

impl Invoker {
    /// Returns whether this format runs embedded commands for this invoker.
    pub fn runs_commands(self, format: OutputFormat) -> bool {
        format.is_claude() || (format == OutputFormat::Opencode && self == Self::User)
    }
}

/// The skill's files in the form that the format shows; unused members are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFiles {
    /// Paths, absolute or relative to the skill's directory, depending on the format.
    pub paths: Vec<String>,
    /// Executable files, relative to the skill's directory.
    pub scripts: Vec<String>,
    /// The tree of the directory, drawn.
    pub tree: String,
}

/// A request to render a skill.
#[derive(Clone, Debug)]
pub struct LoadRequest<'a> {
    pub format: OutputFormat,
    pub by: Invoker,
    /// The name that the agent uses.
    pub name: &'a str,
    /// The description that the agent reads; empty if it has none.
    pub description: &'a str,
    /// The scope of the search root that contains it.
    pub scope: Scope,
    /// The directories that have a skill of this name for their own files, as prefixes of its name.
    pub variants: Vec<&'a str>,
    /// The source label that opencode-agent-skills shows.
    pub label: Option<&'a str>,
    /// True for a command file, which has no directory of its own.
    pub is_command: bool,
    /// The skill's directory.
    pub dir: &'a str,
    /// The path of its SKILL.md.
    pub path: &'a str,
    /// The search root that contains it.
    pub root: &'a Path,
    /// The working directory of the agent.
    pub cwd: &'a Path,
    pub body: &'a SkillFile,
    /// The raw argument text.
    pub arguments: &'a str,
    /// The variables that the body may use.
    pub variables: &'a Variables,
    pub files: &'a SkillFiles,
    /// The treatment of embedded commands.
    pub shell: ShellMode,
    /// Results of commands from an earlier call.
    pub results: &'a ShellResults,
    pub model: Option<&'a str>,
}
