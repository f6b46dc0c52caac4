//! Compares `synced` views after each of many random changes on a real disk with a fresh read by a
//! new engine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use skills_agents::profile;
use skills_discovery::discover::{DiscoveryContext, Resolution};
use skills_engine::disk::{Directory, Disk, File, ReadError, RealDisk, Stat};
use skills_engine::watch::backend::{ArmError, StartWatch, Subscriber, WatchBackend, WatchScope};
use skills_engine::watch::hints::HintQueue;
use skills_engine::watch::notify_watcher::{portable, recommended};
use skills_engine::{Engine, Freshness, Options, ViewKey};
use skills_syntax::path::AbsPath;

/// Deterministic random generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn pick<'a>(&mut self, from: &'a [&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

struct World {
    _dir: tempfile::TempDir,
    top: PathBuf,
    home: PathBuf,
    cookies: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (top, home) = (root.join("w"), root.join("home"));
        fs::create_dir_all(top.join(".git")).unwrap();
        fs::create_dir_all(top.join("pkg/deep")).unwrap();
        fs::create_dir_all(&home).unwrap();
        Self { _dir: dir, top, home, cookies: root.join("cookies") }
    }

    fn ctx(&self, profile: &str) -> DiscoveryContext {
        DiscoveryContext {
            profile: Arc::clone(profile::find(profile).unwrap()),
            cwd: AbsPath::new(&self.top.join("pkg/deep")).unwrap(),
            additional: Vec::new(),
            environment: [("HOME".to_owned(), self.home.clone().into_os_string())].into(),
            overlay: Arc::default(),
            agent: None,
        }
    }

    fn key(&self, profile: &str) -> ViewKey {
        let DiscoveryContext { cwd, environment, .. } = self.ctx(profile);
        ViewKey {
            cwd,
            profile: profile.into(),
            environment,
            additional: Vec::new(),
            overlay: Arc::default(),
            agent: None,
        }
    }
}

/// Quality of the hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// As delivered by the system.
    Plain,
    /// The same, with discovery on threads of its own while the disk changes.
    Threads,
    /// As delivered by `notify`, for systems without inotify.
    Portable,
    /// Every hint is lost, as after an overflow of the system's queue.
    Lost,
    /// Every third directory is not watched, as at the limit on watches.
    Limited,
    /// Only cookies arrive, as on a network file system changed by another machine.
    Remote,
}

/// The real disk, reported as changeable by others.
struct RemoteDisk;

impl Disk for RemoteDisk {
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        RealDisk.stat(path)
    }

    fn target(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.target(path)
    }

    fn list(&self, path: &Path) -> io::Result<Directory> {
        RealDisk.list(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<File, ReadError> {
        RealDisk.read(path, limit)
    }

    fn partly_watched_fs(&self, _: &Path) -> Option<&'static str> {
        Some("a test")
    }
}

/// A real watcher with hints of reduced quality.
struct Worse {
    mode: Mode,
    real: Arc<dyn WatchBackend>,
    hint_queue: HintQueue,
    armed: AtomicUsize,
}

/// Returns the starter of a watcher with hints of this quality.
fn worse(mode: Mode, real: StartWatch) -> StartWatch {
    Box::new(move |hint_queue| {
        let heard = match mode {
            Mode::Lost | Mode::Remote => HintQueue::new(|| {}),
            Mode::Plain | Mode::Threads | Mode::Portable | Mode::Limited => hint_queue.clone(),
        };
        let real = real(heard)?;
        Ok(Arc::new(Worse { mode, real, hint_queue, armed: AtomicUsize::new(0) }))
    })
}

impl WatchBackend for Worse {
    fn arm(&self, path: &Path, scope: WatchScope, by: Subscriber) -> Result<(), ArmError> {
        let armed = self.armed.fetch_add(1, Ordering::Relaxed) + 1;
        if self.mode == Mode::Limited && armed.is_multiple_of(3) {
            return Err(ArmError::Limit);
        }
        self.real.arm(path, scope, by)
    }

    fn disarm(&self, path: &Path, by: Subscriber) {
        self.real.disarm(path, by);
    }

