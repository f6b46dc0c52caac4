//! `skillsd install` and `skillsd uninstall` in homes with and without existing configuration.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod others;
mod record;
mod units;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use skills_testkit::{Home, Screen};

use crate::support::{exe, stderr, stdout};

/// Realistic configuration files, with comments, their own order, and other programs' hooks.
const FILES: &str = r#"
//- /home/.claude/settings.json
{
    "model": "opus",
    "hooks": {
        "PostToolUse": [ { "matcher": "Edit", "hooks": [ { "type": "command", "command": "fmt" } ] } ]
    },
    "permissions": {"deny": []}
}
//- /home/.claude.json
{"numStartups": 3, "oauthAccount": {"x": 1}}
//- /home/.codex/config.toml
# Mine.
model = "x" # why

[mcp_servers.docs]
command = "docs"
//- /home/.gemini/settings.json
{
  // Dark.
  "theme": "x",
}
//- /home/.config/opencode/opencode.jsonc
{
  /* mine */ "model": "a/b", "mcp": {}
}
"#;

/// A home with `skillsd` on the `PATH`, with or without a fake service manager.
struct InstallFixture {
    home: Home,
    bin: PathBuf,
}

impl InstallFixture {
    fn new(files: &str) -> InstallFixture {
        let home = Home::new();
        home.lay_out(files);
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(exe(), bin.join("skillsd")).unwrap();
        InstallFixture { home, bin }
    }

    /// Adds a fake `systemctl` that logs its arguments and exits with `code`.
    fn with_manager(self, code: u8) -> InstallFixture {
        self.with_fake("systemctl", code)
    }

    fn with_fake(self, name: &str, code: u8) -> InstallFixture {
        let log = self.home.runtime_dir().join("asked");
        let text = format!("#!/bin/sh\necho \"$@\" >>'{}'\nexit {code}\n", log.display());
        let program = self.bin.join(name);
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn asked(&self) -> String {
        fs::read_to_string(self.home.runtime_dir().join("asked")).unwrap_or_default()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(self.bin.join("skillsd"));
        // The fake `systemctl` needs no programs of the system.
        command.args(args).env("PATH", OsString::from(&self.bin));
        command
    }

    #[track_caller]
    fn run(&self, args: &[&str], code: i32) -> Output {
        let output = self.command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}{}", stdout(&output), stderr(&output));
        output
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.home.path().join(path)).unwrap()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Returns every file and directory of the home with its content.
    fn all(&self) -> BTreeMap<PathBuf, Option<String>> {
        let mut all = BTreeMap::new();
        gather(self.home.path(), &mut all);
        // Any first command creates the state directory.
        all.retain(|path, _| !path.starts_with(self.home.state_dir()));
        all
    }
}

fn gather(dir: &Path, all: &mut BTreeMap<PathBuf, Option<String>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let is_dir = path.is_dir();
        all.insert(path.clone(), (!is_dir).then(|| fs::read_to_string(&path).unwrap_or_default()));
        if is_dir {
            gather(&path, all);
        }
    }
}

#[test]
fn uninstall_restores_every_file_byte_for_byte() {
    for files in [FILES, "//- /home/.claude/CLAUDE.md\nMine.\n//- /home/.codex/AGENTS.md\nMine.\n"]
    {
        let fixture = InstallFixture::new(files).with_manager(1);
        let before = fixture.all();
        let shown = stdout(&fixture.run(&["install", "--dry-run"], 0));
        assert_eq!(fixture.all(), before);
        assert!(shown.contains("~/.claude/settings.json  claude-code hooks"), "{shown}");
        assert!(shown.contains("skillsd hook codex || true"), "{shown}");

        fixture.run(&["install", "--yes"], 0);
        fixture.run(&["install", "--yes", "--only", "mcp"], 0);
        let installed = fixture.all();
        assert!(installed.len() > before.len());
        let again = stdout(&fixture.run(&["install", "--yes"], 0));
        assert!(again.contains("nothing to change"), "{again}");
        assert_eq!(fixture.all(), installed);

        fixture.run(&["uninstall", "--yes"], 0);
        assert_eq!(fixture.all(), before);
        let nothing = stdout(&fixture.run(&["uninstall", "--yes"], 0));
        assert!(nothing.contains("nothing to change"), "{nothing}");
        assert!(!fixture.home.state_dir().join("skillsd/installed.json").exists());
    }
}

