//! Attacks with expensive repositories: deep nesting, mazes of links, links to the system, very
//! many files.
//!
//! In each case an ordinary worktree of the same daemon is listed while the hostile one is read,
//! and answers in full.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, mkdirat, open, openat};
use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Framing, Home};

use crate::support::{Live, entries, run, stdout};

/// A generous limit on one list in a build without optimisation; the benchmark `budgets` has the
/// bar of 50 ms.
const DELAY: Duration = Duration::from_secs(3);

/// Ten times the bar on the first list of a worktree while a hostile one is read.
const FIRST: Duration = Duration::from_secs(20);

/// The time that the hostile worktree itself may take on a slow machine.
const TIMEOUT: Duration = Duration::from_mins(3);

/// Directories that Claude Code and opencode read at any depth.
const COMMANDS: &str = ".claude/commands";
const SKILLS: &str = ".opencode/skills";

/// A daemon with two ordinary worktrees and a hostile one.
struct BudgetAttack {
    live: Live,
    hostile: PathBuf,
    ordinary: PathBuf,
}

impl BudgetAttack {
    #[track_caller]
    fn new(attack: impl FnOnce(&Path)) -> BudgetAttack {
        let home = Home::new();
        let skills =
            "//- /.claude/skills/tidy/SKILL.md\n---\nname: tidy\ndescription: Tidies.\n---\n";
        let ordinary = home.worktree("ordinary", skills);
        home.worktree("other", skills);
        let hostile = home.worktree("hostile", "");
        write_skill(&hostile.join(".claude/skills/own"), "own", "The repository's own skill.");
        write_skill(&hostile.join(SKILLS).join("zz-own"), "zz-own", "The repository's own skill.");
        fs::create_dir_all(hostile.join(COMMANDS)).expect("made");
        fs::write(hostile.join(COMMANDS).join("zz-plain.md"), "Do it.\n").expect("written");
        write_skill(&home.path().join(".claude/skills/mine"), "mine", "The user's own skill.");
        write_skill(&home.path().join(".config/opencode/skills/mine"), "mine", "The user's own.");
        attack(&hostile);
        let mut live = Live::start_in(home);
        assert_eq!(live.check(&ordinary, "claude-code"), 2);
        BudgetAttack { live, hostile, ordinary }
    }

    /// Lists the hostile worktree with this profile, while others list theirs.
    #[track_caller]
    fn list(&mut self, profile: &str) -> Value {
        let mut wire = self.live.daemon.connect(Framing::Lines);
        wire.set_timeout(TIMEOUT);
        let params = json!({"cwd": self.hostile, "profile": profile});
        let scan = thread::spawn(move || wire.call("skills/list", &params));
        thread::sleep(Duration::from_millis(5));
        let mut wire = self.live.daemon.connect(Framing::Lines);
        let other = json!({"cwd": self.live.home.work().join("other"), "profile": profile});
        let asked = Instant::now();
        wire.call("skills/list", &other);
        assert!(asked.elapsed() < FIRST, "the first list took {:?}", asked.elapsed());
        let ordinary = json!({"cwd": self.ordinary, "profile": "claude-code"});
        let expected = vec!["mine".to_owned(), "tidy".to_owned()];
        loop {
            let is_last = scan.is_finished();
            // A change forces the call through the event loop.
            fs::write(self.ordinary.join(".claude/skills/tidy/notes.txt"), "n").expect("written");
            let asked = Instant::now();
            let list = self.live.wire.call("skills/list", &ordinary);
            assert!(asked.elapsed() < DELAY, "a list took {:?}", asked.elapsed());
            assert_eq!((names(&list), &list["health"]), (expected.clone(), &json!([])));
            if is_last {
                return scan.join().expect("it is answered");
            }
        }
    }

    /// Returns a list of the hostile worktree from a new daemon.
    #[track_caller]
    fn list_in_new_daemon(&self, profile: &str) -> Value {
        let output = run(
            &self.live.home,
            &self.hostile,
            &["list", "--no-daemon", "--profile", profile, "--json"],
        );
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stdout(&output)))
    }
}

