//! Entries of other programs and of the user beside ours.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use super::InstallFixture;
use crate::support::{exe, stdout};

const CLAUDE: &str = ".claude/settings.json";

#[test]
fn hook_of_another_program_with_our_words_is_not_ours() {
    let theirs = json!({"matcher": "*", "hooks": [{"type": "command", "command": "~/bin/webhook claude-code"}]});
    let settings = json!({"hooks": {"PostToolUse": [theirs]}});
    let fixture = InstallFixture::new(&format!("//- /home/{CLAUDE}\n{settings}\n"));
    let shown = stdout(&fixture.run(&["doctor"], 0));
    assert!(shown.contains("not registered: Claude Code hooks"), "{shown}");
    let shown = stdout(&fixture.run(&["install", "--yes", "--agent", "claude-code"], 0));
    assert!(!shown.contains("in another form"), "{shown}");
    let installed = fixture.json(CLAUDE)["hooks"]["PostToolUse"].clone();
    assert_eq!(installed.as_array().unwrap().len(), 2, "{installed}");
    fixture.run(&["uninstall", "--yes"], 0);
    assert_eq!(fixture.json(CLAUDE), settings);
}

#[test]
fn plugin_file_of_another_program_is_not_ours() {
    const FILE: &str = ".config/opencode/plugins/skillsd.js";
    let fixture = InstallFixture::new(&format!("//- /home/{FILE}\n// mine\n"));
    let shown = stdout(&fixture.run(&["doctor"], 0));
    assert!(shown.contains("not registered: opencode hooks"), "{shown}");
    let shown = stdout(&fixture.run(&["uninstall", "--yes"], 0));
    assert!(!shown.contains("still starts skillsd"), "{shown}");
    assert_eq!(fixture.read(FILE), "// mine\n");
}

#[test]
fn server_of_another_program_under_our_name_is_named_and_not_ours() {
    let text =
        "[mcp_servers.skills]\ncommand = \"npx\"\nargs = [\"-y\", \"someones-skills-mcp\"]\n";
    let fixture = InstallFixture::new(&format!("//- /home/.codex/config.toml\n{text}"));
    let before = fixture.all();
    let args = ["install", "--yes", "--agent", "codex", "--only", "mcp"];
    let shown = stdout(&fixture.run(&args, 0));
    assert!(shown.contains("The name `skills` is taken by `npx …`"), "{shown}");
    assert_eq!(fixture.all(), before);
    let result: Value =
        serde_json::from_slice(&fixture.run(&["doctor", "--json"], 0).stdout).unwrap();
    let registrations = result["registrations"].as_array().unwrap();
    let codex = registrations.iter().find(|it| it["profile"] == "codex" && it["part"] == "mcp");
    assert_eq!(codex.unwrap()["state"], "absent", "{result:#}");
    assert!(!result.to_string().contains("registration-"), "{result:#}");
}

#[test]
fn uninstall_removes_our_hook_from_a_group_that_the_user_extended() {
    let fixture = InstallFixture::new(&format!("//- /home/{CLAUDE}\n{{}}\n"));
    fixture.run(&["install", "--yes", "--agent", "claude-code"], 0);
    let mut settings = fixture.json(CLAUDE);
    let group = &mut settings["hooks"]["PostToolUse"][0];
    let own = json!({"type": "command", "command": "fmt"});
    group["hooks"].as_array_mut().unwrap().push(own.clone());
    let matcher = group["matcher"].clone();
    fs::write(fixture.home.path().join(CLAUDE), settings.to_string()).unwrap();
    let shown = stdout(&fixture.run(&["uninstall", "--yes"], 0));
    assert!(!shown.contains("are kept"), "{shown}");
    let left = json!({"matcher": matcher, "hooks": [own]});
    assert_eq!(fixture.json(CLAUDE), json!({"hooks": {"PostToolUse": [left]}}));
    assert!(!fixture.home.state_dir().join("skillsd/installed.json").exists());
}

#[test]
fn link_to_a_missing_file_is_reported_and_kept() {
    let fixture = InstallFixture::new("//- /home/.claude/CLAUDE.md\nMine.\n");
    let link = fixture.home.path().join(CLAUDE);
    symlink("../dots/claude.json", &link).unwrap();
    let shown = stdout(&fixture.run(&["install", "--yes", "--agent", "claude-code"], 1));
    assert!(shown.contains("it is a link to a file that does not exist"), "{shown}");
    assert!(link.is_symlink());
    assert!(!fixture.home.path().join("dots").exists());
}

#[test]
fn start_script_of_pnpm_counts_as_this_program() {
    let fixture = InstallFixture::new("//- /home/.codex/AGENTS.md\nMine.\n");
    let global = fixture.home.path().join("pnpm/global/5");
    let launcher = global.join(".pnpm/skillsd@0.1.0/node_modules/skillsd/bin/skillsd.js");
    let program =
        global.join(".pnpm/@skillsd+linux-x64@0.1.0/node_modules/@skillsd/linux-x64/bin/skillsd");
    for file in [&launcher, &program, &global.join("node_modules/x")] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    fs::hard_link(exe(), &program).or_else(|_| fs::copy(exe(), &program).map(drop)).unwrap();
    symlink("../.pnpm/skillsd@0.1.0/node_modules/skillsd", global.join("node_modules/skillsd"))
        .unwrap();
    let (shown, started) = (launcher.display(), program.display());
    fs::write(&launcher, format!("SKILLSD_LAUNCHER='{shown}' exec '{started}' \"$@\"\n")).unwrap();
    let script = fixture.bin.join("skillsd");
    fs::remove_file(&script).unwrap();
    let text = format!(
        "#!/bin/sh\nbasedir='{}'\nexec /bin/sh \"$basedir/../pnpm/global/5/node_modules/skillsd/bin/skillsd.js\" \"$@\"\n",
        fixture.bin.display()
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fixture.run(&["install", "--yes", "--only", "hooks"], 0);
    let hooks = fixture.read(".codex/hooks.json");
    assert!(hooks.contains("\"command\": \"skillsd hook codex || true\""), "{hooks}");
    let found = stdout(&fixture.run(&["doctor", "--json"], 0));
    assert!(!found.contains("path-shadowed"), "{found}");
}

#[test]
fn entry_that_the_user_changed_stays_recorded_until_it_is_removed() {
    let fixture = InstallFixture::new(&format!("//- /home/{CLAUDE}\n{{}}\n"));
    fixture.run(&["install", "--yes", "--agent", "claude-code"], 0);
    let record = fixture.home.state_dir().join("skillsd/installed.json");
    let text = fixture.read(CLAUDE);
    let changed = text.replacen("hook claude-code", "hook claude-code --profile codex", 1);
    fs::write(fixture.home.path().join(CLAUDE), &changed).unwrap();
    for _ in 0..2 {
        let shown = stdout(&fixture.run(&["uninstall", "--yes"], 0));
        assert!(shown.contains("entries of skillsd changed after the installation"), "{shown}");
        assert!(record.exists());
    }
    let changed = fixture.read(CLAUDE).replace(" --profile codex", "");
    fs::write(fixture.home.path().join(CLAUDE), changed).unwrap();
    fixture.run(&["uninstall", "--yes"], 0);
    assert_eq!(fixture.json(CLAUDE), json!({}));
    assert!(!record.exists());
}
