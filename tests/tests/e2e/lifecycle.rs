//! Lifecycle of daemons: started once, replaced when killed, stopped on request.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::json;
use skills_testkit::daemon::{is_gone, kill, listener, status};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Daemon, Framing, Home, Wire, wait_for};

use crate::editor::client::{Editor, full_capabilities};
use crate::support::{
    Live, assert_same, exe, listed, oracle, run, run_json, skillsd, stderr, stdout,
};

const ONE_SKILL: &str = "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\n";

#[test]
fn concurrent_clients_share_one_daemon() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let start = || -> Child {
        let mut command = skillsd(&home, &["list", "--json"]);
        command.current_dir(&top).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped()).spawn().expect("our program can be run")
    };
    let clients: Vec<Child> = (0..6).map(|_| start()).collect();
    for client in clients {
        let output = client.wait_with_output().expect("our child");
        assert!(output.status.success(), "{}", stderr(&output));
        let result = serde_json::from_slice(&output.stdout).expect("the result is JSON");
        assert_same(&listed(&result), &oracle(&home, &top, "agentskills"), &top, "agentskills");
    }
    assert_eq!(daemons_of(&home), 1);
}

/// Counts the daemons of `home`: processes with open files in its runtime directory.
fn daemons_of(home: &Home) -> usize {
    let run = home.runtime_dir();
    let opens = |process: &fs::DirEntry| {
        let fds = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        fds.filter_map(|fd| fs::read_link(fd.path()).ok()).any(|target| target.starts_with(&run))
    };
    fs::read_dir("/proc").expect("/proc is there").flatten().filter(opens).count()
}

#[test]
fn client_after_a_kill_gets_the_correct_list() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    for round in 0..3 {
        let result = run_json(&home, &top, &["list"]);
        assert_same(&listed(&result), &oracle(&home, &top, "agentskills"), &top, "agentskills");
        let pid = listener(&home.socket()).expect("the client left a daemon behind");
        kill(pid);
        write_skill(&top.join(format!(".claude/skills/n{round}")), &format!("n{round}"), "new");
    }
    assert!(home.socket().exists(), "a killed daemon leaves its socket");
    let result = run_json(&home, &top, &["list"]);
    assert_eq!(listed(&result).len(), 4);
}

/// Copies the program as one of version 0.0.0.
fn older_program(home: &Home) -> PathBuf {
    let program = fs::read(exe()).expect("our program can be read");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(version.len(), 5, "a version of another length moves everything behind it");
    let version = regex::bytes::Regex::new(&regex::escape(version)).expect("a pattern");
    let path = home.path().join("older-skillsd");
    fs::write(&path, version.replace_all(&program, &b"0.0.0"[..])).expect("a copy can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("it is ours");
    path
}

/// Runs a hook or server that connects to the daemon, and returns its standard error.
#[track_caller]
fn errors_of(home: &Home, top: &Path, args: &[&str]) -> String {
    let event = json!({"hook_event_name": "SessionStart", "session_id": "s", "cwd": top});
    let mut command = skillsd(home, args);
    command.current_dir(top).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("our program can be run");
    if args[0] == "hook" {
        write!(child.stdin.take().expect("piped"), "{event}").expect("it reads");
    }
    stderr(&child.wait_with_output().expect("our child"))
}

#[test]
fn hooks_and_servers_replace_an_older_daemon_or_report_it() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let older = older_program(&home);
    for args in [&["hook", "claude-code"][..], &["mcp"], &["lsp"]] {
        let started = home.command(&older).arg("list").current_dir(&top).output().expect("it runs");
        assert!(started.status.success(), "{}", stderr(&started));
        let pid = listener(&home.socket()).expect("the older program left a daemon behind");
        assert_eq!(status(&home.socket())["version"], "0.0.0");
        // Another client uses it.
        let wire = Wire::connect(&home.socket(), Framing::Header).expect("it listens");
        let errors = errors_of(&home, &top, args);
        assert!(errors.contains("the daemon is skillsd 0.0.0"), "{args:?}: {errors}");
        assert_eq!(listener(&home.socket()), Some(pid), "{args:?}");
        if args == ["lsp"] {
            let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
            editor.wait_for_method("window/showMessage");
        }
        drop(wire);
        wait_for("the end of the other connection", || {
            (status(&home.socket())["connections"] == 1).then_some(())
        });
        let errors = errors_of(&home, &top, args);
        assert!(errors.contains("the daemon was skillsd 0.0.0"), "{args:?}: {errors}");
        assert_ne!(listener(&home.socket()), Some(pid), "{args:?}");
        assert_eq!(errors_of(&home, &top, args), "", "{args:?}");
        run(&home, &top, &["stop"]);
    }
}

