//! Supported agents: how each is detected, and the hooks and MCP server that are registered with
//! it.
//!
//! The hooks are those of `editors/agents`; only the program's path is replaced if `skillsd` is not
//! in PATH.

use std::path::PathBuf;

use serde_json::{Value, json};
use skills_protocol::wire::InstallPart;

use crate::agent_config::environment::InstallEnvironment;
use crate::agent_config::item::{ConfigEntry, FileFormat};
use crate::install::target::{TargetContent, TargetFile};

const CLAUDE_HOOKS: &str = include_str!("../../../../editors/agents/claude-code/settings.json");
const CODEX_HOOKS: &str = include_str!("../../../../editors/agents/codex/hooks.json");
const GEMINI_HOOKS: &str = include_str!("../../../../editors/agents/gemini-cli/settings.json");
const OPENCODE_PLUGIN: &str = include_str!("../../../../editors/agents/opencode/skillsd.js");

/// Command prefix in the hook files, and the program's name in the plugin.
const LINE: &str = "skillsd hook ";
const PLUGIN_PROGRAM: &str = "|| \"skillsd\"";

/// Name of the MCP server, as in the README.
const SERVER: &str = "skills";

/// Returns the files of the selected and installed agents for these parts, and adds a note to
/// `left_out` about missing agents that have one.
pub(super) fn target_files(
    environment: &InstallEnvironment,
    parts: &[InstallPart],
    selects: impl Fn(&str) -> bool,
    left_out: &mut Vec<String>,
) -> Vec<TargetFile> {
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    for mut agent in all(environment) {
        agent.targets.retain(|it| selects(it.owner) && parts.contains(&it.part));
        if agent.is_installed(environment) {
            targets.extend(agent.targets);
        } else if !agent.targets.is_empty() {
            missing.push(agent);
        }
    }
    match missing.as_slice() {
        [] => {}
        [InstallAgent { title, place, program, .. }] => {
            let place = place.display();
            left_out.push(match program {
                Some(program) => format!(
                    "{title} is not installed: found neither `{place}` nor `{program}` in PATH."
                ),
                None => format!("{title} is not installed: found no `{place}`."),
            });
        }
        several => {
            let titles: Vec<_> = several.iter().map(|it| it.title).collect();
            left_out.push(format!("These agents are not installed: {}.", titles.join(", ")));
        }
    }
    targets
}

/// Names of the agents with hooks of ours, as profiles and on the command line.
const WITH_HOOKS: [&str; 4] = ["claude-code", "codex", "gemini-cli", "opencode"];

/// Returns the names of the supported agents.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    WITH_HOOKS.into_iter().chain(WITHOUT_HOOKS.iter().map(|it| it.name))
}

/// Returns whether there are hooks for an agent.
pub(super) fn has_hooks(name: &str) -> bool {
    WITH_HOOKS.contains(&name)
}

/// Returns all supported agents, installed or not.
pub(super) fn all(environment: &InstallEnvironment) -> Vec<InstallAgent> {
    let with_hooks = [
        claude_code(environment),
        codex(environment),
        gemini_cli(environment),
        opencode(environment),
    ];
    let others = WITHOUT_HOOKS.iter().map(|it| it.agent(environment));
    with_hooks.into_iter().chain(others).collect()
}

/// An agent with the files to install for it.
pub(super) struct InstallAgent {
    pub(super) title: &'static str,
    /// None if another agent has a program of the same name.
    pub(super) program: Option<&'static str>,
    /// The directory of the agent's settings.
    pub(super) place: PathBuf,
    pub(super) targets: Vec<TargetFile>,
}

impl InstallAgent {
    /// Returns whether the agent's program is in PATH.
    pub(super) fn has_program(&self, environment: &InstallEnvironment) -> bool {
        self.program.is_some_and(|it| environment.which(it).is_some())
    }

    fn is_installed(&self, environment: &InstallEnvironment) -> bool {
        self.place.is_dir() || self.has_program(environment)
    }
}

/// An agent with which only the MCP server is registered.
struct AgentWithoutHooks {
    name: &'static str,
    title: &'static str,
    /// None if another agent has a program of the same name.
    program: Option<&'static str>,
    /// Returns the directory of the agent's settings.
    place: fn(&InstallEnvironment) -> PathBuf,
    /// The files below the directory that may contain the servers: the first that exists, or else
    /// the last.
    files: &'static [&'static str],
    form: ServerForm,
}

