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

/// Returns the columns of a line; the wide characters of the fixture take two.
fn n_columns(line: &str) -> usize {
    line.chars().map(|it| if ('\u{3000}'..'\u{a000}').contains(&it) { 2 } else { 1 }).sum()
}

#[test]
fn list_and_search_fit_any_terminal_with_long_and_wide_names() {
    let home = Home::new();
    let names = [
        "a".to_owned(),
        "very-long-name-".repeat(4) + "end",
        "no_hyphen".repeat(12),
        "日本語の長い名前".repeat(5),
        "x".repeat(200),
    ];
    let skill = |dir: &str, name: &String| {
        let description = "Writes 報告書 about everything, at length. ".repeat(4);
        format!(
            "//- /{dir}/{name}/SKILL.md\n---\nname: {name}\ndescription: {description}Use it for a report.\n---\nBody.\n"
        )
    };
    let dirs = [".agents/skills", ".claude/skills", "packages/日本語/web/.claude/skills", "docs"];
    let tree = dirs.map(|dir| names.each_ref().map(|name| skill(dir, name)).concat()).concat();
    let broken = "//- /.claude/skills/broken-with-a-long-name-of-its-own/skill.md\n# None\n";
    let top = home.worktree("shop", &(tree + broken));
    for args in [
        &["list"][..],
        &["list", "--profile", "claude-code"],
        &["list", "--all", "--profile", "claude-code"],
        &["list", "--all", "--tokens", "--profile", "claude-code"],
        &["list", "--profile", "all"],
        &["list", "--all", "--tokens", "--profile", "all"],
        &["list", "--profile", "gemini-cli"],
        &["search", "report"],
        &["search", "nothing-of-this-kind"],
    ] {
        for columns in [60, 80, 120, 200] {
            for links in ["0", "1"] {
                let written = terminal_output(&home, &top, args, columns, links);
                let shown = written.replace('\r', "");
                let shown = without_links(&without_colors(&shown));
                assert!(shown.lines().count() > 2, "{args:?}: {written}");
                for line in shown.lines() {
                    let is_fit = n_columns(line.trim_end()) <= usize::from(columns);
                    assert!(is_fit, "{args:?} at {columns}: {line}");
                }
            }
        }
        let absolute = top.join(".claude").display().to_string();
        let shown = stdout(&run(&home, &top, args));
        assert!(!shown.contains(&absolute), "{args:?}: {shown}");
        assert!(!shown.contains("~/shop/.claude"), "{args:?}: {shown}");
    }
}

/// Removes the addresses of links from a text.
fn without_links(text: &str) -> String {
    let mut parts = text.split("\u{1b}]8;;");
    let first = parts.next().unwrap_or_default().to_owned();
    let shown = |it: &str| it.split_once("\u{1b}\\").map_or(String::new(), |it| it.1.to_owned());
    parts.fold(first, |text, it| text + &shown(it))
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
