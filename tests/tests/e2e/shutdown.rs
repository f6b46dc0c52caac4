//! Daemon exit: when idle, on a signal or by `stop`, and the files that remain.

use std::fs;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use skills_testkit::daemon::{is_gone, listener, status};
use skills_testkit::{Daemon, Framing, Home, Wire, wait_for};

use crate::configuration::configure;
use crate::support::{exe, run, run_json, stderr, stdout};

const ONE_SKILL: &str = "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\n";

#[test]
fn signalled_daemon_answers_and_removes_its_socket() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::new();
        let top = home.worktree("w", ONE_SKILL);
        let daemon = Daemon::start(&home, exe());
        let mut idle = UnixStream::connect(home.socket()).expect("it listens");
        let mut busy = daemon.connect(Framing::Lines);
        busy.call("skills/list", &json!({"cwd": top}));
        let pid = i32::try_from(daemon.pid()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, signal).expect("our child");
        assert_eq!(daemon.wait(), Some(0), "{signal:?}");
        assert_eq!(idle.read(&mut [0]).expect("the end, not an error"), 0);
        assert!(!home.socket().exists(), "it takes its socket with it");
        let left: Vec<_> = fs::read_dir(home.runtime_dir().join("skillsd"))
            .expect("the directory stays")
            .flatten()
            .map(|file| file.file_name())
            .collect();
        assert_eq!(left, ["v1.lock"], "only the lock stays");
    }
}

#[test]
fn idle_daemon_exits_unless_a_worktree_is_open() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    configure(&home, "daemon.idle_exit = 1\n");
    run_json(&home, &top, &["list"]);
    let pid = listener(&home.socket()).expect("the command left a daemon behind");
    wait_for("the idle daemon to go", || is_gone(pid).then_some(()));
    assert!(!home.socket().exists(), "it takes its socket with it");

    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Lines);
    wire.call("worktree/open", &json!({"cwd": top}));
    // Waits twice the idle time.
    drop(wire);
    std::thread::park_timeout(std::time::Duration::from_secs(2));
    assert_eq!(listener(&home.socket()), Some(daemon.pid()));
    let mut wire = daemon.connect(Framing::Lines);
    wire.call("worktree/close", &json!({"cwd": top}));
    drop(wire);
    assert_eq!(daemon.wait(), Some(0));
}

#[test]
fn foreground_daemon_stays_running() {
    let home = Home::new();
    let daemon = Daemon::start(&home, exe());
    assert_eq!(status(&home.socket())["config"]["state"], "absent");
    assert_eq!(listener(&home.socket()), Some(daemon.pid()));
}

#[test]
fn stop_kills_a_hung_daemon() {
    let home = Home::new();
    let daemon = Daemon::start(&home, exe());
    let pid = i32::try_from(daemon.pid()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::STOP).expect("our child");
    let output = run(&home, &home.work(), &["stop"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("SIGKILL") && said.contains(&daemon.pid().to_string()), "{said}");
    assert_eq!(daemon.wait(), None, "a signal ended it");
}

#[test]
fn daemon_at_its_connection_limit_answers_status_and_stop() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    configure(&home, "limits.connections = 4\n");
    let fill = |n: usize| -> Vec<Wire> {
        let connect = |_| Wire::connect(&home.socket(), Framing::Lines).expect("it listens");
        (0..n).map(connect).collect()
    };
    let daemon = Daemon::start(&home, exe());
    let full = fill(4);
    let output = run(&home, &top, &["list"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("limits.connections"), "{}", stderr(&output));
    assert_eq!(run(&home, &top, &["status"]).status.code(), Some(0));
    let output = run(&home, &top, &["stop"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(daemon.wait(), Some(0));
    drop(full);

    // With the reserved connections taken too, `stop` falls back to a signal.
    let daemon = Daemon::start(&home, exe());
    let _full = fill(12);
    let output = run(&home, &top, &["stop"]);
    assert!(output.status.success(), "{}", stderr(&output));
    // On a slow machine a reserved connection may become free before `stop` falls back.
    let said = stdout(&output);
    assert!(said.contains("SIGTERM") || said.contains("skillsd has stopped"), "{said}");
    assert_eq!(daemon.wait(), Some(0));
}

#[track_caller]
fn assert_exits_after(change: impl FnOnce(&Path)) {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let daemon = Daemon::start(&home, exe());
    // The daemon accepts connections before it is ready; ending it earlier could count as a failed
    // start.
    status(&home.socket());
    change(&home.socket());
    // The next client is served at once by a new daemon, and the unreachable one exits.
    assert_eq!(run_json(&home, &top, &["list"])["skills"].as_array().map(Vec::len), Some(1));
    let next = listener(&home.socket()).expect("a daemon listens");
    assert_ne!(next, daemon.pid());
    assert_eq!(daemon.wait(), Some(0));
    assert_eq!(listener(&home.socket()), Some(next), "its end takes nothing from the next");
    let mut wire = Wire::connect(&home.socket(), Framing::Lines).expect("it listens");
    let health = wire.call("skills/list", &json!({"cwd": top}))["health"].clone();
    assert_eq!(health, json!([]), "the next still hears of changes");
}

#[test]
fn daemon_exits_when_its_socket_or_directory_is_removed() {
    assert_exits_after(|socket| fs::remove_file(socket).expect("it is there"));
    assert_exits_after(|socket| {
        fs::remove_dir_all(socket.parent().expect("it has one")).expect("it is there");
    });
}
