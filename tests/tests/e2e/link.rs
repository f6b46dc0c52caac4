//! `skillsd link` and `skillsd unlink` between the directories of agents.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use skills_protocol::own_directory::ProjectLevels;
use skills_protocol::{PROFILES, own_directory};
use skills_testkit::{Home, lay_out};

use crate::support::{run, run_at_terminal, run_json, skillsd, stderr, stdout};

const FILES: &str = "//- /.agents/skills/pdf/SKILL.md
---
name: pdf
description: Reads PDF files.
---
Read it.
//- /skills/report/SKILL.md
---
name: report
description: Writes a report.
---
Write it.
//- /broken/bad/SKILL.md
---
name: [
---
";

/// Returns every file, directory and link below `top` but git's own.
fn all(top: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    let mut dirs = vec![top.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() && !path.ends_with(".git") {
                dirs.push(path.clone());
            }
            all.insert(path);
        }
    }
    all
}

fn sees(home: &Home, top: &Path, profile: &str, name: &str) -> bool {
    let list = run_json(home, top, &["list", "--profile", profile]);
    list["skills"].as_array().unwrap().iter().any(|it| it["name"] == name)
}

#[track_caller]
fn check(home: &Home, top: &Path, args: &[&str], code: i32) -> String {
    let output = run(home, top, args);
    let shown = format!("{}{}", stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(code), "{args:?} {shown}");
    shown
}

#[test]
fn link_shows_a_skill_to_each_agent_and_unlink_takes_it_back() {
    let home = Home::new();
    home.lay_out("//- /home/.gemini/settings.json\n{\"security\": {\"folderTrust\": {\"enabled\": false}}}\n");
    let top = home.worktree("w", FILES);
    fs::create_dir(top.join(".codex")).unwrap();
    let before = all(&top);
    for (agent, link) in
        [("claude-code", ".claude/skills"), ("opencode-agent-skills", ".opencode/skills")]
    {
        assert!(!sees(&home, &top, agent, "pdf"), "{agent}");
        check(&home, &top, &["link", "pdf", "--to", agent], 0);
        assert!(sees(&home, &top, agent, "pdf"), "{agent}");
        let text = fs::read_link(top.join(link).join("pdf")).unwrap();
        assert_eq!(text, Path::new("../../.agents/skills/pdf"));
        let again = check(&home, &top, &["link", "pdf", "--to", agent], 1);
        assert!(again.contains("already finds"), "{again}");
        check(&home, &top, &["unlink", "pdf", "--from", agent], 0);
        assert_eq!(all(&top), before, "{agent}");
        check(&home, &top, &["unlink", "pdf", "--from", agent], 1);
    }
    // These read `.agents/skills` themselves, but no other directory.
    for agent in ["codex", "gemini-cli", "opencode", "agentskills"] {
        let shown = check(&home, &top, &["link", "pdf", "--to", agent], 1);
        assert!(shown.contains("already finds"), "{shown}");
        check(&home, &top, &["link", "./skills/report", "--to", agent], 0);
        assert!(sees(&home, &top, agent, "report"), "{agent}");
        check(&home, &top, &["unlink", "report", "--from", agent], 0);
        assert_eq!(all(&top), before, "{agent}");
    }
}

