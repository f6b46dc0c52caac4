//! Runs the examples of the client library in Rust, Python and TypeScript, and the official MCP
//! clients.
//!
//! The other languages need packages from npm and PyPI in the directory `SKILLSD_CLIENTS`,
//! installed by `tests/clients/install`. Without it these tests are skipped; in CI they fail.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use skills_testkit::daemon::{kill, listener};
use skills_testkit::wait::DEADLINE;
use skills_testkit::{Home, fixture};

use crate::support::exe;

const SHOP: &str = "\
//- /.claude/skills/fix/SKILL.md
---
description: Fixes an issue.
allowed-tools: Read
---
Fix $ARGUMENTS in !`printf %s here`.
";

/// A home with `skillsd` on the `PATH`, and a worktree.
struct ExampleHome {
    home: Home,
    top: PathBuf,
}

impl ExampleHome {
    fn new() -> Self {
        let home = Home::new();
        let top = home.worktree("shop", SHOP);
        // The user has allowed this skill before.
        home.lay_out(
            "//- /home/.claude/settings.json\n{\"permissions\": {\"allow\": [\"Skill(fix)\"]}}\n",
        );
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(exe(), bin.join("skillsd")).unwrap();
        Self { home, top }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.home.command(program);
        let bin = self.home.path().join("bin");
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", bin.display())).current_dir(&self.top);
        command
    }

    /// Runs a program to completion and returns its output.
    #[track_caller]
    fn run(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {}: {complaint}", output.status);
        self.home.redact(&String::from_utf8(output.stdout).unwrap())
    }

    fn add(&self, name: &str) {
        let dir = self.top.join(".claude/skills").join(name);
        fixture::write_skill(&dir, name, "Comes later.");
    }
}

/// A running program whose output is read line by line.
struct RunningProgram {
    child: Child,
    lines: Receiver<String>,
}

impl RunningProgram {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let from = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Waits until this line is printed.
    #[track_caller]
    fn line(&mut self, expected: &str) {
        let mut seen = Vec::new();
        while seen.last().is_none_or(|it| it != expected) {
            let Ok(line) = self.lines.recv_timeout(DEADLINE) else {
                let _ = self.child.kill();
                let mut complaint = String::new();
                let _ = self.child.stderr.take().unwrap().read_to_string(&mut complaint);
                panic!("`{expected}` is not printed: {seen:#?} {complaint}");
            };
            seen.push(line);
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // Both fail if the process has already exited, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn rust_examples_list_and_load() {
    let example_home = ExampleHome::new();
    let listed = example_home.run(env!("CARGO_BIN_EXE_example-list"), &[".", "claude-code"]);
    assert_eq!(listed, "fix: Fixes an issue.\n");
    let load = env!("CARGO_BIN_EXE_example-load");
    let loaded = example_home.run(load, &[example_home.top.to_str().unwrap(), "fix", "the door"]);
    let (_, body) = loaded.split_once("\n\n").unwrap();
    assert_eq!(body, "Fix the door in here.\n\n(may use Read without asking)\n");
    let missing = example_home.run(load, &[example_home.top.to_str().unwrap(), "fic"]);
    assert_eq!(missing, "there is no skill `fic`. Did you mean `fix`?\n");
}

#[test]
fn rust_follow_example_survives_a_daemon_restart() {
    let example_home = ExampleHome::new();
    example_home.add("old");
    let mut command = example_home.command(env!("CARGO_BIN_EXE_example-follow"));
    command.arg(&example_home.top);
    let mut follow = RunningProgram::start(command);
    follow.line("+ old");
    follow.line("1 skills");
    example_home.add("new");
    follow.line("+ new");
    let pid = listener(&example_home.home.socket()).expect("it has started one");
    kill(pid);
    fs::remove_dir_all(example_home.top.join(".claude/skills/new")).unwrap();
    follow.line("- new");
    follow.line("1 skills");
    assert_ne!(listener(&example_home.home.socket()), Some(pid));
}

/// Returns the directory of the installed clients, or `None` if they are optional here and missing.
#[track_caller]
#[expect(clippy::print_stdout, reason = "what is left out is said")]
fn installed(what: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SKILLSD_CLIENTS").map(PathBuf::from);
    if found.is_none() {
        let is_ci = std::env::var_os("CI").is_some_and(|it| it == "true");
        let how = "SKILLSD_CLIENTS is not set: `tests/clients/install DIR` installs the packages";
        assert!(!is_ci, "{how}");
        println!("skipped: {what} ({how})");
    }
    found
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../client/examples").join(name)
}

/// Asserts what the Python and TypeScript examples print: the listing, a loaded skill, and changes.
fn check_agent(example_home: &ExampleHome, command: impl Fn() -> Command) {
    let mut agent = RunningProgram::start({
        let mut command = command();
        command.arg(&example_home.top).arg("fix");
        command
    });
    agent.line("- fix: Fixes an issue.");
    agent.line("Fix  in !`printf %s here`.");
    example_home.add("new");
    agent.line("+ new");
    let mut agent = RunningProgram::start({
        let mut command = command();
        command.arg(&example_home.top).arg("fic");
        command
    });
    agent.line("there is no skill `fic`. Did you mean `fix`?");
}

#[test]
fn python_example_lists_loads_and_follows() {
    let Some(clients) = installed("the example in Python") else { return };
    let example_home = ExampleHome::new();
    check_agent(&example_home, || {
        let mut command = example_home.command("python3");
        command.env("PYTHONPATH", clients.join("python")).arg(example("skills.py"));
        command
    });
    assert!(fs::read_to_string(example("skills.py")).unwrap().lines().count() < 40);
}

#[test]
fn typescript_example_lists_loads_and_follows() {
    let Some(clients) = installed("the example in TypeScript") else { return };
    let example_home = ExampleHome::new();
    // Next to `node_modules`, as in a real project.
    let project = tempfile::TempDir::new().unwrap();
    let modules = clients.join("node_modules");
    symlink(&modules, project.path().join("node_modules")).unwrap();
    fs::write(project.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
    fs::copy(example("skills.ts"), project.path().join("skills.ts")).unwrap();
    let compiled = example_home
        .command("node")
        .current_dir(project.path())
        .arg(modules.join("typescript/lib/tsc.js"))
        .args(["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"])
        .arg("skills.ts")
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stdout));
    check_agent(&example_home, || {
        let mut command = example_home.command("node");
        command.arg(project.path().join("skills.js"));
        command
    });
    assert!(fs::read_to_string(example("skills.ts")).unwrap().lines().count() < 40);
}

#[test]
fn official_mcp_clients_are_served() {
    let Some(clients) = installed("the MCP clients") else { return };
    let example_home = ExampleHome::new();
    let worktree = example_home.home.worktree("mcp", "//- /src dir\n");
    let project = tempfile::TempDir::new().unwrap();
    symlink(clients.join("node_modules"), project.path().join("node_modules")).unwrap();
    let script = project.path().join("mcp.mjs");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/mcp.mjs"), &script).unwrap();
    let program = exe().to_str().unwrap();
    let args = [script.to_str().unwrap(), program, worktree.to_str().unwrap()];
    let said = example_home.run("node", &args);
    assert_eq!(said.lines().count(), 3, "{said}");
}
