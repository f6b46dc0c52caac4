//! Repositories made to cost: deep nests, mazes of links, links to the system, very many files.
//!
//! Each case has an ordinary worktree in the same daemon, which is asked for its list while the
//! hostile one is read, and answers in full.

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

/// A generous limit on one list in a build without optimisation; the bench `budgets` has the bar
/// of 50 ms.
const DELAY: Duration = Duration::from_secs(3);

/// Ten times the bar on the first list of a worktree while a hostile one is read.
const FIRST: Duration = Duration::from_secs(20);

/// The time that the hostile worktree itself may take on a slow machine.
const PATIENCE: Duration = Duration::from_mins(3);

/// The directories that Claude Code and opencode read at any depth.
const COMMANDS: &str = ".claude/commands";
const SKILLS: &str = ".opencode/skills";

/// A daemon with two ordinary worktrees and a hostile one.
struct Siege {
    live: Live,
    hostile: PathBuf,
    ordinary: PathBuf,
}

impl Siege {
    #[track_caller]
    fn lay(attack: impl FnOnce(&Path)) -> Siege {
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
        Siege { live, hostile, ordinary }
    }

    /// Lists the hostile worktree by these rules, while others list theirs.
    #[track_caller]
    fn list(&mut self, profile: &str) -> Value {
        let mut wire = self.live.daemon.connect(Framing::Lines);
        wire.set_patience(PATIENCE);
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
            // A change makes the call go through the engine.
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

    /// Returns a list of the hostile worktree from a daemon that knows nothing yet.
    #[track_caller]
    fn fresh(&self, profile: &str) -> Value {
        let output = run(
            &self.live.home,
            &self.hostile,
            &["list", "--no-daemon", "--profile", profile, "--json"],
        );
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stdout(&output)))
    }
}

