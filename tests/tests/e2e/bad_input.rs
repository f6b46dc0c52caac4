//! Unusual files found on real disks: each is reported with its path and does not affect other
//! skills.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skills_testkit::fixture::{lay_out, skill_text, write_skill};
use skills_testkit::{Daemon, Home, Wire};

use crate::support::{Live, PROFILES, entries, entry, exe, listed, run, skillsd, stderr, stdout};

/// A valid skill next to each invalid one; it must stay listed.
const GOOD: &str = "//- /.agents/skills/good/SKILL.md\n---\nname: good\ndescription: d\n---\n\
     //- /.claude/skills/good/SKILL.md\n---\nname: good\ndescription: d\n---\n";

/// Upper bound for any answer; detects stalls, not slowness.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Lays out `text` next to a valid skill. Asserts that `.agents/skills/bad` is not listed, that
/// `explain` gives its path and a reason containing one of `words`, and that the valid skill is
/// still listed.
#[track_caller]
fn check(text: &str, words: &[&str]) {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    lay_out(&top, text);
    live.wire.set_timeout(TIMEOUT);
    let mut ask = |method: &str, params: Value| live.wire.call(method, &params);
    let answers = Answers {
        default: ask("skills/list", json!({"cwd": top})),
        all: ask("skills/list", json!({"cwd": top, "include": ["all"]})),
        explained: ask("skills/explain", json!({"cwd": top, "path": top.join(BAD)})),
        checked: ask("skills/check", json!({"cwd": top})),
    };
    answers.check(words);
    ask("skills/references", json!({"cwd": top}));
    assert!(!live.daemon.log().contains("panicked"), "{}", live.daemon.log());
}

const BAD: &str = ".agents/skills/bad/SKILL.md";

/// Answers of the daemon about the valid and the invalid skill.
struct Answers {
    default: Value,
    all: Value,
    explained: Value,
    checked: Value,
}

