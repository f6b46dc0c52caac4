//! What may stand inside the `hooks` field: events, groups and handlers.
//!
//! From Claude Code's hooks reference of September 2026; versions from its change log. An event
//! without a version is in the reference and in no entry of the log.

use skills_syntax::suggest;

/// How alike a name has to be to one that there is.
const ALIKE: f64 = 0.6;

/// An event that hooks can be bound to.
#[derive(Debug)]
pub struct Event {
    /// The name, as it is written.
    pub name: &'static str,
    /// The first version that has it.
    pub since: Option<&'static str>,
    /// When it happens; a sentence.
    pub summary: &'static str,
    /// What a matcher is compared with.
    pub matches: Matches,
    /// Good matchers.
    pub matchers: &'static [&'static str],
}

/// What the matcher of an event is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matches {
    /// This; a fragment.
    With(&'static str),
    /// Nothing: the event takes no matcher and ignores it.
    Nothing,
    /// No source says.
    Unstated,
}

/// A kind of handler: the value of a handler's `type`.
#[derive(Debug)]
pub struct Kind {
    /// The name, as it is written.
    pub name: &'static str,
    /// The first version that has it.
    pub since: Option<&'static str>,
    /// What it does; a sentence.
    pub summary: &'static str,
    /// The keys of its own, beside [`COMMON`].
    pub keys: &'static [Key],
    /// Seconds after which it is given up, when it does not say so itself.
    pub timeout: u32,
}

/// A key of a group or of a handler.
#[derive(Debug)]
pub struct Key {
    /// The key, as it is written.
    pub name: &'static str,
    /// What is written as its value.
    pub takes: Takes,
    /// Whether it has to be there.
    pub required: bool,
    /// The first version that reads it.
    pub since: Option<&'static str>,
    /// What it is for; a sentence.
    pub summary: &'static str,
}

/// What is written as the value of a [`Key`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// A text.
    Text,
    /// One of the names of [`KINDS`].
    Kind,
    /// A switch.
    Switch,
    /// A number.
    Number,
    /// A list of texts.
    Texts,
    /// A map from text to text.
    TextMap,
    /// A map from text to anything.
    Map,
    /// A list of handlers.
    Handlers,
}

const fn required(name: &'static str, takes: Takes, summary: &'static str) -> Key {
    Key { name, takes, required: true, since: None, summary }
}

const fn optional(name: &'static str, takes: Takes, summary: &'static str) -> Key {
    Key { name, takes, required: false, since: None, summary }
}

impl Key {
    const fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }
}

/// The keys of a group: one matcher and what runs when it matches.
pub static GROUP: [Key; 2] = [
    optional(
        "matcher",
        Takes::Text,
        "Which of the events are meant: words between `|`, or a regular expression; empty means \
         all.",
    ),
    required("hooks", Takes::Handlers, "What runs, all at once."),
];

/// The keys that every handler may have.
pub static COMMON: [Key; 5] = [
    required("type", Takes::Kind, "The kind of handler."),
    optional(
        "if",
        Takes::Text,
        "A permission rule such as `Bash(git *)`; only on events of tools, on others the handler \
         never runs.",
    )
    .since("2.1.85"),
    optional("timeout", Takes::Number, "Seconds after which it is given up.").since("1.0.41"),
    optional("statusMessage", Takes::Text, "What the spinner says while it runs."),
    optional("once", Takes::Switch, "Whether it is removed after it ran; in skills only.")
        .since("2.1.0"),
];

/// The kinds of handlers.
pub static KINDS: [Kind; 5] = [
    Kind {
        name: "command",
        since: Some("1.0.38"),
        summary: "Runs a command, with the event as JSON on its standard input.",
        keys: &[
            required(
                "command",
                Takes::Text,
                "The command for a shell; with `args`, the program to start.",
            ),
            optional("args", Takes::Texts, "Arguments; the program is started without a shell."),
            optional("async", Takes::Switch, "Whether it runs in the background."),
            optional(
                "asyncRewake",
                Takes::Switch,
                "Whether it runs in the background and wakes the agent when it ends with 2.",
            ),
            optional("shell", Takes::Text, "`bash` or `powershell`; ignored with `args`."),
        ],
        timeout: 600,
    },
    Kind {
        name: "http",
        since: Some("2.1.63"),
        summary: "Posts the event as JSON to an address.",
        keys: &[
            required("url", Takes::Text, "The address."),
            optional("headers", Takes::TextMap, "Headers; values may name variables: `$NAME`."),
            optional(
                "allowedEnvVars",
                Takes::Texts,
                "The variables that headers may name; others are empty.",
            ),
        ],
        timeout: 600,
    },
    Kind {
        name: "mcp_tool",
        since: Some("2.1.118"),
        summary: "Calls a tool of an MCP server that is connected already.",
        keys: &[
            required("server", Takes::Text, "The server's name."),
            required("tool", Takes::Text, "The tool's name."),
            optional("input", Takes::Map, "Arguments; texts may hold `${…}` paths of the event."),
        ],
        timeout: 600,
    },
    Kind {
        name: "prompt",
        since: Some("2.0.30"),
        summary: "Asks a model for a decision.",
        keys: &PROMPT,
        timeout: 30,
    },
    Kind {
        name: "agent",
        since: None,
        summary: "Asks a subagent with tools for a decision; experimental.",
        keys: &PROMPT,
        timeout: 60,
    },
];

