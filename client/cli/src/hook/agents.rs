//! What the agents call their events and tools, as data.
//!
//! The names are those of running agents (opencode 1.18.33, Codex 0.169.0, Gemini CLI 0.61.0) and, for
//! Claude Code, of its hooks reference. Tools that are not here, such as those of MCP servers, are
//! read by the names of their inputs; see [`super::payload`].

use super::shell::Op;
use super::shell::Op::{Read, Search, Write};

/// An agent whose hooks are understood.
#[derive(Debug)]
pub(super) struct Agent {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// Whose rules its sessions follow; `None` for the configured profile.
    ///
    /// Only Claude Code finds skills by itself as files are touched. For the others our own rules
    /// count, so that they gain what they lack.
    pub(super) profile: Option<&'static str>,
    /// The variable with the directory that a session began in, where the payload has another.
    pub(super) started_in: Option<&'static str>,
    pub(super) events: &'static [(&'static str, Event)],
    pub(super) tools: &'static [(&'static str, &'static [Input])],
    /// How it is answered.
    pub(super) reply: Reply,
}

/// What an event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A conversation begins, or goes on after it was shortened.
    Start,
    /// A tool is about to run, or has run.
    Tool,
    /// The conversation was shortened.
    Compacted,
    /// The same, if somebody asked for it: by itself it comes before every request.
    CompactedByHand,
    /// An agent inside the conversation has ended.
    AgentEnd,
    /// The conversation has ended, or an agent inside it.
    End,
}

/// Where a tool's input names files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// This field is a path, or a list of paths.
    Path(&'static str, Op),
    /// This field is a pattern; the directory before its first wildcard counts.
    Pattern(&'static str, &'static str),
    /// This field is a shell command; the other the directory it runs in.
    Shell(&'static str, &'static str),
    /// This field is a patch.
    Patch(&'static str),
}

/// How what is new is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// `{"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}`, after these events.
    HookSpecific(&'static [&'static str]),
    /// `{"additionalContext":…}`, as our plugin takes it.
    Plain,
}

/// Returns what is known of an agent.
pub(super) fn agent(name: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.name == name)
}

/// Returns the names of all agents.
pub(super) fn names() -> Vec<&'static str> {
    AGENTS.iter().map(|agent| agent.name).collect()
}

use Input::{Patch, Path, Pattern, Shell};

const AGENTS: &[Agent] = &[
    Agent {
        name: "claude-code",
        profile: Some("claude-code"),
        started_in: Some("CLAUDE_PROJECT_DIR"),
        events: &[
            ("SessionStart", Event::Start),
            ("SessionEnd", Event::End),
            ("PreToolUse", Event::Tool),
            ("PostToolUse", Event::Tool),
            ("PostToolUseFailure", Event::Tool),
            ("PreCompact", Event::Compacted),
            ("PostCompact", Event::Compacted),
            ("SubagentStop", Event::AgentEnd),
        ],
        tools: &[
            ("Read", &[Path("file_path", Read)]),
            ("Edit", &[Path("file_path", Write)]),
            ("MultiEdit", &[Path("file_path", Write)]),
            ("Write", &[Path("file_path", Write)]),
            ("NotebookRead", &[Path("notebook_path", Read)]),
            ("NotebookEdit", &[Path("notebook_path", Write)]),
            ("Glob", &[Path("path", Search), Pattern("pattern", "path")]),
            ("Grep", &[Path("path", Search), Pattern("glob", "path")]),
            ("LS", &[Path("path", Search)]),
            ("LSP", &[Path("filePath", Read)]),
            ("Bash", &[Shell("command", "")]),
            ("Monitor", &[Shell("command", "")]),
            ("Task", &[]),
            ("Agent", &[]),
            ("Skill", &[]),
        ],
        reply: Reply::HookSpecific(&[
            "SessionStart",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
        ]),
    },
    Agent {
        name: "codex",
        profile: None,
        started_in: None,
        events: &[
            ("SessionStart", Event::Start),
            ("SessionEnd", Event::End),
            ("PreToolUse", Event::Tool),
            ("PostToolUse", Event::Tool),
            ("PreCompact", Event::Compacted),
            ("PostCompact", Event::Compacted),
            ("SubagentStop", Event::AgentEnd),
        ],
        tools: &[
            // A patch may come through the shell as well as through a tool of its own.
            ("Bash", &[Shell("command", "workdir")]),
            ("apply_patch", &[Patch("command"), Patch("input")]),
            ("Edit", &[Patch("command"), Path("file_path", Write)]),
            ("Write", &[Patch("command"), Path("file_path", Write)]),
            ("view_image", &[Path("path", Read)]),
        ],
        reply: Reply::HookSpecific(&["SessionStart", "PreToolUse", "PostToolUse"]),
    },
    Agent {
        name: "gemini-cli",
        profile: None,
        started_in: Some("GEMINI_PROJECT_DIR"),
        events: &[
            ("SessionStart", Event::Start),
            ("SessionEnd", Event::End),
            ("BeforeTool", Event::Tool),
            ("AfterTool", Event::Tool),
            ("PreCompress", Event::CompactedByHand),
        ],
        tools: &[
            ("read_file", &[Path("file_path", Read), Path("absolute_path", Read)]),
            ("read_many_files", &[Pattern("include", ""), Pattern("paths", "")]),
            ("write_file", &[Path("file_path", Write)]),
            ("replace", &[Path("file_path", Write)]),
            ("list_directory", &[Path("dir_path", Search), Path("path", Search)]),
            ("glob", &[Path("dir_path", Search), Pattern("pattern", "dir_path")]),
            ("grep_search", &[Path("dir_path", Search), Pattern("include_pattern", "dir_path")]),
            ("search_file_content", &[Path("dir_path", Search), Path("path", Search)]),
            ("run_shell_command", &[Shell("command", "dir_path")]),
            ("activate_skill", &[]),
        ],
        // `BeforeTool` takes no context.
        reply: Reply::HookSpecific(&["SessionStart", "AfterTool"]),
    },
    Agent {
        name: "opencode",
        profile: None,
        started_in: None,
        events: &[
            ("session.created", Event::Start),
            ("session.deleted", Event::End),
            ("session.compacted", Event::Compacted),
            ("session.idle", Event::AgentEnd),
            ("tool.execute.before", Event::Tool),
            ("tool.execute.after", Event::Tool),
        ],
        tools: &[
            ("read", &[Path("filePath", Read)]),
            ("edit", &[Path("filePath", Write)]),
            ("multiedit", &[Path("filePath", Write)]),
            ("write", &[Path("filePath", Write)]),
            ("patch", &[Patch("patchText")]),
            ("apply_patch", &[Patch("patchText")]),
            ("glob", &[Path("path", Search), Pattern("pattern", "path")]),
            ("grep", &[Path("path", Search), Pattern("include", "path")]),
            ("list", &[Path("path", Search)]),
            ("lsp", &[Path("filePath", Read)]),
            ("bash", &[Shell("command", "workdir")]),
            ("task", &[]),
            ("skill", &[]),
        ],
        reply: Reply::Plain,
    },
];