impl Drop for BudgetAttack {
    fn drop(&mut self) {
        // `TempDir` keeps a descriptor open for each level while removing.
        let _ = Command::new("rm").arg("-rf").arg(&self.hostile).status();
    }
}

fn names(list: &Value) -> Vec<String> {
    let text = |it: &Value| it["name"].as_str().expect("a name").to_owned();
    let mut names: Vec<_> = entries(list).iter().map(text).collect();
    names.retain(|it| it != "customize-opencode");
    names.sort();
    names
}

/// Asserts that the list names no exceeded budget; two of the user's skills have one name.
#[track_caller]
fn assert_no_budget_exceeded(list: &Value) {
    let health = list["health"].as_array().expect("a list");
    assert!(health.iter().all(|it| it["code"] == "duplicate"), "{health:?}");
}

/// Asserts that the exhausted budget is reported with its root and directory.
#[track_caller]
fn assert_incomplete(list: &Value, root: &str, budget: &str) -> PathBuf {
    let health = list["health"].as_array().expect("a list");
    let told = health.iter().find(|it| it["code"] == "incomplete");
    let told = told.unwrap_or_else(|| panic!("nothing is told: {health:?}"));
    let message = told["message"].as_str().expect("a text");
    assert!(message.contains(root) && message.contains(budget), "{message}");
    told["path"].as_str().expect("a path").into()
}

/// Creates nested directories, deeper than the maximum path length.
fn create_nested_directories(root: &Path, levels: usize) {
    fs::create_dir_all(root).expect("made");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir: OwnedFd = open(root, flags, Mode::empty()).expect("opened");
    for _ in 0..levels {
        mkdirat(&dir, "d", Mode::RWXU).expect("made");
        dir = openat(&dir, "d", flags, Mode::empty()).expect("opened");
    }
}

#[test]
fn commands_nested_2000_deep_do_not_hide_others() {
    let mut attack_setup =
        BudgetAttack::new(|top| create_nested_directories(&top.join(COMMANDS), 2_000));
    let list = attack_setup.list("claude-code");
    assert_eq!(names(&list), ["mine", "own", "zz-plain"]);
    let dir = assert_incomplete(&list, COMMANDS, "64 levels");
    assert_eq!(
        dir.strip_prefix(attack_setup.hostile.join(COMMANDS)).expect("below").iter().count(),
        65
    );
}

#[test]
fn skills_nested_5000_deep_do_not_hide_others() {
    let mut attack_setup =
        BudgetAttack::new(|top| create_nested_directories(&top.join(SKILLS), 5_000));
    let list = attack_setup.list("opencode");
    assert!(names(&list).contains(&"zz-own".to_owned()), "{list}");
    assert!(names(&list).contains(&"mine".to_owned()), "{list}");
    assert_incomplete(&list, SKILLS, "64 levels");
}

#[test]
fn aliases_of_themselves_do_not_end_the_daemon() {
    let mut attack = BudgetAttack::new(|hostile| {
        for (name, value) in [("list", "&a [x, *a, *a]"), ("map", "&a {x: *a, y: *a}")] {
            let text = format!("---\nname: {name}\ndescription: {value}\n---\nBody.\n");
            for dir in [".claude/skills", ".agents/skills", SKILLS] {
                let dir = hostile.join(dir).join(name);
                fs::create_dir_all(&dir).expect("made");
                fs::write(dir.join("SKILL.md"), &text).expect("written");
            }
        }
    });
    // OpenClaw reads a description that is a list or a map as JSON.
    for agent in skills_protocol::PROFILES {
        attack.list(agent);
        let cwd = attack.hostile.clone();
        let params = json!({"cwd": cwd, "profile": agent, "name": "list"});
        let explained = attack.live.wire.call("skills/explain", &params);
        assert!(explained["verdict"].is_object(), "{agent}: {explained}");
    }
    let ordinary = attack.ordinary.clone();
    assert_eq!(attack.live.check(&ordinary, "claude-code"), 2);
}

