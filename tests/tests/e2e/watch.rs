//! `skillsd watch`: changes printed as lines, also across a daemon restart.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;
use skills_client::spawn::HEAP_LIMITS;
use skills_testkit::Home;
use skills_testkit::daemon::{kill, listener};
use skills_testkit::fixture::write_skill;
use skills_testkit::wait::DEADLINE;

use crate::support::skillsd;

/// A running `skillsd watch` and its output lines.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(home: &Home, cwd: &Path, args: &[&str]) -> Self {
        let mut command = skillsd(home, &[&["watch"], args].concat());
        let mut child = command
            .current_dir(cwd)
            .stdout(Stdio::piped())
            .spawn()
            .expect("our program can be run");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            // Ends with the program or when the receiver is dropped.
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }

    #[track_caller]
    fn next(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line comes in time")
    }

    /// Returns the next line that contains all of `parts`; others are skipped.
    #[track_caller]
    fn line(&self, parts: &[&str]) -> String {
        loop {
            let line = self.next();
            if parts.iter().all(|it| line.contains(it)) {
                return line;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Both fail if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watch_prints_each_change_across_a_daemon_restart() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let skill = |name: &str| top.join(".agents/skills").join(name);
    write_skill(&skill("a"), "a", "first");
    let watch = Watch::start(&home, &top, &[]);
    assert!(watch.next().contains("watching"), "the first line says where");
    write_skill(&skill("b"), "b", "second");
    assert!(watch.line(&["b", "second"]).starts_with('+'));
    write_skill(&skill("b"), "b", "third");
    assert!(watch.line(&["b", "third"]).starts_with('~'));
    fs::write(skill("b").join("SKILL.md"), "---\nname: b\n---\n").expect("written");
    watch.line(&["✗", "b", "invalid", "description"]);
    // Changes made while no daemon runs are reported by the next one.
    let daemon = listener(&home.socket()).expect("a daemon listens");
    let environment = fs::read(format!("/proc/{daemon}/environ")).expect("our own process");
    for (name, value) in HEAP_LIMITS {
        let expected = format!("{name}={value}");
        assert!(environment.split(|it| *it == 0).any(|it| it == expected.as_bytes()), "{expected}");
    }
    kill(daemon);
    write_skill(&skill("c"), "c", "made meanwhile");
    fs::remove_dir_all(skill("a")).expect("it was there");
    watch.line(&["connected to a new daemon"]);
    let lines = [watch.next(), watch.next()];
    assert!(lines.iter().any(|it| it.starts_with("- a") && it.contains("removed")), "{lines:?}");
    assert!(lines.iter().any(|it| it.starts_with("+ c")), "{lines:?}");
    write_skill(&skill("d"), "d", "and live again");
    watch.line(&["+ d"]);
}

#[test]
fn watch_json_prints_the_list_then_differences() {
    let home = Home::new();
    let top = home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "first");
    let watch = Watch::start(&home, &top, &["--json"]);
    let value = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
    let whole = value(&watch.next());
    assert_eq!((&whole["fresh"], &whole["skills"][0]["name"]), (&true.into(), &"a".into()));
    write_skill(&top.join(".agents/skills/b"), "b", "second");
    let difference = value(&watch.line(&["\"second\""]));
    assert_eq!(difference["fresh"], false);
    assert_eq!(difference["skills"].as_array().map(Vec::len), Some(1), "{difference}");
    fs::write(top.join(".agents/skills/b/SKILL.md"), "---\nname: b\n---\n").expect("written");
    let event = value(&watch.line(&["skills/invalid"]));
    assert_eq!((&event["kind"], &event["name"]), (&"skills/invalid".into(), &"b".into()));
}

#[test]
fn watch_without_a_daemon_is_refused() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let output = crate::support::run(&home, &top, &["watch", "--no-daemon"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(crate::support::stderr(&output).contains("needs the daemon"));
}