#[test]
fn daemon_takes_over_a_stale_socket() {
    let home = Home::new();
    let socket = home.socket();
    fs::create_dir(socket.parent().expect("it has one")).expect("a directory can be made");
    fs::set_permissions(socket.parent().expect("it has one"), fs::Permissions::from_mode(0o700))
        .expect("our directory takes a mode");
    drop(UnixListener::bind(&socket).expect("a socket can be bound"));
    assert!(socket.exists() && listener(&socket).is_none());
    let daemon = Daemon::start(&home, exe());
    assert_eq!(listener(&socket), Some(daemon.pid()));
}

#[test]
fn second_daemon_exits_and_names_the_first() {
    let live = Live::start();
    let output = run(&live.home, &live.home.work(), &["serve"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let (said, socket) = (stderr(&output), live.home.socket());
    for named in [&format!("process {}", live.daemon.pid()), socket.to_str().expect("plain")] {
        assert!(said.contains(named), "{named}: {said}");
    }
    assert_eq!(listener(&live.home.socket()), Some(live.daemon.pid()));
}

#[test]
fn socket_and_runtime_dir_are_private() {
    let live = Live::start();
    let socket = live.home.socket();
    let mode = |path: &std::path::Path| {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().expect("it has one")), 0o700);
}

#[test]
fn runtime_dir_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give a directory away");
        return;
    }
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let dir = home.runtime_dir().join("skillsd");
    fs::create_dir(&dir).expect("a directory can be made");
    chown(&dir, Some(65_534), None).expect("root can give it away");
    for command in ["serve", "list"] {
        let output = run(&home, &top, &[command]);
        assert!(!output.status.success(), "{command}: {}", stdout(&output));
        let message = home.redact(&stderr(&output));
        assert!(message.contains("$RUN/skillsd"), "{command}: {message}");
    }
    assert_eq!(listener(&home.socket()), None);
    assert_eq!(fs::read_dir(&dir).expect("it is there").count(), 0);
}

#[test]
fn world_writable_runtime_dir_is_refused() {
    let home = Home::new();
    let dir = home.runtime_dir().join("skillsd");
    fs::create_dir(&dir).expect("a directory can be made");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).expect("it takes a mode");
    let output = run(&home, &home.work(), &["serve"]);
    assert!(!output.status.success(), "{}", stdout(&output));
    assert!(home.redact(&stderr(&output)).contains("$RUN/skillsd"), "{}", stderr(&output));
}

#[test]
fn stop_ends_the_daemon_and_reports_when_none_runs() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    run_json(&home, &top, &["list"]);
    let pid = listener(&home.socket()).expect("the client left a daemon behind");
    let output = run(&home, &top, &["stop"]);
    assert!(output.status.success(), "{}", stderr(&output));
    wait_for("the stopped daemon to go", || is_gone(pid).then_some(()));
    assert_eq!(listener(&home.socket()), None);

    let output = run(&home, &top, &["stop"]);
    assert_eq!(listener(&home.socket()), None, "`stop` starts no daemon");
    let said = stdout(&output) + &stderr(&output);
    assert!(!said.trim().is_empty());
}

#[test]
fn shutdown_answers_before_the_daemon_exits() {
    let live = Live::start();
    let mut wire = live.daemon.connect(Framing::Lines);
    wire.call("server/shutdown", &json!({}));
    let Live { daemon, home, .. } = live;
    assert_eq!(daemon.wait(), Some(0));
    assert!(!home.socket().exists(), "it takes its socket with it");
}

#[test]
fn status_reports_pid_and_worktrees() {
    let mut live = Live::start();
    let top = live.home.worktree("w", ONE_SKILL);
    live.list_all(&top, "agentskills");
    let status = status(&live.home.socket());
    assert_eq!(status["pid"], live.daemon.pid());
    assert!(status.to_string().contains(top.to_str().expect("a plain path")), "{status}");
    assert!(Wire::connect(&live.home.socket(), Framing::Lines).is_ok());
}

