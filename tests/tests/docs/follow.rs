//! Runs the commands of each document in one shell and checks their output.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use skills_testkit::Home;

use crate::blocks::{Block, Fenced, Run, blocks, fenced, missing};
use crate::{documents, top};

/// Parts of the checkout that the documents use.
const CHECKOUT: [&str; 7] = [
    "README.md", "tests/samples", "systemd", "packaging", "editors/agents", "editors/neovim",
    "docs",
];

/// Maximum number of blocks that are not run: they need root, macOS, systemd, agents, or hours.
const MOST_NOT_RUN: usize = 12;

/// Markers before each command's output, and after it with the exit code.
const BEGIN: &str = "==8<== begin";
const END: &str = "==8<== end";

/// Returns a home with a checkout, and `skillsd` in its `bin`.
pub(crate) fn home() -> Home {
    let home = Home::new();
    let checkout = home.path().join("skillsd");
    for part in CHECKOUT {
        let target = checkout.join(part);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let mut copy = home.command("cp");
        assert!(copy.arg("-R").arg(top().join(part)).arg(target).status().unwrap().success());
    }
    home.git(&checkout, &["init", "-q", "-b", "main", "--template="]);
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_test-skillsd"), bin.join("skillsd")).unwrap();
    home
}

/// Returns a shell in the checkout, with `skillsd` on its path.
pub(crate) fn shell(home: &Home) -> Command {
    let path = std::env::var_os("PATH").unwrap();
    let bin = std::iter::once(home.path().join("bin"));
    let path = std::env::join_paths(bin.chain(std::env::split_paths(&path))).unwrap();
    let mut shell = home.command("bash");
    shell.current_dir(home.path().join("skillsd")).env("PATH", path);
    shell
}

fn is_run(run: &Run) -> bool {
    match run {
        Run::Here => true,
        Run::With(program) => is_installed(program),
        Run::By(_) | Run::Not(_) => false,
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Runs the runnable blocks of one document and returns the faults.
fn run_document(name: &str, blocks: &[Block]) -> Vec<String> {
    let here: Vec<&Block> = blocks.iter().filter(|it| is_run(&it.run)).collect();
    if here.is_empty() {
        return Vec::new();
    }
    let home = home();
    let commands =
        || here.iter().flat_map(|block| block.commands.iter().map(|it| (block.line, it)));
    let mut script = String::new();
    for (nth, (_, command)) in commands().enumerate() {
        let text = &command.text;
        let _ = write!(
            script,
            "printf '%s\\n' '{BEGIN} {nth}'\n{text}\nprintf '\\n%s %s\\n' '{END} {nth}' $?\n"
        );
    }
    let file = home.work().join("script");
    fs::write(&file, format!("exec 2>&1\nset -o pipefail\n{script}")).unwrap();
    let mut shell = shell(&home);
    shell.arg(&file);
    let output = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let mut wrong = Vec::new();
    for (nth, (line, command)) in commands().enumerate() {
        let begin = format!("{BEGIN} {nth}\n");
        let end = format!("\n{END} {nth} ");
        let came = output.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end));
        let Some((came, rest)) = came else {
            wrong.push(format!("{name}:{line}: `{}` was not run", command.text));
            continue;
        };
        let code = rest.lines().next().unwrap_or_default();
        // Exit code 1 reports findings, which may be the expected output.
        let is_good = code == "0" || (code == "1" && !command.shown.is_empty());
        if !is_good {
            wrong.push(format!("{name}:{line}: `{}` ended with {code}: {came}", command.text));
        } else if let Some(missed) = missing(&command.shown, came) {
            let text = &command.text;
            wrong.push(format!("{name}:{line}: `{text}` does not show `{missed}`, but:\n{came}"));
        }
    }
    wrong
}

