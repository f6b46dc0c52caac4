//! Editor integrations, checked against the tables: VS Code's profiles, linter settings and
//! activation events are generated; every editor selects all skill files.

use regex::Regex;
use serde_json::{Value, json};
use skills_agents::profile::{self, RootBase, Scope};
use skills_config::ConfigSource;

use crate::frontmatter::stale;
use crate::tree::{none, sources, text_of};

const MANIFEST: &str = "editors/vscode/package.json";

/// Activation events of the extension besides skill directories.
const ALWAYS: [&str; 3] =
    ["workspaceContains:**/SKILL.md", "onLanguage:markdown", "onLanguage:skill"];

/// Returns the extension's manifest with all generated parts.
fn generated_manifest(manifest: &str) -> String {
    let mut manifest: Value = serde_json::from_str(manifest).expect("it is JSON");
    manifest["activationEvents"] = activation_events();
    let settings = &mut manifest["contributes"]["configuration"]["properties"];
    let of_the_linter = check_settings();
    let settings = settings.as_object_mut().expect("there are settings");
    settings.retain(|name, _| !name.starts_with("skillsd.check."));
    settings.extend(of_the_linter);
    let setting = &mut settings["skillsd.profile"];
    let profiles = profile::builtin();
    setting["enum"] = std::iter::once("").chain(profiles.iter().map(|it| &*it.id)).collect();
    let unset = "Use the configuration of skillsd, else `agentskills`.".to_owned();
    let agents = profiles.iter().map(|it| format!("{} {}", it.agent, it.version));
    setting["enumDescriptions"] = std::iter::once(unset).chain(agents).collect();
    serde_json::to_string_pretty(&manifest).expect("JSON can be written") + "\n"
}

/// Returns the settings that correspond to the configuration's keys `check.*`. Their defaults are
/// empty, so that the configuration applies.
fn check_settings() -> Vec<(String, Value)> {
    let schema = crate::pages::config_page::schema(ConfigSource::Repository, &skills_lint::ids());
    let keys = schema["properties"]["check"]["properties"].as_object().expect("there are some");
    let setting = |(name, key): (&String, &Value)| {
        let mut setting = key.clone();
        let is_list = setting["type"] == "array";
        if let Some(known) = key.pointer("/items/enum") {
            // Built-in profiles are offered; user profiles are accepted too.
            let any = json!([{"enum": known}, {"type": "string"}]);
            setting["items"] = json!({"type": "string", "anyOf": any});
        }
        let said = setting["description"].as_str().unwrap_or_default();
        // A relative link does not work in a setting's description.
        let said = said.replace("[rules.md](rules.md)", "docs/rules.md");
        let said = format!("{said}\n\nEmpty: use the configuration of skillsd.");
        let members = setting.as_object_mut().expect("a schema");
        members.remove("description");
        members.insert("markdownDescription".to_owned(), json!(said));
        members.insert("default".to_owned(), if is_list { json!([]) } else { json!({}) });
        members.insert("scope".to_owned(), json!("window"));
        (format!("skillsd.check.{name}"), setting)
    };
    keys.iter().map(setting).collect()
}

/// Returns the activation events: a project directory that some agent searches for skills exists.
fn activation_events() -> Value {
    let mut events = ALWAYS.map(str::to_owned).to_vec();
    for root in profile::builtin().iter().flat_map(|it| &it.roots) {
        let is_of_the_project =
            root.scope == Scope::Project && matches!(root.base, RootBase::Ancestors { .. });
        for relative in root.relative.iter().filter(|_| is_of_the_project) {
            let event = format!("workspaceContains:{relative}");
            if !events.contains(&event) {
                events.push(event);
            }
        }
    }
    json!(events)
}

#[test]
fn vscode_manifest_is_generated_from_the_tables() {
    let write = std::env::var_os("CI").is_none();
    let made = generated_manifest(&text_of(MANIFEST));
    none(&stale(MANIFEST, &made, write).into_iter().collect::<Vec<_>>());
}

#[test]
fn missing_manifest_entry_is_restored() {
    let manifest = text_of(MANIFEST);
    for gone in ["\"claude-code\",", "\"name/*\",", "\"workspaceContains:.agents/skills\","] {
        assert!(manifest.contains(gone), "{gone}");
        assert_eq!(
            generated_manifest(&manifest.replacen(gone, "", 1)),
            generated_manifest(&manifest),
            "{gone}"
        );
    }
}

