//! Diagnostics follow the disk and the configuration without notifications, whether the editor
//! watches no files or only others.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use skills_testkit::Home;

use super::client::Editor;
use crate::support::run;

const TREE: &str = "//- /.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked.\npaths: src/*.zz\n---\nSee [it](scripts/x.sh).\n\n```sh\n./scripts/x.sh\n```\n";

#[test]
fn diagnostics_follow_nearby_files_without_editor_watches() {
    let watching = json!({"didChangeWatchedFiles": {"dynamicRegistration": true}});
    for (args, able) in [
        (&[][..], json!({"configuration": true})),
        (&["--no-daemon"], json!({"configuration": true})),
        (&[], watching.clone()),
        (&["--no-daemon"], watching),
    ] {
        let home = Home::new();
        let top = home.worktree("w", TREE);
        let dir = top.join(".claude/skills/pdf");
        let skill = dir.join("SKILL.md");
        let mut editor = Editor::start(&home, args, &[&top], json!({"workspace": able}));
        editor.open(&skill);
        editor.wait_for(&skill, &["body/broken"], &["body/broken-link"]);
        editor.wait_for(&skill, &["paths/nothing"], &["paths/nothing"]);
        fs::create_dir(top.join("src")).expect("it can be made");
        fs::write(top.join("src/b.zz"), "").expect("it can be written");
        editor.wait_for(&skill, &["paths/nothing"], &[]);
        fs::create_dir(dir.join("scripts")).expect("it can be made");
        let script = dir.join("scripts/x.sh");
        fs::write(&script, "#!/bin/sh\n").expect("it can be written");
        editor.wait_for(&skill, &["body/broken"], &[]);
        editor.wait_for(&skill, &["body/not"], &["body/not-executable"]);
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
        editor.wait_for(&skill, &["body/not"], &[]);
        fs::remove_file(&script).expect("it is there");
        editor.wait_for(&skill, &["body/broken"], &["body/broken-link"]);
        // Directories created below a glob's base are watched too.
        let text = fs::read_to_string(&skill).expect("it is there");
        editor.edit(&skill, &text.replace("src/*.zz", "lib/**/*.zz"));
        editor.wait_for(&skill, &["paths/nothing"], &["paths/nothing"]);
        fs::create_dir_all(top.join("lib/a/b")).expect("it can be made");
        fs::write(top.join("lib/a/b/c.zz"), "").expect("it can be written");
        editor.wait_for(&skill, &["paths/nothing"], &[]);
        fs::remove_file(top.join("lib/a/b/c.zz")).expect("it is there");
        editor.wait_for(&skill, &["paths/nothing"], &["paths/nothing"]);
        run(&home, &top, &["stop"]);
    }
}

#[test]
fn configuration_is_followed_without_editor_notifications() {
    for args in [&[][..], &["--no-daemon"]] {
        let home = Home::new();
        let top = home.worktree("w", TREE);
        let skill = top.join(".claude/skills/pdf/SKILL.md");
        let user = home.config_dir().join("skillsd");
        let mut editor = Editor::start(&home, args, &[&top], json!({}));
        editor.open(&skill);
        let broken = &["body/broken-link"];
        editor.wait_for(&skill, &["body/broken"], broken);
        fs::create_dir_all(&user).expect("it can be made");
        for file in [top.join(".skillsd.toml"), user.join("config.toml")] {
            fs::write(&file, "[check.rules]\n\"body/*\" = \"off\"\n").expect("it can be written");
            editor.wait_for(&skill, &["body/broken"], &[]);
            fs::remove_file(&file).expect("it is there");
            editor.wait_for(&skill, &["body/broken"], broken);
        }
        run(&home, &top, &["stop"]);
    }
}
