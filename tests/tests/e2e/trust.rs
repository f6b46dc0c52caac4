//! Trust: granted to a worktree by its canonical path, stored in the user's state, and required
//! before anything runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::{Daemon, Framing, Home};

use crate::configuration::configure;
use crate::support::{
    Live, entries, entry, exe, run, run_at_terminal, run_json, stderr, stdout, trust_at_terminal,
};

const SKILLS: &str = "//- /.git/HEAD
ref: refs/heads/main
//- /.agents/skills/tidy/SKILL.md
---
name: tidy
description: Tidies up.
---
Tidy.
//- /.agents/skills/tidy/count mode=0755
#!/bin/sh
echo counted
//- /.gemini/skills/plan/SKILL.md
---
name: plan
description: Plans.
---
Plan.
";

fn script(top: &Path) -> Value {
    json!({"cwd": top, "name": "tidy", "relative": "count"})
}

fn trust(top: &Path, trusted: Option<bool>) -> Value {
    json!({"dir": top, "trusted": trusted})
}

#[test]
fn scripts_need_trust_and_trust_survives_a_kill() {
    let home = Home::new();
    configure(&home, "run.scripts = true\n");
    let top = home.worktree("w", SKILLS);
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Lines);
    let error = wire.try_call("skills/run", &script(&top)).expect_err("it is not trusted");
    assert_eq!(error.code, -32004, "{error}");
    let hint = error.data["hint"].as_str().expect("a hint").to_owned();
    assert!(hint.contains(&format!("skillsd trust {}", top.display())), "{hint}");
    let list = json!({"cwd": top});
    assert_eq!(wire.call("skills/list", &list)["skills"][0]["trusted"], false);
    let got = wire.call("trust/get", &json!({"dir": top}));
    assert_eq!((&got["trusted"], &got["all"]), (&json!(false), &json!([])));
    let set = wire.grant("trust/set", &trust(&top, Some(true)));
    assert_eq!(
        (&set["dir"], &set["trusted"], &set["skills"]),
        (&json!(top), &json!(true), &json!(2))
    );
    drop(wire);
    daemon.kill();
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Lines);
    assert_eq!(wire.call("skills/run", &script(&top))["stdout"], "counted\n");
    assert_eq!(wire.call("skills/list", &list)["skills"][0]["trusted"], true);
    // Trust writes nothing to the worktree.
    let names: Vec<_> =
        fs::read_dir(&top).expect("there").flatten().map(|it| it.file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    // A link selects the same worktree; a copy is another one.
    let link = home.work().join("link");
    symlink(&top, &link).expect("made");
    assert_eq!(wire.call("skills/run", &script(&link))["exitCode"], 0);
    let other = home.worktree("w2", SKILLS);
    assert_eq!(wire.try_call("skills/run", &script(&other)).expect_err("another").code, -32004);
    wire.grant("trust/set", &trust(&link, None));
    assert_eq!(wire.try_call("skills/run", &script(&top)).expect_err("taken back").code, -32004);
    let root = wire.try_grant("trust/set", &trust(Path::new("/"), Some(true)));
    assert_eq!(root.expect_err("not everything").code, -32602);
}

#[test]
fn edited_skill_loads_but_asks_before_it_runs() {
    let home = Home::new();
    configure(&home, "run.scripts = true\n");
    let top = home.worktree("w", SKILLS);
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Lines);
    wire.grant("trust/set", &trust(&top, Some(true)));
    let file = top.join(".agents/skills/tidy/SKILL.md");
    let edit = |body: &str| {
        let text = format!("---\nname: tidy\ndescription: Tidies up.\n---\n{body}\n");
        fs::write(&file, text).expect("written");
    };
    edit("Tidy all.");
    let load = json!({"cwd": top, "name": "tidy"});
    assert!(
        wire.call("skills/load", &load)["output"].as_str().expect("text").contains("Tidy all.")
    );
    assert_eq!(wire.call("skills/list", &load)["skills"][0]["trusted"], true);
    let error = wire.try_call("skills/run", &script(&top)).expect_err("it has changed");
    assert_eq!(error.code, -32003, "{error}");
    assert!(error.message.contains("it has changed since its worktree was trusted"), "{error}");
    let once = json!({"id": error.data["requestId"], "reply": "once"});
    wire.grant("permission/reply", &once);
    wire.call("skills/run", &script(&top));
    let error = wire.try_call("skills/run", &script(&top)).expect_err("once is once");
    wire.grant("permission/reply", &json!({"id": error.data["requestId"], "reply": "always"}));
    wire.call("skills/run", &script(&top));
    edit("Tidy more.");
    assert_eq!(wire.try_call("skills/run", &script(&top)).expect_err("changed again").code, -32003);
    // Trusting again covers the current files.
    wire.grant("trust/set", &trust(&top, Some(true)));
    wire.call("skills/run", &script(&top));
}

