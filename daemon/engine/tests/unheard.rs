//! Changes that the watcher does not report: the disk changes at critical moments, with chosen
//! directories over the watch limit, and each answer must equal the disk.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use skills_agents::profile;
use skills_discovery::discover::DiscoveryContext;
use skills_engine::disk::{Directory, Disk, File, ReadError, RealDisk, Stat};
use skills_engine::watch::backend::{ArmError, StartWatch, Subscriber, WatchBackend, WatchScope};
use skills_engine::watch::notify_watcher::recommended;
use skills_engine::{Engine, Freshness, Options, ViewKey};
use skills_syntax::path::AbsPath;

/// A change made once when the engine reaches a directory.
type ChangeAtDirectory = Arc<Mutex<Option<(PathBuf, Box<dyn FnOnce() + Send>)>>>;

fn pass(moment: &ChangeAtDirectory, path: &Path) {
    let now = moment.lock().unwrap().take_if(|(at, _)| at == path);
    if let Some((_, act)) = now {
        act();
    }
}

/// Directories that cannot be watched.
type Over = Arc<Mutex<Vec<PathBuf>>>;

/// The system's watcher with a watch limit for some directories.
struct Limited {
    over: Over,
    arming: ChangeAtDirectory,
    real: Arc<dyn WatchBackend>,
}

fn limited(over: Over, arming: ChangeAtDirectory, real: StartWatch) -> StartWatch {
    Box::new(move |hint_queue| Ok(Arc::new(Limited { over, arming, real: real(hint_queue)? })))
}

impl WatchBackend for Limited {
    fn arm(&self, path: &Path, scope: WatchScope, by: Subscriber) -> Result<(), ArmError> {
        pass(&self.arming, path);
        if self.over.lock().unwrap().iter().any(|it| it == path) {
            return Err(ArmError::Limit);
        }
        self.real.arm(path, scope, by)
    }

    fn disarm(&self, path: &Path, by: Subscriber) {
        self.real.disarm(path, by);
    }

    fn cookie(&self, ticket: u64) -> io::Result<()> {
        self.real.cookie(ticket)
    }

    fn drain(&self) -> bool {
        self.real.drain()
    }
}

/// The real disk with a change just before a directory is listed.
struct Busy {
    listing: ChangeAtDirectory,
}

impl Disk for Busy {
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        RealDisk.stat(path)
    }

    fn target(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.target(path)
    }

    fn list(&self, path: &Path) -> io::Result<Directory> {
        pass(&self.listing, path);
        RealDisk.list(path)
    }

    fn list_physical(&self, path: &Path) -> io::Result<Directory> {
        pass(&self.listing, path);
        RealDisk.list_physical(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<File, ReadError> {
        RealDisk.read(path, limit)
    }

    fn partly_watched_fs(&self, _: &Path) -> Option<&'static str> {
        None
    }
}

struct World {
    _dir: tempfile::TempDir,
    top: PathBuf,
    home: PathBuf,
    cookies: PathBuf,
    over: Over,
    arming: ChangeAtDirectory,
    listing: ChangeAtDirectory,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (top, home) = (root.join("w"), root.join("home"));
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let (arming, listing) = (ChangeAtDirectory::default(), ChangeAtDirectory::default());
        let cookies = root.join("cookies");
        Self { _dir: dir, top, home, cookies, over: Over::default(), arming, listing }
    }

    /// Starts an engine that cannot watch these directories of the worktree.
    fn engine(&self, over: &[&str]) -> Engine {
        *self.over.lock().unwrap() = over.iter().map(|it| self.top.join(it)).collect();
        let over = Arc::clone(&self.over);
        let (arming, real) = (Arc::clone(&self.arming), recommended(self.cookies.clone()));
        let hints = Some(limited(over, arming, real));
        let disk = Arc::new(Busy { listing: Arc::clone(&self.listing) });
        Engine::start(Options { hints, disk, ..Options::new("boot".into()) }).unwrap()
    }

    /// Returns a profile's skills: path in the worktree, and description.
    async fn shown(&self, engine: &Engine, profile: &str, freshness: Freshness) -> Vec<String> {
        let ctx = DiscoveryContext {
            profile: Arc::clone(profile::find(profile).unwrap()),
            cwd: AbsPath::new(&self.top).unwrap(),
            additional: Vec::new(),
            agent: None,
            environment: [("HOME".to_owned(), self.home.clone().into_os_string())].into(),
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
        let view = engine.view(key, || ctx, freshness).await.unwrap();
        let candidates = view.resolution.candidates.iter().filter(|it| !it.is_built_in());
        let line = |it: &skills_discovery::discover::Candidate| {
            let path = it.path.strip_prefix(&self.top).unwrap_or(&it.path).display();
            format!("{path}: {}", it.description.clone().unwrap_or_default())
        };
        candidates.map(line).collect()
    }

    async fn synced(&self, engine: &Engine, profile: &str) -> Vec<String> {
        self.shown(engine, profile, Freshness::Synced).await
    }

    fn write(&self, dir: &str, description: &str) {
        write(&self.top.join(dir), description);
    }
}