#[test]
fn skill_is_linked_where_each_agent_looks_from_the_top_and_below() {
    let home = Home::new();
    home.lay_out("//- /home/.gemini/settings.json\n{\"security\": {\"folderTrust\": {\"enabled\": false}}}\n");
    let top = home.worktree("w", FILES);
    let other = "---\nname: command\ndescription: Runs it.\n---\nx\n";
    lay_out(&top, &format!("//- /.claude/skills/command/SKILL.md\n{other}"));
    let deep = top.join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let before = all(&top);
    for agent in PROFILES.iter().filter(|it| !it.contains('@')) {
        let levels = own_directory(agent).unwrap().levels;
        let refusal = match *agent {
            "continue" => Some("does not follow this symbolic link"),
            _ => (levels == ProjectLevels::None).then_some("looks for skills in no project"),
        };
        // A name is looked up, and its directory may be above the working directory.
        for (cwd, target, name) in [
            (&deep, "../../skills/report", "report"),
            (&deep, "command", "command"),
            (&top, "./skills/report", "report"),
        ] {
            if let Some(refusal) = refusal {
                let shown = check(&home, cwd, &["link", target, "--to", agent], 5);
                assert!(shown.contains(refusal), "{agent}: {shown}");
                assert!(shown.contains("hint: Copy ") && !shown.contains("Replace"), "{shown}");
            } else if !sees(&home, cwd, agent, name) {
                check(&home, cwd, &["link", target, "--to", agent], 0);
                assert!(sees(&home, cwd, agent, name), "{agent}");
                check(&home, cwd, &["unlink", name, "--from", agent], 0);
            }
            assert_eq!(all(&top), before, "{agent}");
        }
    }
}

#[test]
fn skill_of_the_user_is_linked_in_the_home_directory() {
    let home = Home::new();
    home.lay_out(
        "//- /home/.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads it.\n---\nx\n",
    );
    let top = home.worktree("w", "//- /a\n");
    let link = home.path().join(".claude/skills/pdf");
    check(&home, &top, &["link", "pdf", "--to", "claude-code"], 0);
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("../../.agents/skills/pdf"));
    assert!(sees(&home, &top, "claude-code", "pdf"));
    check(&home, &top, &["unlink", "pdf", "--from", "claude-code"], 0);
    assert!(!home.path().join(".claude").exists());
    let other =
        "//- /home/.claude/skills/own/SKILL.md\n---\nname: own\ndescription: Reads it.\n---\nx\n";
    home.lay_out(other);
    check(&home, &top, &["link", "own", "--to", "openclaw"], 0);
    assert!(sees(&home, &top, "openclaw", "own"));
}

#[test]
fn skill_of_the_user_is_linked_where_the_agent_variable_says() {
    let home = Home::new();
    home.lay_out(
        "//- /home/.codex/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads it.\n---\nx\n",
    );
    let top = home.worktree("w", "//- /a\n");
    for (agent, variable) in [("copilot-cli", "COPILOT_HOME"), ("qwen-code", "QWEN_HOME")] {
        let own = home.path().join(agent);
        for command in [["link", "pdf", "--to", agent], ["unlink", "pdf", "--from", agent]] {
            let mut program = skillsd(&home, &command);
            let output = program.current_dir(&top).env(variable, &own).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{agent}: {}", stderr(&output));
            let is_linked = own.join("skills/pdf").is_symlink();
            assert_eq!(is_linked, command[0] == "link", "{agent}: {}", stdout(&output));
        }
    }
}

#[test]
fn link_that_the_agent_would_refuse_is_not_made() {
    let home = Home::new();
    let top = home.worktree("w", FILES);
    let other = "---\nname: report\ndescription: Another one.\n---\nx\n";
    fs::create_dir_all(top.join(".claude/skills/report")).unwrap();
    fs::write(top.join(".claude/skills/report/SKILL.md"), other).unwrap();
    fs::create_dir_all(home.path().join("out/secret")).unwrap();
    fs::write(home.path().join("out/secret/SKILL.md"), other).unwrap();
    symlink(home.path().join("out"), top.join(".opencode")).unwrap();
    symlink(home.path().join("out/secret"), top.join("secret")).unwrap();
    let before = all(&top);
    let taken = check(&home, &top, &["link", "./skills/report", "--to", "claude-code"], 1);
    assert!(taken.contains("already has another `report`"), "{taken}");
    // The folder is not trusted, the file is broken, and a directory leads out of the worktree.
    let untrusted = check(&home, &top, &["link", "./skills/report", "--to", "gemini-cli"], 5);
    assert!(untrusted.contains("does not take the link"), "{untrusted}");
    let broken = check(&home, &top, &["link", "./broken/bad", "--to", "codex"], 5);
    assert!(broken.contains("does not take the link"), "{broken}");
    let out = check(&home, &top, &["link", "pdf", "--to", "opencode-agent-skills"], 5);
    assert!(out.contains("outside of its worktree"), "{out}");
    check(&home, &top, &["link", "pdf", "--to", "emacs"], 2);
    check(&home, &top, &["link", "gone", "--to", "codex"], 1);
    let shown = check(&home, &top, &["unlink", "report", "--from", "claude-code"], 5);
    assert!(shown.contains("is not a link"), "{shown}");
    check(&home, &top, &["unlink", "../../skills", "--from", "claude-code"], 2);
    assert_eq!(all(&top), before);
}