#[test]
fn install_registers_each_agent_and_keeps_its_settings() {
    let fixture = InstallFixture::new(FILES);
    let result = fixture.run(&["install", "--yes", "--only", "hooks,mcp", "--json"], 0);
    let result: Value = serde_json::from_slice(&result.stdout).unwrap();
    assert_eq!(result["written"], true);
    assert_eq!(result["changes"].as_array().unwrap().len(), 8, "{result:#}");

    let claude = fixture.json(".claude/settings.json");
    let after = claude["hooks"]["PostToolUse"].as_array().unwrap();
    assert_eq!(after.len(), 2);
    assert_eq!(after[0]["hooks"][0]["command"], "fmt");
    assert_eq!(after[1]["hooks"][0]["command"], "skillsd hook claude-code || true");
    assert_eq!(claude["hooks"]["SessionEnd"].as_array().unwrap().len(), 1);
    let server =
        json!({"type": "stdio", "command": "skillsd", "args": ["mcp", "--profile", "claude-code"]});
    assert_eq!(fixture.json(".claude.json")["mcpServers"]["skills"], server);
    let codex = fixture.read(".codex/config.toml");
    assert!(codex.starts_with("# Mine.\nmodel = \"x\" # why\n"), "{codex}");
    assert!(codex.contains("[mcp_servers.skills]\ncommand = \"skillsd\"\n"), "{codex}");
    assert!(fixture.json(".codex/hooks.json")["hooks"]["PreToolUse"].is_array());
    let gemini = fixture.read(".gemini/settings.json");
    assert!(gemini.starts_with("{\n  // Dark.\n  \"theme\": \"x\",\n"), "{gemini}");
    assert!(
        gemini.contains("skillsd hook gemini-cli") && gemini.contains("mcpServers"),
        "{gemini}"
    );
    let opencode = fixture.read(".config/opencode/opencode.jsonc");
    assert!(opencode.contains("/* mine */ \"model\": \"a/b\""), "{opencode}");
    let server = "[\"skillsd\", \"mcp\", \"--profile\", \"opencode\"]";
    assert!(opencode.contains(server), "{opencode}");
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/../editors/agents/opencode/skillsd.js");
    let plugin = fs::read_to_string(plugin).unwrap();
    assert_eq!(fixture.read(".config/opencode/plugins/skillsd.js"), plugin);

    // The previous version is kept next to the file.
    assert!(FILES.contains(&fixture.read(".claude.json.before-skillsd")));
}

#[test]
fn install_registers_the_mcp_server_in_the_form_of_each_agent() {
    let fixture = InstallFixture::new(
        "//- /home/.qwen/settings.json\n{\n  // Dark.\n  \"theme\": \"x\"\n}\n//- /home/.config/kilo/kilo.json\n{\"mcp\": {}}\n",
    );
    for dir in [".cline", ".copilot", ".factory", ".kimi-code", ".qoder"] {
        fs::create_dir(fixture.home.path().join(dir)).unwrap();
    }
    let before = fixture.all();
    let agents = [
        ("cline", ".cline/data/settings/cline_mcp_settings.json"),
        ("copilot-cli", ".copilot/mcp-config.json"),
        ("droid", ".factory/mcp.json"),
        ("kilo", ".config/kilo/kilo.json"),
        ("kimi-code", ".kimi-code/mcp.json"),
        ("qoder", ".qoder/settings.json"),
        ("qwen-code", ".qwen/settings.json"),
    ];
    fixture.run(&["install", "--yes", "--only", "mcp"], 0);
    for (agent, file) in agents {
        let text = fixture.read(file).replace("  // Dark.\n", "");
        let settings: Value = serde_json::from_str(&text).unwrap();
        let args = json!(["mcp", "--profile", agent]);
        let (servers, expected) = match agent {
            "cline" => {
                let transport = json!({"type": "stdio", "command": "skillsd", "args": args});
                ("mcpServers", json!({"transport": transport}))
            }
            "copilot-cli" => (
                "mcpServers",
                json!({"type": "local", "command": "skillsd", "args": args, "tools": ["*"]}),
            ),
            "droid" => ("mcpServers", json!({"type": "stdio", "command": "skillsd", "args": args})),
            "kilo" => {
                let command = json!(["skillsd", "mcp", "--profile", "kilo"]);
                ("mcp", json!({"type": "local", "command": command, "enabled": true}))
            }
            _ => ("mcpServers", json!({"command": "skillsd", "args": args})),
        };
        assert_eq!(settings[servers]["skills"], expected, "{agent}");
    }
    assert!(fixture.read(".qwen/settings.json").starts_with("{\n  // Dark.\n"));
    fixture.run(&["uninstall", "--yes"], 0);
    assert_eq!(fixture.all(), before);
}

