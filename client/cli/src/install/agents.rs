//! Supported agents: how each is detected, and the hooks and MCP server that are registered with
//! it.
//!
//! The hooks are those of `editors/agents`; only the program's path is replaced if `skillsd` is not
//! in PATH.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_protocol::wire::InstallPart;

use crate::agent_config::document;
use crate::agent_config::environment::InstallEnvironment;
use crate::agent_config::file;
use crate::agent_config::item::{ConfigEntry, FileFormat};
use crate::install::target::{TargetContent, TargetFile};

const CLAUDE_HOOKS: &str = include_str!("../../../../editors/agents/claude-code/settings.json");
const CODEX_HOOKS: &str = include_str!("../../../../editors/agents/codex/hooks.json");
const GEMINI_HOOKS: &str = include_str!("../../../../editors/agents/gemini-cli/settings.json");
const CLINE_HOOK: &str = include_str!("../../../../editors/agents/cline/PostToolUse.bash");
const COPILOT_HOOKS: &str = include_str!("../../../../editors/agents/copilot-cli/skillsd.json");
const DROID_HOOKS: &str = include_str!("../../../../editors/agents/droid/settings.json");
const QWEN_HOOKS: &str = include_str!("../../../../editors/agents/qwen-code/settings.json");
const OPENCODE_PLUGIN: &str = include_str!("../../../../editors/agents/opencode/skillsd.js");

/// Command prefix in the hook files, and the program's and the agent's names in the plugin.
const LINE: &str = "skillsd hook ";
const PLUGIN_PROGRAM: &str = "|| \"skillsd\"";
const PLUGIN_AGENT: &str = "[\"hook\", \"opencode\"]";

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

/// Name of Claude Code, whose MCP servers are in a file beside its directory.
const CLAUDE_CODE: &str = "claude-code";

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(CLAUDE_CODE).chain(OTHERS.iter().map(|it| it.name))
}

pub(super) fn has_hooks(name: &str) -> bool {
    name == CLAUDE_CODE || OTHERS.iter().any(|it| it.name == name && it.hooks.is_some())
}

/// Returns all supported agents, installed or not.
pub(super) fn all(environment: &InstallEnvironment) -> Vec<InstallAgent> {
    let others = OTHERS.iter().map(|it| it.agent(environment));
    std::iter::once(claude_code(environment)).chain(others).collect()
}

