//! Table of the agents' hook events and tools ([`HookAgent`]).
//!
//! The names were observed in running agents (opencode 1.18.33, Codex 0.169.0, Gemini CLI 0.61.0,
//! Copilot CLI 1.0.102, Factory Droid 0.215.0, Kilo 7.7.9, Qwen Code 0.24.4), and for Claude Code
//! taken from its hooks reference. Other tools, such as those of MCP servers,
//! are read by the names of their input fields; see [`super::payload`].

/// An agent with supported hooks.
#[derive(Debug)]
pub(super) struct HookAgent {
    /// Name of the agent, and of the profile of its sessions.
    pub(super) name: &'static str,
    /// Variable with the directory that the session started in, for agents whose payload has
    /// another directory.
    pub(super) started_in: Option<&'static str>,
    pub(super) events: &'static [(&'static str, HookEventKind)],
    pub(super) tools: &'static [(&'static str, &'static [Input])],
    /// True if the payload has the tool in an object, as Cline's.
    pub(super) has_tool_object: bool,
    pub(super) reply: ReplyFormat,
}

impl HookAgent {
    /// Returns true if the agent reports the start of each session.
    pub(super) fn reports_starts(&self) -> bool {
        self.events.iter().any(|(_, kind)| *kind == HookEventKind::Start)
    }
}

