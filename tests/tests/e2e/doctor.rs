//! `skillsd doctor` on setups with one fault each: it reports that fault and no other.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use skills_testkit::daemon::listener;
use skills_testkit::{Daemon, Home, wait_for};

use crate::support::{exe, run, run_json, skillsd, stderr, stdout};

const ONE_SKILL: &str = "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\n";

/// A home with a worktree, in which a test causes a fault.
struct DoctorFixture {
    home: Home,
    top: PathBuf,
}

impl DoctorFixture {
    fn new() -> DoctorFixture {
        DoctorFixture::of(Home::new())
    }

    fn of(home: Home) -> DoctorFixture {
        let top = home.worktree("w", ONE_SKILL);
        DoctorFixture { home, top }
    }

    fn directory(&self) -> PathBuf {
        self.home.runtime_dir().join("skillsd")
    }

    fn make_directory(&self) -> PathBuf {
        let directory = self.directory();
        fs::create_dir(&directory).expect("a directory can be made");
        set_mode(&directory, 0o700);
        directory
    }

    fn findings(&self, args: &[&str]) -> Vec<Value> {
        let result = run_json(&self.home, &self.top, &[&["doctor"], args].concat());
        result["findings"].as_array().expect("a list").clone()
    }

    /// Asserts that exactly these findings are reported, each with a hint.
    #[track_caller]
    fn check(&self, codes: &[&str]) {
        let findings = self.findings(&[]);
        let found: Vec<_> = findings.iter().filter_map(|it| it["code"].as_str()).collect();
        assert_eq!(found, codes, "{findings:#?}");
        for finding in &findings {
            assert!(finding["hint"].as_str().is_some_and(|it| it.ends_with('.')), "{finding}");
        }
        let output = run(&self.home, &self.top, &["doctor"]);
        assert_eq!(output.status.code(), Some(i32::from(!codes.is_empty())), "{}", stderr(&output));
        for code in codes {
            assert!(stdout(&output).contains(&format!("[{code}]")), "{}", stdout(&output));
        }
    }

    /// Asserts that `--fix` repairs all findings and reports it.
    #[track_caller]
    fn check_fix(&self) {
        let findings = self.findings(&["--fix"]);
        assert!(!findings.is_empty());
        assert!(findings.iter().all(|it| it["fixed"].is_string()), "{findings:#?}");
        self.check(&[]);
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours takes a mode");
}

fn bind(socket: &Path) -> UnixListener {
    let listener = UnixListener::bind(socket).expect("a socket can be bound");
    set_mode(socket, 0o600);
    listener
}

#[test]
fn doctor_finds_nothing_and_starts_no_daemon_in_a_healthy_setup() {
    let fixture = DoctorFixture::new();
    fixture.check(&[]);
    assert_eq!(listener(&fixture.home.socket()), None, "`doctor` starts no daemon");
    let _daemon = Daemon::start(&fixture.home, exe());
    fixture.check(&[]);
    let output = run(&fixture.home, &fixture.top, &["doctor"]);
    assert!(stdout(&output).contains("is running at"), "{}", stdout(&output));
}

#[test]
fn doctor_fixes_a_world_writable_runtime_dir() {
    let fixture = DoctorFixture::new();
    set_mode(&fixture.make_directory(), 0o777);
    fixture.check(&["directory-open"]);
    fixture.check_fix();
}

#[test]
fn doctor_reports_a_file_at_the_runtime_dir() {
    let fixture = DoctorFixture::new();
    fs::write(fixture.directory(), "").expect("a file can be written");
    fixture.check(&["directory-not-one"]);
}

#[test]
fn doctor_reports_a_runtime_dir_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give a directory away");
        return;
    }
    let fixture = DoctorFixture::new();
    chown(fixture.make_directory(), Some(65_534), None).expect("root can");
    fixture.check(&["directory-foreign"]);
}