#[test]
fn install_of_hooks_for_an_agent_without_them_is_a_usage_error() {
    let fixture = InstallFixture::new("//- /home/.kimi-code/mcp.json\n{}\n");
    for args in [
        &["install", "--agent", "kimi-code"][..],
        &["install", "--agent", "kimi-code", "--only", "hooks,mcp"],
    ] {
        let said = stderr(&fixture.run(args, 2));
        assert!(said.contains("skillsd has no hooks for `kimi-code`"), "{said}");
        assert!(said.contains("Pass `--only mcp` to register the MCP server."), "{said}");
    }
}

#[test]
fn install_registers_the_hooks_of_each_further_agent() {
    let fixture = InstallFixture::new(
        "//- /home/.qwen/settings.json\n{\n  // Dark.\n  \"theme\": \"x\"\n}\n//- /home/.config/kilo/kilo.json\n{\"mcp\": {}}\n",
    );
    for dir in [".cline", ".copilot", ".factory"] {
        fs::create_dir(fixture.home.path().join(dir)).unwrap();
    }
    let before = fixture.all();
    let shown = stdout(&fixture.run(&["install", "--dry-run", "--only", "hooks"], 0));
    assert!(shown.contains("~/.copilot/hooks/skillsd.json  copilot-cli hooks"), "{shown}");
    assert_eq!(fixture.all(), before);
    fixture.run(&["install", "--yes", "--only", "hooks"], 0);

    let published = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/agents").join(name);
        fs::read_to_string(path).unwrap()
    };
    let json = |name: &str| serde_json::from_str::<Value>(&published(name)).unwrap();
    assert_eq!(fixture.read(".cline/hooks/PostToolUse.bash"), published("cline/PostToolUse.bash"));
    assert_eq!(fixture.json(".copilot/hooks/skillsd.json"), json("copilot-cli/skillsd.json"));
    assert_eq!(fixture.json(".factory/settings.json"), json("droid/settings.json"));
    let qwen = fixture.read(".qwen/settings.json");
    assert!(qwen.starts_with("{\n  // Dark.\n  \"theme\": \"x\",\n"), "{qwen}");
    let qwen: Value = serde_json::from_str(&qwen.replace("// Dark.", "")).unwrap();
    assert_eq!(qwen["hooks"], json("qwen-code/settings.json")["hooks"]);
    let plugin = published("opencode/skillsd.js");
    let plugin = plugin.replace("[\"hook\", \"opencode\"]", "[\"hook\", \"kilo\"]");
    assert_eq!(fixture.read(".config/kilo/plugins/skillsd.js"), plugin);

    let installed = fixture.all();
    let again = stdout(&fixture.run(&["install", "--yes", "--only", "hooks"], 0));
    assert!(again.contains("nothing to change"), "{again}");
    assert_eq!(fixture.all(), installed);
    fixture.run(&["uninstall", "--yes"], 0);
    assert_eq!(fixture.all(), before);
}