impl Answers {
    #[track_caller]
    fn check(&self, words: &[&str]) {
        let names: Vec<String> =
            listed(&self.default).into_iter().map(|skill| skill.name).collect();
        assert_eq!(names, ["good"]);

        let has_word = |text: &str| {
            let text = text.to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        let all = entries(&self.all);
        let bad = entry(&all, BAD);
        assert_eq!(bad["state"], "invalid", "{bad}");
        assert!(bad["reason"].as_str().is_some_and(has_word), "not one of {words:?}: {bad}");

        assert_eq!(self.explained["verdict"]["state"], "invalid", "{}", self.explained);
        assert!(self.explained["path"].as_str().is_some_and(|it| it.ends_with(BAD)));
        // Searches reasons only, because keys and paths contain half of the words.
        let summary = &self.explained["verdict"]["summary"];
        let steps = self.explained["steps"].as_array().into_iter().flatten();
        let mut said = steps.map(|step| &step["reason"]).chain([summary]).filter_map(Value::as_str);
        assert!(said.any(has_word), "not one of {words:?}: {}", self.explained);

        let mut files = self.checked["files"].as_array().into_iter().flatten();
        let is_bad = |it: &&Value| it["path"].as_str().is_some_and(|it| it.ends_with(BAD));
        let file = files.find(is_bad).unwrap_or_else(|| panic!("not checked: {}", self.checked));
        let mut findings = file["findings"].as_array().into_iter().flatten();
        assert!(findings.any(|it| it["severity"] == "error"), "{file}");
    }
}

#[test]
fn directory_named_skill_md_is_invalid() {
    check("//- /.agents/skills/bad/SKILL.md/x.md\n", &["directory"]);
}

#[test]
fn named_pipe_as_skill_file_is_invalid() {
    check("//- /.agents/skills/bad/SKILL.md fifo\n", &["pipe", "fifo", "regular file"]);
}

#[test]
fn endless_device_as_skill_file_is_invalid() {
    check("//- /.agents/skills/bad/SKILL.md link=/dev/zero\n", &["device", "regular file"]);
}

#[test]
fn dangling_link_as_skill_file_is_invalid() {
    check("//- /.agents/skills/bad/SKILL.md link=nowhere\n", &["dangling symbolic link"]);
}

#[test]
fn link_to_itself_as_skill_file_is_invalid() {
    check("//- /.agents/skills/bad/SKILL.md link=SKILL.md\n", &["loop of symbolic links"]);
}

#[test]
fn endless_ignore_file_does_not_stall_calls() {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    live.wire.set_timeout(TIMEOUT);
    for name in [".gitignore", ".ignore", ".rgignore"] {
        for what in ["fifo", "link=/dev/zero", "size=1099511627776"] {
            let places = ["", ".agents/skills/good/"].map(|it| format!("{it}{name}"));
            for place in &places {
                lay_out(&top, &format!("//- /{place} {what}\n"));
            }
            let mut ask = |method: &str, params: Value| live.wire.call(method, &params);
            ask("skills/load", json!({"cwd": top, "profile": "opencode", "name": "good"}));
            ask("skills/check", json!({"cwd": top}));
            ask("skills/references", json!({"cwd": top, "freshness": "verified"}));
            let matched = ask("paths/match", json!({"cwd": top, "patterns": ["SKILL.md"]}));
            assert_eq!(matched["matches"][0]["count"], 2, "{name} {what}: {matched}");
            ask("session/touch", json!({"cwd": top, "session": "s", "paths": [top.join("x/y")]}));
            for place in &places {
                fs::remove_file(top.join(place)).expect("it was laid out");
            }
        }
    }
}

#[test]
fn empty_skill_file_is_invalid() {
    check("//- /.agents/skills/bad/SKILL.md\n", &["empty", "no frontmatter"]);
}

#[test]
fn skill_file_of_100_mb_is_listed_with_a_finding() {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    lay_out(&top, &format!("//- /{BAD} size=104857600\n---\nname: bad\ndescription: d\n---\n"));
    live.wire.set_timeout(TIMEOUT);
    // The frontmatter is readable, so the skill may be listed, but with a finding.
    let all = live.list_all(&top, "agentskills");
    let bad = entry(&all, BAD);
    let n_findings =
        ["error", "warning"].map(|kind| bad["diagnostics"][kind].as_u64().unwrap_or(0));
    assert_ne!(n_findings, [0, 0], "{bad}");
    assert!(all.iter().any(|entry| entry["name"] == "good"), "{all:#?}");
    let explained = live.wire.call("skills/explain", &json!({"cwd": top, "path": top.join(BAD)}));
    let text = explained.to_string();
    assert!(text.contains("MiB") || text.contains("large"), "{text}");
}

#[test]
fn skill_file_that_is_not_utf8_is_invalid() {
    check(
        "//- /.agents/skills/bad/SKILL.md bytes\n---\nname: bad\ndescription: caf\\xe9\n---\n",
        &["utf-8"],
    );
}

#[test]
fn skill_file_without_frontmatter_is_invalid() {
    check("//- /.agents/skills/bad/SKILL.md\n# Only a heading\n", &["frontmatter", "name"]);
}

#[test]
fn unclosed_frontmatter_is_invalid() {
    check(
        "//- /.agents/skills/bad/SKILL.md\n---\nname: bad\ndescription: d\n\nBody.\n",
        &["close", "end"],
    );
}

#[test]
fn frontmatter_after_other_text_is_invalid() {
    // None of the recorded agents reads such a file, even though our parser could.
    for before in ["# Title\n", "\n", "<!-- c -->\n"] {
        check(
            &format!("//- /{BAD}\n{before}---\nname: bad\ndescription: d\n---\nBody.\n"),
            &["before", "first line", "frontmatter"],
        );
    }
}

#[test]
fn unreadable_skill_file_is_invalid() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        // Without root, the file mode is enough.
        check("//- /.agents/skills/bad/SKILL.md mode=0000\n", &["permission denied"]);
        return;
    }
    // Root reads everything, so daemon and client run as another user, from a copy of the program
    // that this user may execute.
    let home = Home::owned_by(NOBODY);
    let program = home.work().join("skillsd");
    fs::copy(exe(), &program).expect("our program can be copied");
    let top = home.worktree("w", GOOD);
    lay_out(
        &top,
        "//- /.agents/skills/bad/SKILL.md mode=0000\n//- /.agents/skills/shut/ dir mode=0000\n",
    );
    let _daemon = Daemon::start(&home, &program);
    let ask = |args: &[&str]| -> Value {
        let output = home.command(&program).args(args).arg("--json").current_dir(&top).output();
        let output = output.expect("our program can be run");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let answers = Answers {
        default: ask(&["list"]),
        all: ask(&["list", "--all"]),
        explained: ask(&["explain", BAD]),
        checked: ask(&["check"]),
    };
    answers.check(&["permission denied"]);

    let steps = ask(&["explain"])["steps"].clone();
    let is_shut = |step: &&Value| {
        step["path"].as_str().is_some_and(|path| path.ends_with(".agents/skills/shut"))
    };
    let shut = steps.as_array().and_then(|steps| steps.iter().find(is_shut)).cloned();
    let shut = shut.unwrap_or_else(|| panic!("nothing about `shut`: {steps}"));
    assert_eq!(shut["outcome"], "unreadable", "{shut}");
    assert!(shut["reason"].as_str().is_some_and(|it| it.contains("permission denied")), "{shut}");
}