/// Members of a server in an agent's settings.
#[derive(Clone, Copy)]
enum ServerForm {
    /// `mcpServers`: `command` and `args`.
    Plain,
    /// `mcpServers`: with `type: "stdio"`.
    Stdio,
    /// `mcpServers`: with `type: "local"`, and the tools that the model may call.
    Tools,
    /// `mcpServers`: in `transport`, with `type: "stdio"`.
    Transport,
    /// `mcp`: `type: "local"` and one list, `command`.
    OneList,
}

/// Measured: Cline 3.0.65, Copilot CLI 1.0.102, Droid 0.215.0, Kilo 7.7.9, Kimi Code 2.1.0, Qoder
/// 1.1.52 and Qwen Code 0.24.4 start the server that is registered so.
const WITHOUT_HOOKS: [AgentWithoutHooks; 7] = [
    AgentWithoutHooks {
        name: "cline",
        title: "Cline",
        program: Some("cline"),
        place: |it| it.directory_of("CLINE_DIR", ".cline"),
        files: &["data/settings/cline_mcp_settings.json"],
        form: ServerForm::Transport,
    },
    AgentWithoutHooks {
        name: "copilot-cli",
        title: "Copilot CLI",
        program: Some("copilot"),
        place: |it| it.directory_of("COPILOT_HOME", ".copilot"),
        files: &["mcp-config.json"],
        form: ServerForm::Tools,
    },
    AgentWithoutHooks {
        name: "droid",
        title: "Factory Droid",
        program: Some("droid"),
        place: |it| it.home.join(".factory"),
        files: &["mcp.json"],
        form: ServerForm::Stdio,
    },
    AgentWithoutHooks {
        name: "kilo",
        title: "Kilo",
        program: Some("kilo"),
        place: |it| it.config.join("kilo"),
        files: &["kilo.json", "kilo.jsonc"],
        form: ServerForm::OneList,
    },
    AgentWithoutHooks {
        name: "kimi-code",
        title: "Kimi Code",
        program: None,
        place: |it| it.directory_of("KIMI_CODE_HOME", ".kimi-code"),
        files: &["mcp.json"],
        form: ServerForm::Plain,
    },
    AgentWithoutHooks {
        name: "qoder",
        title: "Qoder",
        program: Some("qodercli"),
        place: |it| it.directory_of("QODER_CONFIG_DIR", ".qoder"),
        files: &["settings.json"],
        form: ServerForm::Plain,
    },
    AgentWithoutHooks {
        name: "qwen-code",
        title: "Qwen Code",
        program: Some("qwen"),
        place: |it| it.directory_of("QWEN_HOME", ".qwen"),
        files: &["settings.json"],
        form: ServerForm::Plain,
    },
];

impl AgentWithoutHooks {
    fn agent(&self, environment: &InstallEnvironment) -> InstallAgent {
        let place = (self.place)(environment);
        let file = |name: &&str| place.join(name);
        let mut files = self.files.iter().map(file);
        let last = files.next_back().expect("each agent has a file");
        let path = files.find(|it| it.is_file()).unwrap_or(last);
        let server = self.form.server(&environment.word(), &arguments(self.name));
        let item = ConfigEntry::property(&[self.form.key()], SERVER, server);
        let targets = vec![mcp(self.name, path, FileFormat::Json, item)];
        InstallAgent { title: self.title, program: self.program, place, targets }
    }
}

impl ServerForm {
    /// Returns the property of the settings that contains the servers.
    fn key(self) -> &'static str {
        match self {
            Self::OneList => "mcp",
            Self::Plain | Self::Stdio | Self::Tools | Self::Transport => "mcpServers",
        }
    }

    fn server(self, command: &str, args: &[String]) -> Value {
        match self {
            Self::Plain => json!({"command": command, "args": args}),
            Self::Stdio => json!({"type": "stdio", "command": command, "args": args}),
            Self::Tools => {
                json!({"type": "local", "command": command, "args": args, "tools": ["*"]})
            }
            Self::Transport => {
                json!({"transport": {"type": "stdio", "command": command, "args": args}})
            }
            Self::OneList => {
                let command: Vec<_> =
                    std::iter::once(command).chain(args.iter().map(String::as_str)).collect();
                json!({"type": "local", "command": command, "enabled": true})
            }
        }
    }
}

