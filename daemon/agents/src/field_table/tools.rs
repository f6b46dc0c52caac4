//! The table of agents' tools: valid names in `allowed-tools` and `disallowed-tools`.
//!
//! Names match exactly as each agent writes them. Agents add tools with every version and MCP
//! servers bring their own, so an unknown name is not a mistake in itself; a name that nearly
//! equals a known tool is.

use super::Agent;

#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    /// The agent that has the tool under this name.
    pub agent: Agent,
    /// The action, as a sentence.
    pub summary: &'static str,
    /// The pattern allowed in parentheses after the name, as a fragment; empty if none is.
    pub pattern: &'static str,
    /// The current name, if this one is outdated.
    pub renamed_to: Option<&'static str>,
    /// True if the newer tool does more, so that allowing it grants more.
    pub replacement_is_broader: bool,
}

const fn claude(name: &'static str, summary: &'static str) -> Tool {
    Tool {
        name,
        agent: Agent::ClaudeCode,
        summary,
        pattern: "",
        renamed_to: None,
        replacement_is_broader: false,
    }
}

const fn renamed(name: &'static str, renamed_to: &'static str, summary: &'static str) -> Tool {
    Tool { renamed_to: Some(renamed_to), ..claude(name, summary) }
}

const fn renamed_broader(
    name: &'static str,
    renamed_to: &'static str,
    summary: &'static str,
) -> Tool {
    Tool { replacement_is_broader: true, ..renamed(name, renamed_to, summary) }
}

const fn with_pattern(pattern: &'static str, tool: &Tool) -> Tool {
    Tool { pattern, ..*tool }
}

const fn tool_of(agent: Agent, name: &'static str, summary: &'static str) -> Tool {
    Tool { name, agent, summary, pattern: "", renamed_to: None, replacement_is_broader: false }
}

const COMMAND: &str = "the beginning of a command, for example `git status:*` or `npm run *`";
const FILES: &str = "a glob of files, for example `src/**` or `~/.zshrc`";

