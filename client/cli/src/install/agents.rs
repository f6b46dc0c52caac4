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
use crate::install::args::InstallArgs;
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

/// Returns the files of the installed agents, and adds a note to `left_out` for each missing agent.
pub(super) fn target_files(
    environment: &InstallEnvironment,
    args: &InstallArgs,
    left_out: &mut Vec<String>,
) -> Vec<TargetFile> {
    let mut targets = Vec::new();
    for agent in all(environment) {
        if !agent.targets.iter().any(|it| args.selects(it.owner)) {
            continue;
        }
        if agent.place.is_dir() || environment.which(agent.program).is_some() {
            targets.extend(agent.targets);
        } else {
            let place = agent.place.display();
            let InstallAgent { title, program, .. } = agent;
            left_out.push(format!(
                "{title} is not installed: found neither `{place}` nor `{program}` in PATH."
            ));
        }
    }
    targets
}

/// Returns all supported agents, installed or not.
pub(super) fn all(environment: &InstallEnvironment) -> [InstallAgent; 4] {
    [claude_code(environment), codex(environment), gemini_cli(environment), opencode(environment)]
}

/// An agent with the files to install for it.
pub(super) struct InstallAgent {
    pub(super) title: &'static str,
    pub(super) program: &'static str,
    /// The directory of the agent's settings.
    pub(super) place: PathBuf,
    pub(super) targets: Vec<TargetFile>,
}

fn claude_code(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.claude_dir();
    // The state file with the MCP servers of all projects is beside the directory.
    let state = environment.claude.as_ref().unwrap_or(&environment.home).join(".claude.json");
    let owner = "claude-code";
    let server = json!({"type": "stdio", "command": environment.word(), "args": arguments(owner)});
    let targets = vec![
        hooks(environment, owner, place.join("settings.json"), CLAUDE_HOOKS),
        mcp(owner, state, FileFormat::Json, ConfigEntry::property(&["mcpServers"], SERVER, server)),
    ];
    InstallAgent { title: "Claude Code", program: "claude", place, targets }
}

fn codex(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.codex.clone();
    let owner = "codex";
    let server = json!({"command": environment.word(), "args": arguments(owner)});
    let mut hooks = hooks(environment, owner, place.join("hooks.json"), CODEX_HOOKS);
    hooks.note = Some("Codex asks once whether to trust the hooks.");
    let item = ConfigEntry::property(&["mcp_servers"], SERVER, server);
    let targets = vec![hooks, mcp(owner, place.join("config.toml"), FileFormat::Toml, item)];
    InstallAgent { title: "Codex", program: "codex", place, targets }
}

fn gemini_cli(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.gemini.join(".gemini");
    let owner = "gemini-cli";
    let server = json!({"command": environment.word(), "args": arguments(owner)});
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
    InstallAgent { title: "Gemini CLI", program: "gemini", place, targets }
}

fn opencode(environment: &InstallEnvironment) -> InstallAgent {
    let place = environment.config.join("opencode");
    let commented = place.join("opencode.jsonc");
    let settings = if commented.is_file() { commented } else { place.join("opencode.json") };
    let owner = "opencode";
    let command: Vec<_> = std::iter::once(environment.word()).chain(arguments(owner)).collect();
    let server = json!({"type": "local", "command": command, "enabled": true});
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
    InstallAgent { title: "opencode", program: "opencode", place, targets }
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