#[test]
fn profile_or_setting_that_requires_trust_leaves_skills_untrusted() {
    let mut live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let state = |live: &mut Live, profile: &str, name: &str| {
        let all = live.list_all(&top, profile);
        entry(&all, &format!("{name}/SKILL.md"))["state"].as_str().expect("a state").to_owned()
    };
    assert_eq!(state(&mut live, "gemini-cli", "plan"), "untrusted");
    let load = json!({"cwd": top, "profile": "gemini-cli", "name": "plan"});
    let error = live.wire.try_call("skills/load", &load).expect_err("it waits");
    assert_eq!(error.code, -32004);
    assert!(error.data["hint"].as_str().expect("a hint").contains("skillsd trust"));
    let read = json!({"cwd": top, "profile": "gemini-cli", "name": "plan", "relative": "SKILL.md"});
    assert_eq!(live.wire.try_call("skills/read", &read).expect_err("nor read").code, -32004);
    let subscription = json!({"cwd": top, "profile": "gemini-cli", "kinds": ["skills/changed"]});
    live.wire.call("events/subscribe", &subscription);
    live.wire.grant("trust/set", &trust(&top, Some(true)));
    assert_eq!(live.wire.note()["params"]["result"]["kind"], "skills/changed");
    assert_eq!(state(&mut live, "gemini-cli", "plan"), "active");
    live.wire.call("skills/load", &load);
    // In other profiles trust is only a flag, unless `require_trust` is set.
    live.wire.grant("trust/set", &trust(&top, None));
    assert_eq!(state(&mut live, "agentskills", "tidy"), "active");
    configure(&live.home, "require_trust = true\n");
    assert_eq!(state(&mut live, "agentskills", "tidy"), "untrusted");
    let explained = live.wire.call("skills/explain", &json!({"cwd": top, "name": "tidy"}));
    assert!(explained["verdict"]["next"].as_str().expect("advice").contains("skillsd trust"));
    live.wire.grant("trust/set", &trust(&top, Some(true)));
    assert_eq!(state(&mut live, "agentskills", "tidy"), "active");
    // Trust applies to subdirectories, and the nearest entry decides.
    let inner = top.join(".agents");
    live.wire.grant("trust/set", &trust(&inner, Some(false)));
    assert_eq!(state(&mut live, "agentskills", "tidy"), "untrusted");
    assert_eq!(state(&mut live, "gemini-cli", "plan"), "active");
    let got = live.wire.call("trust/get", &json!({"dir": inner}));
    assert_eq!((&got["trusted"], &got["decided"]), (&json!(false), &json!(inner)));
}

#[test]
fn trust_changed_by_another_process_notifies_subscribers() {
    let mut live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    let mut asking = live.daemon.connect(Framing::Header);
    let params = json!({"cwd": top, "profile": "gemini-cli", "kinds": ["skills/changed"]});
    live.wire.call("events/subscribe", &params);
    for trusted in [true, false, true] {
        let how: &[&str] = if trusted { &[] } else { &["--revoke"] };
        trust_at_terminal(&live.home, &top, &[&["--no-daemon"], how].concat());
        // No call was made since.
        let event = live.wire.note();
        assert_eq!(event["params"]["result"]["kind"], "skills/changed", "{event}");
        let params = json!({"cwd": top, "profile": "gemini-cli", "freshness": "cached"});
        let list = asking.call("skills/list", &params);
        let states: Vec<_> = entries(&list).iter().map(|it| it["state"].clone()).collect();
        assert_eq!(states.contains(&json!("active")), trusted, "{list}");
    }
}

