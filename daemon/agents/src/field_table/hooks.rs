//! The table of hooks: events, keys of groups and handlers, kinds of handlers.
//!
//! From Claude Code's hooks reference of September 2026; versions from its change log. An event
//! without a version is in the reference but in no entry of the log.

use skills_syntax::suggest;

/// The similarity from which a name counts as a misspelling of a known one.
const ALIKE: f64 = 0.6;

/// An event that hooks can be bound to.
#[derive(Debug)]
pub struct HookEvent {
    pub name: &'static str,
    /// The first version that has it.
    pub since: Option<&'static str>,
    /// The moment at which it happens, as a sentence.
    pub summary: &'static str,
    /// The subject that a matcher is compared with.
    pub matches: MatcherSubject,
    /// Examples of matchers; others may match too.
    pub matchers: &'static [&'static str],
}

/// The subject that an event's matcher is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatcherSubject {
    /// This subject, as a sentence fragment.
    With(&'static str),
    /// None: the event ignores its matcher.
    Nothing,
    /// Unknown: no source states it.
    Unstated,
}

/// A kind of handler: the value of a handler's `type`.
#[derive(Debug)]
pub struct HandlerKind {
    /// The name, as it is written.
    pub name: &'static str,
    /// The first version that has it.
    pub since: Option<&'static str>,
    /// The action, as a sentence.
    pub summary: &'static str,
    /// The keys of this kind, in addition to [`COMMON`].
    pub keys: &'static [HookKey],
    /// The default timeout in seconds.
    pub timeout: u32,
}

/// A key of a group or of a handler.
#[derive(Debug)]
pub struct HookKey {
    pub name: &'static str,
    pub takes: HookValueType,
    pub required: bool,
    /// The first version that reads it.
    pub since: Option<&'static str>,
    /// The purpose, as a sentence.
    pub summary: &'static str,
}

/// The type of a [`HookKey`]'s value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookValueType {
    Text,
    /// One of the names of [`KINDS`].
    Kind,
    Switch,
    Number,
    Texts,
    TextMap,
    /// A map from text to anything.
    Map,
    Handlers,
}

const fn required(name: &'static str, takes: HookValueType, summary: &'static str) -> HookKey {
    HookKey { name, takes, required: true, since: None, summary }
}

const fn optional(name: &'static str, takes: HookValueType, summary: &'static str) -> HookKey {
    HookKey { name, takes, required: false, since: None, summary }
}

impl HookKey {
    const fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }
}

/// The keys of a group: a matcher and the handlers that run if it matches.
pub static GROUP: [HookKey; 2] = [
    optional(
        "matcher",
        HookValueType::Text,
        "Selects events: words separated by `|`, or a regular expression; empty means \
         all.",
    ),
    required("hooks", HookValueType::Handlers, "The handlers, which run concurrently."),
];

/// The keys that every handler may have.
pub static COMMON: [HookKey; 5] = [
    required("type", HookValueType::Kind, "The type of the handler."),
    optional(
        "if",
        HookValueType::Text,
        "A permission rule such as `Bash(git *)`, for tool events; on other events the handler never runs.",
    )
    .since("2.1.85"),
    optional("timeout", HookValueType::Number, "The timeout in seconds.").since("1.0.41"),
    optional("statusMessage", HookValueType::Text, "The spinner's text while it runs."),
    optional("once", HookValueType::Switch, "Removes the handler after its first run; only in skills.")
        .since("2.1.0"),
];

pub static KINDS: [HandlerKind; 5] = [
    HandlerKind {
        name: "command",
        since: Some("1.0.38"),
        summary: "Runs a command, with the event as JSON on its standard input.",
        keys: &[
            required(
                "command",
                HookValueType::Text,
                "The command for a shell; with `args`, the program to start.",
            ),
            optional(
                "args",
                HookValueType::Texts,
                "Arguments; the program is started without a shell.",
            ),
            optional("async", HookValueType::Switch, "Runs the command in the background."),
            optional(
                "asyncRewake",
                HookValueType::Switch,
                "Runs the command in the background and wakes the agent if it exits with 2.",
            ),
            optional("shell", HookValueType::Text, "`bash` or `powershell`; ignored with `args`."),
        ],
        timeout: 600,
    },
    HandlerKind {
        name: "http",
        since: Some("2.1.63"),
        summary: "Posts the event as JSON to an address.",
        keys: &[
            required("url", HookValueType::Text, "The address."),
            optional(
                "headers",
                HookValueType::TextMap,
                "Headers; values may contain variables, as `$NAME`.",
            ),
            optional(
                "allowedEnvVars",
                HookValueType::Texts,
                "The variables that headers may contain; others are empty.",
            ),
        ],
        timeout: 600,
    },
    HandlerKind {
        name: "mcp_tool",
        since: Some("2.1.118"),
        summary: "Calls a tool of an MCP server that is connected already.",
        keys: &[
            required("server", HookValueType::Text, "The server's name."),
            required("tool", HookValueType::Text, "The tool's name."),
            optional(
                "input",
                HookValueType::Map,
                "Arguments; strings may contain `${…}` paths into the event.",
            ),
        ],
        timeout: 600,
    },
    HandlerKind {
        name: "prompt",
        since: Some("2.0.30"),
        summary: "Asks a model for a decision.",
        keys: &PROMPT,
        timeout: 30,
    },
    HandlerKind {
        name: "agent",
        since: None,
        summary: "Asks a subagent with tools for a decision; experimental.",
        keys: &PROMPT,
        timeout: 60,
    },
];

/// The keys of the handlers that ask a model.
static PROMPT: [HookKey; 2] = [
    required("prompt", HookValueType::Text, "The prompt; `$ARGUMENTS` is the event as JSON."),
    optional("model", HookValueType::Text, "The model; a fast one by default.").since("2.0.41"),
];