fn claude_code(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.claude_dir();
    // The state file with the MCP servers of all projects is beside the directory.
    let state = environment.claude.as_ref().unwrap_or(&environment.home).join(".claude.json");
    let owner = "claude-code";
    let server = ServerForm::Stdio.server(&environment.word(), &arguments(owner));
    let targets = vec![
        hooks(environment, owner, place.join("settings.json"), CLAUDE_HOOKS),
        mcp(owner, state, FileFormat::Json, ConfigEntry::property(&["mcpServers"], SERVER, server)),
    ];
    InstallAgent { title: "Claude Code", program: Some("claude"), place, targets }
}

fn codex(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.codex.clone();
    let owner = "codex";
    let server = ServerForm::Plain.server(&environment.word(), &arguments(owner));
    let mut hooks = hooks(environment, owner, place.join("hooks.json"), CODEX_HOOKS);
    hooks.note = Some("Codex asks once whether to trust the hooks.");
    let item = ConfigEntry::property(&["mcp_servers"], SERVER, server);
    let targets = vec![hooks, mcp(owner, place.join("config.toml"), FileFormat::Toml, item)];
    InstallAgent { title: "Codex", program: Some("codex"), place, targets }
}

fn gemini_cli(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.gemini.join(".gemini");
    let owner = "gemini-cli";
    let server = ServerForm::Plain.server(&environment.word(), &arguments(owner));
    let settings = place.join("settings.json");
    let targets = vec![
        hooks(environment, owner, settings.clone(), GEMINI_HOOKS),
        mcp(
            owner,
            settings,
            FileFormat::Json,
            ConfigEntry::property(&["mcpServers"], SERVER, server),
        ),
    ];
    InstallAgent { title: "Gemini CLI", program: Some("gemini"), place, targets }
}

fn opencode(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.config.join("opencode");
    let commented = place.join("opencode.jsonc");
    let settings = if commented.is_file() { commented } else { place.join("opencode.json") };
    let owner = "opencode";
    let server = ServerForm::OneList.server(&environment.word(), &arguments(owner));
    let plugin = if environment.on_path {
        OPENCODE_PLUGIN.to_owned()
    } else {
        let program = format!("|| {}", Value::from(environment.word()));
        OPENCODE_PLUGIN.replace(PLUGIN_PROGRAM, &program)
    };
    let plugin = TargetFile {
        part: InstallPart::Hooks,
        owner,
        path: place.join("plugins/skillsd.js"),
        content: TargetContent::Whole(plugin),
        note: None,
    };
    let targets = vec![
        plugin,
        mcp(owner, settings, FileFormat::Json, ConfigEntry::property(&["mcp"], SERVER, server)),
    ];
    InstallAgent { title: "opencode", program: Some("opencode"), place, targets }
}

/// Returns the arguments of the MCP server, which lists what its agent would list.
fn arguments(profile: &str) -> [String; 3] {
    ["mcp", "--profile", profile].map(str::to_owned)
}

fn mcp(owner: &'static str, path: PathBuf, form: FileFormat, item: ConfigEntry) -> TargetFile {
    let content = TargetContent::Items { form, items: vec![item] };
    TargetFile { part: InstallPart::Mcp, owner, path, content, note: None }
}

// Each element of an event's list is one item, beside the elements of others.
fn hooks(
    environment: &InstallEnvironment,
    owner: &'static str,
    path: PathBuf,
    text: &str,
) -> TargetFile {
    let text = text.replace(LINE, &escaped(&format!("{} hook ", environment.shell_word())));
    let ours: Value = serde_json::from_str(&text).unwrap_or_default();
    let mark = format!("hook {owner}");
    let events = ours["hooks"].as_object().into_iter().flatten();
    let items = events.flat_map(|(event, elements)| {
        let elements = elements.as_array().cloned().unwrap_or_default();
        let element = |it| ConfigEntry::element(&["hooks", event], it, &mark);
        elements.into_iter().map(element).collect::<Vec<_>>()
    });
    let content = TargetContent::Items { form: FileFormat::Json, items: items.collect() };
    TargetFile { part: InstallPart::Hooks, owner, path, content, note: None }
}

// Returns the content of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hook_files_contain_the_expected_command() {
        for text in [CLAUDE_HOOKS, CODEX_HOOKS, GEMINI_HOOKS] {
            let parsed: Value = serde_json::from_str(text).expect("JSON");
            let n_events = parsed["hooks"].as_object().expect("an object").len();
            assert!(n_events >= 3, "{text}");
            assert_eq!(text.matches(LINE).count(), text.matches("\"command\":").count(), "{text}");
        }
        assert_eq!(OPENCODE_PLUGIN.matches(PLUGIN_PROGRAM).count(), 1);
    }
}
