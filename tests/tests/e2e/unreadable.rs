//! Unreadable directories: health reports roots, which are read once access is allowed; `check`
//! reports both roots and skills.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use skills_testkit::fixture::write_skill;
use skills_testkit::{Daemon, Home};

use crate::support::{entries, exe, stderr, stdout};

/// A user bound by file modes; root reads everything.
const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

/// Returns the paths that health reports as unreadable.
fn unreadable_paths(answer: &Value) -> Vec<&str> {
    let health = answer["health"].as_array().expect("a list").iter();
    let found = health.filter(|it| it["code"] == "unreadable");
    found.map(|it| it["path"].as_str().expect("a path")).collect()
}

fn descriptions(answer: &Value) -> Vec<String> {
    let all = entries(answer);
    let texts = all.iter().map(|it| it["description"].as_str().expect("a text").to_owned());
    texts.collect()
}

#[test]
fn unreadable_root_is_reported_in_health() {
    let is_root = rustix::process::geteuid().is_root();
    let home = if is_root { Home::owned_by(NOBODY) } else { Home::new() };
    let program = home.work().join("skillsd");
    fs::copy(exe(), &program).expect("our program can be copied");
    let top = home.worktree("w", "");
    let root = top.join(".claude/skills");
    write_skill(&root.join("a"), "a", "One.");
    let shown = root.to_str().expect("UTF-8");
    set_mode(&root, 0o000);
    let _daemon = Daemon::start(&home, &program);
    // The daemon serves only its own user, so list with a command.
    let list = || -> Value {
        let args = ["list", "--profile", "claude-code", "--json"];
        let output = home.command(&program).args(args).current_dir(&top).output();
        let output = output.expect("our program can be run");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    for _ in 0..3 {
        let shut = list();
        assert_eq!(
            (descriptions(&shut).len(), unreadable_paths(&shut)),
            (0, vec![shown]),
            "{shut}"
        );
        set_mode(&root, 0o755);
        let open = list();
        assert_eq!(
            (descriptions(&open), unreadable_paths(&open)),
            (vec!["One.".to_owned()], vec![])
        );
        set_mode(&root, 0o000);
    }
    // Lets the test's user remove the tree.
    set_mode(&root, 0o755);
}

#[test]
fn unreadable_skill_directory_is_a_finding() {
    let is_root = rustix::process::geteuid().is_root();
    let home = if is_root { Home::owned_by(NOBODY) } else { Home::new() };
    let program = home.work().join("skillsd");
    fs::copy(exe(), &program).expect("our program can be copied");
    let top = home.worktree("w", "");
    let skill = top.join(".claude/skills/shut");
    write_skill(&skill, "shut", "Use it when asked.");
    let other = top.join("private");
    fs::create_dir(&other).expect("it can be made");
    set_mode(&other, 0o000);
    let check = || {
        let output = home.command(&program).args(["check"]).current_dir(&top).output();
        let output = output.expect("our program can be run");
        (output.status.code(), stdout(&output))
    };
    let (code, text) = check();
    assert_eq!(code, Some(0), "what holds no skills may be shut: {text}");
    let shut = ".claude/skills/shut:1:1: error[index/unreadable] shut is a directory that cannot be read: permission denied";
    let explain = || {
        let args = ["explain", "shut", "--profile", "claude-code"];
        let output = home.command(&program).args(args).current_dir(&top).output();
        stdout(&output.expect("our program can be run"))
    };
    for mode in [0o000, 0o600] {
        set_mode(&skill, mode);
        let (code, text) = check();
        let told = explain();
        assert!(
            mode != 0 || told.contains("Next: Run `chmod u+rx .claude/skills/shut`."),
            "{told}"
        );
        set_mode(&skill, 0o755);
        assert_eq!(code, Some(1), "{mode:o}: {text}");
        assert_eq!(text.lines().nth(2), Some(shut), "{mode:o}");
        assert_eq!(text.matches("index/unreadable").count(), 1, "{mode:o}: {text}");
    }
    // The file is readable by its known name, without listing the directory.
    set_mode(&skill, 0o311);
    let (code, text) = check();
    assert_eq!(code, Some(0), "{text}");
    set_mode(&skill, 0o755);
    let root = top.join(".claude/skills");
    set_mode(&root, 0o000);
    let (code, text) = check();
    set_mode(&root, 0o755);
    set_mode(&other, 0o755);
    assert_eq!(code, Some(1), "{text}");
    let shut = "\n\n.claude/skills:1:1: error[index/unreadable] skills is a";
    assert!(text.contains(shut), "{text}");
}
