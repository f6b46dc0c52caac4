//! Agents whose lists are recorded: the program, its command and the meaning of its output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use skills_testkit::{Model, ModelRequest, Turn};

use crate::agent_fixture::finish;
use crate::agent_trees::{Found, first_line, relative};

mod cline;
mod continue_dev;

pub(crate) use cline::CLINE;
pub(crate) use continue_dev::CONTINUE;
pub(crate) mod droid;
mod hermes;
mod kimi_code;
mod openclaw;
mod openhands;
pub(crate) mod prompts;
pub(crate) mod scripted;

pub(crate) use droid::DROID;
pub(crate) use hermes::HERMES;
pub(crate) use kimi_code::KIMI_CODE;
pub(crate) use openclaw::OPENCLAW;
pub(crate) use openhands::OPENHANDS;

/// An agent whose list of skills is recorded.
pub(crate) struct ListingAgent {
    /// The profile's id.
    pub(crate) profile: &'static str,
    /// The program below `SKILLSD_MORE_AGENTS`; empty if a script runs it.
    program: &'static str,
    /// The directory of skills in a project that is the agent's own; with a slash before it,
    /// another one below the top of the tree.
    pub(crate) own: &'static str,
    /// Directories of skills below home and in a project, for random trees.
    pub(crate) home: &'static [&'static str],
    pub(crate) project: &'static [&'static str],
    /// True if the output has descriptions.
    pub(crate) has_descriptions: bool,
    /// True if skills that are hidden from the model are in the output.
    pub(crate) lists_hidden: bool,
    /// True if skills with `paths` are in the output.
    pub(crate) lists_conditional: bool,
    /// True if reads are concurrent, so that any skill of a name may win it.
    pub(crate) is_race: bool,
    /// Runs the agent and reads its list.
    list: fn(&ListingAgent, &mut Command, &Path) -> Found,
}

impl ListingAgent {
    /// Returns the program, if the agents are to be run.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        let top = PathBuf::from(std::env::var_os("SKILLSD_MORE_AGENTS")?);
        let is_left_out = |only: String| !only.split_whitespace().any(|name| name == self.profile);
        if std::env::var("SKILLSD_ONLY_AGENTS").is_ok_and(is_left_out) {
            return None;
        }
        let dir = top.join(self.profile);
        let program = match self.program {
            "" if dir.exists() => scripted::scripts().join(self.profile),
            program => dir.join(program),
        };
        assert!(program.exists() || !dir.exists(), "`{}` is missing", program.display());
        program.exists().then_some(program)
    }

    /// Returns the command of a program in a tree below `top`, with the agent's programs in PATH.
    pub(crate) fn command(&self, program: &Path, cwd: &str, top: &Path) -> Command {
        let mut command = Command::new(program);
        isolate(&mut command, cwd, top);
        if self.program.is_empty() {
            let dir = PathBuf::from(std::env::var_os("SKILLSD_MORE_AGENTS").unwrap());
            let dir = dir.join(self.profile);
            let path = std::env::var_os("PATH").unwrap_or_default();
            let dirs = [dir.join("node_modules/.bin"), dir.join("venv/bin")].into_iter();
            let dirs = dirs.chain(std::env::split_paths(&path));
            command.env("PATH", std::env::join_paths(dirs).unwrap());
        }
        command
    }
}

/// Runs an agent on a tree below `top`, whose `h` is HOME.
pub(crate) fn list(agent: &ListingAgent, program: &Path, cwd: &str, top: &Path) -> Found {
    let mut command = agent.command(program, cwd, top);
    (agent.list)(agent, &mut command, top)
}

/// Gives a command its directories below `top` and an environment that reaches no other machine.
fn isolate(command: &mut Command, cwd: &str, top: &Path) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", top.join("h"));
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] {
        command.env(name, "http://127.0.0.1:9");
    }
    command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
    command.current_dir(top.join(cwd)).stdin(Stdio::null());
}

