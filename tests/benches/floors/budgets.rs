//! Latency of a list while a hostile worktree is indexed, compared with an idle daemon.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use skills_testkit::fixture::write_skill;
use skills_testkit::{Daemon, Framing, Home, Wire};

use crate::table::{Bar, Figure, Table};

/// The directory that opencode reads skills from at any depth.
const ROOT: &str = ".opencode/skills";

/// Lays out one hostile root.
type Attack = fn(&Path);

const ATTACKS: [(&str, Attack); 4] = [
    ("nest", nest),
    ("maze of links", maze),
    ("22,500 directories", directories),
    ("20,000 skills", skills),
];

const ROUNDS: usize = 50;

/// Allowed delay of a list, in seconds.
const DELAY: f64 = 0.05;

/// Allowed time of a first list meanwhile, in seconds.
const FIRST: f64 = 2.0;

pub(crate) fn measure(table: &mut Table) {
    for (name, attack) in ATTACKS {
        let home = Home::new();
        let daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
        let [ordinary, other, hostile] = ["w", "x", "y"].map(|it| home.worktree(it, ""));
        for top in [&ordinary, &other] {
            write_skill(&top.join(".agents/skills/tidy"), "tidy", "Says when to use it.");
        }
        attack(&hostile.join(ROOT));
        let mut wire = daemon.connect(Framing::Header);
        let list = |wire: &mut Wire, top: &Path, profile: &str| {
            let begin = Instant::now();
            wire.call("skills/list", &json!({"cwd": top, "profile": profile}));
            begin.elapsed()
        };
        // A change forces the call through the event loop.
        let woken = |wire: &mut Wire| {
            fs::write(ordinary.join(".agents/skills/tidy/notes"), "n").expect("written");
            list(wire, &ordinary, "agentskills")
        };
        woken(&mut wire);
        let floor = (0..ROUNDS).map(|_| woken(&mut wire)).max().unwrap_or_default();
        let (slowest, first) = thread::scope(|scope| {
            let scan = scope.spawn(|| {
                let mut wire = daemon.connect(Framing::Header);
                wire.set_timeout(Duration::from_mins(2));
                list(&mut wire, &hostile, "opencode");
            });
            thread::sleep(Duration::from_millis(2));
            let first = list(&mut wire, &other, "opencode");
            let mut slowest = woken(&mut wire);
            while !scan.is_finished() {
                slowest = slowest.max(woken(&mut wire));
            }
            (slowest, first)
        });
        table.add(Figure::time(
            &format!("slowest list beside a {name}"),
            floor,
            slowest,
            Bar::Plus(DELAY),
        ));
        table.add(Figure::time(
            &format!("first list beside a {name}"),
            floor,
            first,
            Bar::Limit(FIRST),
        ));
    }
}

fn nest(root: &Path) {
    // The depth budget ends the walk long before the maximum path length.
    fs::create_dir_all(root.join("d/".repeat(1_000))).expect("made");
}

fn maze(root: &Path) {
    const ROOMS: usize = 400;
    for room in 0..ROOMS {
        let dir = root.join(format!("r{room:03}"));
        fs::create_dir_all(&dir).expect("made");
        for door in [1, 7, 13] {
            let next = format!("../r{:03}", (room + door) % ROOMS);
            symlink(next, dir.join(format!("door{door}"))).expect("linked");
        }
    }
}

fn directories(root: &Path) {
    for outer in 0..150 {
        for inner in 0..150 {
            fs::create_dir_all(root.join(format!("a{outer}/b{inner}"))).expect("made");
        }
    }
}

fn skills(root: &Path) {
    for index in 0..20_000 {
        let name = format!("s{index:05}");
        write_skill(&root.join(&name), &name, "Says when to use it.");
    }
}