/// The matcher subject of tool events.
const TOOL: &str = "the tool's name";
const TOOLS: &[&str] = &["Bash", "Edit|Write", "mcp__.*"];
const AGENT: &str = "the type of the agent";
const AGENTS: &[&str] = &["general-purpose", "Explore", "Plan"];
const SERVER: &str = "the MCP server's name";

/// Creates an event without a matcher.
const fn event(
    name: &'static str,
    since: Option<&'static str>,
    summary: &'static str,
) -> HookEvent {
    HookEvent { name, since, summary, matches: MatcherSubject::Nothing, matchers: &[] }
}

impl HookEvent {
    /// Returns the payload member that a matcher is compared with; `None` if the event has no
    /// matcher or no source states the subject.
    pub fn subject(&self) -> Option<&'static str> {
        let MatcherSubject::With(what) = self.matches else { return None };
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
        self.matches = MatcherSubject::With(what);
        self.matchers = matchers;
        self
    }

    const fn unstated(mut self) -> Self {
        self.matches = MatcherSubject::Unstated;
        self
    }
}

/// The events, in the order of the reference. A skill may use all of them.
pub static EVENTS: [HookEvent; 33] = [
    event("SessionStart", Some("1.0.62"), "A session starts or resumes.")
        .matches("the kind of start", &["startup", "resume", "clear", "compact", "fork"]),
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
    event("MessageDisplay", Some("2.1.152"), "The agent's text is being shown."),
    event("SubagentStart", Some("2.0.43"), "A subagent starts.").matches(AGENT, AGENTS),
    event("SubagentStop", Some("1.0.41"), "A subagent has finished.").matches(AGENT, AGENTS),
    event("TaskCreated", Some("2.1.84"), "A task is being created."),
    event("TaskCompleted", Some("2.1.33"), "A task is being marked as done."),
    event("Stop", Some("1.0.38"), "The agent has finished its answer."),
    event("StopFailure", Some("2.1.78"), "The turn ended with an API error.").matches(
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
        "the reason for loading it",
        &["session_start", "nested_traversal", "path_glob_match", "include", "compact"],
    ),
    event("ConfigChange", Some("2.1.49"), "A configuration file changed.").matches(
        "the kind of configuration",
        &["user_settings", "project_settings", "local_settings", "policy_settings", "skills"],
    ),
    event("CwdChanged", Some("2.1.83"), "The working directory changed."),
    event("DirectoryAdded", Some("2.1.219"), "A working directory was added.")
        .matches("the way it was added", &["slash_command", "register_repo_root"]),
    event("FileChanged", Some("2.1.83"), "A watched file changed; the matcher names it.")
        .matches("the names of the files to watch", &[".envrc|.env"]),
    event("WorktreeCreate", Some("2.1.50"), "A worktree is being created."),
    event("WorktreeRemove", Some("2.1.50"), "A worktree is being removed."),
    event("PreCompact", Some("1.0.48"), "The session is about to be compacted.")
        .matches("the trigger", &["manual", "auto"]),
    event("PostCompact", Some("2.1.76"), "The session was compacted.")
        .matches("the trigger", &["manual", "auto"]),
    event("Elicitation", Some("2.1.76"), "An MCP server asks the user for something.")
        .matches(SERVER, &[]),
    event("ElicitationResult", Some("2.1.76"), "The user has answered an MCP server.")
        .matches(SERVER, &[]),
    event("PreModelSwitch", Some("2.1.251"), "The model is about to change; can block it.")
        .unstated(),
    event("PostModelSwitch", Some("2.1.251"), "The model has changed.").unstated(),
    event("SessionEnd", Some("1.0.85"), "A session ends.").matches(
        "the reason for the end",
        &["clear", "resume", "logout", "prompt_input_exit", "bypass_permissions_disabled", "other"],
    ),
];

pub fn find_event(name: &str) -> Option<&'static HookEvent> {
    EVENTS.iter().find(|it| it.name == name)
}

pub fn find_kind(name: &str) -> Option<&'static HandlerKind> {
    KINDS.iter().find(|it| it.name == name)
}

/// Infers the kind of a handler from its `type`, also if misspelled, or else from a required key
/// that only one kind has. Its other keys are checked against this kind.
pub fn infer_handler_kind<'a>(
    written: Option<&str>,
    keys: impl IntoIterator<Item = &'a str>,
) -> Option<&'static HandlerKind> {
    let by_name = written.and_then(|it| closest_name(it, KINDS.iter().map(|it| it.name)));
    by_name.and_then(find_kind).or_else(|| {
        let keys: Vec<&str> = keys.into_iter().collect();
        let has = |key: &HookKey| key.required && keys.contains(&key.name);
        let mut fitting = KINDS.iter().filter(|kind| kind.keys.iter().any(has));
        let only = fitting.next();
        only.filter(|_| fitting.next().is_none())
    })
}

/// Returns the one of `names` that equals `name` in another case or is most similar to it.
pub fn closest_name(
    name: &str,
    names: impl Iterator<Item = &'static str> + Clone,
) -> Option<&'static str> {
    let folded = names.clone().find(|it| it.eq_ignore_ascii_case(name));
    folded.or_else(|| suggest::nearest(name, names, ALIKE).first().copied())
}

/// Returns a key of a handler: a common one, or one of its kind.
pub fn find_key(kind: Option<&'static HandlerKind>, name: &str) -> Option<&'static HookKey> {
    let own = kind.map(|it| it.keys).unwrap_or_default();
    COMMON.iter().chain(own).find(|it| it.name == name)
}