pub(crate) const COPILOT_CLI: ListingAgent = ListingAgent {
    profile: "copilot-cli",
    program: "node_modules/@github/copilot-linux-x64/copilot",
    own: ".github/skills",
    home: &[".copilot/skills", ".agents/skills"],
    project: &[".github/skills", ".agents/skills", ".claude/skills"],
    has_descriptions: true,
    lists_hidden: true,
    lists_conditional: true,
    is_race: false,
    list: |_, command, top| {
        command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
        // Each new cache takes seconds to fill.
        let cache = std::env::temp_dir().join("skillsd-copilot-cache");
        fs::create_dir_all(&cache).unwrap();
        command.env("XDG_CACHE_HOME", cache);
        let output = finish(command.args(["skill", "list", "--json"]));
        let listed: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let skills = listed.as_array().unwrap().iter().filter(|it| it["source"] != "builtin");
        let skill = |it: &Value| {
            let path = format!("{}/SKILL.md", relative(&text(&it["path"]), top));
            (text(&it["name"]), first_line(&text(&it["description"])), path)
        };
        skills.map(skill).collect()
    },
};

pub(crate) const KILO: ListingAgent = ListingAgent {
    profile: "kilo",
    program: "node_modules/@kilocode/cli-linux-x64/bin/kilo",
    own: ".kilo/skills",
    home: &[".kilo/skills", ".kilocode/skill", ".config/kilo/skills", ".config/kilo/skill"],
    project: &[".kilo/skills", ".kilo/skill", ".kilocode/skills", ".agents/skills"],
    has_descriptions: true,
    lists_hidden: true,
    lists_conditional: true,
    is_race: true,
    list: |_, command, top| {
        for switch in ["AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "SHARE"] {
            command.env(format!("KILO_DISABLE_{switch}"), "1");
        }
        let output = finish(command.args(["debug", "skill"]));
        let listed: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let skills = listed.as_array().unwrap().iter().map(|it| {
            let description = first_line(&text(&it["description"]));
            (text(&it["name"]), description, relative(&text(&it["location"]), top))
        });
        skills.filter(|it| it.2 != "builtin").collect()
    },
};

/// Runs an agent that talks to a model, which `prepare` gives it, and returns the text of its first
/// request. An agent without skills may give its model no tools.
fn first_request(command: &mut Command, prepare: impl FnOnce(&mut Command, &str)) -> String {
    let model = Model::start(vec![Turn::say("Done.")]);
    prepare(command, &model.url());
    let output = finish(command);
    let mut requests = model.turns().into_iter().chain(model.requests());
    requests.next().unwrap_or_else(|| panic!("no request: {output:?}")).text()
}

/// Returns the text between two marks, with XML's character references replaced.
fn inner<'a>(text: &'a str, start: &str, end: &str) -> Option<(String, &'a str)> {
    let (_, rest) = text.split_once(start)?;
    let (inner, rest) = rest.split_once(end)?;
    Some((unescaped(inner), rest))
}

/// Replaces XML's character references.
fn unescaped(text: &str) -> String {
    let quotes = [("&quot;", "\""), ("&apos;", "'"), ("&#x27;", "'")];
    let replaced = [("&lt;", "<"), ("&gt;", ">")].into_iter().chain(quotes).chain([("&amp;", "&")]);
    replaced.fold(text.to_owned(), |all, (from, to)| all.replace(from, to))
}

pub(crate) const QWEN_CODE: ListingAgent = ListingAgent {
    profile: "qwen-code",
    program: "node_modules/.bin/qwen",
    own: ".qwen/skills",
    home: &[".qwen/skills", ".agents/skills"],
    project: &[".qwen/skills", ".agents/skills"],
    has_descriptions: true,
    lists_hidden: false,
    lists_conditional: false,
    is_race: false,
    list: |_, command, _| {
        let model = Model::start(vec![Turn::say("Done.")]);
        command.env("OPENAI_API_KEY", "none").env("OPENAI_MODEL", "stub");
        command.env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
        let output = finish(command.args(["--auth-type", "openai", "-p", "hi"]));
        let turns = model.turns();
        let first = turns.first().unwrap_or_else(|| panic!("no request: {output:?}"));
        let text = first.text();
        let (list, _) = inner_list(&text);
        let mut found = Found::new();
        let mut rest = list;
        while let Some((name, after)) = inner(rest, "<name>\n", "\n</name>") {
            let Some((description, after)) = inner(after, "<description>\n", "\n</description>")
            else {
                break;
            };
            let Some((scope, after)) = inner(after, "<location>\n", "\n</location>") else { break };
            rest = after;
            if scope != "bundled" {
                let description = description.strip_suffix(&format!(" ({scope})"));
                let description = first_line(description.unwrap_or_default());
                found.insert((name, description, String::new()));
            }
        }
        found
    },
};