#[test]
fn doctor_fixes_a_stale_socket() {
    let fixture = DoctorFixture::new();
    fixture.make_directory();
    drop(bind(&fixture.home.socket()));
    fixture.check(&["socket-stale"]);
    fixture.check_fix();
    assert!(!fixture.home.socket().exists());
}

#[test]
fn doctor_reports_and_keeps_a_file_at_the_socket_path() {
    let fixture = DoctorFixture::new();
    fixture.make_directory();
    fs::write(fixture.home.socket(), "precious").expect("a file can be written");
    fixture.check(&["socket-not-one"]);
    fixture.findings(&["--fix"]);
    assert_eq!(fs::read_to_string(fixture.home.socket()).expect("kept"), "precious");
}

#[test]
fn doctor_fixes_a_world_writable_socket() {
    let fixture = DoctorFixture::new();
    let _daemon = Daemon::start(&fixture.home, exe());
    set_mode(&fixture.home.socket(), 0o666);
    fixture.check(&["socket-open"]);
    fixture.check_fix();
}

#[test]
fn doctor_reports_a_silent_daemon() {
    let fixture = DoctorFixture::new();
    fixture.make_directory();
    let _deaf = bind(&fixture.home.socket());
    let findings = fixture.findings(&[]);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0]["code"], "daemon-silent");
}

/// Answers every request like a daemon with this version and protocol.
fn serve_fake_daemon(socket: &Path, version: &'static str, protocol: &'static str) {
    let listener = bind(socket);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The client may hang up early.
            let _ = answer_initialize(&stream, version, protocol);
        }
    });
}

fn answer_initialize(stream: &UnixStream, version: &str, protocol: &str) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
        let length = head.trim().trim_start_matches("Content-Length: ").parse::<usize>();
        // Includes the empty line that precedes the body.
        let mut body = vec![0; length.expect("a head") + 2];
        reader.read_exact(&mut body)?;
        let call: Value = serde_json::from_slice(&body).expect("a call");
        let result = json!({
            "serverInfo": {"name": "skillsd", "version": version},
            "protocolVersion": protocol, "capabilities": {}, "limits": {}, "bootId": "b",
        });
        let answer = json!({"jsonrpc": "2.0", "id": call["id"], "result": result}).to_string();
        write!(&*stream, "Content-Length: {}\r\n\r\n{answer}", answer.len())?;
    }
}