#[test]
fn status_starts_no_daemon() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let output = run(&home, &top, &["status"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).starts_with("note: no daemon runs;"), "{}", stderr(&output));
    assert_eq!(run_json(&home, &top, &["status"])["socket"], serde_json::Value::Null);
    run(&home, &top, &["logs"]);
    assert_eq!(listener(&home.socket()), None);
}

#[test]
fn logs_show_a_daemon_without_standard_error_and_name_one_with_it() {
    let live = Live::start();
    let output = run(&live.home, live.home.path(), &["logs"]);
    let note = format!("note: the running daemon (process {}) logs to its", live.daemon.pid());
    assert!(stderr(&output).contains(&note), "{}", stderr(&output));

    // As launchd starts it.
    let home = Home::new();
    let mut command = skillsd(&home, &["serve"]);
    let mut daemon = command.stderr(Stdio::null()).spawn().expect("our program can be run");
    wait_for("the daemon", || listener(&home.socket()));
    let shown = wait_for("its log", || {
        let output = run(&home, home.path(), &["logs"]);
        assert!(!stderr(&output).contains("note:"), "{}", stderr(&output));
        Some(stdout(&output)).filter(|it| it.contains("listening"))
    });
    assert!(shown.contains(&daemon.id().to_string()), "{shown}");
    run(&home, home.path(), &["stop"]);
    assert!(daemon.wait().expect("our child").success());
}

