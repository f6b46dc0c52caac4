//! Units of the service manager: their text, the calls of the manager, and packaged units.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use skills_testkit::Screen;

use super::InstallFixture;
use crate::support::{exe, stderr, stdout};

#[test]
fn install_calls_systemctl_and_reports_its_absence() {
    let fixture = InstallFixture::new("").with_manager(0);
    fixture.run(&["list"], 0);
    let daemon = skills_testkit::daemon::listener(&fixture.home.socket()).unwrap();
    fixture.run(&["install", "--yes", "--only", "units"], 0);
    assert_eq!(
        fixture.asked(),
        "--user show-environment\n--user daemon-reload\n--user enable --now skillsd.socket\n"
    );
    let is_gone = || skills_testkit::daemon::is_gone(daemon).then_some(());
    skills_testkit::wait_for("the daemon to leave its place to the manager's", is_gone);
    let service = fixture.read(".config/systemd/user/skillsd.service");
    let line = format!("ExecStart={}/skillsd serve\n", fixture.bin.display());
    assert!(service.contains(&line), "{service}");
    fixture.run(&["uninstall", "--yes"], 0);
    let asked = fixture.asked();
    assert!(asked.ends_with(
        "--user disable --now skillsd.socket\n--user stop skillsd.service\n--user daemon-reload\n"
    ));
    assert!(!fixture.home.path().join(".config/systemd").exists());

    let fixture = InstallFixture::new("").with_manager(1);
    let shown = stdout(&fixture.run(&["install", "--yes", "--only", "units"], 0));
    assert!(shown.contains("No systemd user manager is running"), "{shown}");
    assert!(shown.contains("systemctl --user enable --now skillsd.socket"), "{shown}");
    let fixture = InstallFixture::new("");
    let shown = stdout(&fixture.run(&["install", "--yes", "--only", "units"], 0));
    assert!(shown.contains("systemd is not installed"), "{shown}");
    assert!(!fixture.home.path().join(".config/systemd").exists());
}

#[test]
fn install_writes_a_launch_agent_where_launchctl_is_the_manager() {
    let fixture = InstallFixture::new("").with_fake("launchctl", 0);
    let before = fixture.all();
    fixture.run(&["install", "--yes", "--only", "units"], 0);
    let domain = format!("gui/{}", rustix::process::getuid().as_raw());
    let agent = fixture.home.path().join("Library/LaunchAgents/skillsd.plist");
    assert_eq!(
        fixture.asked(),
        format!(
            "print {domain}\nbootout {domain}/skillsd\nbootstrap {domain} {}\n",
            agent.display()
        )
    );
    let text = fs::read_to_string(agent).unwrap();
    let line = format!("<string>{}/skillsd</string>", fixture.bin.display());
    assert!(text.contains(&line), "{text}");
    fixture.run(&["uninstall", "--yes"], 0);
    assert!(fixture.asked().ends_with(&format!("bootout {domain}/skillsd\n")));
    assert_eq!(fixture.all(), before);

    let fixture = InstallFixture::new("").with_fake("launchctl", 1);
    let shown = stdout(&fixture.run(&["install", "--yes", "--only", "units"], 0));
    assert!(shown.contains("the agent starts at your next login"), "{shown}");
}

