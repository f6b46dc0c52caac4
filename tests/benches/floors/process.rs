//! Run time of whole commands, from process start to exit.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use skills_testkit::Home;
use skills_testkit::fixture::write_skill;

use crate::index::{SKILLS, cold_index_time};
use crate::table::{Bar, Figure, Table, median};

const ROUNDS: usize = 200;

/// Rounds that start a daemon each.
const STARTS: usize = 15;

pub(crate) fn measure(table: &mut Table) {
    let program = env!("CARGO_BIN_EXE_test-skillsd");
    let home = Home::new();
    let worktrees = [100, SKILLS].map(|n_skills| {
        let top = home.worktree(&format!("w{n_skills}"), "");
        for index in 0..n_skills {
            let name = format!("skill-{index:04}");
            let description = "Says when to use it. ".repeat(9);
            write_skill(&top.join(".agents/skills").join(&name), &name, &description);
        }
        top
    });
    let [small, large] = &worktrees;
    let stop = || run_time(home.command(program).arg("stop"));

    let (mut floor, mut measured) = (Vec::new(), Vec::new());
    run_time(home.command(program).arg("list").current_dir(small));
    let mut completed = Vec::new();
    for _ in 0..ROUNDS {
        floor.push(run_time(home.command("echo").arg("hello, world")));
        measured.push(run_time(home.command(program).arg("list").current_dir(small)));
        let words = ["__complete", "zsh", "--", "skillsd", "show", ""];
        completed.push(run_time(home.command(program).args(words).current_dir(small)));
    }
    stop();
    let name = "completion of a name among 100, beside a hello-world process";
    table.add(Figure::time(name, median(floor.clone()), median(completed), Bar::Times(5.0)));
    let name = "skillsd list of 100, warm, beside a hello-world process";
    table.add(Figure::time(name, median(floor), median(measured), Bar::Times(3.0)));

    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it can be built");
    let (mut floor, mut measured) = (Vec::new(), Vec::new());
    for round in 0..STARTS {
        let cookies = home.runtime_dir().join(format!("bench-cookies-{round}"));
        floor.push(runtime.block_on(cold_index_time(large, home.path(), Some(&cookies))));
        measured.push(run_time(home.command(program).arg("list").current_dir(large)));
        stop();
    }
    let name = format!("skillsd list of {SKILLS} that starts the daemon, beside the index");
    table.add(Figure::time(&name, median(floor), median(measured), Bar::Plus(30e-3)));
}

/// Returns a command's run time.
fn run_time(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let status = command.status().expect("the program can be run");
    let time = begin.elapsed();
    assert!(status.success(), "{command:?} ended with {status}");
    time
}
