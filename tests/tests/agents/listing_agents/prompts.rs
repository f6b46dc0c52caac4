//! Agents whose prompts are recorded: how each gets a model, and where it has its list of skills.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use skills_testkit::ModelRequest;

use super::{continue_dev, droid, kimi_code, tool_description, vibe_settings};
use crate::agent_fixture::finish;
use crate::recorded_prompts::{Loading, PromptAgent};

/// The rules of most agents: the model calls a tool `skill` with a parameter `skill`.
const USUAL: PromptAgent = PromptAgent {
    agent: &super::COPILOT_CLI,
    prepare: |_, _, _| {},
    loading: Loading::Tool("skill", |name, _| json!({"skill": name})),
    text: ModelRequest::text,
    listing: ["<available_skills>\n", "</available_skills>", "<skill>\n"],
    is_own: |_| false,
    own_names: "",
    is_race: false,
};

/// Writes a file of settings below HOME.
fn settings(top: &Path, path: &str, text: &str) {
    let path = top.join("h").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The text before OpenHands' list.
const OPENHANDS_HEAD: &str = r#"<SKILLS>
The following skills are available. Some are auto-injected when their keywords or task types appear in your messages; others are listed here for you to invoke proactively when relevant.
To use a skill, call the `invoke_skill(name="<skill-name>")` tool with the `<name>` shown below. This is the only supported way to invoke a skill.

<available_skills>
"#;

pub(crate) const OPENHANDS: PromptAgent = PromptAgent {
    agent: &super::OPENHANDS,
    prepare: |command, _, url| {
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("OPENHANDS_SUPPRESS_BANNER", "1");
        command.env("LLM_API_KEY", "none").env("LLM_MODEL", "openai/stub");
        command.env("LLM_BASE_URL", format!("{url}/v1"));
        let main = "from openhands_cli.entrypoint import main; main()";
        command.args(["-c", main, "--headless", "--override-with-envs", "-t"]);
    },
    loading: Loading::Tool("invoke_skill", |name, _| json!({"name": name})),
    listing: [OPENHANDS_HEAD, "</available_skills>\n</SKILLS>", "  <skill>\n"],
    is_race: true,
    ..USUAL
};

pub(crate) const COPILOT_CLI: PromptAgent = PromptAgent {
    prepare: |command, _, url| {
        command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
        let cache = std::env::temp_dir().join("skillsd-copilot-cache");
        fs::create_dir_all(&cache).unwrap();
        command.env("XDG_CACHE_HOME", cache).env("COPILOT_PROVIDER_API_KEY", "none");
        command.env("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")).env("COPILOT_MODEL", "stub");
        command.env("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "180000");
        command.args(["--allow-all-tools", "-p"]);
    },
    is_own: |it| it.contains("<location>builtin</location>"),
    own_names: ", customize-cloud-agent, github-pr-media",
    ..USUAL
};

pub(crate) const CLINE: PromptAgent = PromptAgent {
    agent: &super::CLINE,
    prepare: |command, _, url| {
        let mut login = Command::new(command.get_program());
        login.env_clear().envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        login.current_dir(command.get_current_dir().unwrap());
        let url = format!("{url}/v1");
        finish(login.args(["auth", "-p", "openai", "-k", "none", "-m", "stub", "-b", &url]));
        command.args(["--json", "-P", "openai", "-m", "stub"]);
    },
    loading: Loading::Tool("skills", |name, args| {
        if args.is_empty() { json!({"skill": name}) } else { json!({"skill": name, "args": args}) }
    }),
    text: |request| tool_description(request, "skills"),
    listing: ["Available skills: ", ".", ", "],
    is_race: true,
    ..USUAL
};

pub(crate) const QWEN_CODE: PromptAgent = PromptAgent {
    agent: &super::QWEN_CODE,
    prepare: |command, _, url| {
        command.env("OPENAI_API_KEY", "none").env("OPENAI_MODEL", "stub");
        command.env("OPENAI_BASE_URL", format!("{url}/v1"));
        command.args(["--auth-type", "openai", "--yolo", "-p"]);
    },
    listing: ["The following skills are available for use", "</available_skills>", "<skill>\n"],
    is_own: |it| it.contains("<location>\nbundled\n"),
    ..USUAL
};

pub(crate) const KILO: PromptAgent = PromptAgent {
    agent: &super::KILO,
    prepare: |command, top, url| {
        let model = json!({"name": "stub", "limit": {"context": 200_000, "output": 1000}});
        let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "stub",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
            "models": {"stub": model}});
        let all = json!({"provider": {"stub": provider}, "model": "stub/stub",
            "small_model": "stub/stub", "autoupdate": false});
        settings(top, ".config/kilo/kilo.json", &all.to_string());
        for switch in ["AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "SHARE"] {
            command.env(format!("KILO_DISABLE_{switch}"), "1");
        }
        command.arg("run");
    },
    loading: Loading::Tool("skill", |name, _| json!({"name": name})),
    listing: ["Skills provide specialized instructions", "</available_skills>", "  <skill>\n"],
    is_own: |it| it.contains("<location>builtin</location>"),
    ..USUAL
};