#[test]
fn maze_of_links_is_walked_once_and_listed() {
    const ROOMS: usize = 300;
    let mut attack_setup = BudgetAttack::new(|top| {
        for root in [COMMANDS, SKILLS] {
            for room in 0..ROOMS {
                let dir = top.join(root).join(format!("r{room:03}"));
                fs::create_dir_all(&dir).expect("made");
                for door in [1, 7, 13] {
                    let next = format!("../r{:03}", (room + door) % ROOMS);
                    symlink(next, dir.join(format!("door{door}"))).expect("linked");
                }
            }
        }
        write_skill(&top.join(SKILLS).join("r299/end"), "end", "At the end of the maze.");
    });
    assert_eq!(names(&attack_setup.list("claude-code")), ["mine", "own", "zz-plain"]);
    let list = attack_setup.list("opencode");
    assert!(names(&list).contains(&"end".to_owned()), "{list}");
    assert!(names(&list).contains(&"zz-own".to_owned()), "{list}");
}

#[test]
fn links_to_the_system_are_not_followed_and_explain_says_why() {
    let mut attack_setup = BudgetAttack::new(|top| {
        for (name, target) in [("all", "/"), ("proc", "/proc"), ("sys", "/sys"), ("dev", "/dev")] {
            symlink(target, top.join(COMMANDS).join(name)).expect("linked");
            symlink(target, top.join(SKILLS).join(name)).expect("linked");
        }
    });
    assert_eq!(names(&attack_setup.list("claude-code")), ["mine", "own", "zz-plain"]);
    attack_setup.list("opencode");
    let status = attack_setup.live.wire.call("server/status", &json!({}));
    let watches = status["watches"]["used"].as_u64().expect("a number");
    assert!(watches < 200, "{watches} directories are watched");
    let all = attack_setup.hostile.join(SKILLS).join("all");
    let query = json!({"cwd": attack_setup.hostile, "profile": "opencode", "path": all});
    let explained = attack_setup.live.wire.call("skills/explain", &query).to_string();
    assert!(explained.contains("the root of the file system"), "{explained}");
}

#[test]
fn link_through_proc_to_root_is_not_followed() {
    let mut attack_setup = BudgetAttack::new(|top| {
        symlink("/proc/self/root", top.join(SKILLS).join("all")).expect("linked");
        symlink("/proc/self/cwd", top.join(SKILLS).join("here")).expect("linked");
    });
    let list = attack_setup.list("opencode");
    assert_no_budget_exceeded(&list);
    assert_eq!(names(&list), ["mine", "own", "zz-own"]);
}

#[test]
fn links_to_home_and_above_the_worktree_are_not_followed() {
    let mut attack_setup = BudgetAttack::new(|_| ());
    let home = attack_setup.live.home.path().to_owned();
    write_skill(&home.join("private/notes"), "notes", "The user's private notes.");
    symlink(&home, attack_setup.hostile.join(SKILLS).join("home")).expect("linked");
    symlink("../../..", attack_setup.hostile.join(SKILLS).join("above")).expect("linked");
    let list = attack_setup.list("opencode");
    assert_eq!(names(&list), ["mine", "own", "zz-own"]);
}

#[test]
fn search_root_linked_to_home_is_refused_with_a_reason() {
    let mut attack_setup = BudgetAttack::new(|_| ());
    let home = attack_setup.live.home.path().to_owned();
    write_skill(&home.join("private/notes"), "notes", "The user's private notes.");
    for (target, what) in [
        (home.as_path(), "the home directory"),
        (Path::new("/proc"), "`/proc`"),
        (Path::new("/"), "the root of the file system"),
    ] {
        let root = attack_setup.hostile.join(SKILLS);
        fs::remove_dir_all(&root).or_else(|_| fs::remove_file(&root)).expect("removed");
        symlink(target, &root).expect("linked");
        let list = attack_setup.list("opencode");
        assert_eq!(names(&list), ["mine", "own"]);
        let query = json!({"cwd": attack_setup.hostile, "profile": "opencode"});
        let explained = attack_setup.live.wire.call("skills/explain", &query);
        let steps = explained["steps"].as_array().expect("a list");
        let is_refused = |it: &&Value| it["reason"].as_str().is_some_and(|it| it.contains(what));
        let step = steps.iter().find(is_refused).unwrap_or_else(|| panic!("{explained}"));
        assert_eq!(step["root"], json!(root), "{step}");
    }
}