fn write(dir: &Path, description: &str) {
    fs::create_dir_all(dir).unwrap();
    let name = dir.file_name().unwrap().to_string_lossy();
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n");
    fs::write(dir.join("SKILL.md"), text).unwrap();
}

fn when(moment: &ChangeAtDirectory, at: PathBuf, act: impl FnOnce() + Send + 'static) {
    *moment.lock().unwrap() = Some((at, Box::new(act)));
}

/// Longer than the period in which a change and a read may share a timestamp.
const SETTLED: Duration = Duration::from_millis(50);

#[tokio::test]
async fn moving_a_parent_directory_renews_the_watches_below() {
    let world = World::new();
    let root = world.top.join(".agents/skills");
    fs::create_dir_all(root.join("a")).unwrap();
    let engine = world.engine(&[".agents", ".agents/skills"]);
    assert!(world.synced(&engine, "opencode").await.is_empty());
    // The watched directory of the skill does not move itself, so no event arrives.
    fs::rename(&root, world.top.join("aside")).unwrap();
    world.write(".agents/skills/a", "new");
    assert_eq!(world.synced(&engine, "opencode").await, [".agents/skills/a/SKILL.md: new"]);
    world.write(".agents/skills/a", "newer");
    assert_eq!(world.synced(&engine, "opencode").await, [".agents/skills/a/SKILL.md: newer"]);
    engine.stop();
}

#[tokio::test]
async fn directory_missing_when_armed_is_found_when_created() {
    let world = World::new();
    let dir = world.top.join(".agents/skills/a");
    fs::create_dir_all(&dir).unwrap();
    thread::sleep(SETTLED);
    let engine = world.engine(&[".agents/skills"]);
    let gone = dir.clone();
    when(&world.arming, dir.clone(), move || fs::remove_dir(gone).unwrap());
    assert!(world.synced(&engine, "opencode").await.is_empty());
    assert!(world.arming.lock().unwrap().is_none(), "the directory is armed");
    world.write(".agents/skills/a", "again");
    assert_eq!(world.synced(&engine, "opencode").await, [".agents/skills/a/SKILL.md: again"]);
    engine.stop();
}

#[tokio::test]
async fn change_between_two_reads_of_a_directory_is_noticed() {
    let world = World::new();
    world.write("one", "first");
    world.write("two", "second");
    let root = world.top.join(".agents/skills");
    fs::create_dir_all(&root).unwrap();
    symlink("../../one", root.join("a")).unwrap();
    let engine = world.engine(&[".agents/skills"]);
    assert_eq!(world.synced(&engine, "opencode").await, [".agents/skills/a/SKILL.md: first"]);
    thread::sleep(SETTLED);
    fs::create_dir(root.join("b")).unwrap();
    // The link's target is known by then, the directory's listing is not.
    when(&world.listing, root.clone(), move || {
        fs::remove_file(root.join("a")).unwrap();
        symlink("../../two", root.join("a")).unwrap();
        // A disk may be slow, and a thread may wait for the processor.
        thread::sleep(SETTLED);
    });
    world.synced(&engine, "opencode").await;
    assert_eq!(world.synced(&engine, "opencode").await, [".agents/skills/a/SKILL.md: second"]);
    engine.stop();
}