#[test]
fn growing_skill_file_does_not_hide_other_skills() {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    let path = write_skill(&top.join(".agents/skills/grows"), "grows", "d");
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = fs::File::options().append(true).open(&path).expect("it was written");
            while !is_done.load(Ordering::Relaxed) {
                file.write_all(&[b'x'; 4096]).expect("the disk has room");
                if file.metadata().expect("it is open").len() > 4 << 20 {
                    file.set_len(100).expect("a file can be cut");
                }
            }
        });
        live.wire.set_timeout(TIMEOUT);
        for _ in 0..50 {
            let result = live.wire.call("skills/list", &json!({"cwd": top}));
            assert!(listed(&result).iter().any(|skill| skill.name == "good"), "{result}");
        }
        is_done.store(true, Ordering::Relaxed);
    });
    fs::write(&path, skill_text("grows", "done")).expect("a file can be written");
    assert_eq!(live.check(&top, "agentskills"), 2);
}

#[test]
fn search_roots_removed_and_recreated_are_followed() {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    for _ in 0..5 {
        assert_eq!(live.check(&top, "agentskills"), 1);
        fs::remove_dir_all(top.join(".agents")).expect("it was there");
        fs::rename(top.join(".claude"), top.join("aside")).expect("it was there");
        assert_eq!(live.check(&top, "agentskills"), 0);
        assert_eq!(live.check(&top, "claude-code"), 0);
        lay_out(&top, GOOD);
        fs::remove_dir_all(top.join("aside")).expect("it was there");
    }
}

#[test]
fn worktree_removed_and_recreated_is_followed() {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    write_skill(&live.home.path().join(".agents/skills/mine"), "mine", "d");
    assert_eq!(live.check(&top, "agentskills"), 2);
    fs::remove_dir_all(&top).expect("it was there");
    live.wire.set_timeout(TIMEOUT);
    // The call fails or returns the skills in HOME, but never the removed ones and never an empty
    // list.
    match live.wire.try_call("skills/list", &json!({"cwd": top})) {
        Ok(result) => {
            let names: Vec<_> = listed(&result).into_iter().map(|skill| skill.name).collect();
            assert_eq!(names, ["mine"], "{result}");
        }
        Err(error) => assert!(error.message.contains(top.to_str().expect("plain")), "{error}"),
    }
    live.home.worktree("w", GOOD);
    assert_eq!(live.check(&top, "agentskills"), 2);
}

#[test]
fn names_that_are_not_utf8_survive_the_wire() {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    lay_out(
        &top,
        "//- /.agents/skills/caf\\xe9/SKILL.md\n---\nname: cafe\ndescription: d\n---\n\
         //- /.agents/skills/50%/SKILL.md\n---\nname: half\ndescription: d\n---\n\
         //- /.claude/skills/caf\\xe9/SKILL.md\n---\nname: cafe\ndescription: d\n---\n",
    );
    let all = live.list_all(&top, "agentskills");
    let cafe = entry(&all, "/.agents/skills/caf%E9/SKILL.md");
    assert_eq!((&cafe["pathEncoding"], &cafe["state"]), (&json!("percent"), &json!("active")));
    let half = entry(&all, "/.agents/skills/50%/SKILL.md");
    assert_eq!(half["pathEncoding"], Value::Null, "a plain path stays plain: {half}");

    // The escaped form is accepted as a parameter.
    let params = json!({"cwd": top, "path": cafe["path"], "pathEncoding": "percent"});
    let got = live.wire.call("skills/get", &params);
    assert_eq!(got["name"], "cafe", "{got}");

    let all = live.list_all(&top, "claude-code");
    assert!(all.iter().any(|entry| entry["name"] == "caf\u{fffd}"), "{all:#?}");
    // The command line prints such names.
    let output = run(&live.home, &top, &["list", "--all"]);
    assert!(output.status.success() && stdout(&output).contains("cafe"), "{}", stderr(&output));
    // The command line accepts such names as arguments.
    let odd = OsStr::from_bytes(b".agents/skills/caf\xe9/SKILL.md");
    for command in ["show", "explain"] {
        let output = skillsd(&live.home, &[command]).arg(odd).current_dir(&top).output();
        let output = output.expect("our program can be run");
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        assert!(stdout(&output).contains("cafe"), "{command}: {}", stdout(&output));
    }
}