#[test]
fn uninstall_keeps_the_version_of_a_hook_file_that_the_user_extended() {
    let fixture = InstallFixture::new("//- /home/.copilot/config.json\n{}\n");
    let file = ".copilot/hooks/skillsd.json";
    fixture.run(&["install", "--yes", "--agent", "copilot-cli"], 0);
    let mut hooks = fixture.json(file);
    let own = json!({"type": "command", "bash": "fmt"});
    hooks["hooks"]["PostToolUse"].as_array_mut().unwrap().push(own.clone());
    fs::write(fixture.home.path().join(file), hooks.to_string()).unwrap();
    fixture.run(&["uninstall", "--yes"], 0);
    assert_eq!(fixture.json(file), json!({"version": 1, "hooks": {"PostToolUse": [own]}}));
}

#[test]
fn hooks_of_droid_disable_no_hooks_of_the_user() {
    let hook = "{\"PostToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"fmt\"}]}]}";
    let in_settings = format!("{{\"hooks\": {hook}}}");
    // The user's file, its content, and where its events are.
    for (file, content, at) in [
        (".factory/settings.json", &*in_settings, "/hooks"),
        (".factory/hooks.json", hook, ""),
        (".factory/hooks/hooks.json", hook, ""),
    ] {
        let fixture = InstallFixture::new(&format!("//- /home/{file}\n{content}\n"));
        let before = fixture.all();
        for _ in 0..2 {
            fixture.run(&["install", "--yes", "--agent", "droid"], 0);
            let after = fixture.json(file);
            let events = after.pointer(at).unwrap();
            let commands = events["PostToolUse"].as_array().unwrap().iter();
            let commands: Vec<_> = commands.map(|it| &it["hooks"][0]["command"]).collect();
            assert_eq!(commands, ["fmt", "skillsd hook droid || true"], "{file}");
            assert!(events["SessionStart"].is_array(), "{file}");
        }
        let hooks = fixture.home.path().join(".factory/hooks.json");
        assert_eq!(hooks.exists(), file == ".factory/hooks.json");
        fixture.run(&["uninstall", "--yes"], 0);
        assert_eq!(fixture.all(), before, "{file}");
    }
}

#[test]
fn hooks_of_droid_join_the_file_whose_events_count() {
    // Other events in the settings, and the same one in `hooks.json`, which counts.
    let fixture = InstallFixture::new(
        "//- /home/.factory/settings.json\n{\"hooks\": {\"Stop\": []}}\n\
         //- /home/.factory/hooks.json\n{\"PostToolUse\": []}\n",
    );
    let before = fixture.all();
    fixture.run(&["install", "--yes", "--agent", "droid"], 0);
    let settings = fixture.json(".factory/settings.json");
    assert_eq!(settings["hooks"], serde_json::json!({"Stop": []}));
    let ours = &fixture.json(".factory/hooks.json")["PostToolUse"][0]["hooks"][0]["command"];
    assert_eq!(*ours, "skillsd hook droid || true");
    fixture.run(&["uninstall", "--yes"], 0);
    assert_eq!(fixture.all(), before);
}

#[test]
fn hooks_of_droid_stay_beside_events_that_the_user_adds_later() {
    let fixture = InstallFixture::new("//- /home/.factory/settings.json\n{\"model\": \"x\"}\n");
    let file = ".factory/settings.json";
    fixture.run(&["install", "--yes", "--agent", "droid"], 0);
    assert!(!fixture.home.path().join(".factory/hooks.json").exists());
    let mut settings = fixture.json(file);
    let own = json!({"hooks": [{"type": "command", "command": "fmt"}]});
    settings["hooks"]["PostToolUse"].as_array_mut().unwrap().push(own.clone());
    fs::write(fixture.home.path().join(file), settings.to_string()).unwrap();
    let again = stdout(&fixture.run(&["install", "--yes", "--agent", "droid"], 0));
    assert!(again.contains("nothing to change"), "{again}");
    assert_eq!(fixture.json(file), settings);
    fixture.run(&["uninstall", "--yes"], 0);
    let left = json!({"model": "x", "hooks": {"PostToolUse": [own]}});
    assert_eq!(fixture.json(file), left);
}

