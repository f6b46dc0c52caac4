//! Memory of the daemon, compared with the echo server's.

use std::fs;
use std::path::Path;

use serde_json::json;
use skills_testkit::fixture::skill_text;
use skills_testkit::{Daemon, Framing, Home};

use crate::call::Echo;
use crate::table::{Bar, Figure, Table};

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// Worktrees of one repository.
const WORKTREES: usize = 20;

pub(crate) fn measure(table: &mut Table) {
    let home = Home::new();
    let echo = Echo::start(home.runtime_dir().join("echo.sock"));
    let trivial = Memory::of(echo.pid());

    let small = indexed_daemon_memory(1, 100);
    let name = "anonymous memory, a worktree of 100, beside echo's";
    table.add(Figure::bytes(name, trivial.anonymous, small.anonymous, Bar::Limit(8.0 * MIB)));
    let name = "resident memory, a worktree of 100, beside echo's";
    table.add(Figure::bytes(name, trivial.resident, small.resident, Bar::Limit(22.0 * MIB)));

    let (few, many) = (indexed_daemon_memory(1, 1_000), indexed_daemon_memory(1, 5_000));
    let per_skill = (many.anonymous - few.anonymous) / 4_000.0;
    let name = "memory of a further skill, beside its text";
    table.add(Figure::bytes(name, size(text(0).len()), per_skill, Bar::Plus(3.0 * KIB)));
    let name = "anonymous memory, 5,000 skills, beside echo's";
    table.add(Figure::bytes(name, trivial.anonymous, many.anonymous, Bar::Limit(40.0 * MIB)));

    let (one, all) = (indexed_daemon_memory(1, 500), indexed_daemon_memory(WORKTREES, 500));
    let name = format!("{WORKTREES} worktrees of one repository of 500 skills, beside one");
    let more = 0.2 * one.anonymous + 1.5 * KIB * size(500 * WORKTREES);
    table.add(Figure::bytes(&name, one.anonymous, all.anonymous, Bar::Plus(more)));
}

fn size(amount: usize) -> f64 {
    f64::from(u32::try_from(amount).expect("small amounts"))
}

/// Memory of a process in bytes.
struct Memory {
    anonymous: f64,
    resident: f64,
}

impl Memory {
    fn of(pid: u32) -> Memory {
        let status =
            fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is running");
        let field = |name: &str| {
            let line = status.lines().find_map(|it| it.strip_prefix(name)).expect("Linux tells it");
            let number = line.trim().trim_end_matches(" kB");
            number.parse::<f64>().expect("it is a number") * KIB
        };
        Memory { anonymous: field("RssAnon:"), resident: field("VmRSS:") }
    }
}

/// Returns the memory of a new daemon after indexing `n_worktrees` worktrees with the same skills.
fn indexed_daemon_memory(n_worktrees: usize, n_skills: usize) -> Memory {
    let home = Home::new();
    let daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    let mut wire = daemon.connect(Framing::Header);
    for nth in 0..n_worktrees {
        let top = home.worktree(&format!("w{nth}"), "");
        for index in 0..n_skills {
            write(&top.join(format!(".agents/skills/skill-{index:04}")), index);
        }
        let listed = wire.call("skills/list", &json!({"cwd": top, "limit": 1}));
        assert_eq!(listed["health"], json!([]), "it is indexed without trouble");
    }
    Memory::of(daemon.pid())
}

fn write(dir: &Path, index: usize) {
    fs::create_dir_all(dir).expect("a directory can be made");
    fs::write(dir.join("SKILL.md"), text(index)).expect("a file can be written");
}

/// Returns a typical skill: 2 KB, a tenth of it the description.
fn text(index: usize) -> String {
    let description = "Does one thing and says when to use it, in a sentence. ".repeat(4);
    skill_text(&format!("skill-{index:04}"), &description) + &"A line of instructions.\n".repeat(75)
}