    fn cookie(&self, ticket: u64) -> io::Result<()> {
        if self.mode == Mode::Lost {
            self.hint_queue.lost();
            return Ok(());
        }
        if self.mode == Mode::Remote {
            // The daemon's own directory is on a local disk.
            self.hint_queue.cookie(ticket);
            return Ok(());
        }
        self.real.cookie(ticket)
    }

    fn drain(&self) -> bool {
        matches!(self.mode, Mode::Plain | Mode::Threads) && self.real.drain()
    }
}

fn engine(hints: Option<StartWatch>, disk: Arc<dyn Disk>) -> Engine {
    Engine::start(Options { hints, disk, ..Options::new("boot".into()) }).unwrap()
}

const DIRS: [&str; 12] = [
    "w/.agents/skills/a",
    "w/.agents/skills/b",
    "w/.agents/skills/g/c",
    "w/.agents/skills/g",
    "w/.agents/skills",
    "w/.agents",
    "w/.claude/skills/d",
    "w/.claude/skills",
    "w/pkg/.claude/skills/e",
    "w/pkg/deep/.agents/skills/f",
    "home/.claude/skills/h",
    "home/.claude",
];

/// Makes one random change; impossible ones are skipped.
fn change(root: &Path, random: &mut Random, round: usize) -> String {
    let dir = root.join(random.pick(&DIRS));
    let other = root.join(random.pick(&DIRS));
    let file = dir.join("SKILL.md");
    let name = dir.file_name().unwrap().to_string_lossy().into_owned();
    let text = format!("---\nname: {name}-{}\ndescription: round {round}\n---\n", random.below(3));
    let what = random.below(14);
    let _ = match what {
        0..=2 => fs::create_dir_all(&dir).and_then(|()| fs::write(&file, &text)),
        3 => {
            let temporary = dir.join("x.tmp");
            fs::write(&temporary, &text).and_then(|()| fs::rename(&temporary, &file))
        }
        4 => fs::remove_file(&file),
        5 => fs::remove_dir_all(&dir),
        6 | 7 => fs::rename(&dir, &other),
        8 => fs::remove_dir_all(&dir).and_then(|()| fs::create_dir_all(&dir)),
        9 => symlink(&other, &dir),
        10 => {
            fs::rename(&dir, root.join("aside")).and_then(|()| fs::rename(root.join("aside"), &dir))
        }
        _ => {
            let target = root.join("elsewhere.md");
            let _ = fs::write(&target, &text);
            fs::remove_file(&file).and_then(|()| symlink(&target, &file))
        }
    };
    // Removal by name covers links to directories too.
    if what == 5 {
        let _ = fs::remove_file(&dir);
    }
    format!("{what} {} {}", dir.display(), other.display())
}