#[test]
fn uninstall_keeps_entries_changed_by_the_user() {
    let fixture = InstallFixture::new(FILES).with_manager(1);
    fixture.run(&["install", "--yes", "--only", "units,hooks,mcp"], 0);
    let edit = |path: &str, from: &str, to: &str| {
        let text = fixture.read(path);
        assert!(text.contains(from), "{text}");
        fs::write(fixture.home.path().join(path), text.replace(from, to)).unwrap();
    };
    edit(".config/systemd/user/skillsd.service", "RestartSec=1", "RestartSec=7");
    edit(".codex/config.toml", "command = \"skillsd\"", "command = \"mine\"");
    edit(".claude/settings.json", "\"opus\"", "\"haiku\"");
    edit(".claude/settings.json", "\"Edit\"", "\"Write\"");
    edit(".gemini/settings.json", "hook gemini-cli ||", "hook gemini-cli --profile codex ||");
    // A second install keeps the changes as well.
    let again = stdout(&fixture.run(&["install", "--yes", "--only", "units,hooks,mcp"], 0));
    assert!(again.contains("exist in another form and are kept"), "{again}");
    let shown = stdout(&fixture.run(&["uninstall", "--yes"], 0));
    assert!(shown.contains("The file changed after the installation and is kept."), "{shown}");

    assert!(fixture.read(".config/systemd/user/skillsd.service").contains("RestartSec=7"));
    assert!(!fixture.home.path().join(".config/systemd/user/skillsd.socket").exists());
    assert!(fixture.read(".codex/config.toml").contains("command = \"mine\""));
    let claude = fixture.json(".claude/settings.json");
    assert_eq!(claude["model"], "haiku");
    assert_eq!(claude["hooks"]["PostToolUse"].as_array().unwrap().len(), 1);
    assert_eq!(claude["hooks"].as_object().unwrap().len(), 1, "{claude}");
    let gemini = fixture.read(".gemini/settings.json");
    assert!(gemini.contains("--profile codex") && !gemini.contains("mcpServers"), "{gemini}");
}

#[test]
fn install_names_an_uneditable_file_and_continues() {
    let fixture = InstallFixture::new(
        "//- /home/.gemini/settings.json\n{\n  \"a\": ]\n}\n//- /home/.codex/config.toml\nx = = 1\n//- /home/.claude/settings.json\n{\"hooks\": 1}\n",
    );
    let before = fixture.all();
    let shown = stdout(&fixture.run(&["install", "--yes", "--only", "hooks,mcp"], 1));
    assert!(
        shown.contains("~/.gemini/settings.json  gemini-cli hooks · cannot be edited"),
        "{shown}"
    );
    assert!(shown.contains("The file cannot be edited at 2:8"), "{shown}");
    assert!(shown.contains("~/.codex/config.toml  codex MCP server · cannot be edited"), "{shown}");
    assert!(shown.contains("The file cannot be edited at 1:5"), "{shown}");
    assert!(shown.contains("`hooks` is not an object"), "{shown}");
    for (path, text) in before {
        assert_eq!(fixture.all().get(&path), Some(&text), "{}", path.display());
    }
    assert!(fixture.read(".codex/hooks.json").contains("skillsd hook codex"));
    assert!(fixture.read(".claude.json").contains("mcpServers"));
}