/// Returns blocks that contain commands but are not marked as such, and would not be run.
fn unmarked_commands(name: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_command = |line: &&str| {
        let word = line.strip_prefix("$ ").or_else(|| line.strip_prefix("skillsd "));
        word.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    let is_shell = |it: &Fenced<'_>| match it.kind {
        "bash" | "shell" | "shell-session" | "zsh" => true,
        "" | "text" => it.body.iter().any(is_command),
        _ => false,
    };
    let found = fenced(&lines).into_iter().filter(is_shell);
    let said = |it: Fenced<'_>| {
        format!("{name}:{}: commands are in blocks of `sh` or `console`", it.line + 1)
    };
    found.map(said).collect()
}

/// Checks blocks that claim to be run elsewhere.
fn check_exempt_blocks(name: &str, blocks: &[Block]) -> Vec<String> {
    let mut wrong = Vec::new();
    for block in blocks {
        match &block.run {
            Run::Not(reason) if reason.len() < 15 => {
                wrong.push(format!("{name}:{}: `{reason}` is no reason", block.line));
            }
            Run::Here | Run::Not(_) => {}
            Run::With(program) => {
                let is_ci = std::env::var_os("CI").is_some_and(|it| it == "true");
                if !is_installed(program) {
                    println!("skipped: {name}:{}, because {program} is not installed", block.line);
                    if is_ci {
                        wrong.push(format!("{name}:{}: {program} is not installed", block.line));
                    }
                }
            }
            Run::By(file) => {
                let text = fs::read_to_string(top().join(file)).unwrap_or_default();
                for command in block.commands.iter().filter(|it| !text.contains(&it.text)) {
                    let line = block.line;
                    wrong.push(format!("{name}:{line}: `{file}` has no `{}`", command.text));
                }
            }
        }
    }
    wrong
}

#[test]
fn documented_commands_print_what_is_shown() {
    let mut wrong = Vec::new();
    let (mut n_run, mut n_not) = (0, 0);
    for name in documents() {
        let text = fs::read_to_string(top().join(Path::new(&name))).unwrap();
        let blocks = blocks(&text);
        let here = blocks.iter().filter(|it| is_run(&it.run));
        n_run += here.map(|it| it.commands.len()).sum::<usize>();
        n_not += blocks.iter().filter(|it| matches!(it.run, Run::Not(_))).count();
        wrong.extend(unmarked_commands(&name, &text));
        wrong.extend(check_exempt_blocks(&name, &blocks));
        wrong.extend(run_document(&name, &blocks));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    println!("{n_run} commands of the documents were run");
    assert!(n_run >= 20, "{n_run}");
    // Blocks that are not run are not verified, so their number is limited.
    assert!(n_not <= MOST_NOT_RUN, "{n_not} blocks are not run");
}

/// Returns the skillsd commands mentioned in a line of prose.
fn mentioned_commands(line: &str) -> Vec<Vec<String>> {
    let code = line.split('`').skip(1).step_by(2).filter_map(|it| it.strip_prefix("skillsd "));
    let words = |it: &str| -> Vec<String> {
        let is_over = |word: &&str| {
            !["|", ">", "<", "||", "&&", ";"].contains(word) && !word.contains(['…', '|', ';'])
        };
        it.split_whitespace().take_while(is_over).map(str::to_owned).collect()
    };
    code.map(words).filter(|it| !it.is_empty()).collect()
}

#[test]
fn commands_named_in_documents_exist() {
    let mut wrong = Vec::new();
    let mut known = BTreeMap::new();
    for name in documents() {
        let text = fs::read_to_string(top().join(Path::new(&name))).unwrap();
        for words in text.lines().flat_map(mentioned_commands) {
            let is_good = *known.entry(words.clone()).or_insert_with(|| {
                // With `--help` last, all preceding arguments are still parsed and rejected if
                // unknown.
                let mut command = Command::new(env!("CARGO_BIN_EXE_test-skillsd"));
                command.args(&words).arg("--help").output().unwrap().status.success()
            });
            if !is_good {
                wrong.push(format!("{name}: `skillsd {}`", words.join(" ")));
            }
        }
    }
    wrong.dedup();
    assert!(known.len() > 25, "{known:?}");
    assert!(wrong.is_empty(), "no such command or option:\n{}", wrong.join("\n"));
}
