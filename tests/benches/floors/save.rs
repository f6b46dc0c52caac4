//! Time from saving a skill to the subscriber's event, compared with inotify itself.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use serde_json::json;
use skills_testkit::fixture::skill_text;
use skills_testkit::{Daemon, Framing, Home};

use crate::table::{Bar, Figure, Table, median};

const ROUNDS: usize = 200;

pub(crate) fn measure(table: &mut Table) {
    let home = Home::new();
    let daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    let top = home.worktree("w", "");
    let skill = top.join(".agents/skills/s");
    fs::create_dir_all(&skill).expect("a directory can be made");
    save(&skill, 0);
    let plain = home.work().join("plain");
    fs::create_dir_all(&plain).expect("a directory can be made");

    let events = inotify::init(CreateFlags::CLOEXEC).expect("inotify can be had");
    inotify::add_watch(&events, &plain, WatchFlags::MOVED_TO).expect("a directory can be watched");
    let mut wire = daemon.connect(Framing::Header);
    wire.call("events/subscribe", &json!({"kinds": ["skills/changed"], "cwd": top}));
    let (mut floor, mut measured) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&events, &mut buffer);
        floor.push(from_save(&plain, round, || {
            reader.next().expect("the event comes");
        }));
        measured.push(from_save(&skill, round, || {
            wire.note();
        }));
    }
    table.add(Figure::time(
        "save to skills/changed, beside inotify",
        median(floor),
        median(measured),
        Bar::Times(3.0),
    ));
}

/// Returns the time from a save until `heard` returns.
fn from_save(dir: &Path, round: usize, heard: impl FnOnce()) -> Duration {
    let begin = save(dir, round);
    heard();
    begin.elapsed()
}

/// Replaces the skill by a rename, as editors do, and returns the time of the rename.
fn save(dir: &Path, round: usize) -> Instant {
    let new = dir.join("new");
    fs::write(&new, skill_text("s", &format!("Says {round} times when to use it.")))
        .expect("a file can be written");
    let begin = Instant::now();
    fs::rename(new, dir.join("SKILL.md")).expect("a file can be replaced");
    begin
}
