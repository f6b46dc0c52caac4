//! Attacks on `check` with files of another worktree, or of none, whose links lead to secrets.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;
use skills_testkit::fixture::lay_out;

use super::{SECRET, Victim};
use crate::support::run;

/// Returns a note whose findings repeat the secret, because it is the name of an unknown field.
fn note_with_secret() -> String {
    format!(
        "---\nname: {SECRET}\n{SECRET}: 1\ndescription: Tells.\n---\n[it](.claude/skills/{SECRET}/SKILL.md)\n"
    )
}

/// Checks paths from several working directories, and asserts that no answer contains the secret.
#[track_caller]
fn assert_no_check_leaks(victim: &mut Victim, paths: &[PathBuf]) {
    let home = victim.live.home.path().to_path_buf();
    let other = victim.live.home.worktree("other", "//- /README.md\ntext\n");
    for cwd in [&other, &home, Path::new("/"), &victim.top.clone()] {
        for profile in ["claude-code", "agentskills"] {
            for path in paths {
                let params =
                    json!({"cwd": cwd, "profile": profile, "paths": [path], "fixAll": true});
                let checked = victim.live.wire.try_call("skills/check", &params);
                let answer = match checked {
                    Ok(answer) => answer.to_string(),
                    Err(error) => format!("{error:?}"),
                };
                assert!(!answer.contains(SECRET), "{}: {params}: {answer}", cwd.display());
            }
        }
        for path in paths {
            let path = path.to_str().expect("text");
            let output = run(&victim.live.home, cwd, &["check", path]);
            let text =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(!text.contains(SECRET), "{}: check {path}: {text}", cwd.display());
        }
    }
}

#[test]
fn check_from_another_directory_reads_no_linked_file() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    for name in ["telling.md", "telling.txt"] {
        lay_out(&home, &format!("//- /notes/{name}\n{}", note_with_secret()));
    }
    let mut paths = vec![victim.top.clone()];
    for (at, target) in [
        (".claude/skills/a/SKILL.md", "notes/telling.md"),
        (".claude/skills/b/SKILL.md", "notes/telling.txt"),
        (".claude/commands/c.md", "notes/telling.md"),
        ("CLAUDE.md", "notes/telling.md"),
        ("docs/AGENTS.md", "notes/telling.txt"),
    ] {
        victim.link(at, target);
        paths.push(victim.top.join(at));
    }
    assert_no_check_leaks(&mut victim, &paths);
}

#[test]
fn check_reads_no_link_that_replaced_a_file_after_its_view() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    lay_out(&home, &format!("//- /notes/telling.md\n{}", note_with_secret()));
    for round in 0..20 {
        let dir = victim.top.join(format!(".claude/skills/s{round}"));
        fs::create_dir_all(&dir).expect("created");
        let path = dir.join("SKILL.md");
        fs::write(&path, format!("---\nname: s{round}\ndescription: Plain.\n---\n"))
            .expect("written");
        let list = json!({"cwd": victim.top, "profile": "claude-code"});
        victim.live.wire.call("skills/list", &list);
        fs::remove_file(&path).expect("it is there");
        symlink(home.join("notes/telling.md"), &path).expect("linked");
        let params = json!({"cwd": victim.top, "profile": "claude-code", "paths": [path],
            "freshness": "cached", "fixAll": true});
        let answer = format!("{:?}", victim.live.wire.try_call("skills/check", &params));
        assert!(!answer.contains(SECRET), "{answer}");
    }
}

#[test]
fn check_from_another_directory_reads_no_linked_directory() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    // One of the directories is a worktree.
    for dir in ["plain", "private"] {
        lay_out(&home, &format!("//- /{dir}/SKILL.md\n{}", note_with_secret()));
        lay_out(&home, &format!("//- /{dir}/CLAUDE.md\n{}", note_with_secret()));
    }
    fs::create_dir(home.join("private/.git")).expect("made");
    let mut paths = vec![victim.top.clone()];
    for dir in ["plain", "private"] {
        let at = format!(".claude/skills/{dir}");
        victim.link(&at, dir);
        let at = victim.top.join(at);
        paths.extend([at.join("SKILL.md"), at.join("CLAUDE.md"), at]);
    }
    assert_no_check_leaks(&mut victim, &paths);
}