/// Configuration files of both agents, with possible contents.
const CONFIG: [(&str, &[&str]); 9] = [
    (
        "w/opencode.json",
        &[
            r#"{"skills": {"paths": ["lib", "~/lib"]}}"#,
            r#"{"skills": {"paths": ["../lib",]}, /* c */ "permission": {"skill": {"*": "deny"}}}"#,
            "{broken",
        ],
    ),
    ("w/pkg/deep/.opencode/opencode.jsonc", &[r#"{"skills": {"paths": []}}"#, "{}"]),
    ("home/.config/opencode/opencode.json", &[r#"{"skills": {"paths": ["/nowhere"]}}"#, ""]),
    (
        "home/.claude/settings.json",
        &[
            r#"{"enabledPlugins": {"p@m": true}, "skillOverrides": {"h": "off"}}"#,
            r#"{"enabledPlugins": {"p@m": false}}"#,
            "[]",
        ],
    ),
    ("w/pkg/deep/.claude/settings.local.json", &[r#"{"enabledPlugins": {"p@m": true}}"#, "{"]),
    (
        "home/.claude/plugins/installed_plugins.json",
        &[
            r#"{"version": 2, "plugins": {"p@m": [{"scope": "user", "installPath": "HOME/.claude/plugins/cache/m/p/1"}]}}"#,
            r#"{"version": 1, "plugins": {"p@m": {"version": "1"}}}"#,
        ],
    ),
    (
        "home/.claude/plugins/marketplaces/m/.claude-plugin/marketplace.json",
        &[
            r#"{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./", "skills": ["./one"]}]}"#,
            "{}",
        ],
    ),
    (
        "home/.claude/plugins/cache/m/p/1/.claude-plugin/plugin.json",
        &[r#"{"name": "q", "skills": "./more"}"#, r#"{"name": "p", "commands": ["./c.md"]}"#],
    ),
    ("w/.claude/commands/ns/go.md", &["Go.", "---\ndescription: d\n---\nGo on."]),
];

/// Directories of skills and commands reachable through configuration only.
const NAMED: [&str; 7] = [
    "w/pkg/deep/lib/x/SKILL.md",
    "w/pkg/lib/y/SKILL.md",
    "home/lib/z/SKILL.md",
    "home/.claude/plugins/cache/m/p/1/skills/s/SKILL.md",
    "home/.claude/plugins/cache/m/p/1/more/t/SKILL.md",
    "home/.claude/plugins/marketplaces/m/one/SKILL.md",
    "home/.claude/plugins/cache/m/p/1/commands/c.md",
];

/// Makes one random change to a configuration file or a file that it refers to.
fn configure(root: &Path, random: &mut Random, round: usize) -> String {
    let (name, texts) = CONFIG[random.below(CONFIG.len())];
    let file = root.join(name);
    let text = random.pick(texts).replace("HOME", &root.join("home").to_string_lossy());
    let dir = file.parent().unwrap();
    let named = root.join(random.pick(&NAMED));
    let skill = format!("---\nname: n{}\ndescription: round {round}\n---\n", random.below(3));
    let what = random.below(10);
    let _ = match what {
        0..=2 => fs::create_dir_all(dir).and_then(|()| fs::write(&file, &text)),
        3 => {
            let temporary = dir.join("y.tmp");
            fs::write(&temporary, &text).and_then(|()| fs::rename(&temporary, &file))
        }
        4 => fs::remove_file(&file),
        5 => fs::remove_dir_all(dir),
        6 => {
            let target = root.join("elsewhere.json");
            let _ = fs::write(&target, &text);
            fs::remove_file(&file).and_then(|()| symlink(&target, &file))
        }
        7 => fs::remove_dir_all(named.parent().unwrap()),
        _ => fs::create_dir_all(named.parent().unwrap()).and_then(|()| fs::write(&named, &skill)),
    };
    format!("configure {what} {name} {}", named.display())
}

fn shown(resolution: &Resolution) -> Vec<String> {
    let line = |it: &skills_discovery::discover::Candidate| {
        let why = it.reason.as_ref().map(|it| it.message.clone()).unwrap_or_default();
        format!("{} {:?} {} {:?} {why}", it.path.display(), it.state, it.name, it.description)
    };
    let problems =
        resolution.settings.iter().flat_map(skills_discovery::discover::SettingsFile::problems);
    resolution.candidates.iter().map(line).chain(problems).collect()
}

async fn converge(mode: Mode, seed: u64, rounds: usize) {
    let world = World::new();
    let root = world.top.parent().unwrap();
    let real = match mode {
        Mode::Portable => portable(world.cookies.clone()),
        Mode::Plain | Mode::Threads | Mode::Lost | Mode::Limited | Mode::Remote => {
            recommended(world.cookies.clone())
        }
    };
    let disk: Arc<dyn Disk> =
        if mode == Mode::Remote { Arc::new(RemoteDisk) } else { Arc::new(RealDisk) };
    let hints = Some(worse(mode, real));
    let mut options = Options { hints, disk, ..Options::new("boot".into()) };
    if mode == Mode::Threads {
        // Runs start on a thread, or on the event loop until they reach the limit.
        options.large_view = Random(seed).below(2) * 30;
    }
    let live = Engine::start(options).unwrap();
    let mut random = Random(seed);
    let mut history = Vec::new();
    for round in 0..rounds {
        for _ in 0..=random.below(3) {
            let what = if random.below(3) == 0 { configure } else { change };
            history.push(what(root, &mut random, round));
        }
        let profile = match random.below(6) {
            0 | 1 => "claude-code",
            2 => "opencode",
            3 => "opencode-agent-skills",
            _ => "agentskills",
        };
        let request = || live.view(world.key(profile), || world.ctx(profile), Freshness::Synced);
        if mode == Mode::Threads {
            let change = async { history.push(change(root, &mut random, round)) };
            let (view, ()) = tokio::join!(request(), change);
            view.unwrap();
        }
        let view = request().await.unwrap();
        let fresh = engine(None, Arc::new(RealDisk));
        let truth =
            fresh.view(world.key(profile), || world.ctx(profile), Freshness::Synced).await.unwrap();
        fresh.stop();
        let last = history.len().saturating_sub(12);
        assert_eq!(
            shown(&view.resolution),
            shown(&truth.resolution),
            "{mode:?} seed {seed} round {round} {profile}: {:#?}",
            &history[last..]
        );
    }
    if mode == Mode::Remote {
        // The last change may have removed every root.
        let ctx = world.ctx("agentskills");
        fs::create_dir_all(ctx.cwd.join(".agents/skills")).unwrap();
        let key = world.key("agentskills");
        let view = live.view(key, || ctx, Freshness::Synced).await.unwrap();
        assert!(view.health.iter().any(|it| it.code == "file-system"), "{:?}", view.health);
    }
    let counters = live.status().await.unwrap().counters;
    match mode {
        // Correct because of hints, not because of full sweeps.
        Mode::Plain | Mode::Threads => {
            assert_eq!((counters.lost, counters.swept), (0, 0), "{counters:?}");
        }
        // `notify` reports from a thread of its own: a directory that is replaced while it is being
        // armed is armed and compared alone at the next request.
        Mode::Portable => {
            assert!(counters.lost == 0 && counters.swept < rounds as u64 / 10, "{counters:?}");
        }
        Mode::Lost => assert!(counters.lost >= rounds as u64, "{counters:?}"),
        Mode::Limited | Mode::Remote => {
            assert!(counters.swept > 0 && counters.lost == 0, "{counters:?}");
        }
    }
    live.stop();
}

/// `SKILLSD_ROUNDS` requests a longer run.
async fn converge_in(mode: Mode) {
    let rounds = std::env::var("SKILLSD_ROUNDS").ok().and_then(|it| it.parse().ok());
    for seed in 1..=rounds.map_or(4, |it: u64| it / 250) {
        converge(mode, seed * 7919, 250).await;
    }
}

#[tokio::test]
async fn synced_views_equal_a_fresh_read() {
    converge_in(Mode::Plain).await;
}

#[tokio::test]
async fn synced_views_equal_a_fresh_read_when_discovered_on_other_threads() {
    converge_in(Mode::Threads).await;
}

#[tokio::test]
async fn synced_views_equal_a_fresh_read_with_notify() {
    converge_in(Mode::Portable).await;
}

#[tokio::test]
async fn synced_views_equal_a_fresh_read_with_lost_hints() {
    converge_in(Mode::Lost).await;
}

#[tokio::test]
async fn synced_views_equal_a_fresh_read_over_the_watch_limit() {
    converge_in(Mode::Limited).await;
}

#[tokio::test]
async fn synced_views_equal_a_fresh_read_on_network_file_systems() {
    converge_in(Mode::Remote).await;
}

#[tokio::test]
async fn changed_read_limit_rereads_affected_files() {
    let world = World::new();
    let file = world.top.join(".agents/skills/a/SKILL.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let body = "x".repeat(5000);
    fs::write(&file, format!("---\nname: a\ndescription: d\n---\n{body}\n")).unwrap();
    let live = engine(Some(recommended(world.cookies.clone())), Arc::new(RealDisk));
    let key = || world.key("agentskills");
    for (limit, truncated) in [(256 * 1024, false), (1024, true), (2048, true), (8192, false)] {
        live.set_read_limit(limit);
        let view = live.view(key(), || world.ctx("agentskills"), Freshness::Synced).await;
        let view = view.unwrap();
        let facts = view.resolution.candidates[0].record().unwrap().facts;
        assert_eq!(facts.truncated, truncated, "{limit}");
    }
    let counters = live.status().await.unwrap().counters;
    assert_eq!(counters.read.total(), 4, "{counters:?}");
    live.stop();
}
