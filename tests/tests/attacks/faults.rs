//! Faults while the daemon runs: removed state directories, exhausted descriptors, changed
//! permissions.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Daemon, Framing, Home, Wire};

use crate::support::{Live, entries, exe, stderr};

/// The daemon's user if root runs the tests, because root ignores file modes.
const NOBODY: u32 = 65_534;

/// A daemon, a consent connection, and two worktrees.
struct FaultFixture {
    consent: Wire,
    live: Live,
    first: PathBuf,
    second: PathBuf,
}

impl FaultFixture {
    fn new() -> Self {
        let live = Live::start();
        let [first, second] = ["a", "b"].map(|name| live.home.worktree(name, ""));
        let consent = live.daemon.connect_consent(Framing::Lines);
        let mut fixture = Self { consent, live, first, second };
        fixture.trust("a").expect("it is kept");
        fixture
    }

    fn state(&self) -> PathBuf {
        self.live.home.state_dir().join("skillsd")
    }

    fn trust(&mut self, name: &str) -> Result<Value, i64> {
        let dir = self.live.home.work().join(name);
        let set = self.consent.try_call("trust/set", &json!({"dir": dir, "trusted": true}));
        set.map_err(|error| error.code)
    }

    fn is_trusted(&mut self, dir: &Path) -> bool {
        self.live.wire.call("trust/get", &json!({"dir": dir}))["trusted"] == true
    }

    /// Returns the health messages about the store.
    fn store_health(&mut self) -> String {
        let status = self.live.wire.call("server/status", &json!({}));
        let health = status["health"].as_array().expect("a list").clone();
        let told = health.iter().filter(|it| it["code"] == "store").map(|it| it["message"].clone());
        told.map(|it| it.as_str().expect("a text").to_owned()).collect::<Vec<_>>().join("; ")
    }

    /// Kills the daemon and starts the next one.
    fn restart(self) -> Self {
        let Self { consent, live: Live { wire, daemon, home }, first, second } = self;
        drop((consent, wire));
        daemon.kill();
        let live = Live::start_in(home);
        let consent = live.daemon.connect_consent(Framing::Lines);
        Self { consent, live, first, second }
    }
}

#[test]
fn state_dir_removed_while_running_is_reported_and_later_grants_persist() {
    let mut fixture = FaultFixture::new();
    fs::remove_dir_all(fixture.state()).expect("it is ours");
    // The next start does not know the grant, so neither does this process.
    let first = fixture.first.clone();
    assert!(!fixture.is_trusted(&first));
    let told = fixture.store_health();
    assert!(told.contains("was removed while skillsd ran"), "{told}");
    fixture.trust("b").expect("it is kept");
    let mut fixture = fixture.restart();
    let (first, second) = (fixture.first.clone(), fixture.second.clone());
    assert_eq!((fixture.is_trusted(&first), fixture.is_trusted(&second)), (false, true));
}

#[test]
fn state_dir_removed_before_each_answer_loses_no_acknowledged_grant() {
    let mut fixture = FaultFixture::new();
    for nth in 0..5 {
        fs::remove_dir_all(fixture.state()).expect("it is ours");
        let name = format!("w{nth}");
        let top = fixture.live.home.worktree(&name, "");
        fixture.trust(&name).expect("it is kept");
        fixture = fixture.restart();
        assert!(fixture.is_trusted(&top), "{nth}");
    }
}

#[test]
fn replaced_state_file_is_reported_and_used() {
    let mut fixture = FaultFixture::new();
    let file = fixture.state().join("sessions.db");
    let kept = fixture.live.home.work().join("other.db");
    // A file of the same version without trust, from another home.
    let other = FaultFixture::new();
    let mut gone = other.restart();
    let second = gone.second.clone();
    gone.consent.call("trust/set", &json!({"dir": second, "trusted": false}));
    fs::copy(gone.state().join("sessions.db"), &kept).expect("it is there");
    fs::rename(&kept, &file).expect("one file system");
    for suffix in ["-wal", "-shm"] {
        let beside = file.with_file_name(format!("sessions.db{suffix}"));
        fs::remove_file(beside).expect("it is there");
    }
    let told = fixture.store_health();
    assert!(told.contains("was replaced while skillsd ran"), "{told}");
    fixture.trust("b").expect("it is kept");
    let mut fixture = fixture.restart();
    let second = fixture.second.clone();
    assert!(fixture.is_trusted(&second));
}