impl Drop for Siege {
    fn drop(&mut self) {
        // The home's own way of removing it keeps a descriptor open for each level.
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

/// Fails where the budget that is used up is not told with its root and directory.
#[track_caller]
fn assert_incomplete(list: &Value, root: &str, budget: &str) -> PathBuf {
    let health = list["health"].as_array().expect("a list");
    let told = health.iter().find(|it| it["code"] == "incomplete");
    let told = told.unwrap_or_else(|| panic!("nothing is told: {health:?}"));
    let message = told["message"].as_str().expect("a text");
    assert!(message.contains(root) && message.contains(budget), "{message}");
    told["path"].as_str().expect("a path").into()
}

/// Makes directories one below the other, deeper than a path can be long.
fn nest(root: &Path, levels: usize) {
    fs::create_dir_all(root).expect("made");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir: OwnedFd = open(root, flags, Mode::empty()).expect("opened");
    for _ in 0..levels {
        mkdirat(&dir, "d", Mode::RWXU).expect("made");
        dir = openat(&dir, "d", flags, Mode::empty()).expect("opened");
    }
}

#[test]
fn commands_nested_two_thousand_deep_leave_the_others_listed() {
    let mut siege = Siege::lay(|top| nest(&top.join(COMMANDS), 2_000));
    let list = siege.list("claude-code");
    assert_eq!(names(&list), ["mine", "own", "zz-plain"]);
    let dir = assert_incomplete(&list, COMMANDS, "64 levels");
    assert_eq!(dir.strip_prefix(siege.hostile.join(COMMANDS)).expect("below").iter().count(), 65);
}

#[test]
fn skills_nested_five_thousand_deep_leave_the_others_listed() {
    let mut siege = Siege::lay(|top| nest(&top.join(SKILLS), 5_000));
    let list = siege.list("opencode");
    assert!(names(&list).contains(&"zz-own".to_owned()), "{list}");
    assert!(names(&list).contains(&"mine".to_owned()), "{list}");
    assert_incomplete(&list, SKILLS, "64 levels");
}

#[test]
fn maze_of_links_is_walked_once_and_everything_in_it_is_listed() {
    const ROOMS: usize = 300;
    let mut siege = Siege::lay(|top| {
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
    assert_eq!(names(&siege.list("claude-code")), ["mine", "own", "zz-plain"]);
    let list = siege.list("opencode");
    assert!(names(&list).contains(&"end".to_owned()), "{list}");
    assert!(names(&list).contains(&"zz-own".to_owned()), "{list}");
}

#[test]
fn links_to_the_system_are_not_followed_and_explain_says_why() {
    let mut siege = Siege::lay(|top| {
        for (name, target) in [("all", "/"), ("proc", "/proc"), ("sys", "/sys"), ("dev", "/dev")] {
            symlink(target, top.join(COMMANDS).join(name)).expect("linked");
            symlink(target, top.join(SKILLS).join(name)).expect("linked");
        }
    });
    assert_eq!(names(&siege.list("claude-code")), ["mine", "own", "zz-plain"]);
    siege.list("opencode");
    let status = siege.live.wire.call("server/status", &json!({}));
    let watches = status["watches"]["used"].as_u64().expect("a number");
    assert!(watches < 200, "{watches} directories are watched");
    let all = siege.hostile.join(SKILLS).join("all");
    let query = json!({"cwd": siege.hostile, "profile": "opencode", "path": all});
    let explained = siege.live.wire.call("skills/explain", &query).to_string();
    assert!(explained.contains("the root of the file system"), "{explained}");
}

#[test]
fn link_by_way_of_proc_to_the_root_directory_is_not_followed() {
    let mut siege = Siege::lay(|top| {
        symlink("/proc/self/root", top.join(SKILLS).join("all")).expect("linked");
        symlink("/proc/self/cwd", top.join(SKILLS).join("here")).expect("linked");
    });
    let list = siege.list("opencode");
    assert_eq!(list["health"], json!([]));
    assert_eq!(names(&list), ["mine", "own", "zz-own"]);
}

#[test]
fn links_to_home_and_above_the_worktree_are_not_followed() {
    let mut siege = Siege::lay(|_| ());
    let home = siege.live.home.path().to_owned();
    write_skill(&home.join("private/notes"), "notes", "The user's private notes.");
    symlink(&home, siege.hostile.join(SKILLS).join("home")).expect("linked");
    symlink("../../..", siege.hostile.join(SKILLS).join("above")).expect("linked");
    let list = siege.list("opencode");
    assert_eq!(names(&list), ["mine", "own", "zz-own"]);
}

#[test]
fn root_that_leads_to_home_is_refused_with_a_reason() {
    let mut siege = Siege::lay(|_| ());
    let home = siege.live.home.path().to_owned();
    write_skill(&home.join("private/notes"), "notes", "The user's private notes.");
    for (target, what) in [
        (home.as_path(), "the home directory"),
        (Path::new("/proc"), "`/proc`"),
        (Path::new("/"), "the root of the file system"),
    ] {
        let root = siege.hostile.join(SKILLS);
        fs::remove_dir_all(&root).or_else(|_| fs::remove_file(&root)).expect("removed");
        symlink(target, &root).expect("linked");
        let list = siege.list("opencode");
        assert_eq!(names(&list), ["mine", "own"]);
        let query = json!({"cwd": siege.hostile, "profile": "opencode"});
        let explained = siege.live.wire.call("skills/explain", &query);
        let steps = explained["steps"].as_array().expect("a list");
        let is_refused = |it: &&Value| it["reason"].as_str().is_some_and(|it| it.contains(what));
        let step = steps.iter().find(is_refused).unwrap_or_else(|| panic!("{explained}"));
        assert_eq!(step["root"], json!(root), "{step}");
    }
}

#[test]
fn directory_with_too_many_files_is_left_out_and_the_others_stay() {
    let mut siege = Siege::lay(|top| {
        let dir = top.join(COMMANDS).join("many");
        fs::create_dir_all(&dir).expect("made");
        for index in 0..100_001 {
            fs::File::create(dir.join(format!("{index:06}.txt"))).expect("made");
        }
        fs::write(dir.join("hidden.md"), "Do it.\n").expect("written");
    });
    let list = siege.list("claude-code");
    assert_eq!(names(&list), ["mine", "own", "zz-plain"]);
    let dir = assert_incomplete(&list, COMMANDS, "100000 entries");
    assert_eq!(dir, siege.hostile.join(COMMANDS).join("many"));
}

#[test]
fn more_directories_than_the_budget_are_left_out_in_the_same_order_always() {
    const EACH: usize = 150;
    let mut siege = Siege::lay(|top| {
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
    let list = siege.list("opencode");
    assert_eq!(names(&list), ["first", "mine", "own", "zz-own"]);
    assert_incomplete(&list, SKILLS, "20000 directories");
    assert_eq!(names(&siege.fresh("opencode")), names(&list));
    // Room that is made counts as in a fresh reading.
    for outer in 2..40 {
        fs::remove_dir_all(siege.hostile.join(SKILLS).join(format!("a{outer:03}"))).expect("gone");
    }
    let list = siege.list("opencode");
    assert_eq!(names(&list), ["first", "last", "mine", "near", "own", "zz-own"]);
    assert_eq!(list["health"], json!([]));
    assert_eq!(names(&siege.fresh("opencode")), names(&list));
}

#[test]
fn more_links_than_the_budget_are_not_followed_and_directories_are() {
    let mut siege = Siege::lay(|top| {
        let dir = top.join(SKILLS).join("links");
        fs::create_dir_all(&dir).expect("made");
        for index in 0..2_001 {
            symlink("../zz-own", dir.join(format!("l{index:04}"))).expect("linked");
        }
        write_skill(&dir.join("plain"), "plain", "No link.");
    });
    let list = siege.list("opencode");
    assert_eq!(names(&list), ["mine", "own", "plain", "zz-own"]);
    let dir = assert_incomplete(&list, SKILLS, "2000 symbolic links");
    assert_eq!(dir, siege.hostile.join(SKILLS).join("links"));
}

#[test]
fn root_over_its_budget_is_told_by_explain_and_status() {
    let mut siege = Siege::lay(|top| nest(&top.join(SKILLS), 100));
    siege.list("opencode");
    let deep = siege.hostile.join(SKILLS).join("d/".repeat(66));
    let query = json!({"cwd": siege.hostile, "profile": "opencode", "path": deep});
    let explained = siege.live.wire.call("skills/explain", &query).to_string();
    assert!(explained.contains("64 levels") && explained.contains("walk/budget"), "{explained}");
    let status = siege.live.wire.call("server/status", &json!({})).to_string();
    assert!(status.contains("incomplete") && status.contains("64 levels"), "{status}");
}