#[test]
fn doctor_and_commands_report_another_protocol_version() {
    let fixture = DoctorFixture::new();
    fixture.make_directory();
    serve_fake_daemon(&fixture.home.socket(), "9.0.0", "9.0");
    fixture.check(&["protocol-version"]);
    let output = run(&fixture.home, &fixture.top, &["list"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("skillsd stop"), "{}", stderr(&output));
}

#[test]
fn doctor_reports_a_daemon_of_another_version() {
    let fixture = DoctorFixture::new();
    fixture.make_directory();
    serve_fake_daemon(&fixture.home.socket(), "0.0.1", "1.0");
    let findings = fixture.findings(&[]);
    let found = findings.iter().find(|it| it["code"] == "daemon-version");
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(found["message"].as_str().is_some_and(|it| it.contains("0.0.1")), "{found}");
    assert!(found["hint"].as_str().is_some_and(|it| it.contains("skillsd stop")), "{found}");
}

#[test]
fn doctor_says_how_to_update_a_service_that_runs_another_program() {
    let fixture = DoctorFixture::new();
    fixture.make_directory();
    serve_fake_daemon(&fixture.home.socket(), "0.0.1", "1.0");
    let hint = || {
        let findings = fixture.findings(&[]);
        let found = findings.iter().find(|it| it["code"] == "daemon-version");
        found.unwrap_or_else(|| panic!("{findings:#?}"))["hint"].to_string()
    };
    // No command started the daemon.
    assert!(
        hint().contains("If a service runs it, run `skillsd install --only units`"),
        "{}",
        hint()
    );
    let units = fixture.home.config_dir().join("systemd/user");
    fs::create_dir_all(&units).expect("a directory can be made");
    fs::write(units.join("skillsd.service"), "[Service]\nExecStart=/bin/sh serve\n")
        .expect("written");
    assert!(hint().contains("so that the service starts this version"), "{}", hint());
}

#[test]
fn doctor_reports_mistakes_in_the_user_configuration() {
    let fixture = DoctorFixture::new();
    let directory = fixture.home.config_dir().join("skillsd");
    fs::create_dir(&directory).expect("a directory can be made");
    fs::write(directory.join("config.toml"), "[log]\nlevle = \"debug\"\n").expect("written");
    fixture.check(&["config"]);
    let message = fixture.findings(&[])[0]["message"].to_string();
    assert!(message.contains("line 2, column 1") && message.contains("`log.level`"), "{message}");
    // A running daemon reports the same.
    let _daemon = Daemon::start(&fixture.home, exe());
    fixture.check(&["config"]);
}

#[test]
fn doctor_reports_mistakes_in_the_repository_configuration() {
    let fixture = DoctorFixture::new();
    fs::write(fixture.top.join(".skillsd.toml"), "daemon.idle_exit = 1\n").expect("written");
    // The check reads the repository's configuration even if no call does.
    fixture.check(&["config"]);
}

#[test]
fn doctor_reports_an_unreadable_root() {
    let root = rustix::process::geteuid().is_root();
    let fixture = DoctorFixture::of(if root { Home::owned_by(65_534) } else { Home::new() });
    set_mode(&fixture.top.join(".agents/skills"), if root { 0o700 } else { 0o000 });
    let findings = fixture.findings(&[]);
    let found = findings.iter().find(|it| it["code"] == "root-unreadable");
    let found = found.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(found["path"].as_str().is_some_and(|it| it.ends_with(".agents/skills")), "{found}");
    set_mode(&fixture.top.join(".agents/skills"), 0o755);
}

#[test]
fn doctor_reports_two_daemons_for_one_socket() {
    let fixture = DoctorFixture::new();
    let first = Daemon::start(&fixture.home, exe());
    let pid = i32::try_from(first.pid()).ok().and_then(Pid::from_raw).expect("a process");
    // Stopped, so that it does not notice the removal and exit.
    kill_process(pid, Signal::STOP).expect("our child");
    fs::remove_dir_all(fixture.directory()).expect("it is there");
    let second = Daemon::start(&fixture.home, exe());
    let findings = fixture.findings(&[]);
    kill_process(pid, Signal::CONT).expect("our child");
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0]["code"], "daemons-many");
    let message = findings[0]["message"].to_string();
    assert!(message.contains(&first.pid().to_string()), "{message}");
    assert!(message.contains(&second.pid().to_string()), "{message}");
    assert_eq!(first.wait(), Some(0), "the unreachable daemon exits");
}

#[test]
fn doctor_reports_an_open_or_unwritable_state_dir() {
    let fixture = DoctorFixture::new();
    let directory = fixture.home.state_dir().join("skillsd");
    fs::create_dir(&directory).expect("a directory can be made");
    set_mode(&directory, 0o755);
    fixture.check(&["state-open"]);
    fixture.check_fix();
    set_mode(&directory, 0o500);
    fixture.check(&["state-unwritable"]);
    // A directory that does not exist and cannot be created.
    fs::remove_dir(&directory).expect("it is empty");
    set_mode(&fixture.home.state_dir(), 0o500);
    fixture.check(&["state-unwritable"]);
}