#[test]
fn check_of_an_unpacked_archive_reads_no_linked_file() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    lay_out(&home, &format!("//- /notes/telling.md\n{}", note_with_secret()));
    lay_out(&home, &format!("//- /telling\n{}", note_with_secret()));
    let archive = home.join("Downloads/archive");
    fs::create_dir_all(archive.join("skill")).expect("made");
    symlink(home.join("notes/telling.md"), archive.join("skill/SKILL.md")).expect("made");
    symlink(home.join("telling"), archive.join("CLAUDE.md")).expect("made");
    let paths = [archive.clone(), archive.join("skill/SKILL.md"), archive.join("CLAUDE.md")];
    assert_no_check_leaks(&mut victim, &paths);
}

#[test]
fn check_outside_of_git_reads_no_link_into_the_callers_directory() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    let downloads = home.join("Downloads");
    lay_out(&downloads, &format!("//- /taxes/telling.md\n{}", note_with_secret()));
    let skill = downloads.join("archive/skill/SKILL.md");
    fs::create_dir_all(skill.parent().expect("a parent")).expect("made");
    symlink(downloads.join("taxes/telling.md"), &skill).expect("made");
    symlink(downloads.join("taxes/telling.md"), downloads.join("archive/CLAUDE.md")).expect("made");
    let paths = [downloads.join("archive"), skill.clone(), downloads.join("archive/CLAUDE.md")];
    for cwd in [&downloads, &home] {
        for path in &paths {
            let params = json!({"cwd": cwd, "profile": "claude-code", "paths": [path]});
            let answer = format!("{:?}", victim.live.wire.try_call("skills/check", &params));
            assert!(!answer.contains(SECRET), "{}: {answer}", cwd.display());
        }
    }
    assert_no_check_leaks(&mut victim, &paths);
}

#[test]
fn linked_instructions_in_an_installed_skill_are_not_read() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    lay_out(&home, "//- /.claude/skills/s/SKILL.md\n---\nname: s\ndescription: Is fine.\n---\n");
    lay_out(&home, &format!("//- /telling\n{}", note_with_secret()));
    let at = home.join(".claude/skills/s/CLAUDE.md");
    symlink(home.join("telling"), &at).expect("made");
    assert_no_check_leaks(&mut victim, &[home.join(".claude"), at]);
}

#[test]
fn user_configuration_linked_to_dotfiles_is_checked_from_anywhere() {
    let mut victim = Victim::new("");
    let home = victim.live.home.path().to_path_buf();
    let text = "---\nname: mine\ncolour: red\ndescription: Is mine.\n---\nText.\n";
    lay_out(&home, &format!("//- /dotfiles/mine/SKILL.md\n{text}//- /dotfiles/command.md\n{text}"));
    lay_out(&home, "//- /dotfiles/CLAUDE.md\nUse the skill mine.\n");
    fs::create_dir_all(home.join(".claude/skills")).expect("made");
    fs::create_dir_all(home.join(".claude/commands")).expect("made");
    symlink(home.join("dotfiles/mine"), home.join(".claude/skills/mine")).expect("made");
    for (target, at) in [("command.md", "commands/mine.md"), ("CLAUDE.md", "CLAUDE.md")] {
        symlink(home.join("dotfiles").join(target), home.join(".claude").join(at)).expect("made");
    }
    let dir = home.join(".claude");
    for cwd in [&victim.top.clone(), &home, Path::new("/")] {
        // With a profile that does not list these files.
        let params = json!({"cwd": cwd, "profile": "codex",
            "paths": [dir, dir.join("skills/mine/SKILL.md"), dir.join("CLAUDE.md")]});
        let checked = victim.live.wire.call("skills/check", &params).to_string();
        assert!(checked.contains("colour"), "{}: {checked}", cwd.display());
        assert!(!checked.contains("link/outside"), "{}: {checked}", cwd.display());
    }
}