#[test]
fn overwritten_state_file_is_reported_and_set_aside() {
    let mut fixture = FaultFixture::new();
    let file = fixture.state().join("sessions.db");
    fs::write(&file, "no database any more ".repeat(1000)).expect("it is ours");
    let set = fixture.trust("b");
    let told = fixture.store_health();
    assert!(told.contains("was overwritten while skillsd ran"), "{told}");
    let mut fixture = fixture.restart();
    let second = fixture.second.clone();
    // A refused grant may still be stored: the log can contain it after the file's check has
    // failed.
    assert!(set.is_err() || fixture.is_trusted(&second), "{set:?}");
}

#[test]
fn removed_sqlite_log_loses_no_acknowledged_grant() {
    let mut fixture = FaultFixture::new();
    for suffix in ["-wal", "-shm"] {
        let beside = fixture.state().join(format!("sessions.db{suffix}"));
        fs::remove_file(beside).expect("it is there");
    }
    // The daemon may open the log again between the two removals; then it refuses the first grant.
    let first = fixture.trust("b");
    first.or_else(|_| fixture.trust("b")).expect("it is kept");
    let told = fixture.store_health();
    assert!(told.contains("was removed or replaced while skillsd ran"), "{told}");
    let mut fixture = fixture.restart();
    let (first, second) = (fixture.first.clone(), fixture.second.clone());
    assert_eq!((fixture.is_trusted(&first), fixture.is_trusted(&second)), (true, true));
}

#[test]
fn grant_is_refused_while_the_state_dir_cannot_be_created() {
    let mut fixture = FaultFixture::new();
    let (state, away) = (fixture.state(), fixture.live.home.work().join("away"));
    fs::rename(&state, &away).expect("one file system");
    fs::write(&state, "").expect("a file in its place");
    assert_eq!(fixture.trust("b"), Err(-32011));
    let told = fixture.store_health();
    assert!(told.contains("is no longer accessible"), "{told}");
    fs::remove_file(&state).expect("it is ours");
    fs::rename(&away, &state).expect("one file system");
    let mut fixture = fixture.restart();
    fixture.trust("b").expect("it is kept");
    let (first, second) = (fixture.first.clone(), fixture.second.clone());
    assert_eq!((fixture.is_trusted(&first), fixture.is_trusted(&second)), (true, true));
}

#[test]
fn undecodable_session_row_is_reported_and_set_aside() {
    let live = Live::start();
    let top = live.home.worktree("w", "");
    let Live { mut wire, daemon, home } = live;
    for session in ["attacked", "sound"] {
        wire.call("session/open", &json!({"cwd": top, "session": session}));
    }
    wire.call("server/shutdown", &json!({}));
    drop(wire);
    daemon.wait();
    // Changes an absolute path into a relative one, which SQLite's integrity check does not detect.
    let file = home.state_dir().join("skillsd/sessions.db");
    let mut bytes = fs::read(&file).expect("it is there");
    let row = format!("attacked{}", top.display());
    let at = bytes.windows(row.len()).position(|it| it == row.as_bytes()).expect("the row");
    bytes[at + "attacked".len()] = b'x';
    fs::write(&file, bytes).expect("it is ours");
    let Live { mut wire, daemon: _daemon, home: _home } = Live::start_in(home);
    let listed = wire.call("session/list", &json!({}));
    let ids: Vec<_> = listed["sessions"].as_array().expect("a list").iter().collect();
    assert_eq!(ids.len(), 1, "{listed}");
    assert_eq!(ids[0]["session"], "sound", "{listed}");
    let told = listed["health"].to_string();
    assert!(told.contains("session `attacked` is damaged"), "{told}");
    let opened = wire.call("session/open", &json!({"cwd": top, "session": "attacked"}));
    assert_eq!(opened["isNew"], true, "it begins anew");
    let sound = wire.call("session/open", &json!({"cwd": top, "session": "sound"}));
    assert_eq!(sound["isNew"], false);
}