/// Meaning of a hook event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookEventKind {
    /// A session starts, or continues after compaction.
    Start,
    /// A tool is about to run, or has run.
    Tool,
    /// The agent compacted its context.
    Compacted,
    /// The user compacted the context. Automatic compaction comes before every request and is
    /// ignored.
    CompactedManually,
    /// A subagent has ended.
    AgentEnd,
    /// The session or a subagent has ended.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// A path, or a list of paths.
    Path(&'static str),
    /// A list of objects with a `path`.
    Files(&'static str),
    /// A list of shell commands.
    Commands(&'static str),
    /// A pattern, and the field with its base directory; the directory before the first wildcard is
    /// touched.
    Pattern(&'static str, &'static str),
    /// A shell command, and the field with its working directory.
    Shell(&'static str, &'static str),
    Patch(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyFormat {
    /// `{"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}`, only for these events.
    HookSpecific(&'static [&'static str]),
    /// `{"additionalContext":…}`, for our own plugin and for Copilot CLI.
    Plain,
    /// `{"context":…}`, for Cline.
    Context,
}

impl ReplyFormat {
    /// Returns true if the agent passes an answer to this event on to its model.
    pub(super) fn is_accepted(self, event: &str) -> bool {
        match self {
            Self::HookSpecific(events) => events.contains(&event),
            Self::Plain | Self::Context => true,
        }
    }
}

pub(super) fn agent(name: &str) -> Option<&'static HookAgent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

pub(crate) fn names() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.name).collect()
}

use Input::{Commands, Files, Patch, Path, Pattern, Shell};

// Events of Claude Code, which other agents share.
const SESSION_START: (&str, HookEventKind) = ("SessionStart", HookEventKind::Start);
const SESSION_END: (&str, HookEventKind) = ("SessionEnd", HookEventKind::End);
const PRE_TOOL_USE: (&str, HookEventKind) = ("PreToolUse", HookEventKind::Tool);
const POST_TOOL_USE: (&str, HookEventKind) = ("PostToolUse", HookEventKind::Tool);
const POST_TOOL_USE_FAILURE: (&str, HookEventKind) = ("PostToolUseFailure", HookEventKind::Tool);
const PRE_COMPACT: (&str, HookEventKind) = ("PreCompact", HookEventKind::Compacted);
const POST_COMPACT: (&str, HookEventKind) = ("PostCompact", HookEventKind::Compacted);
const SUBAGENT_STOP: (&str, HookEventKind) = ("SubagentStop", HookEventKind::AgentEnd);

/// Fields that most agents share.
const BASE: HookAgent = HookAgent {
    name: "",
    started_in: None,
    events: &[],
    tools: &[],
    has_tool_object: false,
    reply: ReplyFormat::Plain,
};

const AGENTS: &[HookAgent] = &[
    HookAgent {
        name: "claude-code",
        started_in: Some("CLAUDE_PROJECT_DIR"),
        events: &[
            SESSION_START,
            SESSION_END,
            PRE_TOOL_USE,
            POST_TOOL_USE,
            POST_TOOL_USE_FAILURE,
            PRE_COMPACT,
            POST_COMPACT,
            SUBAGENT_STOP,
        ],
        tools: &[
            ("Read", &[Path("file_path")]),
            ("Edit", &[Path("file_path")]),
            ("MultiEdit", &[Path("file_path")]),
            ("Write", &[Path("file_path")]),
            ("NotebookRead", &[Path("notebook_path")]),
            ("NotebookEdit", &[Path("notebook_path")]),
            ("Glob", &[Path("path"), Pattern("pattern", "path")]),
            ("Grep", &[Path("path"), Pattern("glob", "path")]),
            ("LS", &[Path("path")]),
            ("LSP", &[Path("filePath")]),
            ("Bash", &[Shell("command", "")]),
            ("Monitor", &[Shell("command", "")]),
            ("Task", &[]),
            ("Agent", &[]),
            ("Skill", &[]),
        ],
        reply: ReplyFormat::HookSpecific(&[
            "SessionStart", "PreToolUse", "PostToolUse", "PostToolUseFailure",
        ]),
        ..BASE
    },
    HookAgent {
        name: "codex",
        events: &[
            SESSION_START, SESSION_END, PRE_TOOL_USE, POST_TOOL_USE, PRE_COMPACT, POST_COMPACT,
            SUBAGENT_STOP,
        ],
        tools: &[
            // Codex sends a patch through the shell or through its own tool.
            ("Bash", &[Shell("command", "workdir")]),
            ("apply_patch", &[Patch("command"), Patch("input")]),
            ("Edit", &[Patch("command"), Path("file_path")]),
            ("Write", &[Patch("command"), Path("file_path")]),
            ("view_image", &[Path("path")]),
        ],
        reply: ReplyFormat::HookSpecific(&["SessionStart", "PreToolUse", "PostToolUse"]),
        ..BASE
    },
    HookAgent {
        name: "gemini-cli",
        started_in: Some("GEMINI_PROJECT_DIR"),
        events: &[
            SESSION_START,
            SESSION_END,
            ("BeforeTool", HookEventKind::Tool),
            ("AfterTool", HookEventKind::Tool),
            ("PreCompress", HookEventKind::CompactedManually),
        ],
        tools: &[
            ("read_file", &[Path("file_path"), Path("absolute_path")]),
            ("read_many_files", &[Pattern("include", ""), Pattern("paths", "")]),
            ("write_file", &[Path("file_path")]),
            ("replace", &[Path("file_path")]),
            ("list_directory", &[Path("dir_path"), Path("path")]),
            ("glob", &[Path("dir_path"), Pattern("pattern", "dir_path")]),
            ("grep_search", &[Path("dir_path"), Pattern("include_pattern", "dir_path")]),
            ("search_file_content", &[Path("dir_path"), Path("path")]),
            ("run_shell_command", &[Shell("command", "dir_path")]),
            ("activate_skill", &[]),
        ],
        // `BeforeTool` accepts no context.
        reply: ReplyFormat::HookSpecific(&["SessionStart", "AfterTool"]),
        ..BASE
    },
    OPENCODE,
    HookAgent {
        name: "copilot-cli",
        // Events with these names have Claude Code's form and names of tools; the inputs of the
        // tools are Copilot CLI's own.
        events: &[
            SESSION_START,
            SESSION_END,
            PRE_TOOL_USE,
            POST_TOOL_USE,
            POST_TOOL_USE_FAILURE,
            SUBAGENT_STOP,
        ],
        tools: &[
            ("Read", &[Path("path")]),
            ("Edit", &[Path("path")]),
            ("Write", &[Path("path")]),
            ("Glob", &[Path("paths"), Pattern("pattern", "paths")]),
            ("Grep", &[Path("paths"), Pattern("glob", "paths")]),
            ("Bash", &[Shell("command", "")]),
            ("Agent", &[]),
            ("Skill", &[]),
        ],
        ..BASE
    },
    HookAgent {
        name: "droid",
        started_in: Some("FACTORY_PROJECT_DIR"),
        events: &[SESSION_START, SESSION_END, POST_TOOL_USE, SUBAGENT_STOP],
        tools: &[
            ("Read", &[Path("file_path")]),
            ("Edit", &[Path("file_path")]),
            ("Create", &[Path("file_path")]),
            ("ApplyPatch", &[Patch("input")]),
            ("LS", &[Path("directory_path")]),
            ("Glob", &[Path("folder"), Pattern("patterns", "folder")]),
            ("Grep", &[Path("path"), Pattern("glob_pattern", "path")]),
            ("Execute", &[Shell("command", "")]),
            ("Task", &[]),
            ("Skill", &[]),
        ],
        reply: ReplyFormat::HookSpecific(&["SessionStart", "PostToolUse"]),
        ..BASE
    },
    HookAgent {
        name: "cline",
        events: &[("tool_result", HookEventKind::Tool)],
        tools: &[
            ("read_files", &[Files("files")]),
            ("editor", &[Path("path")]),
            ("apply_patch", &[Patch("input")]),
            ("search_codebase", &[]),
            ("run_commands", &[Commands("commands")]),
            ("skills", &[]),
        ],
        has_tool_object: true,
        reply: ReplyFormat::Context,
        ..BASE
    },
    // Kilo began as a copy of opencode, and takes the same plugin.
    HookAgent { name: "kilo", ..OPENCODE },
    HookAgent {
        name: "qwen-code",
        started_in: Some("QWEN_PROJECT_DIR"),
        events: &[SESSION_START, SESSION_END, POST_TOOL_USE, POST_TOOL_USE_FAILURE, SUBAGENT_STOP],
        tools: &[
            ("read_file", &[Path("file_path")]),
            ("write_file", &[Path("file_path")]),
            ("edit", &[Path("file_path")]),
            ("notebook_edit", &[Path("notebook_path")]),
            ("list_directory", &[Path("path")]),
            ("glob", &[Path("path"), Pattern("pattern", "path")]),
            ("grep_search", &[Path("path"), Pattern("glob", "path")]),
            ("run_shell_command", &[Shell("command", "directory")]),
            ("agent", &[]),
            ("skill", &[]),
        ],
        reply: ReplyFormat::HookSpecific(&["SessionStart", "PostToolUse", "PostToolUseFailure"]),
        ..BASE
    },
];

const OPENCODE: HookAgent = HookAgent {
    name: "opencode",
    events: &[
        ("session.created", HookEventKind::Start),
        ("session.deleted", HookEventKind::End),
        ("session.compacted", HookEventKind::Compacted),
        ("session.idle", HookEventKind::AgentEnd),
        ("tool.execute.before", HookEventKind::Tool),
        ("tool.execute.after", HookEventKind::Tool),
    ],
    tools: &[
        ("read", &[Path("filePath")]),
        ("edit", &[Path("filePath")]),
        ("multiedit", &[Path("filePath")]),
        ("write", &[Path("filePath")]),
        ("patch", &[Patch("patchText")]),
        ("apply_patch", &[Patch("patchText")]),
        ("glob", &[Path("path"), Pattern("pattern", "path")]),
        ("grep", &[Path("path"), Pattern("include", "path")]),
        ("list", &[Path("path")]),
        ("lsp", &[Path("filePath")]),
        ("bash", &[Shell("command", "workdir")]),
        // Only in Kilo.
        ("background_process", &[Shell("command", "workdir")]),
        ("task", &[]),
        ("skill", &[]),
    ],
    ..BASE
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_without_start_event_are_named_where_replacement_is_described() {
        let text = include_str!("../../../../docs/troubleshooting.md");
        let row = text.lines().find(|it| it.starts_with("| `version` |")).expect("a row");
        for it in names().into_iter().filter_map(agent).filter(|it| !it.reports_starts()) {
            assert!(row.to_lowercase().contains(it.name), "{}", it.name);
        }
    }

    #[test]
    fn sessions_of_each_agent_have_a_profile() {
        for name in names() {
            assert!(skills_protocol::PROFILES.contains(&name), "{name}");
        }
    }
}
