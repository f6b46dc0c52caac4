//! Helpers shared by the end-to-end tests: the program, and comparison with the plain reader.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use skills_testkit::plain::{self, AgentLocation, Skill};
use skills_testkit::{Daemon, Framing, Home, Screen, Wire};

/// The profiles that the plain reader supports.
pub(crate) const PROFILES: [&str; 2] = ["agentskills", "claude-code"];

/// Returns the path of the real program.
pub(crate) fn exe() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_test-skillsd"))
}

/// Returns the path of the bundled sample worktree.
pub(crate) fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/worktree")
}

/// Returns a `skillsd` command in `home` with these arguments.
pub(crate) fn skillsd(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(exe());
    command.args(args);
    command
}

/// Runs `skillsd` in `cwd` and returns its output.
#[track_caller]
pub(crate) fn run(home: &Home, cwd: &Path, args: &[&str]) -> Output {
    skillsd(home, args).current_dir(cwd).output().expect("our program can be run")
}

/// Runs `skillsd` in `cwd` on a terminal, types `answer`, and returns the exit code and the
/// screen's text.
#[track_caller]
pub(crate) fn run_at_terminal(
    home: &Home,
    cwd: &Path,
    args: &[&str],
    answer: &str,
) -> (Option<i32>, String) {
    let mut screen = Screen::start(skillsd(home, args).current_dir(cwd), 40, 160);
    screen.type_in(&format!("{answer}\n"));
    let status = screen.wait();
    (status.code(), screen.text())
}

/// Runs `skillsd trust` on a terminal, confirms it, and asserts that it succeeds.
#[track_caller]
pub(crate) fn trust_at_terminal(home: &Home, cwd: &Path, args: &[&str]) -> String {
    let (code, shown) = run_at_terminal(home, cwd, &[&["trust"], args].concat(), "y");
    assert_eq!(code, Some(0), "{shown}");
    shown
}

/// Runs `skillsd … --json`, which must succeed, and returns its output as JSON.
#[track_caller]
pub(crate) fn run_json(home: &Home, cwd: &Path, args: &[&str]) -> Value {
    let output = run(home, cwd, &[args, &["--json"]].concat());
    // Exit code 1 reports findings.
    let is_answer = matches!(output.status.code(), Some(0 | 1));
    assert!(is_answer, "{args:?}: {} {}", output.status, stderr(&output));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|cause| panic!("{args:?}: {cause}: {}", stdout(&output)))
}

/// Returns a command's standard output.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns a command's standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A daemon in its own home, and one connection to it.
pub(crate) struct Live {
    // Fields are dropped in this order: the connection, the daemon, the files.
    pub(crate) wire: Wire,
    pub(crate) daemon: Daemon,
    pub(crate) home: Home,
}

impl Live {
    /// Starts a daemon in a new home.
    #[track_caller]
    pub(crate) fn start() -> Live {
        Live::start_in(Home::new())
    }

    /// Starts a daemon in `home`.
    #[track_caller]
    pub(crate) fn start_in(home: Home) -> Live {
        let daemon = Daemon::start(&home, exe());
        let wire = daemon.connect(Framing::Header);
        Live { wire, daemon, home }
    }

    /// Returns the entries of `skills/list` for `cwd`, all states.
    #[track_caller]
    pub(crate) fn list_all(&mut self, cwd: &Path, profile: &str) -> Vec<Value> {
        let params = json!({"cwd": cwd, "profile": profile, "include": ["all"]});
        entries(&self.wire.call("skills/list", &params))
    }

    /// Compares the default list with the plain reader's: names, paths and order.
    #[track_caller]
    pub(crate) fn check(&mut self, cwd: &Path, profile: &str) -> usize {
        let params = json!({"cwd": cwd, "profile": profile});
        let listed = listed(&self.wire.call("skills/list", &params));
        let expected = oracle(&self.home, cwd, profile);
        assert_same(&listed, &expected, cwd, profile);
        expected.len()
    }
}

/// Returns the entries of a list result.
#[track_caller]
pub(crate) fn entries(result: &Value) -> Vec<Value> {
    result["skills"].as_array().unwrap_or_else(|| panic!("no list: {result}")).clone()
}

/// Returns the listed skills in the plain reader's form.
#[track_caller]
pub(crate) fn listed(result: &Value) -> Vec<Skill> {
    entries(result).iter().map(skill).collect()
}

/// Returns whether a skill is built into the agent's program.
pub(crate) fn is_built_in(entry: &Value) -> bool {
    entry["path"].as_str().is_some_and(|it| it.starts_with("builtin://"))
}

fn skill(entry: &Value) -> Skill {
    let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    Skill { name: text("name"), path: text("path").into(), description: text("description") }
}

/// Returns the plain reader's list.
pub(crate) fn oracle(home: &Home, cwd: &Path, profile: &str) -> Vec<Skill> {
    let location = AgentLocation::new(cwd, home.path());
    match profile {
        "agentskills" => plain::agentskills(&location),
        "claude-code" => plain::claude_code(&location),
        other => panic!("the plain reader does not know profile `{other}`"),
    }
}

/// Asserts that two lists are equal, and shows the difference if not.
#[track_caller]
pub(crate) fn assert_same(listed: &[Skill], expected: &[Skill], cwd: &Path, profile: &str) {
    if listed == expected {
        return;
    }
    let show = |skills: &[Skill], than: &[Skill]| -> String {
        let lines = skills.iter().filter(|skill| !than.contains(skill));
        lines.map(|skill| format!("  {skill:?}")).collect::<Vec<_>>().join("\n")
    };
    panic!(
        "{profile} at {}: {} listed, {} expected\nonly listed:\n{}\nonly expected:\n{}\n(neither: different order)",
        cwd.display(),
        listed.len(),
        expected.len(),
        show(listed, expected),
        show(expected, listed),
    );
}

/// Returns the one entry whose path ends with `suffix`.
#[track_caller]
pub(crate) fn entry<'a>(entries: &'a [Value], suffix: &str) -> &'a Value {
    let ends = |entry: &&Value| entry["path"].as_str().is_some_and(|path| path.ends_with(suffix));
    let found: Vec<&Value> = entries.iter().filter(ends).collect();
    match found.as_slice() {
        [one] => one,
        _ => panic!("{} entries end with `{suffix}`: {entries:#?}", found.len()),
    }
}

/// Returns the number in an environment variable, if set.
pub(crate) fn env_number(variable: &str) -> Option<usize> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: `{text}`")))
}

/// Repeatable random numbers (Marsaglia's xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: usize) -> Self {
        Self((seed as u64).max(1))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("it is below a usize")
    }
}