/// Adds the files of the Debian package below a directory, and a fake `systemctl` that remembers
/// whether the socket is enabled. Returns the packaged program.
fn with_package(fixture: &InstallFixture) -> PathBuf {
    let root = fixture.home.path().join("root/usr");
    let program = root.join("bin/skillsd");
    fs::create_dir_all(root.join("lib/systemd/user")).unwrap();
    fs::create_dir(root.join("bin")).unwrap();
    fs::hard_link(exe(), &program).or_else(|_| fs::copy(exe(), &program).map(drop)).unwrap();
    for unit in ["skillsd.service", "skillsd.socket"] {
        fs::write(root.join("lib/systemd/user").join(unit), "of the package\n").unwrap();
    }
    let run = fixture.home.runtime_dir();
    let text = format!(
        "#!/bin/sh\necho \"$@\" >>'{0}/asked'\n\
         case $2 in is-*) [ -e '{0}/on' ] ;; enable) : >'{0}/on' ;; disable) /bin/rm -f '{0}/on' ;; esac\n",
        run.display()
    );
    let systemctl = fixture.bin.join("systemctl");
    fs::write(&systemctl, text).unwrap();
    fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[track_caller]
fn run_packaged(fixture: &InstallFixture, program: &Path, args: &[&str]) -> String {
    let mut command = fixture.home.command(program);
    let output = command.args(args).env("PATH", &fixture.bin).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

#[test]
fn packaged_units_are_enabled_and_disabled_openly() {
    let fixture = InstallFixture::new("");
    let program = with_package(&fixture);
    let before = fixture.all();
    let run = |args: &[&str]| run_packaged(&fixture, &program, args);
    let is_on = || fixture.home.runtime_dir().join("on").exists();
    let units = ["--only", "units"];
    let shown = run(&[&["install", "--dry-run"], &units[..]].concat());
    let line = "Enables the units with `systemctl --user enable --now skillsd.socket`.";
    assert!(shown.contains(line) && shown.contains("1 change would be made"), "{shown}");
    assert!(!is_on());
    let mut unconfirmed = fixture.home.command(&program);
    unconfirmed.args(["install", "--only", "units"]).env("PATH", &fixture.bin);
    assert_eq!(unconfirmed.output().unwrap().status.code(), Some(2));
    assert!(!is_on());

    let shown = run(&[&["install", "--yes"], &units[..]].concat());
    assert!(
        shown.contains("systemd units · enabled") && shown.contains("1 change made"),
        "{shown}"
    );
    assert!(is_on());
    let shown = run(&[&["install", "--yes"], &units[..]].concat());
    assert!(shown.contains("nothing to change"), "{shown}");
    assert_eq!(fixture.asked().matches("enable --now").count(), 1, "{}", fixture.asked());

    let shown = run(&["uninstall", "--yes", "--only", "units"]);
    assert!(shown.contains("systemd units · disabled"), "{shown}");
    assert!(!is_on());
    let shown = run(&["uninstall", "--yes", "--only", "units"]);
    assert!(shown.contains("nothing to change"), "{shown}");
    assert_eq!(fixture.all(), before);
}

#[test]
fn units_of_an_earlier_program_make_room_for_those_of_the_package() {
    let fixture = InstallFixture::new("");
    let program = with_package(&fixture);
    fixture.run(&["install", "--yes", "--only", "units"], 0);
    let unit = fixture.home.path().join(".config/systemd/user/skillsd.service");
    assert!(unit.exists());
    fs::remove_file(fixture.bin.join("skillsd")).unwrap();
    let mut doctor = fixture.home.command(&program);
    doctor.args(["doctor", "--json"]).env("PATH", &fixture.bin);
    let said = stdout(&doctor.output().unwrap());
    let message =
        format!("the service runs `{}/skillsd`, which does not exist", fixture.bin.display());
    assert!(said.contains("registration-broken") && said.contains(&message), "{said}");

    let shown = run_packaged(&fixture, &program, &["install", "--yes", "--only", "units"]);
    assert!(shown.contains("3 changes made"), "{shown}");
    assert!(!unit.parent().unwrap().exists());
    let asked = fixture.asked();
    let end = "--user disable --now skillsd.socket\n--user stop skillsd.service\n\
               --user daemon-reload\n--user enable --now skillsd.socket\n";
    assert!(asked.ends_with(end), "{asked}");
    assert!(!stdout(&doctor.output().unwrap()).contains("registration-broken"));

    // A unit of the user's own is kept and named.
    fs::create_dir_all(unit.parent().unwrap()).unwrap();
    fs::write(&unit, "[Service]\nExecStart=/bin/sh\n").unwrap();
    let shown = run_packaged(&fixture, &program, &["install", "--yes", "--only", "units"]);
    assert!(shown.contains("is used in place of the package's unit"), "{shown}");
    assert!(unit.exists());
}

#[test]
fn declined_changes_of_packaged_units_are_not_made() {
    let stop =
        "--user disable --now skillsd.socket\n--user stop skillsd.service\n--user daemon-reload\n";
    let start = "--user daemon-reload\n--user enable --now skillsd.socket\n";
    // Answers about our service, our socket and the package's units; the calls, whether our service
    // stays, whether the units are recorded as enabled, and the summary.
    for (answers, expected, is_kept, is_recorded, end) in [
        ("n\rn\ry\r", start, true, true, "1 change made"),
        ("y\ry\rn\r", stop, false, false, "2 files changed"),
        ("n\rn\rn\r", "", true, false, "Nothing was changed."),
    ] {
        let fixture = InstallFixture::new("");
        let program = with_package(&fixture);
        fixture.run(&["install", "--yes", "--only", "units"], 0);
        fs::remove_file(fixture.bin.join("skillsd")).unwrap();
        let before = fixture.asked();
        let mut command = fixture.home.command(&program);
        command.args(["install", "--only", "units"]).env("PATH", &fixture.bin);
        let mut screen = Screen::start(&command, 100, 100);
        screen.wait_for("Change this file? [y]es, [N]o, [a]ll, [q]uit:");
        screen.type_in(answers);
        assert!(screen.wait().success());
        screen.wait_for(end);
        let asked = fixture.asked();
        let asked = asked.strip_prefix(&before).unwrap();
        let asked = asked.split_inclusive('\n').filter(|it| !it.contains("show-environment"));
        assert_eq!(asked.collect::<String>(), expected, "{answers:?}");
        let unit = fixture.home.path().join(".config/systemd/user/skillsd.service");
        assert_eq!(unit.exists(), is_kept, "{answers:?}");
        let record = fixture.home.state_dir().join("skillsd/installed.json");
        let record = fs::read_to_string(record).unwrap_or_default();
        assert_eq!(record.contains("root/usr/lib"), is_recorded, "{answers:?}: {record}");
    }
}

/// Installs the units of a program in this directory, and returns its path and the output.
fn install_units_from(fixture: &InstallFixture, dir: &str) -> (PathBuf, Output) {
    let program = fixture.home.path().join(dir).join("skillsd");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::hard_link(exe(), &program).or_else(|_| fs::copy(exe(), &program).map(drop)).unwrap();
    fs::remove_file(fixture.bin.join("skillsd")).unwrap();
    let mut command = fixture.home.command(&program);
    command.args(["install", "--yes", "--only", "units"]).env("PATH", &fixture.bin);
    (program, command.output().unwrap())
}

#[test]
fn path_that_launchd_cannot_start_is_named_with_its_own_reason() {
    for (dir, is_started) in [("a'b", true), ("a\tb", false)] {
        let fixture = InstallFixture::new("").with_fake("launchctl", 0);
        let (_, output) = install_units_from(&fixture, dir);
        let shown = stdout(&output);
        assert_eq!(output.status.success(), is_started, "{shown}");
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = "the path has a control character or invalid UTF-8. Move";
        assert_eq!(shown.contains(reason), !is_started, "{shown}");
    }
}

#[test]
fn units_name_only_a_path_that_systemd_can_start() {
    // Directory of the program, and its path in the unit; without one, systemd refuses the path.
    for (dir, written) in [
        ("d$x", Some("ExecStart=/skillsd serve\n")),
        ("d$x y", Some("ExecStart=\"/skillsd\" serve\n")),
        ("%h;", Some("ExecStart=\"/skillsd\" serve\n")),
        ("a'b", None),
        ("a\"b", None),
        ("a\\b", None),
        ("a\tb", None),
    ] {
        let fixture = InstallFixture::new("").with_manager(0);
        let (program, output) = install_units_from(&fixture, dir);
        let shown = stdout(&output);
        let unit = fixture.home.path().join(".config/systemd/user/skillsd.service");
        if let Some(written) = written {
            let path = program.to_str().unwrap().replace('%', "%%");
            let line = written.replace("/skillsd", &path);
            assert!(fs::read_to_string(unit).unwrap().contains(&line), "{line}");
            assert!(output.status.success(), "{shown}");
        } else {
            assert_eq!(output.status.code(), Some(1), "{shown}");
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains("systemd cannot start `"), "{shown}");
            assert!(shown.contains("has a quote, a backslash, a control character or"), "{shown}");
            assert!(!shown.contains("nothing to change"), "{shown}");
            assert!(!unit.exists() && !fixture.asked().contains("enable"), "{dir}");
        }
    }
}