/// The keys of the handlers that ask a model.
static PROMPT: [Key; 2] = [
    required("prompt", Takes::Text, "What to ask; `$ARGUMENTS` is the event as JSON."),
    optional("model", Takes::Text, "The model to ask; a fast one when missing.").since("2.0.41"),
];

/// What tool events are matched by.
const TOOL: &str = "the tool's name";
const TOOLS: &[&str] = &["Bash", "Edit|Write", "mcp__.*"];
const AGENT: &str = "the type of the agent";
const AGENTS: &[&str] = &["general-purpose", "Explore", "Plan"];
const SERVER: &str = "the MCP server's name";

/// An event without a matcher.
const fn event(name: &'static str, since: Option<&'static str>, summary: &'static str) -> Event {
    Event { name, since, summary, matches: Matches::Nothing, matchers: &[] }
}

impl Event {
    /// Returns the member of the event's payload that a matcher is compared with; none where there
    /// is none or no source says.
    pub fn subject(&self) -> Option<&'static str> {
        let Matches::With(what) = self.matches else { return None };
        Some(match self.name {
            _ if what == TOOL => "tool_name",
            _ if what == AGENT => "agent_type",
            _ if what == SERVER => "mcp_server_name",
            "SessionStart" | "ConfigChange" | "DirectoryAdded" => "source",
            "SessionEnd" => "reason",
            "Setup" | "PreCompact" | "PostCompact" => "trigger",
            "Notification" => "notification_type",
            "InstructionsLoaded" => "load_reason",
            "StopFailure" => "error",
            "UserPromptExpansion" => "command_name",
            "FileChanged" => "file_path",
            _ => return None,
        })
    }

    const fn matches(mut self, what: &'static str, matchers: &'static [&'static str]) -> Self {
        self.matches = Matches::With(what);
        self.matchers = matchers;
        self
    }

    const fn unstated(mut self) -> Self {
        self.matches = Matches::Unstated;
        self
    }
}