pub(crate) const MISTRAL_VIBE: ListingAgent = ListingAgent {
    profile: "mistral-vibe",
    program: "venv/bin/vibe",
    own: ".vibe/skills",
    home: &[".vibe/skills", ".agents/skills"],
    project: &[".vibe/skills", ".agents/skills"],
    has_descriptions: true,
    lists_hidden: false,
    lists_conditional: true,
    is_race: true,
    list: |_, command, top| {
        let model = Model::start(vec![Turn::say("Done.")]);
        let home = top.join("h/.vibe");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("config.toml"), vibe_settings(&model.url())).unwrap();
        let output = finish(command.env("STUB_KEY", "none").args(["-p", "hi", "--trust"]));
        let turns = model.turns();
        let first = turns.first().unwrap_or_else(|| panic!("no request: {output:?}"));
        let text = first.text();
        let list = text.rsplit_once("<available-skills>\n");
        let (_, list) = list.unwrap_or_else(|| panic!("no list of skills: {text}"));
        let (list, _) = list.split_once("</available-skills>").unwrap_or((list, ""));
        let mut found = Found::new();
        let mut rest = list;
        while let Some((name, after)) = inner(rest, "<name>", "</name>") {
            let (entry, after) = after.split_once("</skill>").unwrap_or((after, ""));
            rest = after;
            let Some((description, entry)) = inner(entry, "<description>", "</description>") else {
                continue;
            };
            let path = inner(entry, "<path>", "</path>").map(|it| it.0).unwrap_or_default();
            // Bundled skills are unpacked there.
            if !path.is_empty() && !path.contains("/.vibe/logs/") {
                found.insert((name, first_line(&description), relative(&path, top)));
            }
        }
        found
    },
};

pub(crate) const QODER: ListingAgent = ListingAgent {
    profile: "qoder",
    program: "node_modules/.bin/qodercli",
    own: ".qoder/skills",
    home: &[".qoder/skills", ".agents/skills"],
    project: &[".qoder/skills", ".agents/skills"],
    has_descriptions: true,
    lists_hidden: true,
    lists_conditional: true,
    is_race: false,
    list: |_, command, top| {
        let output = finish(command.args(["skills", "list"]));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut found = Found::new();
        let mut entry: Option<(String, Option<String>)> = None;
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("  Location:    ") {
                if let Some((name, description)) = entry.take() {
                    let description = first_line(&description.unwrap_or_default());
                    found.insert((name, description, relative(path, top)));
                }
            } else if let Some(text) = line.strip_prefix("  Description: ") {
                entry = entry.map(|(name, old)| (name, old.or(Some(text.to_owned()))));
            } else if let Some(name) = line.strip_suffix(" [Enabled]") {
                entry = Some((name.to_owned(), None));
            }
        }
        found
    },
};

/// Returns the description of a tool in a request.
fn tool_description(request: &ModelRequest, name: &str) -> String {
    let tools = request.body["tools"].as_array().into_iter().flatten();
    let tools = tools.map(|it| it.get("function").unwrap_or(it));
    let tool = tools.into_iter().find(|it| it["name"] == name);
    tool.and_then(|it| it["description"].as_str()).unwrap_or_default().to_owned()
}

/// Returns settings with a model at `url`, which reach no other machine.
fn vibe_settings(url: &str) -> String {
    format!(
        r#"active_model = "stub"
enable_update_checks = false
enable_auto_update = false
enable_telemetry = false

[[providers]]
name = "stub"
api_base = "{url}/v1"
api_key_env_var = "STUB_KEY"
api_style = "openai"
backend = "generic"

[[models]]
name = "stub"
provider = "stub"
alias = "stub"
"#
    )
}

/// Returns the part of a prompt that lists the skills.
fn inner_list(text: &str) -> (&str, &str) {
    let list = text.split_once("<available_skills>").map_or("", |it| it.1);
    list.split_once("</available_skills>").unwrap_or((list, ""))
}