#[test]
fn install_only_changes_present_agents_and_selected_parts() {
    let fixture = InstallFixture::new("//- /home/.codex/AGENTS.md\nMine.\n").with_manager(0);
    let shown = stdout(&fixture.run(&["install", "--dry-run", "--only", "mcp"], 0));
    assert!(shown.contains("codex MCP server"), "{shown}");
    assert!(!shown.contains("hooks.json") && !shown.contains("systemd"), "{shown}");
    assert!(shown.contains("skipped: These agents are not installed: Claude Code,"), "{shown}");
    let shown = stdout(&fixture.run(&["install", "--dry-run", "--agent", "opencode"], 0));
    assert!(shown.contains("skipped: opencode is not installed: found neither"), "{shown}");
    fixture.run(&["install", "--yes", "--only", "mcp"], 0);
    fixture.run(&["install", "--yes", "--only", "hooks"], 0);
    fixture.run(&["uninstall", "--yes", "--only", "hooks"], 0);
    fixture.run(&["install", "--yes", "--only", "hooks"], 0);
    fixture.run(&["uninstall", "--yes", "--only", "hooks"], 0);
    assert!(fixture.read(".codex/config.toml").contains("mcp_servers.skills"));
    assert!(!fixture.home.path().join(".codex/hooks.json").exists());
    assert_eq!(fixture.asked(), "", "units were not asked for");
    fixture.run(&["install", "--only", "nothing"], 2);
}

#[test]
fn parts_of_one_file_are_installed_and_removed_in_any_order() {
    let fixture = InstallFixture::new("//- /home/.gemini/GEMINI.md\nMine.\n");
    let before = fixture.all();
    for (first, second) in [("hooks", "mcp"), ("mcp", "hooks")] {
        fixture.run(&["install", "--yes", "--only", "hooks"], 0);
        fixture.run(&["install", "--yes", "--only", "mcp"], 0);
        fixture.run(&["uninstall", "--yes", "--only", first], 0);
        let left = fixture.read(".gemini/settings.json");
        assert_eq!(
            (left.contains("hooks"), left.contains("mcp")),
            (second == "hooks", second == "mcp")
        );
        fixture.run(&["uninstall", "--yes", "--only", second], 0);
        assert_eq!(fixture.all(), before);
    }
}

#[test]
fn settings_that_the_agent_ignores_are_not_edited() {
    let fixture = InstallFixture::new("//- /home/.claude/settings.json\n{} // mine\n");
    let before = fixture.all();
    let shown = stdout(&fixture.run(&["install", "--yes", "--agent", "claude-code"], 1));
    assert!(shown.contains("cannot be edited at 1:4: Comments are not allowed"), "{shown}");
    assert_eq!(fixture.all(), before);
    // A comment that is added later does not keep the entries.
    let settings = fixture.home.path().join(".claude/settings.json");
    fs::write(&settings, "{}\n").unwrap();
    fixture.run(&["install", "--yes", "--agent", "claude-code"], 0);
    fs::write(&settings, fixture.read(".claude/settings.json") + "// mine\n").unwrap();
    fixture.run(&["uninstall", "--yes"], 0);
    assert!(!fixture.read(".claude/settings.json").contains("hook"));
}

#[test]
fn install_without_confirmation_changes_nothing() {
    let fixture = InstallFixture::new(FILES);
    let before = fixture.all();
    let output = fixture.run(&["install"], 2);
    assert!(stderr(&output).contains("skillsd install --yes"), "{}", stderr(&output));
    assert_eq!(fixture.all(), before);
    fixture.run(&["install", "--json"], 2);
    assert_eq!(fixture.all(), before);
}

#[test]
fn install_writes_the_full_path_of_a_program_off_path() {
    let fixture = InstallFixture::new("//- /home/.codex/AGENTS.md\nMine.\n");
    let odd = fixture.home.path().join("my programs/skillsd");
    fs::create_dir(odd.parent().unwrap()).unwrap();
    // A second file rather than a link, because the link's target would be reported.
    fs::hard_link(exe(), &odd).or_else(|_| fs::copy(exe(), &odd).map(drop)).unwrap();
    let run = |args: &[&str]| {
        let mut command = fixture.home.command(&odd);
        assert!(command.args(args).env("PATH", "/nowhere").status().unwrap().success());
    };
    run(&["install", "--yes", "--only", "hooks,mcp"]);
    let hooks = fixture.read(".codex/hooks.json");
    let line = format!("\"command\": \"'{}' hook codex || true\"", odd.display());
    assert!(hooks.contains(&line), "{hooks}");
    assert!(fixture.read(".codex/config.toml").contains(odd.to_str().unwrap()));
    // Installed from the `PATH`, the entries are rewritten once.
    fixture.run(&["install", "--yes", "--only", "hooks,mcp"], 0);
    let hooks = fixture.read(".codex/hooks.json");
    assert!(hooks.contains("\"command\": \"skillsd hook codex || true\""), "{hooks}");
    assert!(!hooks.contains("my programs"), "{hooks}");
    fixture.run(&["uninstall", "--yes"], 0);
    assert!(!fixture.home.path().join(".codex/hooks.json").exists());
}