/// All tools, grouped by agent.
static TOOLS: [Tool; 88] = [
    with_pattern(COMMAND, &claude("Bash", "Runs a command in a shell.")),
    claude("BashOutput", "Reads the output of a command in the background."),
    claude("KillShell", "Ends a command in the background."),
    with_pattern(COMMAND, &claude("PowerShell", "Runs a command in PowerShell.")),
    with_pattern(FILES, &claude("Read", "Reads a file.")),
    with_pattern(FILES, &claude("Edit", "Replaces text in a file.")),
    with_pattern(FILES, &claude("Write", "Writes a file.")),
    renamed("MultiEdit", "Edit", "Made several replacements in one file."),
    with_pattern(FILES, &claude("NotebookEdit", "Edits a cell of a Jupyter notebook.")),
    renamed_broader("NotebookRead", "Read", "Read a Jupyter notebook."),
    with_pattern(FILES, &claude("Glob", "Finds files by a pattern.")),
    with_pattern(FILES, &claude("Grep", "Searches in files.")),
    renamed_broader("LS", "Glob", "Listed a directory."),
    with_pattern("`domain:` and a host name", &claude("WebFetch", "Fetches a page.")),
    claude("WebSearch", "Searches the web."),
    with_pattern("the type of an agent", &claude("Agent", "Runs a subagent.")),
    with_pattern("the type of an agent", &renamed("Task", "Agent", "Ran a subagent.")),
    renamed("AgentOutputTool", "TaskOutput", "Read the answer of a subagent."),
    claude("TaskCreate", "Adds a task to the list."),
    claude("TaskGet", "Reads a task."),
    claude("TaskList", "Lists the tasks."),
    claude("TaskUpdate", "Changes a task."),
    claude("TaskOutput", "Reads the output of a task in the background."),
    claude("TaskStop", "Ends a task in the background."),
    claude("TodoWrite", "Writes the to-do list."),
    renamed_broader("TodoRead", "TodoWrite", "Read the to-do list."),
    with_pattern(
        "the name of a skill, and ` *` for its arguments",
        &claude("Skill", "Loads a skill."),
    ),
    renamed("SlashCommand", "Skill", "Ran a command."),
    claude("AskUserQuestion", "Asks the user to choose."),
    claude("EnterPlanMode", "Enters plan mode."),
    claude("ExitPlanMode", "Shows the plan and asks to leave plan mode."),
    claude("EnterWorktree", "Creates a git worktree and switches to it."),
    claude("ExitWorktree", "Leaves a git worktree."),
    claude("LSP", "Asks a language server."),
    claude("ToolSearch", "Finds tools that are not loaded yet."),
    renamed("MCPSearch", "ToolSearch", "Found tools of MCP servers."),
    claude("Monitor", "Watches the output of a command."),
    claude("SendMessage", "Sends a message to a teammate."),
    claude("TeamCreate", "Creates a team of agents."),
    claude("TeamDelete", "Deletes a team of agents."),
    claude("CronCreate", "Schedules a prompt."),
    claude("CronDelete", "Deletes a scheduled prompt."),
    claude("CronList", "Lists the scheduled prompts."),
    claude("RemoteTrigger", "Starts a remote agent."),
    claude("PushNotification", "Notifies the user."),
    claude("ScheduleWakeup", "Wakes the agent later."),
    claude("Workflow", "Runs a workflow."),
    claude("ListMcpResourcesTool", "Lists the resources of MCP servers."),
    claude("ReadMcpResourceTool", "Reads a resource of an MCP server."),
    claude("StructuredOutput", "Returns output in a given format."),
    tool_of(Agent::OpenCode, "bash", "Runs a command in a shell."),
    tool_of(Agent::OpenCode, "read", "Reads a file."),
    tool_of(Agent::OpenCode, "edit", "Replaces text in a file."),
    tool_of(Agent::OpenCode, "write", "Writes a file."),
    tool_of(Agent::OpenCode, "patch", "Applies a patch."),
    tool_of(Agent::OpenCode, "glob", "Finds files by a pattern."),
    tool_of(Agent::OpenCode, "grep", "Searches in files."),
    tool_of(Agent::OpenCode, "list", "Lists a directory."),
    tool_of(Agent::OpenCode, "webfetch", "Fetches a page."),
    tool_of(Agent::OpenCode, "websearch", "Searches the web."),
    tool_of(Agent::OpenCode, "codesearch", "Searches for code."),
    tool_of(Agent::OpenCode, "task", "Runs a subagent."),
    tool_of(Agent::OpenCode, "skill", "Loads a skill."),
    tool_of(Agent::OpenCode, "todowrite", "Writes the to-do list."),
    tool_of(Agent::OpenCode, "todoread", "Reads the to-do list."),
    tool_of(Agent::OpenCode, "question", "Asks the user to choose."),
    tool_of(Agent::OpenCode, "lsp", "Asks a language server."),
    tool_of(Agent::Codex, "shell", "Runs a command."),
    tool_of(Agent::Codex, "exec_command", "Runs a command and keeps its terminal open."),
    tool_of(Agent::Codex, "write_stdin", "Writes to a running command."),
    tool_of(Agent::Codex, "apply_patch", "Applies a patch."),
    tool_of(Agent::Codex, "update_plan", "Changes the plan."),
    tool_of(Agent::Codex, "view_image", "Views an image."),
    tool_of(Agent::Codex, "web_search", "Searches the web."),
    tool_of(Agent::GeminiCli, "run_shell_command", "Runs a command in a shell."),
    tool_of(Agent::GeminiCli, "read_file", "Reads a file."),
    tool_of(Agent::GeminiCli, "read_many_files", "Reads several files."),
    tool_of(Agent::GeminiCli, "write_file", "Writes a file."),
    tool_of(Agent::GeminiCli, "replace", "Replaces text in a file."),
    tool_of(Agent::GeminiCli, "list_directory", "Lists a directory."),
    tool_of(Agent::GeminiCli, "search_file_content", "Searches in files."),
    tool_of(Agent::GeminiCli, "grep_search", "Searches in files."),
    tool_of(Agent::GeminiCli, "web_fetch", "Fetches a page."),
    tool_of(Agent::GeminiCli, "google_web_search", "Searches the web."),
    tool_of(Agent::GeminiCli, "save_memory", "Saves a fact to the memory file."),
    tool_of(Agent::GeminiCli, "write_todos", "Writes the to-do list."),
    tool_of(Agent::GeminiCli, "activate_skill", "Loads a skill."),
    tool_of(Agent::GeminiCli, "ask_user", "Asks the user."),
];

/// Returns all tools, grouped by agent.
pub fn tools() -> &'static [Tool] {
    &TOOLS
}

/// Returns the tools of one agent, including outdated names.
pub fn agent_tools(agent: Agent) -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(move |it| it.agent == agent)
}

pub fn find_tool(agent: Agent, name: &str) -> Option<&'static Tool> {
    agent_tools(agent).find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_unique_and_renamed_tools_exist() {
        for (at, tool) in TOOLS.iter().enumerate() {
            let twin = TOOLS[..at].iter().any(|it| (it.agent, it.name) == (tool.agent, tool.name));
            assert!(!twin, "{}", tool.name);
            assert!(tool.summary.ends_with('.'), "{}", tool.name);
            let newer =
                tool.renamed_to.map(|it| find_tool(tool.agent, it).and_then(|it| it.renamed_to));
            assert!(matches!(newer, None | Some(None)), "{}", tool.name);
        }
        assert!(find_tool(Agent::ClaudeCode, "Read").is_some());
        assert!(find_tool(Agent::ClaudeCode, "read").is_none());
        for former in TOOLS.iter().filter_map(|it| it.renamed_to) {
            assert!(find_tool(Agent::ClaudeCode, former).is_some(), "{former}");
        }
    }
}
