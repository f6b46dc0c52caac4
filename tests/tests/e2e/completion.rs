//! Completion of names in bash, zsh and fish, with a daemon and without one.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that meets the unexpected fails, and says what it leaves out"
)]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use skills_testkit::{Daemon, Framing, Home, Screen};

use crate::support::{exe, run, stderr, stdout};

/// Names that a shell could take for more than a word.
const HOSTILE: [&str; 9] = [
    "$(touch pwned)", "`touch pwned`", "a; touch pwned", "ann's", "say \"hi\"", "star*",
    "two words", "with:colon", "~root",
];

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// A worktree with the completion scripts of all shells, and `skillsd` in PATH.
struct Fixture {
    home: Home,
    top: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let home = Home::new();
        let top = home.worktree("proj", "");
        let bin = home.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(exe(), bin.join("skillsd")).unwrap();
        for (shell, name) in
            [("bash", "skillsd.bash"), ("zsh", "_skillsd"), ("fish", "skillsd.fish")]
        {
            let script = run(&home, &top, &["completions", shell]);
            fs::write(home.path().join(name), script.stdout).unwrap();
        }
        let fixture = Self { home, top };
        fixture.write_skill("one", "deploy", "Deploys: to production");
        fixture
    }

    fn write_skill(&self, dir: &str, name: &str, description: &str) {
        let dir = self.top.join(".agents/skills").join(dir);
        fs::create_dir_all(&dir).unwrap();
        let text =
            format!("---\nname: {}\ndescription: {}\n---\nDo.\n", json!(name), json!(description));
        fs::write(dir.join("SKILL.md"), text).unwrap();
    }

    /// Writes the hostile skills, and some that are never completed.
    fn write_hostile_skills(&self) {
        for (nth, name) in HOSTILE.iter().enumerate() {
            self.write_skill(&format!("h{nth}"), name, "x\ny $(touch pwned)\tz");
        }
        for (nth, name) in ["--force", "new\nline", "esc\u{1b}[2J", "tab\there", "turn\u{202e}ed"]
            .iter()
            .enumerate()
        {
            self.write_skill(&format!("n{nth}"), name, "Left out.");
        }
    }

    /// Starts the daemon, which indexes the worktree.
    fn start_daemon(&self) -> Daemon {
        let daemon = Daemon::start(&self.home, exe());
        let mut wire = daemon.connect(Framing::Header);
        wire.call("skills/list", &json!({"cwd": self.top}));
        wire.call("session/open", &json!({"session": "chat-1", "cwd": self.top}));
        daemon
    }

    /// Runs a shell with a script, and returns its output; `None` if the shell is not installed.
    fn shell(&self, shell: &str, flags: &[&str], script: &str) -> Option<String> {
        let missing = Command::new(shell).arg("--version").stdout(Stdio::null()).status().is_err();
        if missing {
            let is_ci = std::env::var_os("CI").is_some_and(|it| it == "true");
            assert!(!is_ci, "`{shell}` is not installed");
            println!("skipped: `{shell}` is not installed");
            return None;
        }
        let mut command = self.home.command(shell);
        command.args(flags).args(["-c", script]).env("PATH", self.path());
        command.current_dir(&self.top).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert_eq!(stderr(&output), "", "{shell}: {script}");
        Some(stdout(&output))
    }

    /// Returns the completions of a line in bash, each as bash reads it.
    fn bash(&self, line: &str) -> Vec<String> {
        let script = format!(
            "source '{}/skillsd.bash'
             COMP_LINE={}
             COMP_POINT=${{#COMP_LINE}}
             COMP_WORDS=($COMP_LINE)
             [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
             _skillsd skillsd \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"
             for word in \"${{COMPREPLY[@]}}\"; do eval \"set -- $word\"; printf '%s|' \"$@\"; echo; done",
            self.home.path().display(),
            quote(line)
        );
        let lines = self.shell("bash", &["--norc", "-f"], &script).unwrap();
        lines.lines().map(|it| it.trim_end_matches('|').to_owned()).collect()
    }

    /// Returns the completions of a line in fish, each with its description.
    fn fish(&self, line: &str) -> Option<Vec<String>> {
        let source = self.home.path().join("skillsd.fish");
        let script = format!("source {}; complete -C {}", source.display(), quote(line));
        let lines = self.shell("fish", &["--no-config"], &script)?;
        Some(lines.lines().map(str::to_owned).collect())
    }

    /// Types a word behind `skillsd` into an interactive shell, completes it, and returns the last
    /// argument that the command gets; `None` if the shell is not installed.
    fn type_in(&self, shell: &str, line: &str) -> Option<String> {
        self.shell(shell, &[], "true")?;
        let home = self.home.path().display();
        let command = match shell {
            "fish" => "function skillsd; echo \"GOT<$argv[-1]>\"; end",
            _ => "skillsd() { eval \"set -- \\\"\\${$#}\\\"\"; printf 'GOT<%s>\\n' \"$1\"; }",
        };
        let (rc, setup, flags) = match shell {
            "bash" => ("rc", format!("source '{home}/skillsd.bash'"), vec!["--rcfile", "rc", "-i"]),
            "zsh" => (
                ".zshrc",
                format!(
                    "fpath=('{home}' $fpath); autoload -Uz compinit; compinit -u -D; \
                     autoload -Uz _skillsd; compdef _skillsd skillsd"
                ),
                vec!["-i"],
            ),
            _ => (
                "rc",
                format!("source '{home}/skillsd.fish'"),
                vec!["--no-config", "-C", "source rc"],
            ),
        };
        fs::write(self.top.join(rc), format!("{setup}\n{command}\necho READY\n")).unwrap();
        let mut shell = self.home.command(shell);
        shell.args(flags).env("PATH", self.path()).env("ZDOTDIR", &self.top);
        let mut screen = Screen::start(shell.current_dir(&self.top), 20, 200);
        screen.wait_for("READY");
        screen.type_in(&format!("skillsd {line}\t\r"));
        screen.wait_for("GOT<");
        let text = screen.wait_for(">\n");
        let got = text.rsplit_once("GOT<").unwrap().1;
        Some(got.split_once(">\n").unwrap().0.to_owned())
    }

    /// Returns PATH with the directory of `skillsd` first.
    fn path(&self) -> OsString {
        let mut path = vec![self.home.path().join("bin")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        std::env::join_paths(path).unwrap()
    }

    fn is_inert(&self) -> bool {
        !self.top.join("pwned").exists() && !self.home.path().join("pwned").exists()
    }
}

/// Returns a word in single quotes, for any shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn names_are_completed_from_a_running_daemon() {
    let fixture = Fixture::new();
    let _daemon = fixture.start_daemon();
    let top = fixture.top.to_str().unwrap();
    assert_eq!(fixture.bash("skillsd show de"), ["deploy"]);
    assert_eq!(fixture.bash("skillsd --json explain "), ["deploy"]);
    assert_eq!(fixture.bash("skillsd session get "), ["chat-1"]);
    assert_eq!(fixture.bash("skillsd touch --session c"), ["chat-1"]);
    assert_eq!(fixture.bash("skillsd trust /"), [top]);
    assert_eq!(fixture.bash("skillsd do"), ["doctor"]);
    if let Some(found) = fixture.fish("skillsd show ") {
        assert_eq!(found, ["deploy\tDeploys: to production"]);
        assert_eq!(fixture.fish("skillsd session get ").unwrap(), [format!("chat-1\t{top}")]);
        assert_eq!(fixture.fish("skillsd touch --session ").unwrap(), [format!("chat-1\t{top}")]);
    }
    for shell in SHELLS {
        if let Some(got) = fixture.type_in(shell, "show de") {
            assert_eq!(got, "deploy", "{shell}");
            assert_eq!(
                fixture.type_in(shell, "touch --session=ch").unwrap(),
                "--session=chat-1",
                "{shell}"
            );
        }
    }
}

#[test]
fn completion_starts_no_daemon() {
    let fixture = Fixture::new();
    let of_bash = fixture.bash("skillsd check --explain yaml/unquoted-c");
    assert_eq!(of_bash, ["yaml/unquoted-colon"]);
    assert_eq!(fixture.bash("skillsd list --profile gem"), ["gemini-cli"]);
    assert_eq!(fixture.bash("skillsd list --profile codex,gem"), ["codex,gemini-cli"]);
    assert!(fixture.bash("skillsd show dep").is_empty());
    assert!(fixture.bash("skillsd session get chat").is_empty());
    if let Some(found) = fixture.fish("skillsd check --explain yaml/unquoted-c") {
        assert!(found[0].starts_with("yaml/unquoted-colon\t"), "{found:?}");
        fixture.fish("skillsd show ").unwrap();
    }
    for shell in SHELLS {
        if let Some(got) = fixture.type_in(shell, "check --explain yaml/unquoted-c") {
            assert_eq!(got, "yaml/unquoted-colon", "{shell}");
            assert_eq!(fixture.type_in(shell, "show dep").unwrap(), "dep", "{shell}");
        }
    }
    let runtime = fs::read_dir(fixture.home.runtime_dir()).unwrap().map(|it| it.unwrap());
    let names = runtime.map(|it| it.file_name().display().to_string());
    // Fish writes a file of its own there.
    let others: Vec<_> = names.filter(|it| !it.starts_with("fish_")).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn hostile_names_are_inert() {
    let fixture = Fixture::new();
    fixture.write_hostile_skills();
    let _daemon = fixture.start_daemon();
    let mut expected = HOSTILE.map(str::to_owned).to_vec();
    expected.push("deploy".to_owned());
    expected.sort();
    let mut found = fixture.bash("skillsd show ");
    found.sort();
    assert_eq!(found, expected);
    if let Some(found) = fixture.fish("skillsd show ") {
        let names: Vec<_> = found.iter().map(|it| it.split('\t').next().unwrap()).collect();
        let mut names: Vec<_> = names.into_iter().map(str::to_owned).collect();
        names.sort();
        assert_eq!(names, expected);
        let about: Vec<_> = found.iter().filter_map(|it| it.split_once('\t')).collect();
        assert!(about.iter().any(|it| it.1 == "x y $(touch pwned) z"), "{about:?}");
    }
    let typed = [
        ("\\$\\(", HOSTILE[0]),
        ("\\`", HOSTILE[1]),
        ("a\\;", HOSTILE[2]),
        ("ann", HOSTILE[3]),
        ("two", HOSTILE[6]),
        ("with", HOSTILE[7]),
        ("with:", HOSTILE[7]),
    ];
    for shell in SHELLS {
        for (typed, name) in typed {
            if let Some(got) = fixture.type_in(shell, &format!("show {typed}")) {
                assert_eq!(got, name, "{shell}: {typed}");
            }
        }
    }
    assert!(fixture.is_inert(), "a name was executed");
}