#[test]
fn install_registers_the_launcher_of_npm_and_refuses_a_cache() {
    let fixture = InstallFixture::new("//- /home/.codex/AGENTS.md\nMine.\n").with_manager(1);
    fs::remove_file(fixture.bin.join("skillsd")).unwrap();
    // Lays out npm's packages below a directory, and returns the launcher.
    let npm = |dir: &str| {
        let modules = fixture.home.path().join(dir).join("node_modules");
        let program = modules.join("@skillsd/linux-x64/bin/skillsd");
        let launcher = modules.join("skillsd/bin/skillsd.js");
        for file in [&program, &launcher] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
        }
        fs::hard_link(exe(), &program).or_else(|_| fs::copy(exe(), &program).map(drop)).unwrap();
        fs::write(&launcher, format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display())).unwrap();
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        (launcher, program)
    };
    let on_path = fixture.bin.join("skillsd");
    let (launcher, _) = npm(".npm/_npx/1f");
    symlink(launcher, &on_path).unwrap();
    let before = fixture.all();
    for args in [&["install", "--yes"][..], &["install", "--dry-run"]] {
        let said = stderr(&fixture.run(args, 2));
        assert!(said.contains("is in a cache"), "{said}");
        assert!(said.contains("Install skillsd outside of a cache"), "{said}");
    }
    assert_eq!(fixture.all(), before);
    fixture.run(&["uninstall", "--yes"], 0);

    let (launcher, program) = npm("lib");
    fs::remove_file(&on_path).unwrap();
    symlink(launcher, &on_path).unwrap();
    fixture.run(&["install", "--yes"], 0);
    let hooks = fixture.read(".codex/hooks.json");
    assert!(hooks.contains("\"command\": \"skillsd hook codex || true\""), "{hooks}");
    let service = fixture.read(".config/systemd/user/skillsd.service");
    assert!(service.contains(&format!("ExecStart={} serve\n", program.display())), "{service}");

    // `npx` in a project puts the project's own launcher in PATH, and agents do not.
    let (launcher, program) = npm("project");
    let npx_bin = fixture.home.path().join("project/node_modules/.bin");
    fs::create_dir(&npx_bin).unwrap();
    symlink(launcher, npx_bin.join("skillsd")).unwrap();
    fs::remove_file(&on_path).unwrap();
    let path = env::join_paths([&npx_bin, &fixture.bin]).unwrap();
    let npx = |args: &[&str]| {
        let mut command = fixture.home.command(npx_bin.join("skillsd"));
        let output = command.args(args).env("PATH", &path).output().unwrap();
        (output.status.code(), stdout(&output))
    };
    assert_eq!(npx(&["install", "--yes"]).0, Some(0));
    let hooks = fixture.read(".codex/hooks.json");
    let line = format!("\"command\": \"{} hook codex || true\"", program.display());
    assert!(hooks.contains(&line), "{hooks}");
    let found = npx(&["doctor", "--json"]).1;
    assert!(!found.contains("path-shadowed"), "{found}");
}

#[test]
fn install_asks_on_a_terminal() {
    for (answer, is_written) in [("n\r", false), ("\r", false), ("y\r", true)] {
        let fixture = InstallFixture::new("//- /home/.codex/AGENTS.md\nMine.\n");
        let command = fixture.command(&["install", "--only", "hooks"]);
        let mut screen = Screen::start(&command, 60, 100);
        screen.wait_for("Change this file? [y]es, [N]o, [a]ll, [q]uit:");
        screen.type_in(answer);
        assert!(screen.wait().success());
        screen.wait_for(if is_written { "1 file changed" } else { "Nothing was changed." });
        assert_eq!(fixture.home.path().join(".codex/hooks.json").exists(), is_written);
    }
}

