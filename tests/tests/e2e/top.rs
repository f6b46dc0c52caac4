//! `skillsd top` on a terminal: what it shows and when.

use std::fs;
use std::path::PathBuf;

use skills_testkit::daemon::{kill, listener};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Home, Screen};

use crate::support::{run, skillsd, stderr, stdout};

const TREE: &str = "//- /.agents/skills/commit/SKILL.md\n---\nname: commit\ndescription: Commits.\n---\n\
//- /.claude/skills/docs/SKILL.md\n---\nname: docs\ndescription: Writes.\npaths: docs/**\n---\n\
//- /docs/a.md\nText.\n";

fn fixture() -> (Home, PathBuf) {
    let home = Home::new();
    let top = home.worktree("shop", TREE);
    (home, top)
}

#[test]
fn top_shows_touches_events_and_daemon_restarts() {
    let (home, top) = fixture();
    let mut screen = Screen::start(skillsd(&home, &["top"]).current_dir(&top), 40, 120);
    screen.wait_for("none is open; `skillsd list` opens one");
    assert!(screen.is_taken_over());
    assert!(screen.text().contains("q quit"), "{}", screen.text());

    run(&home, &top, &["touch", "docs/a.md", "--session", "talk-1", "--profile", "claude-code"]);
    let text = screen.wait_for("docs by ");
    assert!(text.contains("work/shop"), "{text}");
    assert!(text.contains("session/changed"), "{text}");
    assert!(text.contains("1 activated · 0 loaded"), "{text}");
    assert!(text.contains("docs by ") && text.contains("shop/docs/a.md in talk-1"), "{text}");

    write_skill(&top.join(".agents/skills/release"), "release", "Releases.");
    run(&home, &top, &["list", "--profile", "claude-code"]);
    // A skill of another view than the one followed.
    write_skill(&top.join(".claude/skills/triage"), "triage", "Triages.");
    run(&home, &top, &["list", "--profile", "claude-code"]);
    screen.wait_for("skills/changed");

    screen.resize(12, 60);
    // The last line of the former frame is on the smaller screen too.
    let text = screen.wait_for("Recent");
    assert!(text.lines().count() <= 12 && text.contains("q quit"), "{text}");
    screen.resize(40, 120);
    screen.wait_for("Activations");

    // `top` follows the next daemon, which restores the session.
    kill(listener(&home.socket()).unwrap());
    let text = screen.wait_for("none is open");
    assert!(text.contains("talk-1"), "{text}");
    screen.type_in("q");
    assert!(screen.wait().success());
    assert!(!screen.is_taken_over());
}

#[test]
fn top_shows_a_worktree_opened_by_a_call() {
    let (home, top) = fixture();
    let mut screen = Screen::start(skillsd(&home, &["top"]).current_dir(&top), 40, 120);
    screen.wait_for("none is open; `skillsd list` opens one");
    run(&home, &top, &["list"]);
    let text = screen.wait_for("work/shop");
    assert!(!text.contains("none is open"), "{text}");
    screen.type_in("q");
    assert!(screen.wait().success());
}

#[test]
fn top_honours_color_and_quits() {
    let (home, top) = fixture();
    run(&home, &top, &["list"]);
    let command = |color| {
        let mut command = skillsd(&home, &["top", "--color", color]);
        command.current_dir(&top);
        command
    };
    let is_colored = |text: &str| text.contains("\u{1b}[32m");
    let mut plain = Screen::start(&command("never"), 30, 100);
    let text = plain.wait_for("1 active");
    assert!(text.contains("Worktrees") && text.contains("1 conditional"), "{text}");
    plain.type_in("\u{3}");
    assert!(plain.wait().success());
    assert!(!is_colored(&plain.written()), "{:?}", plain.written());
    let mut colored = Screen::start(&command("always"), 30, 100);
    colored.wait_for("1 active");
    colored.type_in("q");
    assert!(colored.wait().success());
    assert!(is_colored(&colored.written()), "{:?}", colored.written());
}

#[test]
fn top_without_a_terminal_names_alternatives() {
    let (home, top) = fixture();
    for (args, hint) in [
        (&["top"][..], "skillsd watch"),
        (&["top", "--json"], "skillsd status --json"),
        (&["top", "--no-daemon"], "Leave out `--no-daemon`"),
    ] {
        let output = run(&home, &top, args);
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        assert!(stderr(&output).contains(hint), "{}", stderr(&output));
    }
    assert!(fs::metadata(home.socket()).is_err(), "no daemon was started");
}