#[test]
fn trust_command_grants_lists_and_revokes() {
    let home = Home::new();
    let top = home.worktree("w", SKILLS);
    let sub = top.join("sub");
    fs::create_dir(&sub).expect("made");
    let said = trust_at_terminal(&home, &sub, &[]);
    assert!(
        said.contains("trusted") && said.contains("2 skills in their current version"),
        "{said}"
    );
    let listed = run_json(&home, &sub, &["trust", "--list"]);
    assert_eq!((&listed["dir"], &listed["trusted"]), (&json!(top), &json!(true)));
    assert_eq!(run_json(&home, &top, &["list"])["skills"][0]["trusted"], true);
    let text = stdout(&run(&home, &top, &["trust", "--list"]));
    assert!(text.contains("✓ trusted"), "{text}");
    // The result is the same without a daemon.
    assert!(run(&home, &top, &["stop"]).status.success());
    assert_eq!(run_json(&home, &top, &["list", "--no-daemon"])["skills"][0]["trusted"], true);
    // A running daemon sees changes made by commands without it.
    assert!(run(&home, &top, &["status"]).status.success());
    let is_trusted = || run_json(&home, &top, &["list"])["skills"][0]["trusted"] == true;
    assert!(is_trusted());
    for trusted in [false, true, false, true] {
        let how: &[&str] = if trusted { &[] } else { &["--revoke"] };
        trust_at_terminal(&home, &top, &[&["--no-daemon"], how].concat());
        assert_eq!(is_trusted(), trusted);
        assert_eq!(run_json(&home, &top, &["trust", "--list"])["trusted"], trusted);
        assert_eq!(run_json(&home, &top, &["status"])["trusted"], u64::from(trusted));
    }
    let back = run(&home, &home.work(), &["trust", "w", "--revoke"]);
    assert!(stdout(&back).contains("not trusted"), "{}", stderr(&back));
    assert_eq!(run_json(&home, &top, &["trust", "--list"])["all"], json!([]));
    for (dir, why) in [("nowhere", "is not a directory"), ("/", "`/` cannot be trusted")] {
        let (code, said) = run_at_terminal(&home, &top, &["trust", dir], "y");
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(why) && !said.contains("[y/N]"), "{said}");
    }
}

#[test]
fn doctor_and_trust_list_name_what_needs_trust() {
    let home = Home::new();
    let text = "---\nname: hooked\ndescription: Has hooks.\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./x\n---\nNow: !`date`\n";
    let top = home.worktree("w", &format!("{SKILLS}//- /.claude/skills/hooked/SKILL.md\n{text}"));
    // The user's own skills need no trust.
    let own = text.replace("name: hooked", "name: own");
    home.lay_out(&format!("//- /home/.claude/skills/own/SKILL.md\n{own}"));
    let waiting = |command: &[&str]| {
        let said = run_json(&home, &top, command);
        let trust = if command[0] == "doctor" { &said["trust"] } else { &said };
        let shown = |it: &Value| format!("{} {} {}", it["name"], it["needs"], it["changed"]);
        trust["waiting"].as_array().expect("a list").iter().map(shown).collect::<Vec<_>>()
    };
    let all = [
        r#""tidy" ["scripts"] false"#.to_owned(),
        r#""hooked" ["hooks","shell"] false"#.to_owned(),
    ];
    for command in [&["doctor"][..], &["trust", "--list"], &["doctor", "--no-daemon"]] {
        assert_eq!(waiting(command), all, "{command:?}");
    }
    let gemini = ["trust", "--list", "--profile", "gemini-cli"];
    assert!(waiting(&gemini).contains(&r#""plan" ["list"] false"#.to_owned()));
    let told = stdout(&run(&home, &top, &["doctor"]));
    assert!(told.contains("○ not trusted: ") && told.contains("hooked asks for trust"), "{told}");
    trust_at_terminal(&home, &top, &[]);
    for command in [&["doctor"][..], &gemini] {
        assert_eq!(waiting(command), [""; 0], "{command:?}");
    }
    fs::write(top.join(".claude/skills/hooked/SKILL.md"), text.replace("date", "id"))
        .expect("ours");
    assert_eq!(waiting(&["doctor"]), [r#""hooked" ["hooks","shell"] true"#]);
    let told = stdout(&run(&home, &top, &["doctor"]));
    assert!(told.contains("✓ trusted: ") && told.contains("hooked has changed and asks"), "{told}");
    let output = run(&home, &top, &["doctor"]);
    assert_eq!(output.status.code(), Some(0), "nothing is wrong: {}", stdout(&output));
}