#[test]
fn doctor_reports_and_removes_a_damaged_store() {
    let fixture = DoctorFixture::new();
    let directory = fixture.home.state_dir().join("skillsd");
    let touch = ["touch", ".agents/skills/a/SKILL.md", "--session", "s"];
    run(&fixture.home, &fixture.top, &touch);
    run(&fixture.home, &fixture.top, &["stop"]);
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&directory).expect("it is there").flatten();
        entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
    };
    // `stop` returns when the socket is free; the store closes slightly later.
    wait_for("the daemon's last line", || {
        let log = names().into_iter().find(|it| it.contains(".log"))?;
        let text = fs::read_to_string(directory.join(log)).ok()?;
        text.contains("INFO ended").then_some(())
    });
    for name in names().iter().filter(|it| it.contains(".db")) {
        fs::write(directory.join(name), "no database at all").expect("it can be written");
    }
    run(&fixture.home, &fixture.top, &touch);
    run(&fixture.home, &fixture.top, &["stop"]);
    // SQLite's `-wal` and `-shm` files are moved with the store if they exist.
    let is_store =
        |it: &String| it.contains(".db.damaged-") && !it.ends_with("-wal") && !it.ends_with("-shm");
    let aside = names().into_iter().find(is_store).expect("set aside");
    let aside = [aside.clone(), format!("{aside}-shm"), format!("{aside}-wal")];
    for name in &aside {
        fs::write(directory.join(name), "").expect("it can be written");
    }
    fixture.check(&["store-aside"]);
    let hint = fixture.findings(&[])[0]["hint"].as_str().expect("a hint").to_owned();
    assert!(aside.iter().all(|it| hint.contains(&format!("/{it}`"))), "{hint}: {aside:?}");
    fixture.check_fix();
    assert!(!names().iter().any(|it| it.contains("damaged")), "{:?}", names());
    assert!(names().iter().any(|it| it.contains(".db")), "what counts stays: {:?}", names());
}

#[test]
fn doctor_reports_an_invalid_socket_path() {
    let fixture = DoctorFixture::new();
    let mut command = skillsd(&fixture.home, &["doctor", "--json"]);
    command.current_dir(&fixture.top).env("SKILLSD_SOCKET", "relative.sock");
    let output = command.output().expect("our program can be run");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["findings"][0]["code"], "no-socket-path", "{result}");
    assert_eq!(result["socket"], Value::Null);
}

#[test]
fn doctor_reports_an_unwritable_runtime_dir() {
    let fixture = DoctorFixture::new();
    set_mode(&fixture.make_directory(), 0o500);
    fixture.check(&["directory-unwritable"]);
    set_mode(&fixture.directory(), 0o700);
    fixture.check(&[]);
}

#[test]
fn doctor_reports_invalid_skills() {
    let fixture = DoctorFixture::new();
    fixture.home.lay_out("//- /w/.agents/skills/bad/SKILL.md\n---\nname: bad\n---\nb\n");
    fixture.check(&["skills-invalid"]);
}

#[test]
fn doctor_names_the_check_that_finds_an_invalid_skill_above_the_working_directory() {
    let mut fixture = DoctorFixture::new();
    fixture.home.lay_out("//- /w/.agents/skills/bad/SKILL.md\n---\nname: bad\n---\nb\n");
    fixture.top.push("sub");
    fs::create_dir(&fixture.top).expect("it can be made");
    fixture.check(&["skills-invalid"]);
    let hint = fixture.findings(&[])[0]["hint"].as_str().expect("a hint").to_owned();
    let command = hint.strip_prefix("Run `skillsd ").and_then(|it| it.split_once('`'));
    let (command, _) = command.expect("a command");
    let args: Vec<_> = command.split(' ').collect();
    let output = run(&fixture.home, &fixture.top, &args);
    assert_eq!(output.status.code(), Some(1), "{hint}");
    assert!(stdout(&output).contains("description"), "{}", stdout(&output));
}