#[test]
fn directory_with_too_many_files_is_left_out_alone() {
    let mut attack_setup = BudgetAttack::new(|top| {
        let dir = top.join(COMMANDS).join("many");
        fs::create_dir_all(&dir).expect("made");
        for index in 0..100_001 {
            fs::File::create(dir.join(format!("{index:06}.txt"))).expect("made");
        }
        fs::write(dir.join("hidden.md"), "Do it.\n").expect("written");
    });
    let list = attack_setup.list("claude-code");
    assert_eq!(names(&list), ["mine", "own", "zz-plain"]);
    let dir = assert_incomplete(&list, COMMANDS, "100,000 entries");
    assert_eq!(dir, attack_setup.hostile.join(COMMANDS).join("many"));
}

#[test]
fn directories_over_the_budget_are_left_out_in_stable_order() {
    const EACH: usize = 150;
    let mut attack_setup = BudgetAttack::new(|top| {
        for outer in 0..EACH {
            for inner in 0..EACH {
                let dir = top.join(SKILLS).join(format!("a{outer:03}/b{inner:03}"));
                fs::create_dir_all(dir).expect("made");
            }
        }
        write_skill(&top.join(SKILLS).join("a000/b000/near"), "near", "One level too deep.");
        write_skill(&top.join(SKILLS).join("a001/b000"), "first", "Among the first.");
        write_skill(&top.join(SKILLS).join("a149/b149"), "last", "Beyond the budget.");
    });
    let list = attack_setup.list("opencode");
    assert_eq!(names(&list), ["first", "mine", "own", "zz-own"]);
    assert_incomplete(&list, SKILLS, "20,000 directories");
    assert_eq!(names(&attack_setup.list_in_new_daemon("opencode")), names(&list));
    // Freed budget is used as in a fresh read.
    for outer in 2..40 {
        fs::remove_dir_all(attack_setup.hostile.join(SKILLS).join(format!("a{outer:03}")))
            .expect("gone");
    }
    let list = attack_setup.list("opencode");
    assert_eq!(names(&list), ["first", "last", "mine", "near", "own", "zz-own"]);
    assert_no_budget_exceeded(&list);
    assert_eq!(names(&attack_setup.list_in_new_daemon("opencode")), names(&list));
}

#[test]
fn links_over_the_budget_are_skipped_while_directories_are_read() {
    let mut attack_setup = BudgetAttack::new(|top| {
        let dir = top.join(SKILLS).join("links");
        fs::create_dir_all(&dir).expect("made");
        for index in 0..2_001 {
            symlink("../zz-own", dir.join(format!("l{index:04}"))).expect("linked");
        }
        write_skill(&dir.join("plain"), "plain", "No link.");
    });
    let list = attack_setup.list("opencode");
    assert_eq!(names(&list), ["mine", "own", "plain", "zz-own"]);
    let dir = assert_incomplete(&list, SKILLS, "2,000 symbolic links");
    assert_eq!(dir, attack_setup.hostile.join(SKILLS).join("links"));
}

#[test]
fn root_over_its_budget_is_reported_by_explain_and_status() {
    let mut attack_setup =
        BudgetAttack::new(|top| create_nested_directories(&top.join(SKILLS), 100));
    attack_setup.list("opencode");
    let deep = attack_setup.hostile.join(SKILLS).join("d/".repeat(66));
    let query = json!({"cwd": attack_setup.hostile, "profile": "opencode", "path": deep});
    let explained = attack_setup.live.wire.call("skills/explain", &query).to_string();
    assert!(explained.contains("64 levels") && explained.contains("walk/budget"), "{explained}");
    let status = attack_setup.live.wire.call("server/status", &json!({})).to_string();
    assert!(status.contains("incomplete") && status.contains("64 levels"), "{status}");
}

#[test]
fn trust_covers_skills_no_deeper_than_a_search_root() {
    let live = Live::start();
    let top = live.home.worktree("w", "");
    let deep = top.join("d/".repeat(70));
    for (dir, name) in [(&top, "near"), (&deep, "deep")] {
        write_skill(&dir.join(".claude/skills").join(name), name, "Does it. Use it when asked.");
    }
    let set = live.wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    assert_eq!(set["skills"], 1, "{set}");
}