#[test]
fn link_out_of_the_worktree_is_not_linked_for_the_user() {
    let home = Home::new();
    let top = home.worktree("w", FILES);
    let other = "---\nname: evil\ndescription: Another one.\n---\nx\n";
    fs::create_dir_all(home.path().join("clone/evil")).unwrap();
    fs::write(home.path().join("clone/evil/SKILL.md"), other).unwrap();
    symlink(home.path().join("clone/evil"), top.join("skills/evil")).unwrap();
    symlink(home.path().join("clone"), top.join("more")).unwrap();
    for path in ["./skills/evil", "./more/evil"] {
        let shown = check(&home, &top, &["link", path, "--to", "claude-code"], 5);
        assert!(shown.contains("is a link out of the worktree"), "{shown}");
    }
    assert!(!home.path().join(".claude").exists());
}

#[test]
fn unlink_asks_before_it_removes_a_link_of_somebody_else() {
    let home = Home::new();
    let top = home.worktree("w", FILES);
    let link = top.join(".claude/skills/report");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("../../skills/report", &link).unwrap();
    let args = ["unlink", "report", "--from", "claude-code"];
    let shown = check(&home, &top, &args, 5);
    assert!(shown.contains("is not a link that `skillsd link` has made"), "{shown}");
    assert!(shown.contains("`skillsd unlink report --from claude-code` in a terminal"), "{shown}");
    let (code, shown) = run_at_terminal(&home, &top, &args, "n");
    assert!(code != Some(0) && shown.contains("Nothing was removed"), "{shown}");
    assert!(link.is_symlink());
    let (code, shown) = run_at_terminal(&home, &top, &args, "y");
    assert_eq!((code, link.is_symlink()), (Some(0), false), "{shown}");
}

#[test]
fn name_that_two_skills_give_themselves_means_the_one_in_its_directory() {
    let home = Home::new();
    let top = home.worktree(
        "w",
        "//- /.claude/skills/a/SKILL.md\n---\nname: b\ndescription: Wrong.\n---\n\
         //- /.claude/skills/b/SKILL.md\n---\nname: b\ndescription: Right.\n---\n",
    );
    let right = top.join(".claude/skills/b");
    let loaded = stdout(&run(&home, &top, &["load", "b", "--profile", "claude-code"]));
    assert!(loaded.contains(&format!("{}\n", right.display())), "{loaded}");
    let explained = run_json(&home, &top, &["explain", "b", "--profile", "claude-code"]);
    assert_eq!(explained["path"], right.join("SKILL.md").to_str().unwrap());
    let disabled = run(&home, &top, &["disable", "b", "--profile", "claude-code", "-y"]);
    assert!(disabled.status.success(), "{}", stderr(&disabled));
    let enabled = run(&home, &top, &["enable", "b", "--profile", "claude-code", "-y"]);
    assert!(enabled.status.success(), "{}", stderr(&enabled));
    for profile in [&[][..], &["--profile", "claude-code"]] {
        let linked = run(&home, &top, &[&["link", "b", "--to", "codex"][..], profile].concat());
        assert!(linked.status.success(), "{}", stderr(&linked));
        assert_eq!(fs::canonicalize(top.join(".codex/skills/b")).unwrap(), right);
        assert!(run(&home, &top, &["unlink", "b", "--from", "codex"]).status.success());
    }
}