#[test]
fn nested_worktree_lists_only_its_own_skills() {
    let mut live = Live::start();
    let outer = live.home.worktree("w", "");
    let inner = live.home.worktree("w/inner", "");
    write_skill(&outer.join(".agents/skills/outer"), "outer", "d");
    write_skill(&inner.join(".agents/skills/inner"), "inner", "d");
    for profile in PROFILES {
        live.check(&outer, profile);
        live.check(&inner, profile);
    }
    let all = live.list_all(&inner, "agentskills");
    assert_eq!(all.len(), 1, "{all:#?}");
    // Without its `.git`, the inner directory belongs to the outer worktree.
    fs::remove_dir_all(inner.join(".git")).expect("it was there");
    assert_eq!(live.check(&inner, "agentskills"), 2);
}

#[test]
fn link_loop_ends() {
    let mut live = Live::start();
    let top = live.home.worktree(
        "w",
        "//- /.agents/skills/g/loop link=..\n//- /.agents/skills/g/self link=self\n\
         //- /.agents/skills/g/deep/a/SKILL.md\n---\nname: a\ndescription: d\n---\n",
    );
    live.wire.set_timeout(TIMEOUT);
    assert_eq!(live.check(&top, "agentskills"), 1);
}

#[test]
fn hostile_yaml_does_not_stall_or_hide_other_skills() {
    let mut live = Live::start();
    let top = live.home.worktree("w", GOOD);
    let aliases = (0..20).fold("a0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned(), |text, index| {
        let item = format!("*a{index}");
        let items = [item.as_str(); 8].join(", ");
        format!("{text}a{next}: &a{next} [{items}]\n", next = index + 1)
    });
    for (name, text) in [
        ("deep", "[".repeat(100_000)),
        ("braces", "{a: ".repeat(20_000)),
        ("laughs", aliases),
        ("keys", "k: v\n".repeat(50_000)),
        ("indent", (0..2000).map(|n| " ".repeat(n) + "k:\n").collect()),
        ("nul", "x: \0\0\0\n".to_owned()),
    ] {
        let text = format!("---\nname: {name}\ndescription: d\nx: {text}\n---\nbody\n");
        let dir = top.join(".agents/skills").join(name);
        fs::create_dir_all(&dir).expect("a directory can be made");
        fs::write(dir.join("SKILL.md"), text).expect("a file can be written");
    }
    live.wire.set_timeout(TIMEOUT);
    let all = live.list_all(&top, "agentskills");
    assert_eq!(all.len(), 8, "{all:#?}");
    assert!(
        listed(&live.wire.call("skills/list", &json!({"cwd": top})))
            .iter()
            .any(|s| s.name == "good")
    );
}

#[test]
fn root_with_10000_skills_is_listed_in_pages() {
    const MANY: usize = 10_000;
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let root = top.join(".agents/skills");
    for index in 0..MANY {
        let name = format!("skill-{index:05}");
        write_skill(&root.join(&name), &name, "one of very many");
    }
    live.wire.set_timeout(Duration::from_mins(1));
    let paths = pages(&mut live.wire, &top);
    assert_eq!(paths.len(), MANY);
    assert!(paths.is_sorted(), "the order is that of the directory names");

    // A change is visible at once.
    write_skill(&root.join("added"), "added", "d");
    let added = live.wire.call("skills/get", &json!({"cwd": top, "name": "added"}));
    assert_eq!(added["name"], "added");
    assert_eq!(pages(&mut live.wire, &top).len(), MANY + 1);
}

/// Lists all skills, page by page.
fn pages(wire: &mut Wire, cwd: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = json!({"cwd": cwd, "limit": 3000, "cursor": cursor});
        let result = wire.call("skills/list", &params);
        paths.extend(listed(&result).into_iter().map(|skill| skill.path));
        cursor = result["nextCursor"].clone();
        if cursor.is_null() {
            return paths;
        }
    }
}