/// An agent with the files to install for it.
pub(super) struct InstallAgent {
    pub(super) title: &'static str,
    /// None if another agent has a program of the same name.
    pub(super) program: Option<&'static str>,
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

/// An agent whose MCP server, and perhaps hook, is registered in a common form.
struct OtherAgent {
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
    /// Returns the file with the hooks, given the directory; None without hooks of ours.
    hooks: Option<fn(&InstallEnvironment, &Path) -> TargetFile>,
}

/// Members of a server in an agent's settings.
#[derive(Clone, Copy)]
enum ServerForm {
    /// `mcpServers`: `command` and `args`.
    Plain,
    /// `mcp_servers` in TOML: `command` and `args`.
    Toml,
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
const OTHERS: [OtherAgent; 10] = [
    OtherAgent {
        name: "codex",
        title: "Codex",
        program: Some("codex"),
        place: |it| it.codex.clone(),
        files: &["config.toml"],
        form: ServerForm::Toml,
        hooks: Some(|environment, place| TargetFile {
            note: Some("Codex asks once whether to trust the hooks."),
            ..hooks(environment, "codex", place.join("hooks.json"), CODEX_HOOKS)
        }),
    },
    OtherAgent {
        name: "gemini-cli",
        title: "Gemini CLI",
        program: Some("gemini"),
        place: |it| it.gemini.join(".gemini"),
        files: &["settings.json"],
        form: ServerForm::Plain,
        hooks: Some(|environment, place| {
            hooks(environment, "gemini-cli", place.join("settings.json"), GEMINI_HOOKS)
        }),
    },
    OtherAgent {
        name: "opencode",
        title: "opencode",
        program: Some("opencode"),
        place: |it| it.config.join("opencode"),
        files: &["opencode.jsonc", "opencode.json"],
        form: ServerForm::OneList,
        hooks: Some(|environment, place| plugin(environment, "opencode", place)),
    },
    OtherAgent {
        name: "cline",
        title: "Cline",
        program: Some("cline"),
        place: |it| it.directory_of("CLINE_DIR", ".cline"),
        files: &["data/settings/cline_mcp_settings.json"],
        form: ServerForm::Transport,
        // A script for each event; other extensions leave the user's own scripts of the event
        // alone.
        hooks: Some(|environment, place| {
            let command = format!("{} hook ", environment.shell_word());
            let content = TargetContent::Whole(CLINE_HOOK.replace(LINE, &command));
            let path = place.join("hooks/PostToolUse.bash");
            TargetFile { part: InstallPart::Hooks, owner: "cline", path, content, note: None }
        }),
    },
    OtherAgent {
        name: "copilot-cli",
        title: "Copilot CLI",
        program: Some("copilot"),
        place: |it| it.directory_of("COPILOT_HOME", ".copilot"),
        files: &["mcp-config.json"],
        form: ServerForm::Tools,
        hooks: Some(|environment, place| {
            let path = place.join("hooks/skillsd.json");
            hooks(environment, "copilot-cli", path, COPILOT_HOOKS)
        }),
    },
    OtherAgent {
        name: "droid",
        title: "Factory Droid",
        program: Some("droid"),
        place: |it| it.home.join(".factory"),
        files: &["mcp.json"],
        form: ServerForm::Stdio,
        hooks: Some(droid_hooks),
    },
    OtherAgent {
        name: "kilo",
        title: "Kilo",
        program: Some("kilo"),
        place: |it| it.config.join("kilo"),
        files: &["kilo.json", "kilo.jsonc"],
        form: ServerForm::OneList,
        hooks: Some(|environment, place| plugin(environment, "kilo", place)),
    },
    OtherAgent {
        name: "kimi-code",
        title: "Kimi Code",
        program: None,
        place: |it| it.directory_of("KIMI_CODE_HOME", ".kimi-code"),
        files: &["mcp.json"],
        form: ServerForm::Plain,
        hooks: None,
    },
    OtherAgent {
        name: "qoder",
        title: "Qoder",
        program: Some("qodercli"),
        place: |it| it.directory_of("QODER_CONFIG_DIR", ".qoder"),
        files: &["settings.json"],
        form: ServerForm::Plain,
        hooks: None,
    },
    OtherAgent {
        name: "qwen-code",
        title: "Qwen Code",
        program: Some("qwen"),
        place: |it| it.directory_of("QWEN_HOME", ".qwen"),
        files: &["settings.json"],
        form: ServerForm::Plain,
        hooks: Some(|environment, place| {
            hooks(environment, "qwen-code", place.join("settings.json"), QWEN_HOOKS)
        }),
    },
];

impl OtherAgent {
    fn agent(&self, environment: &InstallEnvironment) -> InstallAgent {
        let place = (self.place)(environment);
        let file = |name: &&str| place.join(name);
        let mut files = self.files.iter().map(file);
        let last = files.next_back().expect("each agent has a file");
        let path = files.find(|it| it.is_file()).unwrap_or(last);
        let server = self.form.server(&environment.word(), &arguments(self.name));
        let item = ConfigEntry::property(&[self.form.key()], SERVER, server);
        let hooks = self.hooks.map(|hooks| hooks(environment, &place));
        let server = mcp(self.name, path, self.form.format(), item);
        let targets = hooks.into_iter().chain([server]).collect();
        InstallAgent { title: self.title, program: self.program, place, targets }
    }
}

impl ServerForm {
    fn format(self) -> FileFormat {
        if matches!(self, Self::Toml) { FileFormat::Toml } else { FileFormat::Json }
    }

    fn key(self) -> &'static str {
        match self {
            Self::OneList => "mcp",
            Self::Toml => "mcp_servers",
            Self::Plain | Self::Stdio | Self::Tools | Self::Transport => "mcpServers",
        }
    }