#[test]
fn install_registers_hooks_but_no_mcp_server_by_default() {
    let fixture = InstallFixture::new(FILES);
    fixture.run(&["install", "--yes"], 0);
    assert!(fixture.read(".codex/hooks.json").contains("skillsd hook codex"));
    assert!(!fixture.read(".codex/config.toml").contains("mcp_servers.skills"));
    assert!(fixture.json(".claude.json")["mcpServers"].get("skills").is_none());
    assert!(!fixture.read(".config/opencode/opencode.jsonc").contains("skillsd"));
    // An installed server is removed with everything else.
    fixture.run(&["install", "--yes", "--only", "mcp"], 0);
    let codex = fixture.read(".codex/config.toml");
    assert!(codex.contains("args = [\"mcp\", \"--profile\", \"codex\"]"), "{codex}");
    fixture.run(&["uninstall", "--yes"], 0);
    assert!(!fixture.read(".codex/config.toml").contains("skillsd"));
}

#[test]
fn install_changes_only_the_named_agents() {
    let fixture = InstallFixture::new(FILES).with_manager(0);
    fixture.run(&["install", "--yes", "--agent", "codex", "--agent", "gemini-cli"], 0);
    assert!(fixture.read(".codex/hooks.json").contains("skillsd hook codex"));
    assert!(fixture.read(".gemini/settings.json").contains("skillsd hook gemini-cli"));
    assert!(!fixture.read(".claude/settings.json").contains("skillsd"));
    assert_eq!(fixture.asked(), "", "units belong to no agent");
    fixture.run(&["uninstall", "--yes", "--agent", "codex"], 0);
    assert!(!fixture.home.path().join(".codex/hooks.json").exists());
    assert!(fixture.read(".gemini/settings.json").contains("skillsd hook gemini-cli"));
    fixture.run(&["install", "--agent", "cursor"], 2);
}

#[test]
fn each_file_is_confirmed_on_its_own() {
    let fixture = InstallFixture::new(FILES);
    let answer = |args: &[&str], keys: &[&str], end: &str| {
        let mut screen = Screen::start(&fixture.command(args), 200, 100);
        for key in keys {
            screen.wait_for("Change this file? [y]es, [N]o, [a]ll, [q]uit:");
            screen.type_in(key);
        }
        assert!(screen.wait().success());
        screen.wait_for(end);
    };
    let install = ["install", "--only", "hooks"];
    answer(&install, &["n\ry\rq\r"], "1 file changed");
    assert!(!fixture.read(".claude/settings.json").contains("skillsd"));
    assert!(fixture.read(".codex/hooks.json").contains("skillsd hook codex"));
    assert!(!fixture.read(".gemini/settings.json").contains("skillsd"));
    answer(&install, &["a\r"], "3 files changed");
    assert!(fixture.read(".gemini/settings.json").contains("skillsd hook gemini-cli"));
    // The second part of a file is planned without the first, which was declined.
    let both = ["install", "--only", "hooks,mcp", "--agent", "gemini-cli"];
    fixture.run(&["uninstall", "--yes"], 0);
    answer(&both, &["n\ry\r"], "1 file changed");
    let gemini = fixture.read(".gemini/settings.json");
    assert!(gemini.contains("mcpServers") && !gemini.contains("hook gemini-cli"), "{gemini}");
    answer(&["uninstall"], &["n\r"], "Nothing was changed.");
    assert_eq!(fixture.read(".gemini/settings.json"), gemini);
}

#[test]
fn install_of_units_for_an_agent_is_a_usage_error() {
    let fixture = InstallFixture::new(FILES);
    for command in ["install", "uninstall"] {
        let args = [command, "--agent", "codex", "--only", "units", "--yes"];
        let said = stderr(&fixture.run(&args, 2));
        assert!(said.contains("`--only units` conflicts with `--agent`"), "{said}");
    }
}