#[test]
fn undecodable_trust_and_grant_rows_are_reported_and_left_out() {
    let mut fixture = FaultFixture::new();
    fixture.trust("b").expect("it is kept");
    let (first, second) = (fixture.first.clone(), fixture.second.clone());
    let third = fixture.live.home.worktree("c", "");
    for name in ["build", "deploy"] {
        let dir = third.join(format!(".claude/skills/{name}"));
        fs::create_dir_all(&dir).expect("made");
        let text =
            format!("---\nname: {name}\ndescription: Use it.\nallowed-tools: Bash\n---\nUse.\n");
        fs::write(dir.join("SKILL.md"), text).expect("written");
        let load = json!({"cwd": third, "profile": "claude-code", "name": name});
        let error =
            fixture.live.wire.try_call("skills/load", &load).expect_err("the user is asked");
        let reply = json!({"id": error.data["requestId"], "reply": "always"});
        fixture.consent.call("permission/reply", &reply);
    }
    let FaultFixture { consent, live: Live { mut wire, daemon, home }, .. } = fixture;
    wire.call("server/shutdown", &json!({}));
    drop((wire, consent));
    daemon.wait();
    // Makes one directory relative and one pattern no UTF-8, which SQLite's check does not detect.
    let file = home.state_dir().join("skillsd/sessions.db");
    let mut bytes = fs::read(&file).expect("it is there");
    for (row, at, byte) in
        [(second.to_str().expect("UTF-8"), 0, b'x'), ("skilldeploy", "skill".len(), 0xff)]
    {
        let places: Vec<_> =
            (0..bytes.len()).filter(|it| bytes[*it..].starts_with(row.as_bytes())).collect();
        assert!(!places.is_empty(), "{row}");
        for it in places {
            bytes[it + at] = byte;
        }
    }
    fs::write(&file, bytes).expect("it is ours");
    let live = Live::start_in(home);
    let consent = live.daemon.connect_consent(Framing::Lines);
    let mut fixture = FaultFixture { consent, live, first, second };
    let (first, second) = (fixture.first.clone(), fixture.second.clone());
    assert_eq!((fixture.is_trusted(&first), fixture.is_trusted(&second)), (true, false));
    let asked = json!({"cwd": third, "profile": "claude-code"});
    let granted = fixture.live.wire.call("permission/granted", &asked);
    assert_eq!(granted["grants"], json!([{"permission": "skill", "pattern": "build"}]));
    let told = fixture.store_health();
    assert!(told.contains("the trust decision on `x"), "{told}");
    assert!(told.contains("the grant of `\u{fffd}eploy`"), "{told}");
    fixture.trust("b").expect("it is kept");
    assert!(fixture.is_trusted(&second));
}

#[test]
fn concurrent_always_replies_are_stored() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    for nth in 0..12 {
        let dir = top.join(format!(".claude/skills/deploy-{nth}"));
        fs::create_dir_all(&dir).expect("made");
        let text = format!(
            "---\nname: deploy-{nth}\ndescription: Deploys.\nallowed-tools: Bash\n---\nDeploy.\n"
        );
        fs::write(dir.join("SKILL.md"), text).expect("written");
    }
    for nth in 0..12 {
        let name = format!("deploy-{nth}");
        let load = json!({"cwd": top, "profile": "claude-code", "name": name});
        let error = live.wire.try_call("skills/load", &load).expect_err("the user is asked");
        let reply = json!({"id": error.data["requestId"], "reply": "always"});
        let mut wires: Vec<_> =
            (0..8).map(|_| live.daemon.connect_consent(Framing::Lines)).collect();
        let answers: Vec<_> = thread::scope(|scope| {
            let answering: Vec<_> = wires
                .iter_mut()
                .map(|wire| scope.spawn(|| wire.try_call("permission/reply", &reply)))
                .collect();
            answering.into_iter().map(|it| it.join().expect("no panic")).collect()
        });
        let n_kept = answers.iter().filter(|it| it.is_ok()).count();
        // A late answer gets an error, because no request is pending.
        assert!(n_kept >= 1, "{answers:?}");
        for error in answers.iter().filter_map(|it| it.as_ref().err()) {
            assert!(error.message.contains("no pending request"), "{error}");
        }
        live.wire.call("skills/load", &load);
    }
}