#[test]
fn profile_setting_offers_built_in_and_accepts_user_profiles() {
    let manifest: Value = serde_json::from_str(&text_of(MANIFEST)).expect("it is JSON");
    let settings = &manifest["contributes"]["configuration"]["properties"];
    let schema = &settings["skillsd.check.profiles"];
    let offered = &schema["items"]["anyOf"][0]["enum"];
    assert!(offered.as_array().is_some_and(|them| them.contains(&json!("codex"))), "{schema}");
    let valid = |value: Value| jsonschema::is_valid(schema, &value);
    assert!(valid(json!(["codex", "my-agent"])));
    assert!(!valid(json!([3])) && !valid(json!("codex")));
}

/// Each editor's configuration, and whether it also selects by directories of commands and agents;
/// otherwise it selects by file name only.
const SELECTIONS: [(&str, bool); 8] = [
    ("editors/emacs/skillsd.el", true),
    ("editors/helix/languages.toml", true),
    ("editors/jetbrains/template.json", false),
    ("editors/kakoune/kakrc", true),
    ("editors/neovim/lua/skillsd/init.lua", true),
    ("editors/vim/ale.vim", true),
    ("editors/vscode/src/language.ts", true),
    ("editors/zed/languages/skill/config.toml", false),
];

/// Returns the file names and directories of the language server's files that an editor does not
/// select.
fn unselected(text: &str, with_directories: bool) -> Vec<&'static str> {
    let names = ["SKILL", "CLAUDE", "AGENTS", "GEMINI", "local", "override"];
    let homes = ["claude", "opencode", "agents", "codex", "gemini", "command", "agent", "prompts"];
    let homes = homes.into_iter().filter(|_| with_directories);
    names.into_iter().chain(homes).filter(|it| !text.contains(it)).collect()
}

#[test]
fn editor_integrations_select_every_skill_file() {
    let missing = SELECTIONS.iter().flat_map(|(path, with_directories)| {
        let missing = unselected(&text_of(path), *with_directories);
        missing.into_iter().map(move |it| format!("{path} does not choose `{it}`"))
    });
    none(&missing.collect::<Vec<_>>());
}

#[test]
fn unselected_file_is_reported() {
    assert_eq!(unselected("SKILL CLAUDE.local AGENTS.override", false), ["GEMINI"]);
    assert_eq!(unselected("SKILL CLAUDE.local AGENTS.override GEMINI", true).len(), 8);
}

/// Returns the lines that install `skillsd` by name from a registry, where the name is not ours.
/// Among them are those that tell to install skillsd with a command without its name.
fn installs_by_name(text: &str) -> Vec<&str> {
    let install = r"cargo b?install|(npm|pnpm|yarn|pipx?|uv|uv tool|uv pip|brew) (i|add|install)";
    let options = "( -[-a-z]+)*";
    let by_name = format!(r"\b({install}|npx|uvx){options} skillsd\b");
    let hint = format!("(?i:install) skillsd.*`({install}){options}`");
    let pattern = Regex::new(&format!("{by_name}|{hint}")).expect("a pattern");
    text.lines().filter(|it| pattern.is_match(it)).collect()
}

#[test]
fn no_text_installs_skillsd_by_name() {
    // The tests install it from registries of their own.
    let shown = sources().into_iter().filter(|it| !it.path.starts_with("tests/"));
    let found = shown.flat_map(|it| {
        let lines = installs_by_name(&it.text).into_iter();
        lines.map(|line| format!("{}: {}", it.path, line.trim())).collect::<Vec<_>>()
    });
    none(&found.collect::<Vec<_>>());
}

#[test]
fn installation_by_name_is_reported() {
    let commands = [
        "cargo install --locked skillsd",
        "npm i skillsd",
        "uvx skillsd list",
        "Install skillsd for good, for example with `npm install --global`.",
        "Install skillsd with `uv tool install`, then run `skillsd install`.",
    ];
    for command in commands {
        assert_eq!(installs_by_name(command), [command]);
    }
    let others = [
        "cargo install --path daemon",
        "skillsd install",
        "Install skillsd outside of a cache, then run `skillsd install`.",
        "The extension of skillsd needs `npm install` once.",
    ];
    assert!(installs_by_name(&others.join("\n")).is_empty());
}