/// The events, in the order of the reference. All of them may stand in a skill.
pub static EVENTS: [Event; 33] = [
    event("SessionStart", Some("1.0.62"), "A session begins or goes on.")
        .matches("how the session started", &["startup", "resume", "clear", "compact", "fork"]),
    event("Setup", Some("2.1.10"), "The program was started with `--init` or `--maintenance`.")
        .matches("the option", &["init", "maintenance"]),
    event("UserPromptSubmit", Some("1.0.54"), "The user sent a prompt; can block it."),
    event("UserPromptExpansion", None, "A command that the user typed becomes a prompt.")
        .matches("the command's name", &[]),
    event("PreToolUse", Some("1.0.38"), "A tool is about to run; can block it.")
        .matches(TOOL, TOOLS),
    event("PermissionRequest", Some("2.0.45"), "A tool call needs a decision.")
        .matches(TOOL, TOOLS),
    event("PermissionDenied", Some("2.1.89"), "The classifier of auto mode denied a tool call.")
        .matches(TOOL, TOOLS),
    event("PostToolUse", Some("1.0.38"), "A tool has run.").matches(TOOL, TOOLS),
    event("PostToolUseFailure", None, "A tool has failed.").matches(TOOL, TOOLS),
    event("PostToolBatch", None, "All tool calls of one answer have ended."),
    event("Notification", None, "The agent notifies the user.").matches(
        "the kind of notification",
        &[
            "permission_prompt",
            "idle_prompt",
            "auth_success",
            "elicitation_dialog",
            "elicitation_complete",
            "elicitation_response",
            "agent_needs_input",
            "agent_completed",
        ],
    ),
    event("MessageDisplay", Some("2.1.152"), "Text of the agent is being shown."),
    event("SubagentStart", Some("2.0.43"), "A subagent starts.").matches(AGENT, AGENTS),
    event("SubagentStop", Some("1.0.41"), "A subagent has finished.").matches(AGENT, AGENTS),
    event("TaskCreated", Some("2.1.84"), "A task is being created."),
    event("TaskCompleted", Some("2.1.33"), "A task is being marked as done."),
    event("Stop", Some("1.0.38"), "The agent has finished its answer."),
    event("StopFailure", Some("2.1.78"), "The turn ended with an error of the API.").matches(
        "the kind of error",
        &[
            "rate_limit",
            "overloaded",
            "authentication_failed",
            "oauth_org_not_allowed",
            "billing_error",
            "invalid_request",
            "model_not_found",
            "server_error",
            "max_output_tokens",
            "unknown",
        ],
    ),
    event("TeammateIdle", Some("2.1.33"), "A teammate of an agent team is about to go idle."),
    event("InstructionsLoaded", Some("2.1.69"), "A CLAUDE.md or a rule was loaded.").matches(
        "why it was loaded",
        &["session_start", "nested_traversal", "path_glob_match", "include", "compact"],
    ),
    event("ConfigChange", Some("2.1.49"), "A configuration file changed.").matches(
        "which configuration",
        &["user_settings", "project_settings", "local_settings", "policy_settings", "skills"],
    ),
    event("CwdChanged", Some("2.1.83"), "The working directory changed."),
    event("DirectoryAdded", Some("2.1.219"), "A working directory was added.")
        .matches("how it was added", &["slash_command", "register_repo_root"]),
    event("FileChanged", Some("2.1.83"), "A watched file changed; the matcher says which.")
        .matches("the names of the files to watch", &[".envrc|.env"]),
    event("WorktreeCreate", Some("2.1.50"), "A worktree is being made."),
    event("WorktreeRemove", Some("2.1.50"), "A worktree is being removed."),
    event("PreCompact", Some("1.0.48"), "The conversation is about to be compacted.")
        .matches("what asked for it", &["manual", "auto"]),
    event("PostCompact", Some("2.1.76"), "The conversation was compacted.")
        .matches("what asked for it", &["manual", "auto"]),
    event("Elicitation", Some("2.1.76"), "An MCP server asks the user for something.")
        .matches(SERVER, &[]),
    event("ElicitationResult", Some("2.1.76"), "The user has answered an MCP server.")
        .matches(SERVER, &[]),
    event("PreModelSwitch", Some("2.1.251"), "The model is about to change; can block it.")
        .unstated(),
    event("PostModelSwitch", Some("2.1.251"), "The model has changed.").unstated(),
    event("SessionEnd", Some("1.0.85"), "A session ends.").matches(
        "why the session ended",
        &["clear", "resume", "logout", "prompt_input_exit", "bypass_permissions_disabled", "other"],
    ),
];

/// Returns the event of that name.
pub fn find_event(name: &str) -> Option<&'static Event> {
    EVENTS.iter().find(|it| it.name == name)
}

/// Returns the kind of handler of that name.
pub fn find_kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|it| it.name == name)
}

/// Returns the kind that a handler is meant to be: by its `type`, also where that is nearly one, or
/// else by what it has that only one kind has to have. What is wrong with the others of its keys is
/// seen by it.
pub fn kind_meant<'a>(
    written: Option<&str>,
    keys: impl IntoIterator<Item = &'a str>,
) -> Option<&'static Kind> {
    let by_name = written.and_then(|it| meant(it, KINDS.iter().map(|it| it.name)));
    by_name.and_then(find_kind).or_else(|| {
        let keys: Vec<&str> = keys.into_iter().collect();
        let has = |key: &Key| key.required && keys.contains(&key.name);
        let mut fitting = KINDS.iter().filter(|kind| kind.keys.iter().any(has));
        let only = fitting.next();
        only.filter(|_| fitting.next().is_none())
    })
}

/// Returns which of `names` was meant by one that may be none of them.
pub fn meant(
    name: &str,
    names: impl Iterator<Item = &'static str> + Clone,
) -> Option<&'static str> {
    let folded = names.clone().find(|it| it.eq_ignore_ascii_case(name));
    folded.or_else(|| suggest::nearest(name, names, ALIKE).first().copied())
}

/// Returns a key that a handler may have: a common one, or one of its kind.
pub fn find_key(kind: Option<&'static Kind>, name: &str) -> Option<&'static Key> {
    let own = kind.map(|it| it.keys).unwrap_or_default();
    COMMON.iter().chain(own).find(|it| it.name == name)
}
