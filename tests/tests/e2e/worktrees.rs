//! Worktrees created by git, and the directories around them.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;
use skills_testkit::fixture::write_skill;

use crate::support::Live;

/// Returns the skill names that a profile lists, in order.
fn names(live: &mut Live, cwd: &Path, profile: &str) -> Vec<String> {
    let list = live.wire.call("skills/list", &json!({"cwd": cwd, "profile": profile}));
    let skills = list["skills"].as_array().expect("a list").iter();
    skills.map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns what `explain` reports about the repository of a directory.
fn repository_reason(live: &mut Live, cwd: &Path) -> Option<String> {
    let answer = live.wire.call("skills/explain", &json!({"cwd": cwd, "profile": "claude-code"}));
    let steps = answer["steps"].as_array().expect("steps").iter();
    let is_meant = |it: &&Value| it["rule"].as_str().is_some_and(|it| it.starts_with("worktree/"));
    let found = steps.filter(is_meant).map(|it| it["reason"].as_str().expect("a reason"));
    found.map(|it| live.home.redact(it)).next()
}

/// Creates a repository with the skill `shared` in its only commit.
fn source_repository(home: &Home) -> PathBuf {
    let top = home.worktree("source", "");
    write_skill(&top.join(".claude/skills/shared"), "shared", "is in the repository");
    home.git(&top, &["add", "."]);
    home.git(&top, &["commit", "-q", "-m", "one"]);
    top
}

#[test]
fn worktrees_of_a_bare_repository_are_independent() {
    let home = Home::new();
    let source = source_repository(&home);
    let proj = home.work().join("proj");
    fs::create_dir(&proj).expect("a directory can be made");
    let from = source.to_str().expect("a plain path").to_owned();
    home.git(&proj, &["clone", "-q", "--bare", &from, ".bare"]);
    fs::write(proj.join(".git"), "gitdir: ./.bare\n").expect("a file can be written");
    home.git(&proj, &["worktree", "add", "-q", "feature"]);
    home.git(&proj, &["worktree", "add", "-q", "other"]);
    write_skill(&proj.join(".claude/skills/outer"), "outer", "beside the worktrees");
    write_skill(&proj.join("other/.claude/skills/mine"), "mine", "of another worktree");
    let mut live = Live::start_in(home);
    assert_eq!(names(&mut live, &proj.join("feature"), "claude-code"), ["shared"]);
    assert_eq!(names(&mut live, &proj.join("other"), "claude-code"), ["mine", "shared"]);
    let said = repository_reason(&mut live, &proj.join("feature")).expect("a reason");
    assert!(said.contains("linked to the bare repository `$WORK/proj/.bare`"), "{said}");
    let asked = json!({"cwd": proj.join("feature"), "profile": "codex", "path": proj.join("other/.claude/skills/mine")});
    let why = live.wire.call("skills/explain", &asked)["verdict"]["summary"].to_string();
    assert!(why.contains("belongs to the worktree"), "{why}");
}

#[test]
fn copied_git_file_gives_no_access_to_the_main_worktree() {
    let home = Home::new();
    let source = source_repository(&home);
    home.git(&source, &["worktree", "add", "-q", "../linked"]);
    let linked = home.work().join("linked");
    write_skill(&source.join(".claude/skills/later"), "later", "not committed");
    let copy = home.work().join("copy");
    fs::create_dir(&copy).expect("a directory can be made");
    fs::copy(linked.join(".git"), copy.join(".git")).expect("a file can be copied");
    fs::create_dir_all(home.config_dir().join("skillsd")).expect("a directory can be made");
    fs::write(
        home.config_dir().join("skillsd/config.toml"),
        "[profiles.through]\nbase = \"claude-code\"\nlinked_worktrees = \"with-main\"\n",
    )
    .expect("a file can be written");
    let mut live = Live::start_in(home);
    assert_eq!(names(&mut live, &linked, "claude-code"), ["shared"]);
    assert_eq!(names(&mut live, &linked, "through"), ["shared", "later"]);
    let said = repository_reason(&mut live, &linked).expect("a reason");
    assert!(said.contains("linked to `$WORK/source`"), "{said}");
    assert_eq!(names(&mut live, &copy, "through"), [""; 0]);
    let said = repository_reason(&mut live, &copy).expect("a reason");
    assert!(said.contains("does not name this worktree in return"), "{said}");
    // Mended while the daemon watches: the next answer knows.
    let mut file = fs::read_to_string(copy.join(".git")).expect("it is there");
    file = file.replace("gitdir: ", "gitdir: /nowhere");
    fs::write(linked.join(".git"), file).expect("a file can be written");
    assert_eq!(names(&mut live, &linked, "through"), ["shared"]);
}

#[test]
fn submodule_is_its_own_worktree() {
    let home = Home::new();
    let source = source_repository(&home);
    let top = home.worktree("super", "");
    write_skill(&top.join(".claude/skills/above"), "above", "of the one around it");
    let from = source.to_str().expect("a plain path").to_owned();
    home.git(&top, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", &from, "mod"]);
    let mut live = Live::start_in(home);
    assert_eq!(names(&mut live, &top, "claude-code"), ["above"]);
    assert_eq!(names(&mut live, &top.join("mod"), "claude-code"), ["shared"]);
    let opencode = names(&mut live, &top.join("mod"), "opencode");
    assert_eq!(opencode, ["shared"]);
    // Its repository refers back to it, so there is nothing to report.
    assert_eq!(repository_reason(&mut live, &top.join("mod")), None);
}

#[test]
fn directory_of_another_user_above_the_cwd_is_ignored() {
    let home = Home::new();
    let above = home.work().join("above");
    let cwd = above.join("mine");
    fs::create_dir_all(&cwd).expect("a directory can be made");
    home.git(&above, &["init", "-q", "--template="]);
    write_skill(&above.join(".claude/skills/theirs"), "theirs", "of a stranger");
    write_skill(&cwd.join(".claude/skills/mine"), "mine", "of the user");
    let is_root = fs::metadata(&above).is_ok_and(|it| it.uid() == 0);
    let mut live = Live::start_in(home);
    assert_eq!(names(&mut live, &cwd, "claude-code"), ["mine", "theirs"]);
    if !is_root {
        // Only root can change a directory's owner; the rule itself has a unit test.
        return;
    }
    chown(&above, Some(12_345), None).expect("root gives it away");
    let list = live.wire.call("skills/list", &json!({"cwd": cwd, "freshness": "verified"}));
    assert!(list["health"].to_string().contains("foreign-ancestor"), "{list}");
    assert_eq!(names(&mut live, &cwd, "claude-code"), ["mine"]);
}

#[test]
fn closed_worktree_frees_its_watches() {
    let home = Home::new();
    let tops = ["one", "two"].map(|name| {
        let top = home.worktree(name, "");
        for n in 0..20 {
            write_skill(&top.join(format!(".agents/skills/s{n}")), &format!("s{n}"), "d");
        }
        top
    });
    let mut live = Live::start_in(home);
    let watches = |live: &mut Live| {
        let status = live.wire.call("server/status", &json!({}));
        let open = status["worktrees"].as_array().expect("a list").len();
        (open, status["watches"]["used"].as_u64().expect("a number"))
    };
    for top in &tops {
        live.wire.call("worktree/open", &json!({"cwd": top}));
        live.wire
            .call("session/touch", &json!({"session": "s", "cwd": top, "paths": [top.join("a")]}));
    }
    let (open, used) = watches(&mut live);
    assert!(open == 2 && used > 40, "{open} {used}");
    live.wire.call("session/close", &json!({"session": "s"}));
    live.wire.call("worktree/close", &json!({"cwd": tops[0]}));
    let (open, half) = watches(&mut live);
    assert!(open == 1 && (20..used - 15).contains(&half), "{open} {half} of {used}");
    live.wire.call("worktree/close", &json!({"cwd": tops[1]}));
    assert_eq!(watches(&mut live), (0, 0));
}
