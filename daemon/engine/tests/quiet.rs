//! Changes beside skills and repeated requests wake no thread, while changes of skills still
//! arrive.
//!
//! One test in its own process: it counts how often the watcher's and the event loop's threads have
//! waited.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use skills_agents::profile;
use skills_discovery::discover::DiscoveryContext;
use skills_engine::watch::notify_watcher::recommended;
use skills_engine::{Engine, Freshness, Options, ViewKey};
use skills_syntax::path::AbsPath;

/// Name of the watcher's thread.
const WATCH: &str = "watch";

/// Name of the event loop's thread.
const ENGINE: &str = "engine";

/// Returns the number of times that a thread has waited.
fn waits(thread: &str) -> u64 {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|it| it.unwrap().path());
    let is_it = |it: &PathBuf| fs::read_to_string(it.join("comm")).unwrap().trim() == thread;
    let task = tasks.into_iter().find(is_it).expect("it has a thread");
    let status = fs::read_to_string(task.join("status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

/// Asserts that an action wakes no thread. Retries, because other tests may change a parent
/// directory such as that of temporary files.
#[track_caller]
fn wakes_nobody(act: impl Fn()) {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let before = waits(WATCH);
        act();
        thread::sleep(Duration::from_millis(20));
        if waits(WATCH) == before {
            return;
        }
        assert!(Instant::now() < end, "the watcher is woken each time");
    }
}

fn write_again_and_again(path: &Path) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    for _ in 0..1000 {
        file.write_all(b"x").unwrap();
    }
}

async fn described(engine: &Engine, top: &Path) -> Vec<String> {
    described_by(engine, top, "agentskills").await
}

async fn described_by(engine: &Engine, top: &Path, profile: &str) -> Vec<String> {
    let ctx = DiscoveryContext {
        profile: Arc::clone(profile::find(profile).unwrap()),
        cwd: AbsPath::new(top).unwrap(),
        additional: Vec::new(),
        agent: None,
        environment: [("HOME".to_owned(), top.with_file_name("home").into_os_string())].into(),
        overlay: Arc::default(),
    };
    let key = ViewKey {
        cwd: ctx.cwd.clone(),
        profile: profile.into(),
        environment: ctx.environment.clone(),
        additional: Vec::new(),
        agent: None,
        overlay: Arc::default(),
    };
    let view = engine.view(key, || ctx, Freshness::Synced).await.unwrap();
    let candidates = view.resolution.candidates.iter();
    candidates.map(|it| it.description.as_deref().unwrap_or_default().to_owned()).collect()
}

/// Returns the number of skills in the status.
async fn n_skills(engine: &Engine) -> usize {
    engine.status().await.unwrap().worktrees[0].skills.values().sum()
}

fn skill(root: &Path, description: &str) {
    fs::create_dir_all(root.join("a")).unwrap();
    let text = format!("---\nname: a\ndescription: {description}\n---\n");
    fs::write(root.join("a/SKILL.md"), text).unwrap();
}

#[tokio::test]
async fn unrelated_writes_wake_no_thread() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (top, home) = (root.join("w"), root.join("home"));
    fs::create_dir_all(top.join(".git")).unwrap();
    fs::create_dir_all(&home).unwrap();
    skill(&top.join(".agents/skills"), "First.");
    let beside = [root.join("log"), top.join("main.rs"), home.join("history")];
    for file in &beside {
        fs::write(file, "").unwrap();
    }
    let hints = Some(recommended(root.join("cookies")));
    let engine = Engine::start(Options { hints, ..Options::new("boot".into()) }).unwrap();
    assert_eq!(described(&engine, &top).await, ["First."]);

    wakes_nobody(|| beside.iter().for_each(|it| write_again_and_again(it)));

    // Writes beside a watched file wake no thread either.
    let service = engine.watch();
    let name = [std::ffi::OsStr::new("config")];
    fs::write(home.join("config"), "").unwrap();
    let end = Instant::now() + Duration::from_mins(1);
    while !service.watch(&home, &name).holds(service.now()) {
        assert!(Instant::now() < end, "the file is never proved unchanged");
    }
    wakes_nobody(|| beside.iter().for_each(|it| write_again_and_again(it)));

    // Requests by either agent wake no thread either.
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        assert_eq!(described_by(&engine, &top, "codex").await, ["First."]);
        let before = waits(ENGINE);
        for _ in 0..100 {
            assert_eq!(described(&engine, &top).await, ["First."]);
            assert_eq!(described_by(&engine, &top, "codex").await, ["First."]);
        }
        if waits(ENGINE) == before {
            break;
        }
        assert!(Instant::now() < end, "asking wakes the engine each time");
    }

    // Changes of files that were read arrive, and so do changes of relevant names in the same
    // directories.
    skill(&top.join(".agents/skills"), "Second.");
    assert_eq!(described(&engine, &top).await, ["Second."]);
    skill(&home.join(".agents/skills"), "At home.");
    assert_eq!(described(&engine, &top).await, ["Second.", "At home."]);

    // The most recently used view changes each time.
    skill(&top.join(".claude/skills"), "Claude's.");
    for _ in 0..3 {
        for _ in 0..3 {
            assert_eq!(described(&engine, &top).await, ["Second.", "Claude's.", "At home."]);
        }
        assert_eq!(n_skills(&engine).await, 3);
        for _ in 0..3 {
            assert_eq!(described_by(&engine, &top, "claude-code").await, ["Claude's."]);
        }
        assert_eq!(n_skills(&engine).await, 1);
    }

    // Followed writes in the worktree arrive, but none above it.
    engine.follow_writes(AbsPath::new(&top).unwrap(), 100, None).await.unwrap();
    fs::write(&beside[1], "fn main() {}").unwrap();
    assert_eq!(engine.writes().next().await, [beside[1].clone()].into());
    wakes_nobody(|| [&beside[0], &beside[2]].into_iter().for_each(|it| write_again_and_again(it)));
    engine.stop();
}