    fn server(self, command: &str, args: &[String]) -> Value {
        match self {
            Self::Plain | Self::Toml => json!({"command": command, "args": args}),
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
    let owner = CLAUDE_CODE;
    let server = ServerForm::Stdio.server(&environment.word(), &arguments(owner));
    let targets = vec![
        hooks(environment, owner, place.join("settings.json"), CLAUDE_HOOKS),
        mcp(owner, state, FileFormat::Json, ConfigEntry::property(&["mcpServers"], SERVER, server)),
    ];
    InstallAgent { title: "Claude Code", program: Some("claude"), place, targets }
}

/// Returns the plugin of opencode, or of an agent that began as a copy of it.
fn plugin(environment: &InstallEnvironment, owner: &'static str, place: &Path) -> TargetFile {
    let mut text = OPENCODE_PLUGIN.replace(PLUGIN_AGENT, &format!("[\"hook\", \"{owner}\"]"));
    if !environment.on_path {
        let program = format!("|| {}", Value::from(environment.word()));
        text = text.replace(PLUGIN_PROGRAM, &program);
    }
    let path = place.join("plugins/skillsd.js");
    let content = TargetContent::Whole(text);
    TargetFile { part: InstallPart::Hooks, owner, path, content, note: None }
}

/// Returns the hooks of Factory Droid: in `settings.json`, beside those that the user adds there
/// later, or in a `hooks.json` that has one of the events, if no event of the settings would end.
///
/// Measured: an event of `hooks.json` replaces the same event of `settings.json`, and `hooks.json`
/// replaces the older `hooks/hooks.json`.
fn droid_hooks(environment: &InstallEnvironment, place: &Path) -> TargetFile {
    let settings = place.join("settings.json");
    let file = place.join("hooks.json");
    let older = place.join("hooks/hooks.json");
    let path = if !file.exists() && older.is_file() { older } else { file };
    let ours: Value = serde_json::from_str(DROID_HOOKS).unwrap_or_default();
    let ours = ours["hooks"].as_object().into_iter().flatten();
    let events: Vec<_> = ours.map(|(event, _)| &**event).collect();
    let is_in_settings = |it: &&str| has_member(&settings, &["hooks", it]);
    let is_in_file = |it: &&str| has_member(&path, &[it]);
    let ends_one = events.iter().any(|it| is_in_settings(it) && !is_in_file(it));
    if ends_one || !events.iter().any(is_in_file) {
        return hooks(environment, "droid", settings, DROID_HOOKS);
    }
    hooks_at(&[], environment, "droid", path, DROID_HOOKS)
}

/// Returns whether a JSON file has a member.
fn has_member(path: &Path, keys: &[&str]) -> bool {
    let text = file::read(path).ok().flatten();
    let document = text.and_then(|it| document::parse(FileFormat::Json, &it).ok());
    let keys: Vec<_> = keys.iter().map(|it| (*it).to_owned()).collect();
    document.is_some_and(|it| it.value(&keys).is_some())
}

/// Returns the arguments of the MCP server, which lists what its agent would list.
fn arguments(profile: &str) -> [String; 3] {
    ["mcp", "--profile", profile].map(str::to_owned)
}

fn mcp(owner: &'static str, path: PathBuf, form: FileFormat, item: ConfigEntry) -> TargetFile {
    let content = TargetContent::Items { form, items: vec![item] };
    TargetFile { part: InstallPart::Mcp, owner, path, content, note: None }
}

fn hooks(
    environment: &InstallEnvironment,
    owner: &'static str,
    path: PathBuf,
    text: &str,
) -> TargetFile {
    hooks_at(&["hooks"], environment, owner, path, text)
}

// Each element of an event's list is one item, beside the elements of others; `at` is the path of
// the object with the events.
fn hooks_at(
    at: &[&str],
    environment: &InstallEnvironment,
    owner: &'static str,
    path: PathBuf,
    text: &str,
) -> TargetFile {
    let text = text.replace(LINE, &escaped(&format!("{} hook ", environment.shell_word())));
    let ours: Value = serde_json::from_str(&text).unwrap_or_default();
    let mark = format!("hook {owner}");
    let events = ours.get("hooks").unwrap_or(&ours).as_object().into_iter().flatten();
    let items = events.flat_map(|(event, elements)| {
        let elements = elements.as_array().cloned().unwrap_or_default();
        let at: Vec<_> = at.iter().copied().chain([event.as_str()]).collect();
        let element = |it| ConfigEntry::element(&at, it, &mark);
        elements.into_iter().map(element).collect::<Vec<_>>()
    });
    let version = ours.get("version").cloned();
    let version = version.map(|it| ConfigEntry::property(&[], "version", it));
    let items = version.into_iter().chain(items).collect();
    // Measured: Claude Code ignores a file with comments.
    let form = if owner == CLAUDE_CODE { FileFormat::StrictJson } else { FileFormat::Json };
    let content = TargetContent::Items { form, items };
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
        for text in
            [CLAUDE_HOOKS, CODEX_HOOKS, GEMINI_HOOKS, COPILOT_HOOKS, DROID_HOOKS, QWEN_HOOKS]
        {
            let parsed: Value = serde_json::from_str(text).expect("JSON");
            let events = parsed.get("hooks").unwrap_or(&parsed);
            let n_events = events.as_object().expect("an object").len();
            assert!(n_events >= 3, "{text}");
            let n_hooks = text.matches("\"type\": \"command\"").count();
            assert_eq!(text.matches(LINE).count(), n_hooks, "{text}");
        }
        for part in [PLUGIN_PROGRAM, PLUGIN_AGENT] {
            assert_eq!(OPENCODE_PLUGIN.matches(part).count(), 1, "{part}");
        }
    }
}