pub(crate) const KIMI_CODE: PromptAgent = PromptAgent {
    agent: &super::KIMI_CODE,
    prepare: |command, top, url| {
        settings(top, ".kimi-code/config.toml", &kimi_code::settings(url));
        command.arg("-p");
    },
    loading: Loading::Tool("Skill", |name, args| {
        if args.is_empty() { json!({"skill": name}) } else { json!({"skill": name, "args": args}) }
    }),
    listing: ["DISREGARD any earlier skill listings.", "\n### Built-in", "\n- "],
    ..USUAL
};

pub(crate) const DROID: PromptAgent = PromptAgent {
    agent: &super::DROID,
    prepare: |command, top, url| {
        settings(top, ".factory/settings.json", &droid::settings(url).to_string());
        command.args(["exec", "-m", "custom:stub-0"]);
    },
    loading: Loading::Tool("Skill", |name, _| json!({"skill": name})),
    listing: ["Available skills (invoke by exact name", "\n</system-reminder>", "\n"],
    is_own: |it| droid::BUILT_IN.iter().any(|name| it.starts_with(&format!("{name}: "))),
    ..USUAL
};

pub(crate) const CONTINUE: PromptAgent = PromptAgent {
    agent: &super::CONTINUE,
    prepare: |command, top, url| {
        settings(top, ".continue/config.yaml", &continue_dev::settings(url));
        command.env("CONTINUE_TELEMETRY_ENABLED", "0").arg("--config");
        command.arg(top.join("h/.continue/config.yaml")).arg("-p");
    },
    loading: Loading::Tool("Skills", |name, _| json!({"skill_name": name})),
    text: |request| {
        let text = tool_description(request, "Skills");
        text.split_once("listed below:\n").map_or(String::new(), |it| it.1.to_owned())
    },
    listing: ["", "\n", "\n,"],
    is_race: true,
    ..USUAL
};

pub(crate) const MISTRAL_VIBE: PromptAgent = PromptAgent {
    agent: &super::MISTRAL_VIBE,
    prepare: |command, top, url| {
        settings(top, ".vibe/config.toml", &vibe_settings(url));
        command.env("STUB_KEY", "none").args(["--trust", "-p"]);
    },
    loading: Loading::Tool("skill", |name, _| json!({"name": name})),
    listing: ["<available-skills>\n", "</available-skills>", "  <skill>\n"],
    // Bundled skills are unpacked there.
    is_own: |it| it.contains("/.vibe/logs/"),
    is_race: true,
    ..USUAL
};

pub(crate) const OPENCLAW: PromptAgent = PromptAgent {
    agent: &super::OPENCLAW,
    prepare: |command, top, url| {
        let model = json!({"id": "stub", "name": "stub", "contextWindow": 200_000,
            "maxTokens": 1000, "input": ["text"], "reasoning": false,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}});
        let provider = json!({"baseUrl": format!("{url}/v1"), "apiKey": "none",
            "api": "openai-completions", "models": [model]});
        let all: Value = json!({"models": {"mode": "replace", "providers": {"stub": provider}},
            "agents": {"defaults": {"model": {"primary": "stub/stub"}, "skipBootstrap": true}}});
        settings(top, ".openclaw/openclaw.json", &all.to_string());
        command.args(["agent", "--local", "--session-id", "t1", "--message"]);
    },
    loading: Loading::Never,
    listing: ["The following skills provide", "</available_skills>", "  <skill>\n"],
    is_own: |it| it.contains("/node_modules/openclaw/") || it.contains("/plugin-skills/"),
    ..USUAL
};