#[test]
fn list_without_file_descriptors_is_complete_or_reports_gaps() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let root = top.join(".agents/skills");
    write_skill(&root.join("first"), "first", "One. Use it when asked.");
    let params = json!({"cwd": top});
    assert_eq!(entries(&live.wire.call("skills/list", &params)).len(), 1);
    let pid = i32::try_from(live.daemon.pid()).ok().and_then(Pid::from_raw);
    let usual = getrlimit(Resource::Nofile);
    let limit = |current| prlimit(pid, Resource::Nofile, Rlimit { current, ..usual });
    for nth in 0..5 {
        limit(Some(3)).expect("it is our process");
        write_skill(&root.join(format!("more-{nth}")), &format!("more-{nth}"), "Two. Use it so.");
        let other = live.home.worktree(&format!("o{nth}"), "");
        write_skill(&other.join(".agents/skills/x"), "x", "Three. Use it so.");
        for (cwd, count) in [(&top, nth + 2), (&other, 1)] {
            let list = live.wire.call("skills/list", &json!({"cwd": cwd}));
            let is_complete = entries(&list).len() == count;
            let is_told = list["health"].as_array().is_some_and(|it| !it.is_empty());
            assert!(is_complete || is_told, "{list}");
        }
        limit(usual.current).expect("it is our process");
        for (cwd, count) in [(&top, nth + 2), (&other, 1)] {
            let list = live.wire.call("skills/list", &json!({"cwd": cwd}));
            assert_eq!(entries(&list).len(), count, "{list}");
            assert_eq!(list["health"], json!([]), "{list}");
        }
    }
}

#[test]
fn directory_permission_changes_are_followed() {
    let is_root = rustix::process::geteuid().is_root();
    let home = if is_root { Home::owned_by(NOBODY) } else { Home::new() };
    let program = home.work().join("skillsd");
    fs::copy(exe(), &program).expect("our program can be copied");
    let top = home.worktree("w", "");
    let root = top.join(".claude/skills");
    for name in ["a", "b"] {
        write_skill(&root.join(name), name, "Does something. Use it when asked.");
    }
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    };
    if is_root {
        let everything = ["", ".claude", ".claude/skills", ".claude/skills/a"];
        for dir in everything {
            std::os::unix::fs::chown(top.join(dir), Some(NOBODY), None).expect("we are root");
        }
    }
    let _daemon = Daemon::start(&home, &program);
    // The daemon serves no other connection.
    let list = || -> Value {
        let args = ["list", "--profile", "claude-code", "--json", "--all"];
        let output = home.command(&program).args(args).current_dir(&top).output();
        let output = output.expect("our program can be run");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
    };
    let whole = |answer: &Value| {
        let all = entries(answer);
        all.iter().filter(|it| it["state"] == "active").count()
    };
    let sound = whole(&list());
    assert_eq!(sound, 2, "{}", list());
    for dir in [".claude", ".claude/skills", ".claude/skills/a"] {
        for mode in [0o000, 0o600] {
            set_mode(&top.join(dir), mode);
            let shut = list();
            set_mode(&top.join(dir), 0o755);
            let is_told = shut["health"].as_array().is_some_and(|it| !it.is_empty())
                || entries(&shut).iter().any(|it| it["state"] == "invalid");
            assert!(whole(&shut) < 2 && is_told, "{dir} {mode:o}: {shut}");
            let open = list();
            assert_eq!(whole(&open), 2, "{dir} {mode:o}: {open}");
            assert_eq!(open["health"], json!([]), "{dir} {mode:o}: {open}");
        }
    }
}
