//! Runs whole commands against a scripted server and checks calls, output and exit code; and the
//! help. [`sample`] has what tests of several files share.

pub(crate) mod sample;

use std::io;
use std::path::Path;

use clap::{CommandFactory, Parser};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use skills_client::blocking::Stream;
use skills_client::script::{answer, refusal, serve};
use skills_protocol::PROTOCOL_VERSION;
use skills_protocol::error::{DENIED, INVALID_PARAMS, SKILL_NOT_FOUND};

use super::*;
use crate::terminal::Terminal;
use crate::tests::sample::{Written, shop};

// Returns the result of `initialize` of a server that speaks this protocol version.
fn initialize_result(protocol_version: &str) -> Value {
    json!({
        "serverInfo": {"name": "skillsd", "version": env!("CARGO_PKG_VERSION")},
        "protocolVersion": protocol_version,
        "capabilities": {"methods": [], "profiles": ["agentskills", "claude-code"]},
        "limits": {},
        "bootId": "b1",
    })
}

// Returns a command's output, error output and exit code as one text.
fn ran(arguments: &[&str], script: impl Fn(&Value) -> Value + Send + Clone + 'static) -> String {
    let cli = Cli::try_parse_from(["skillsd", "--no-daemon"].iter().chain(arguments));
    let cli = cli.expect("the arguments are good");
    let local = move || -> io::Result<Box<dyn Stream>> {
        let script = script.clone();
        let (stream, _asked) = serve(move |message| {
            let is_first = message["method"] == "initialize";
            vec![if is_first {
                answer(message, &initialize_result(PROTOCOL_VERSION))
            } else {
                script(message)
            }]
        });
        Ok(Box::new(stream))
    };
    let (out, err) = (Written::default(), Written::default());
    let terminal = Terminal::over(out.clone(), err.clone(), Some(80), "/home/ann");
    let binary = binary(&local);
    let exit = match execute(&cli.global, &cli.command, binary, &terminal) {
        Ok(exit) => exit,
        Err(error) => {
            terminal.print_error(&error);
            error.exit()
        }
    };
    format!("{}{}exit {}\n", out.text(), err.text(), exit as u8)
}

#[track_caller]
fn check(
    arguments: &[&str],
    script: impl Fn(&Value) -> Value + Send + Clone + 'static,
    expected: &Expect,
) {
    expected.assert_eq(&ran(arguments, script));
}

