//! The variables that agents replace in a skill's body before the model sees it.

use super::Agent;

/// A variable in a skill's body.
#[derive(Debug)]
pub struct Variable {
    /// The name, without `$` and braces.
    pub name: &'static str,
    /// The value, as a sentence.
    pub summary: &'static str,
    pub agents: &'static [Agent],
    /// True if it needs braces.
    pub braces: bool,
}

const fn braced(name: &'static str, summary: &'static str) -> Variable {
    Variable { name, summary, agents: &[Agent::ClaudeCode], braces: true }
}

/// The variables, in the order of completion and reference.
pub static VARIABLES: [Variable; 7] = [
    Variable {
        name: "ARGUMENTS",
        summary: "The text typed after the skill's name; `$ARGUMENTS[0]` is its first word.",
        agents: ARGUMENT_AGENTS,
        braces: false,
    },
    braced("CLAUDE_SKILL_DIR", "The directory of the skill."),
    braced("CLAUDE_PROJECT_DIR", "The directory in which the session started."),
    braced("CLAUDE_SESSION_ID", "The session's id."),
    braced("CLAUDE_EFFORT", "The level of effort."),
    braced("CLAUDE_PLUGIN_ROOT", "The directory of the plugin that the skill is part of."),
    braced("CLAUDE_PLUGIN_DATA", "The directory where the plugin keeps its data."),
];

/// The agents that replace `$ARGUMENTS` and `$1` in a body: Claude Code 2.1.330 and opencode
/// 1.18.33.
pub const ARGUMENT_AGENTS: &[Agent] = &[Agent::ClaudeCode, Agent::OpenCode];

/// The agents for which a backslash before `$` prevents that: Claude Code 2.1.330. opencode 1.18.33
/// keeps the backslash and still replaces the argument.
pub const ARGUMENT_ESCAPE_AGENTS: &[Agent] = &[Agent::ClaudeCode];

/// The agents that may put a command's output in place of `` !`command` `` in a body: Claude Code
/// 2.1.330 before the model sees it, opencode 1.18.33 when the user starts the skill with a slash.
/// The standard leaves it to the client.
pub const COMMAND_AGENTS: &[Agent] = &[Agent::ClaudeCode, Agent::OpenCode, Agent::AgentSkills];

/// Environment variables of shells that Claude Code starts; the body leaves them unchanged.
pub static SHELL_VARIABLES: [&str; 10] = [
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_ENV_FILE",
    "CLAUDE_API_KEY",
    "CLAUDE_FILE_PATHS",
    "CLAUDE_TOOL_INPUT",
    "CLAUDE_WORKING_DIR",
    "CLAUDE_HOME",
    "CLAUDE_MODEL",
    "CLAUDE_TRANSCRIPT_PATH",
    "CLAUDE_BIN",
];

pub fn find_variable(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_lookup_is_exact() {
        assert!(find_variable("CLAUDE_SKILL_DIR").is_some_and(|it| it.braces));
        assert!(find_variable("ARGUMENTS").is_some_and(|it| !it.braces));
        assert!(find_variable("CLAUDE_SKILLS_DIR").is_none());
        assert!(SHELL_VARIABLES.iter().all(|it| find_variable(it).is_none()));
    }
}