#[test]
fn read_only_commands_run_without_a_daemon_that_cannot_be_started() {
    let home = Home::new();
    let top = home.worktree("w", ONE_SKILL);
    let run = |args: &[&str]| {
        // The kernel refuses new directories there, even for root.
        let mut command = skillsd(&home, args);
        command.current_dir(&top).env("SKILLSD_SOCKET", "/proc/skillsd/v1.sock");
        command.output().expect("our program can be run")
    };
    for args in [&["list"][..], &["explain", "a"], &["search", "d"], &["show", "a"], &["budget"]] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        let note = "note: no daemon can be started, so this command runs without one: failed to";
        assert_eq!(stderr(&output).matches(note).count(), 1, "{args:?}: {}", stderr(&output));
    }
    assert!(!run(&["sync"]).status.success(), "it needs the daemon");
    let claude = ["--profile", "claude-code"];
    for args in [
        &["new", "fresh"][..],
        &["link", "a", "--to", "claude-code"],
        &["disable", "fresh", "--yes"],
        &["enable", "fresh", "--yes"],
    ] {
        let output = run(&[args, &claude[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        let note = "note: no daemon can be started, so this command runs without one";
        assert_eq!(stderr(&output).matches(note).count(), 1, "{args:?}: {}", stderr(&output));
    }
    assert!(top.join(".claude/skills/fresh/SKILL.md").is_file());
    let said = stderr(&run(&["watch"]));
    assert!(said.contains("`watch` needs a daemon, and none can be started"), "{said}");
    assert!(said.contains("`skillsd doctor`"), "{said}");
}

#[test]
fn status_counts_equal_those_of_list_all() {
    let mut live = Live::start();
    let skill = |path: &str, more: &str| {
        format!(
            "//- /{path}/SKILL.md\n---\nname: {}\ndescription: d\n{more}---\nb\n",
            &path[path.len() - 1..]
        )
    };
    let tree = [
        skill(".agents/skills/a", ""),
        skill(".claude/skills/a", ""),
        skill(".claude/skills/b", "disable-model-invocation: true\n"),
        skill(".claude/skills/c", "paths: src/**\n"),
        skill(".gemini/skills/d", ""),
        "//- /.claude/skills/e/SKILL.md link=../../../../out/e.md\n".to_owned(),
        "//- /.agents/skills/f/SKILL.md\nNo frontmatter.\n".to_owned(),
    ];
    let top = live.home.worktree("w", &tree.concat());
    live.home.lay_out("//- /out/e.md\nOutside.\n");
    let mut states = BTreeSet::new();
    for profile in ["agentskills", "claude-code", "codex", "gemini-cli", "opencode"] {
        let mut listed = BTreeMap::new();
        for entry in live.list_all(&top, profile) {
            let state = entry["state"].as_str().expect("a state").to_owned();
            *listed.entry(state).or_insert(0) += 1;
        }
        let status = live.wire.call("server/status", &json!({}));
        let counted = status["worktrees"][0]["skills"].as_object().expect("counts");
        let counted =
            counted.iter().map(|(state, n)| (state.clone(), n.as_u64().expect("a number")));
        let counted: BTreeMap<_, _> = counted.filter(|(_, n)| *n > 0).collect();
        assert_eq!(counted, listed, "{profile}");
        states.extend(counted.into_keys());
    }
    for state in ["active", "hidden", "conditional", "refused", "untrusted", "invalid"] {
        assert!(states.contains(state), "no {state} skill: {states:?}");
    }
}

/// Starts our program with these words after a shell command, in which `$1` is a path in `home`.
fn start_after(home: &Home, shell: &str, words: &str) -> Child {
    let mut command = home.command("sh");
    let script = format!("{shell}; exec \"$0\" {words}");
    command.args(["-c", &script]).arg(exe()).arg(home.path().join("lock"));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("a shell can be run")
}

#[test]
fn servers_hold_no_descriptors_of_the_process_that_started_them() {
    let home = Home::new();
    let held = home.path().join("lock.held");
    let is_free = || File::open(home.path().join("lock")).is_ok_and(|it| it.try_lock().is_ok());
    for words in ["serve", "list", "lsp", "mcp"] {
        let mut child = start_after(&home, "exec 9>\"$1\"; flock 9; : > \"$1.held\"", words);
        wait_for("the shell to take the lock", || held.exists().then_some(()));
        fs::remove_file(&held).expect("it is ours");
        if words == "list" {
            assert!(child.wait().expect("our child").success());
            assert!(is_free(), "the started daemon holds the lock");
            listener(&home.socket()).expect("it started a daemon");
            continue;
        }
        wait_for(&format!("`{words}` to release the lock"), || is_free().then_some(()));
        assert_eq!(child.try_wait().expect("our child"), None, "{words}");
        child.kill().expect("our child");
        child.wait().expect("our child");
    }
}

/// Opens this many connections to a `serve` with a limit of descriptors; returns what each reads
/// after a call of `server/status`.
fn answers_with_limit(limit: &str, connections: usize) -> Vec<String> {
    let home = Home::new();
    let mut child = start_after(&home, limit, "serve");
    wait_for("the daemon to listen", || UnixStream::connect(home.socket()).ok());
    let ask = |_| {
        let mut stream = UnixStream::connect(home.socket()).expect("the daemon listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a valid time");
        // Fails if the daemon has refused the connection; then its answer is there.
        let _ = stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/status\"}\n");
        let mut answer = [0; 4096];
        let length = stream.read(&mut answer).expect("an answer comes in time");
        (stream, String::from_utf8_lossy(&answer[..length]).into_owned())
    };
    let (_open, answers): (Vec<_>, Vec<_>) = (0..connections).map(ask).unzip();
    child.kill().expect("our child");
    child.wait().expect("our child");
    answers
}

#[test]
fn low_limit_of_open_files_is_raised_or_lowers_the_limit_of_connections() {
    let answers = answers_with_limit("ulimit -Sn 64", 100);
    assert!(answers.iter().all(|it| it.contains("\"result\"")), "{answers:?}");
    let answers = answers_with_limit("ulimit -n 64", 40);
    let (served, refused): (Vec<_>, Vec<_>) =
        answers.iter().partition(|it| it.contains("\"result\""));
    assert!(served.len() >= 4 && refused.len() > 20, "{answers:?}");
    assert!(refused.iter().all(|it| it.contains("-32010")), "{answers:?}");
}

#[test]
fn command_says_that_it_waits_for_a_daemon_that_starts_slowly() {
    let home = Home::new();
    let top = home.worktree("w", "");
    let lock = home.socket().with_file_name("v1.start.lock");
    let dir = lock.parent().expect("a directory");
    fs::create_dir(dir).expect("it can be made");
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).expect("it is ours");
    // The holder of the lock starts the daemon.
    let holder = File::create(&lock).expect("it can be made");
    holder.lock().expect("it is free");
    let mut command = skillsd(&home, &["list"]);
    let child = command.current_dir(&top).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it can be run");
    std::thread::sleep(Duration::from_secs(3));
    drop(holder);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", stderr(&output));
    let note =
        "note: waiting for the daemon to start and accept a connection; times out after 10 s";
    assert!(stderr(&output).contains(note), "{}", stderr(&output));
}
