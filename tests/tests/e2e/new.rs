//! `skillsd new`: the directory that gets the skill.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use skills_protocol::own_directory::ProjectLevels;
use skills_protocol::{PROFILES, own_directory};
use skills_testkit::Home;

use crate::support::{run, run_at_terminal, run_json, skillsd, stderr};

#[track_caller]
fn make(home: &Home, cwd: &Path, args: &[&str]) {
    let output = run(home, cwd, &[&["new"], args].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?} {}", stderr(&output));
}

#[test]
fn new_skill_is_where_the_agent_looks() {
    let home = Home::new();
    home.lay_out("//- /home/.gemini/settings.json\n{\"security\": {\"folderTrust\": {\"enabled\": false}}}\n");
    for profile in PROFILES.iter().filter(|it| !it.contains('@')) {
        let own = own_directory(profile).unwrap();
        let top = home.worktree(profile, "//- /README.md\n");
        let deep = top.join("src/deep");
        fs::create_dir_all(&deep).unwrap();
        for (name, cwd) in [("deep", &deep), ("top", &top)] {
            let name = format!("{name}-{profile}");
            make(&home, cwd, &[&name, "--profile", profile]);
            let file = format!("{}/{name}/SKILL.md", own.project);
            let is_in_project = cwd.join(&file).is_file() || top.join(&file).is_file();
            assert_eq!(is_in_project, own.levels != ProjectLevels::None, "{profile}");
            let list = run_json(&home, cwd, &["list", "--profile", profile]);
            let names = list["skills"].as_array().unwrap();
            assert!(names.iter().any(|it| it["name"] == *name), "{profile}: {list}");
        }
    }
    assert!(home.path().join(".openclaw/skills/top-openclaw/SKILL.md").is_file());
    let made = run_json(&home, &home.path().join(".openclaw"), &["new", "more", "--dir", "."]);
    let file = home.path().join(".openclaw/more/SKILL.md");
    assert_eq!((&made["name"], &made["file"]), (&json!("more"), &json!(file)));
    // The agent that runs the command.
    let home = Home::new();
    let top = home.worktree("w", "//- /README.md\n");
    let mut command = skillsd(&home, &["new", "a-skill"]);
    command.current_dir(&top).env("CLAUDECODE", "1").output().unwrap();
    assert!(top.join(".claude/skills/a-skill/SKILL.md").is_file());
}

#[test]
fn new_skill_goes_to_the_directory_in_use() {
    let skill = "---\nname: a\ndescription: Does it.\n---\nx\n";
    let files = format!("//- /.opencode/skills/a/SKILL.md\n{skill}//- /.agents/skills/.keep\n");
    let home = Home::new();
    let top = home.worktree("w", &files);
    let sub = top.join("src/deep");
    fs::create_dir_all(&sub).unwrap();
    make(&home, &sub, &["b", "--profile", "agentskills"]);
    assert!(top.join(".opencode/skills/b/SKILL.md").is_file());
    // Claude Code does not look there.
    make(&home, &sub, &["b", "--profile", "claude-code"]);
    assert!(sub.join(".claude/skills/b/SKILL.md").is_file());
    make(&home, &sub, &["c", "--profile", "claude-code", "--dir", "../x"]);
    assert!(top.join("src/x/c/SKILL.md").is_file());
}

#[test]
fn new_asks_on_a_terminal_if_several_directories_fit() {
    let skill = "---\nname: a\ndescription: Does it.\n---\nx\n";
    let files =
        format!("//- /.agents/skills/a/SKILL.md\n{skill}//- /.claude/skills/a/SKILL.md\n{skill}");
    let home = Home::new();
    let top = home.worktree("w", &files);
    make(&home, &top, &["b", "--profile", "agentskills"]);
    assert!(top.join(".agents/skills/b/SKILL.md").is_file());
    let (code, shown) =
        run_at_terminal(&home, &top, &["new", "c", "--profile", "agentskills"], "2");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Several directories fit"), "{shown}");
    assert!(top.join(".claude/skills/c/SKILL.md").is_file());
    let (code, shown) =
        run_at_terminal(&home, &top, &["new", "d", "--profile", "agentskills"], "9");
    assert_eq!(code, Some(2), "{shown}");
}

#[test]
fn new_writes_through_no_link_out_of_the_worktree() {
    let home = Home::new();
    let top = home.worktree("w", "//- /README.md\n");
    let out = home.path().join("out");
    fs::create_dir(&out).unwrap();
    symlink(&out, top.join(".agents")).unwrap();
    let output = run(&home, &top, &["new", "a"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn new_skill_does_not_leave_the_worktree_through_a_link() {
    let home = Home::new();
    let top = home.worktree("w", "//- /README.md\n");
    let outside = home.path().join(".claude/skills");
    fs::create_dir_all(&outside).unwrap();
    symlink(&outside, top.join("skills")).unwrap();
    let output = run(&home, &top, &["new", "a-skill", "--dir", "skills"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("outside"), "{}", stderr(&output));
    assert!(!outside.join("a-skill").exists());
    // An absolute path outside of the worktree is allowed.
    make(&home, &top, &["a-skill", "--dir", outside.to_str().unwrap()]);
    assert!(outside.join("a-skill/SKILL.md").is_file());
}