#[tokio::test]
async fn directory_replaced_by_a_link_between_two_slices_of_a_scan_is_followed() {
    let world = World::new();
    world.write("one", "linked");
    world.write(".agents/skills/a", "first");
    world.write(".agents/skills/b", "second");
    let engine = world.engine(&[]);
    let root = world.top.join(".agents/skills");
    // Both directories are known by then; the listing of the second is left to the next slice.
    when(&world.listing, root.join("a"), move || {
        fs::remove_dir_all(root.join("b")).unwrap();
        symlink("../../one", root.join("b")).unwrap();
        thread::sleep(SETTLED);
    });
    world.synced(&engine, "opencode").await;
    let expected = [".agents/skills/a/SKILL.md: first", ".agents/skills/b/SKILL.md: linked"];
    assert_eq!(world.synced(&engine, "opencode").await, expected);
    engine.stop();
}

#[tokio::test]
async fn change_noticed_for_one_profile_updates_the_other() {
    let world = World::new();
    world.write(".agents/skills/a", "as it was");
    fs::create_dir_all(world.top.join(".claude/skills/b")).unwrap();
    let linked = world.top.join(".claude/skills/b/SKILL.md");
    symlink("../../../.agents/skills/a/SKILL.md", linked).unwrap();
    let engine = world.engine(&[]);
    // This agent reads the file at the link's target, without listing the directory.
    let before = world.synced(&engine, "claude-code").await;
    assert_eq!(before, [".claude/skills/b/SKILL.md: as it was"]);
    let dir = world.top.join(".agents/skills/a");
    let file = dir.clone();
    when(&world.listing, dir, move || write(&file, "as it is"));
    world.synced(&engine, "gemini-cli").await;
    let after = world.synced(&engine, "claude-code").await;
    assert_eq!(after, [".claude/skills/b/SKILL.md: as it is"]);
    engine.stop();
}

#[tokio::test]
async fn synced_view_compares_nodes_read_by_another_profile() {
    let world = World::new();
    world.write(".agents/skills/a", "as it was");
    fs::create_dir_all(world.top.join(".claude/skills")).unwrap();
    let engine = world.engine(&[".agents/skills/a"]);
    world.synced(&engine, "opencode").await;
    assert!(world.synced(&engine, "claude-code").await.is_empty());
    world.write(".agents/skills/a", "as it is");
    symlink("../../.agents/skills/a", world.top.join(".claude/skills/b")).unwrap();
    let found = world.synced(&engine, "claude-code").await;
    assert_eq!(found, [".claude/skills/b/SKILL.md: as it is"]);
    engine.stop();
}

#[tokio::test]
async fn sync_without_watches_updates_cached_views() {
    let world = World::new();
    world.write(".agents/skills/a", "as it was");
    let engine = world.engine(&[".agents", ".agents/skills", ".agents/skills/a"]);
    world.synced(&engine, "opencode").await;
    world.write(".agents/skills/a", "as it is");
    engine.sync().await.unwrap();
    let shown = world.shown(&engine, "opencode", Freshness::Cached).await;
    assert_eq!(shown, [".agents/skills/a/SKILL.md: as it is"]);
    engine.stop();
}

#[tokio::test]
async fn pipe_in_place_of_settings_causes_no_work_after_the_first_reading() {
    let world = World::new();
    world.write(".agents/skills/a", "a");
    fs::create_dir_all(world.top.join(".claude")).unwrap();
    let mode = rustix::fs::Mode::RWXU;
    for name in [".claude/settings.json", "opencode.json"] {
        let pipe = world.top.join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
    let engine = world.engine(&[]);
    for profile in ["claude-code", "opencode"] {
        world.shown(&engine, profile, Freshness::Verified).await;
        let before = engine.status().await.unwrap().rebuilds;
        world.shown(&engine, profile, Freshness::Verified).await;
        assert_eq!(engine.status().await.unwrap().rebuilds, before, "{profile}");
    }
    engine.stop();
}

#[tokio::test]
async fn change_before_a_late_watch_is_noticed() {
    let world = World::new();
    let engine = world.engine(&[""]);
    assert!(world.synced(&engine, "opencode").await.is_empty());
    world.over.lock().unwrap().clear();
    // For this file the worktree's top would need a wider watch.
    fs::write(world.top.join("opencode.json"), "{}").unwrap();
    thread::sleep(SETTLED);
    let agents = world.top.join(".agents/skills/a");
    when(&world.arming, world.top.clone(), move || write(&agents, "new"));
    world.synced(&engine, "opencode").await;
    if let Some((_, act)) = world.arming.lock().unwrap().take() {
        act();
    }
    assert_eq!(world.synced(&engine, "opencode").await, [".agents/skills/a/SKILL.md: new"]);
    engine.stop();
}
