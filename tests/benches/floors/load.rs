//! Time to load a skill of 10 KB with ten files, compared with reading these files.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use skills_testkit::fixture::skill_text;
use skills_testkit::{Daemon, Home};

use crate::call::{FrameConnection, frame};
use crate::table::{Bar, Figure, Table, median};

const ROUNDS: usize = 400;

pub(crate) fn measure(table: &mut Table) {
    let home = Home::new();
    let top = home.worktree("w", "");
    let dir = top.join(".agents/skills/s");
    fs::create_dir_all(dir.join("references")).expect("it can be made");
    let text = skill_text("s", "Does one thing.") + &"A line of instructions.\n".repeat(420);
    fs::write(dir.join("SKILL.md"), text).expect("it can be written");
    for nth in 0..10 {
        let path = dir.join(format!("references/{nth}.md"));
        fs::write(path, "A line of a resource.\n".repeat(100)).expect("it can be written");
    }
    let _daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    let params = json!({"cwd": top, "name": "s", "freshness": "cached"});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "skills/load", "params": params});
    let request = frame(request.to_string().as_bytes());
    let mut line = FrameConnection::connect(&home.socket());
    assert!(line.ask(&request).len() > 10_000, "the text was loaded");
    let (mut floor, mut measured) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floor.push(timed(|| read_all(&dir)));
        measured.push(timed(|| line.exchange(&request)));
    }
    let name = "skills/load of 10 KB with 10 files, beside reading them";
    table.add(Figure::time(name, median(floor), median(measured), Bar::Times(2.0)));
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(work());
    begin.elapsed()
}

/// Reads every file below a directory, without interpreting it.
fn read_all(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).expect("it is there").map(|it| it.expect("as before"));
    let read = |it: fs::DirEntry| match it.file_type() {
        Ok(kind) if kind.is_dir() => read_all(&it.path()),
        _ => fs::read(it.path()).map_or(0, |it| it.len()),
    };
    entries.map(read).sum()
}