#[test]
fn doctor_shows_registrations_and_reports_stale_ones() {
    let home = Home::new();
    home.lay_out("//- /home/.codex/AGENTS.md\nMine.\n");
    let fixture = DoctorFixture::of(home);
    let doctor = || stdout(&run(&fixture.home, &fixture.top, &["doctor"]));
    let absent = "○ not registered: Codex hooks; run `skillsd install --agent codex`\n";
    assert!(doctor().contains(absent), "{}", doctor());
    fixture.check(&[]);
    let install = ["install", "--yes", "--agent", "codex", "--only", "hooks,mcp"];
    assert!(run(&fixture.home, &fixture.top, &install).status.success());
    fixture.check(&[]);
    assert!(doctor().contains("● registered: Codex hooks in ~/.codex/hooks.json\n"));
    assert!(doctor().contains("● registered: Codex MCP server in ~/.codex/config.toml\n"));

    let codex = fixture.home.path().join(".codex");
    let edit = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(codex.join(name)).expect("a file");
        assert!(text.contains(from), "{text}");
        fs::write(codex.join(name), text.replace(from, to)).expect("a file can be written");
    };
    // Only a program of this name is ours.
    let program = fixture.home.path().join("skillsd");
    symlink(exe(), &program).expect("a link can be made");
    edit("config.toml", &exe().display().to_string(), &program.display().to_string());
    fixture.check(&[]);
    edit("config.toml", ", \"--profile\", \"codex\"", "");
    fixture.check(&["registration-stale"]);
    edit("config.toml", "[\"mcp\"]", "[\"mcp\", \"--profile\", \"codex\"]");
    edit("hooks.json", &exe().display().to_string(), "/nowhere/skillsd");
    fixture.check(&["registration-broken"]);
    edit("hooks.json", "/nowhere/skillsd", "'/no where/skillsd'");
    fixture.check(&["registration-broken"]);
    edit("hooks.json", "{", "[");
    fixture.check(&["registration-unreadable"]);
}

#[test]
fn doctor_reports_a_broken_settings_file_once_and_registers_nothing() {
    for files in [
        "//- /home/.gemini/settings.json\n{\"a\":\n",
        "//- /home/.claude/settings.json\n{} // mine\n",
    ] {
        let home = Home::new();
        home.lay_out(files);
        let fixture = DoctorFixture::of(home);
        fixture.check(&["agent-settings"]);
        let text = stdout(&run(&fixture.home, &fixture.top, &["doctor"]));
        assert!(text.contains("● cannot tell whether ") && !text.contains("registered"), "{text}");
    }
}

#[test]
fn doctor_reports_a_plugin_of_another_version_but_not_an_edited_one() {
    let home = Home::new();
    home.lay_out("//- /home/.config/opencode/opencode.json\n{}\n");
    let fixture = DoctorFixture::of(home);
    let install = ["install", "--yes", "--agent", "opencode", "--only", "hooks"];
    assert!(run(&fixture.home, &fixture.top, &install).status.success());
    fixture.check(&[]);
    let plugin = fixture.home.path().join(".config/opencode/plugins/skillsd.js");
    let record = fixture.home.state_dir().join("skillsd/installed.json");
    let edit = |file: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(file).expect("a file");
        assert!(text.contains(from), "{text}");
        fs::write(file, text.replace(from, to)).expect("a file can be written");
    };
    edit(&plugin, "TIMEOUT_MS = 6000", "TIMEOUT_MS = 5000");
    fixture.check(&[]);
    edit(&record, "TIMEOUT_MS = 6000", "TIMEOUT_MS = 5000");
    fixture.check(&["registration-stale"]);
    edit(&plugin, &exe().display().to_string(), "/nowhere/skillsd");
    fixture.check(&["registration-broken"]);
}

#[test]
fn doctor_reports_another_program_of_the_name_in_path() {
    let fixture = DoctorFixture::new();
    let bin = fixture.home.path().join("bin");
    fs::create_dir(&bin).expect("a directory can be made");
    fs::write(bin.join("skillsd"), "#!/bin/sh\n").expect("a file can be written");
    set_mode(&bin.join("skillsd"), 0o755);
    let mut command = skillsd(&fixture.home, &["doctor"]);
    let output = command.current_dir(&fixture.top).env("PATH", &bin).output().expect("it runs");
    assert!(stdout(&output).contains("[path-shadowed]"), "{}", stdout(&output));
}
