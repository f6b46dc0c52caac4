//! The agents: how each is known to be there, and what is registered with it, in which file.
//!
//! The hooks are those of `editors/agents`, word for word; only the program's path is put in where
//! `skillsd` is not on the agent's path.

use std::path::PathBuf;

use serde_json::{Value, json};
use skills_protocol::wire::InstallPart;

use crate::install::item::{Form, Item};
use crate::install::surroundings::Surroundings;
use crate::install::wanted::{Content, Wanted};

const CLAUDE_HOOKS: &str = include_str!("../../../../editors/agents/claude-code/settings.json");
const CODEX_HOOKS: &str = include_str!("../../../../editors/agents/codex/hooks.json");
const GEMINI_HOOKS: &str = include_str!("../../../../editors/agents/gemini-cli/settings.json");
const OPENCODE_PLUGIN: &str = include_str!("../../../../editors/agents/opencode/skillsd.js");

/// How the program is written in the files above.
const LINE: &str = "skillsd hook ";
const PLUGIN_PROGRAM: &str = "|| \"skillsd\"";

/// Under which name the server is registered, as the README has it.
const SERVER: &str = "skills";

/// Returns what is wanted of the agents that are there, and of each that is not, that it is not.
pub(super) fn wanted(around: &Surroundings, left_out: &mut Vec<String>) -> Vec<Wanted> {
    let all = [claude_code(around), codex(around), gemini_cli(around), opencode(around)];
    let mut wanted = Vec::new();
    for agent in all {
        if agent.place.is_dir() || around.which(agent.program).is_some() {
            wanted.extend(agent.wanted);
        } else {
            let place = agent.place.display();
            let Agent { title, program, .. } = agent;
            left_out.push(format!(
                "{title} is not there: neither `{place}` nor `{program}` on the path."
            ));
        }
    }
    wanted
}

struct Agent {
    title: &'static str,
    program: &'static str,
    place: PathBuf,
    wanted: Vec<Wanted>,
}

fn claude_code(around: &Surroundings) -> Agent {
    let place = around.claude.clone().unwrap_or_else(|| around.home.join(".claude"));
    // Its own state, where servers for all projects are registered, lies beside the directory.
    let state = around.claude.as_ref().unwrap_or(&around.home).join(".claude.json");
    let server = json!({"type": "stdio", "command": around.word(), "args": ["mcp"]});
    let owner = "claude-code";
    let wanted = vec![
        hooks(around, owner, place.join("settings.json"), CLAUDE_HOOKS),
        mcp(owner, state, Form::Json, Item::property(&["mcpServers"], SERVER, server)),
    ];
    Agent { title: "Claude Code", program: "claude", place, wanted }
}

fn codex(around: &Surroundings) -> Agent {
    let place = around.codex.clone();
    let server = json!({"command": around.word(), "args": ["mcp"]});
    let owner = "codex";
    let mut hooks = hooks(around, owner, place.join("hooks.json"), CODEX_HOOKS);
    hooks.note = Some("Codex asks once whether the hooks are to be trusted.");
    let item = Item::property(&["mcp_servers"], SERVER, server);
    let wanted = vec![hooks, mcp(owner, place.join("config.toml"), Form::Toml, item)];
    Agent { title: "Codex", program: "codex", place, wanted }
}

fn gemini_cli(around: &Surroundings) -> Agent {
    let place = around.gemini.join(".gemini");
    let server = json!({"command": around.word(), "args": ["mcp"]});
    let owner = "gemini-cli";
    let settings = place.join("settings.json");
    let wanted = vec![
        hooks(around, owner, settings.clone(), GEMINI_HOOKS),
        mcp(owner, settings, Form::Json, Item::property(&["mcpServers"], SERVER, server)),
    ];
    Agent { title: "Gemini CLI", program: "gemini", place, wanted }
}

fn opencode(around: &Surroundings) -> Agent {
    let place = around.config.join("opencode");
    let commented = place.join("opencode.jsonc");
    let settings = if commented.is_file() { commented } else { place.join("opencode.json") };
    let server = json!({"type": "local", "command": [around.word(), "mcp"], "enabled": true});
    let plugin = if around.on_path {
        OPENCODE_PLUGIN.to_owned()
    } else {
        let program = format!("|| {}", Value::from(around.word()));
        OPENCODE_PLUGIN.replace(PLUGIN_PROGRAM, &program)
    };
    let owner = "opencode";
    let plugin = Wanted {
        part: InstallPart::Hooks,
        owner,
        path: place.join("plugins/skillsd.js"),
        content: Content::Whole(plugin),
        note: None,
    };
    let wanted =
        vec![plugin, mcp(owner, settings, Form::Json, Item::property(&["mcp"], SERVER, server))];
    Agent { title: "opencode", program: "opencode", place, wanted }
}

fn mcp(owner: &'static str, path: PathBuf, form: Form, item: Item) -> Wanted {
    let content = Content::Items { form, items: vec![item] };
    Wanted { part: InstallPart::Mcp, owner, path, content, note: None }
}

// Each element of each event's list is put in by itself, beside those of others.
fn hooks(around: &Surroundings, owner: &'static str, path: PathBuf, text: &str) -> Wanted {
    let text = text.replace(LINE, &escaped(&format!("{} hook ", around.shell_word())));
    let ours: Value = serde_json::from_str(&text).unwrap_or_default();
    let mark = format!("hook {owner}");
    let events = ours["hooks"].as_object().into_iter().flatten();
    let items = events.flat_map(|(event, elements)| {
        let elements = elements.as_array().cloned().unwrap_or_default();
        let element = |it| Item::element(&["hooks", event], it, &mark);
        elements.into_iter().map(element).collect::<Vec<_>>()
    });
    let content = Content::Items { form: Form::Json, items: items.collect() };
    Wanted { part: InstallPart::Hooks, owner, path, content, note: None }
}

// As it stands within quotes in JSON.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_name_the_program_as_it_is_looked_for() {
        for text in [CLAUDE_HOOKS, CODEX_HOOKS, GEMINI_HOOKS] {
            let parsed: Value = serde_json::from_str(text).expect("JSON");
            let n_events = parsed["hooks"].as_object().expect("an object").len();
            assert!(n_events >= 3, "{text}");
            assert_eq!(text.matches(LINE).count(), text.matches("\"command\":").count(), "{text}");
        }
        assert_eq!(OPENCODE_PLUGIN.matches(PLUGIN_PROGRAM).count(), 1);
    }
}