/// Returns the parts of a program with these commands alone.
fn binary(local: crate::Local<'_>) -> Binary<'_> {
    Binary { local, definition: Cli::command, rules: Vec::new, profiles: Vec::new }
}

#[test]
fn json_output_is_the_raw_answer() {
    // Spaces and the unknown field would not survive parsing.
    let result = json!({"clock": "c", "fresh": true, "unknown": 1.50, "skills": []});
    let text = result.to_string();
    let out = ran(&["list", "--json"], move |message| answer(message, &result));
    assert_eq!(out, format!("{text}\nexit 0\n"));
}

#[test]
fn list_flags_become_call_parameters() {
    let asked = |arguments: &[&str]| {
        let out = ran(arguments, |message| answer(message, &json!({"params": message["params"]})));
        let line = out.lines().next().expect("one line").to_owned();
        let mut asked: Value = serde_json::from_str(&line).expect("JSON");
        asked["params"].take()
    };
    let top = tempfile::TempDir::new().expect("made");
    let dir = top.path().to_str().expect("plain");
    let params = asked(&["list", dir, "--json", "--profile", "claude-code", "--add-dir", "/"]);
    assert_eq!(params["cwd"], dir);
    assert_eq!(params["profile"], "claude-code");
    assert_eq!(params["additionalDirs"], json!(["/"]));
    assert_eq!(params["include"], Value::Null);
    assert!(params["environment"].is_object());
    assert_eq!(asked(&["list", "--all", "--json"])["include"], json!(["all"]));
    assert_eq!(asked(&["--cwd", dir, "list", "--json"])["cwd"], dir);
}

/// Answers `profiles/detect` and `catalog/budget`, and every other call with this result. If it is
/// a list, `skills/explain` has no steps.
fn answer_list(message: &Value, list: &Value) -> Value {
    let detected = json!({"profile": "agentskills", "agent": "Agent Skills standard",
        "reason": "by default"});
    let budget = json!({"clock": "c", "profile": "agentskills", "agent": "Agent Skills standard",
        "count": 0, "characters": 0, "tokens": 0, "skills": []});
    let explained = json!({"clock": "c", "profile": "agentskills", "steps": [],
        "verdict": {"state": null, "summary": "3 skills"}});
    let result = match message["method"].as_str() {
        Some("profiles/detect") => &detected,
        Some("catalog/budget") => &budget,
        Some("skills/explain") if list["verdict"].is_null() => &explained,
        _ => list,
    };
    answer(message, result)
}

#[test]
fn list_goes_to_stdout_and_health_to_stderr() {
    let health =
        json!([{"code": "watch-limit", "message": "the limit is reached", "hint": "Raise it."}]);
    let mut result = serde_json::to_value(shop()).expect("JSON");
    result["health"] = health;
    check(
        &["list"],
        move |message| answer_list(message, &result),
        &expect![[r#"
            as Agent Skills standard · 3 skills · by default

            ~/shop/.agents/skills  project
              commit         Writes a commit message in the house style.
              accessibility  Checks a page against WCAG 2.2 and says what to c…  (1 warning)

            ~/.agents/skills  user
              pdf            Fills, splits and merges PDF files. Use it…  (broken right now)

            3 not shown: 1 conditional, 1 shadowed, 1 invalid · skillsd list --all
            warning: the limit is reached
               hint: Raise it.
            exit 0
        "#]],
    );
}

#[test]
fn list_joins_all_pages() {
    let skill = serde_json::to_value(&shop().skills[0]).expect("JSON");
    let script = move |message: &Value| {
        let next = if message["params"]["cursor"].is_null() { json!("2") } else { Value::Null };
        let skills = [skill.clone()];
        let result = json!({"clock": "c", "fresh": true, "nextCursor": next, "skills": skills});
        answer_list(message, &result)
    };
    let out = ran(&["list"], script.clone());
    assert!(out.contains("2 skills · by default\n"), "{out}");

    let out = ran(&["list", "--json"], script);
    let result = out.lines().next().expect("a line");
    let result: Value = serde_json::from_str(result).expect("JSON");
    assert_eq!(result["skills"].as_array().map(Vec::len), Some(2), "{result}");
    assert_eq!(result["nextCursor"], Value::Null, "{result}");
}

#[test]
fn json_of_several_profiles_is_an_object_of_answers() {
    let script =
        |message: &Value| answer_list(message, &json!({"profile": message["params"]["profile"]}));
    check(
        &["list", "--json", "--profile", "all"],
        script,
        &expect![[r#"
            {"agentskills":{"profile":"agentskills"},"claude-code":{"profile":"claude-code"}}
            exit 0
        "#]],
    );
}

#[test]
fn explain_exit_code_follows_the_verdict() {
    let exit = |arguments: &[&str], state: Value| {
        let verdict = json!({"state": state, "summary": "s"});
        let result =
            json!({"clock": "c", "profile": "agentskills", "verdict": verdict, "steps": []});
        let out = ran(arguments, move |message| answer_list(message, &result));
        out.lines().last().expect("a line").to_owned()
    };
    assert_eq!(exit(&["explain", "x"], json!("active")), "exit 0");
    assert_eq!(exit(&["explain", "x"], json!("activated")), "exit 0");
    assert_eq!(exit(&["explain", "x"], json!("conditional")), "exit 1");
    assert_eq!(exit(&["explain", "x", "--json"], json!("shadowed")), "exit 1");
    assert_eq!(exit(&["explain", "x"], Value::Null), "exit 1");
    assert_eq!(exit(&["explain"], Value::Null), "exit 0");
    assert_eq!(exit(&["explain", "x", "--profile", "all"], json!("invalid")), "exit 1");
}

#[test]
fn error_responses_become_messages_hints_and_exit_codes() {
    let refused = |code: i32, message: &'static str| move |it: &Value| refusal(it, code, message);
    check(
        &["show", "comit"],
        |message| {
            let mut refused = refusal(message, SKILL_NOT_FOUND, "there is no skill `comit`");
            refused["error"]["data"] =
                json!({"hint": "Did you mean `commit`?", "nearest": ["commit"]});
            refused
        },
        &expect![[r#"
            error: there is no skill `comit`
            hint: Did you mean `commit`?
            exit 1
        "#]],
    );
    check(
        &["list", "--profile", "x"],
        refused(INVALID_PARAMS, "unknown profile `x`"),
        &expect![[r#"
            error: unknown profile `x`
            exit 2
        "#]],
    );
    check(
        &["show", "x"],
        refused(DENIED, "`x` is denied"),
        &expect![[r#"
        error: `x` is denied
        exit 5
    "#]],
    );
    check(
        &["show", "x", "--profile", "all"],
        refused(0, ""),
        &expect![[r#"
        error: only `list`, `explain`, `check`, `report` and `budget` accept several profiles, not this command with `--profile all`
        hint: Pass one profile, for example `--profile claude-code`.
        exit 2
    "#]],
    );
    check(
        &["stop"],
        refused(0, ""),
        &expect![[r#"
        error: `stop` cannot be combined with `--no-daemon`: there is no daemon to stop
        exit 2
    "#]],
    );
}

#[test]
fn incompatible_protocol_is_an_error() {
    let cli = Cli::try_parse_from(["skillsd", "--no-daemon", "status"]).expect("good");
    let local = || -> io::Result<Box<dyn Stream>> {
        let (stream, _asked) = serve(|message| vec![answer(message, &initialize_result("2.0"))]);
        Ok(Box::new(stream))
    };
    let terminal = crate::tests::sample::terminal(None);
    let binary = binary(&local);
    let error = execute(&cli.global, &cli.command, binary, &terminal).expect_err("another major");
    assert_eq!(error.exit(), Exit::VersionMismatch);
    assert_eq!(error.message(), "the daemon speaks protocol 2.0, but this program speaks 1.0");
}

#[test]
fn other_daemon_version_is_a_warning_after_the_answer() {
    let cli = Cli::try_parse_from(["skillsd", "--no-daemon", "sync"]).expect("good");
    let local = || -> io::Result<Box<dyn Stream>> {
        let (stream, _asked) = serve(|message| {
            let mut result = initialize_result(PROTOCOL_VERSION);
            result["serverInfo"]["version"] = json!("9.9.9");
            let synced = json!({"clock": "c", "health": []});
            let is_first = message["method"] == "initialize";
            vec![answer(message, if is_first { &result } else { &synced })]
        });
        Ok(Box::new(stream))
    };
    let (out, err) = (Written::default(), Written::default());
    let terminal = Terminal::over(out.clone(), err.clone(), Some(80), "/home/ann");
    let binary = binary(&local);
    execute(&cli.global, &cli.command, binary, &terminal).expect("answered");
    assert!(out.text().starts_with("✓ in sync"), "{}", out.text());
    let expected = format!(
        "warning: the daemon is skillsd 9.9.9, but this program is {}\n   hint: Run `skillsd stop`; the next command starts a daemon of this version.\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(err.text(), expected);
}

#[test]
fn sync_prints_the_clock() {
    let script = |message: &Value| answer(message, &json!({"clock": "b1:w1:7:2", "health": []}));
    check(
        &["sync"],
        script,
        &expect![[r#"
        ✓ in sync · clock b1:w1:7:2
        exit 0
    "#]],
    );
}

#[test]
fn global_flags_are_accepted_before_and_after_the_command() {
    let parsed = |arguments: &[&str]| {
        let cli = Cli::try_parse_from(["skillsd"].iter().chain(arguments)).expect("good");
        (cli.global.json, cli.global.cwd)
    };
    let expected = (true, Some(Path::new("/w").to_owned()));
    assert_eq!(parsed(&["--json", "--cwd", "/w", "status"]), expected);
    assert_eq!(parsed(&["status", "--json", "--cwd", "/w"]), expected);
    assert_eq!(parsed(&["--cwd", "/w", "status", "--json"]), expected);
}

#[track_caller]
fn check_help(command: Option<&str>, expected: &Expect) {
    let mut root = grouped_help(Cli::command());
    root.build();
    let command = match command {
        Some(name) => root.find_subcommand_mut(name).expect("a command"),
        None => &mut root,
    };
    let help = command.clone().render_help().to_string();
    // A desktop's default window shows about 50 lines.
    assert!(help.lines().count() <= 50, "`-h` is one screen");
    expected.assert_eq(&help);
}

#[test]
fn help_fits_one_screen() {
    check_help(
        None,
        &expect![[r#"
            Finds, explains and serves the agent skills (SKILL.md) of a worktree

            Usage: skillsd <COMMAND>

            Find skills:
              list         List the skills that an agent sees
              explain      Explain why an agent sees a skill, or why not
              show         Show a skill's entry, frontmatter and findings
              search       Search skills by name and description
              load         Print a skill as its agent gives it to the model
              catalog      Print the skill listing of an agent's prompt
              budget       Show the cost of each skill in the agent's listing

            Check, write and switch skills:
              check        Find errors in skills
              report       Write a page about a worktree's skills
              new          Create a skill from a template
              enable       Switch a skill on in its agent's settings
              disable      Switch a skill off in its agent's settings
              link         Make a skill visible to another agent by a symlink
              unlink       Remove a link of `link`

            Run with an agent:
              hook         Report an agent's tool calls to the daemon, as the agent's hook
              touch        Report touched files and show which skills they activate
              session      Open, get, close or list agents' sessions
              permission   Show and answer agents' requests for approval
              trust        Trust a worktree, so that its skills may run scripts

            Daemon:
              status       Show the daemon's state and what it watches
              doctor       Find problems of the daemon and its environment
              watch        Print changes of the skill list as they happen
              top          Show the daemon, its worktrees and events, live
              logs         Show the log of a daemon that a command started
              sync         Wait until the index has every change on the disk
              stop         Stop the daemon

            Set up:
              install      Register skillsd with systemd and with installed agents
              uninstall    Remove what `install` added
              completions  Print a completion script for a shell
              man          Print the manual page, or write one for each command

            Options:
              -h, --help     Print help
              -V, --version  Print version

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]],
    );
    check_help(
        Some("list"),
        &expect![[r#"
            List the skills that an agent sees

            Usage: skillsd list [OPTIONS] [DIR]

            Arguments:
              [DIR]  Working directory of the agent [default: the current directory]

            Options:
              -a, --all                Also list skills that the model does not see, each with the reason
                  --tokens             Show the tokens of each skill's entry in the agent's listing
                  --session <SESSION>  Apply this session: its activated and discovered skills
              -h, --help               Print help

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]],
    );
    for command in ["doctor", "logs", "completions", "man"] {
        let help = Cli::command().find_subcommand_mut(command).expect("one").render_help();
        let about = help.to_string().lines().next().unwrap_or_default().to_owned();
        assert!(about.len() > 20 && !about.ends_with('.'), "{about}");
    }
    check_help(
        Some("doctor"),
        &expect![[r#"
            Find problems of the daemon and its environment

            Usage: skillsd doctor [OPTIONS]

            Options:
                  --fix   Apply all safe repairs, and report each one
              -h, --help  Print help (see more with '--help')

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]],
    );
    check_help(
        Some("logs"),
        &expect![[r#"
            Show the log of a daemon that a command started

            Usage: skillsd logs [OPTIONS]

            Options:
              -f, --follow     Keep printing new lines
              -n, --lines <N>  Number of last lines to print [default: 100]
              -h, --help       Print help (see more with '--help')

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]],
    );
    check_help(
        Some("load"),
        &expect![[r#"
            Print a skill as its agent gives it to the model

            Usage: skillsd load [OPTIONS] <NAME|PATH> [ARGS]...

            Arguments:
              <NAME|PATH>  Name of a skill, a SKILL.md or a skill's directory
              [ARGS]...    Arguments of the skill

            Options:
                  --format <FORMAT>  Format of this agent [default: the profile's]
                  --by <WHO>         The caller: model, user [default: model]
                  --shell <WHAT>     Treatment of commands in the skill: list, none, execute [default: list]
                  --wait             Wait for the answer if the user must approve first
              -h, --help             Print help (see more with '--help')

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]],
    );
    check_help(
        Some("trust"),
        &expect![[r#"
            Trust a worktree, so that its skills may run scripts

            Usage: skillsd trust [OPTIONS] [DIR]

            Arguments:
              [DIR]  Directory to trust [default: the current worktree]

            Options:
                  --revoke  Revoke trust
                  --list    List trusted directories and pending requests for trust; change nothing
              -h, --help    Print help (see more with '--help')

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]],
    );
    check_help(
        Some("explain"),
        &expect![[r#"
            Explain why an agent sees a skill, or why not

            Usage: skillsd explain [OPTIONS] [NAME|PATH]

            Arguments:
              [NAME|PATH]  Name of a skill, a SKILL.md or a skill's directory [default: every search root]

            Options:
                  --all                List the directories that do not exist
                  --session <SESSION>  Apply this session: its activated and discovered skills
              -h, --help               Print help

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]],
    );
}

#[test]
fn clap_definition_is_valid() {
    Cli::command().debug_assert();
}
