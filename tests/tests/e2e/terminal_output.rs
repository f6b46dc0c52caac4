//! Command output on a terminal: width, colours, hyperlinks and progress.

use std::path::PathBuf;

use skills_testkit::{Home, Screen};

use crate::support::{exe, run, skillsd, stdout};

const TREE: &str = "//- /.agents/skills/commit/SKILL.md\n---\nname: commit\ndescription: Writes a commit \
message for the staged changes, in the style of the repository. Use when the user asks to commit.\n---\n\
//- /.claude/skills/a-skill-with-quite-a-long-name/SKILL.md\n---\nname: a-skill-with-quite-a-long-name\n---\n\
//- /.claude/skills/commit/SKILL.md\n---\nname: commit\ndescription: Commits.\n---\n";

fn fixture() -> (Home, PathBuf) {
    let home = Home::new();
    let top = home.worktree("shop", TREE);
    (home, top)
}

/// Returns everything that a command writes to a terminal of this width.
fn terminal_output(home: &Home, top: &PathBuf, args: &[&str], columns: u16, links: &str) -> String {
    let mut command = skillsd(home, args);
    command.current_dir(top).env("FORCE_HYPERLINK", links);
    let mut screen = Screen::start(&command, 50, columns);
    screen.wait();
    screen.written()
}

/// Removes colour sequences from a text.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
    rest.fold(first, |text, it| text + it.get(1..).unwrap_or_default())
}

#[test]
fn output_fits_the_terminal_width() {
    let (home, top) = fixture();
    for args in [
        &["list"][..],
        &["list", "--all"],
        &["list", "--profile", "all"],
        &["explain", "commit"],
        &["explain", "commit", "--profile", "all"],
        &["check"],
        &["search", "commit"],
        &["status"],
        &["doctor"],
    ] {
        for columns in [80, 140] {
            let written = terminal_output(&home, &top, args, columns, "0");
            assert!(written.contains("\u{1b}["), "{args:?} is not coloured: {written:?}");
            for line in without_colors(&written).lines() {
                // Socket paths are never truncated, so that they can be copied.
                let is_path = line.contains("v1.sock");
                let n_columns = line.trim_end().chars().count();
                assert!(is_path || n_columns <= usize::from(columns), "{args:?}: {line}");
            }
        }
    }
}

#[test]
fn paths_are_hyperlinks_when_the_terminal_supports_them() {
    let (home, top) = fixture();
    let file = format!("\u{1b}]8;;file://{}/.agents/skills/commit/SKILL.md\u{1b}\\", top.display());
    for args in [
        &["list"][..],
        &["list", "--profile", "agentskills,codex"],
        &["explain", "commit"],
        &["check", ".agents/skills"],
    ] {
        let linked = terminal_output(&home, &top, args, 100, "1");
        assert!(linked.contains(&file), "{linked:?}");
        let without = terminal_output(&home, &top, args, 100, "0");
        assert!(!without.contains("\u{1b}]8;"), "{without:?}");
        // The visible text is the same.
        let closing = linked.matches("\u{1b}]8;;\u{1b}\\").count();
        assert_eq!(linked.matches("\u{1b}]8;;file").count(), closing);
    }
    let mut piped = skillsd(&home, &["list", "--color", "always"]);
    let output = piped.current_dir(&top).env("FORCE_HYPERLINK", "1").output();
    let text = stdout(&output.expect("our program can be run"));
    assert!(text.contains("\u{1b}[") && !text.contains("\u{1b}]8;"), "{text:?}");
    assert!(!stdout(&run(&home, &top, &["list"])).contains('\u{1b}'));
}

#[test]
fn progress_is_shown_and_cleared() {
    let (home, top) = fixture();
    run(&home, &top, &["list"]);
    // A daemon that is paused and continues later.
    let daemon = skills_testkit::daemon::listener(&home.socket()).expect("it listens");
    let signal = |name: &str| {
        let status = std::process::Command::new("kill").arg(name).arg(daemon.to_string()).status();
        assert!(status.expect("kill can be run").success());
    };
    signal("-STOP");
    let mut command = home.command(exe());
    command.args(["list", "--color", "never"]).current_dir(&top);
    let mut screen = Screen::start(&command, 30, 100);
    screen.wait_for("reading the skills …");
    signal("-CONT");
    assert!(screen.wait().success());
    let text = screen.text();
    assert!(text.contains("2 skills") || text.contains("1 skill"), "{text}");
    assert!(!text.contains("reading the skills"), "{text}");
}
