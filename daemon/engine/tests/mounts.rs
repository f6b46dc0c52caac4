//! Mounts over directories of skills, and full or read-only disks under the session store.
//!
//! Each test runs itself again in a user namespace that permits mounting. Without namespaces the
//! test is skipped with a message; under `CI=true` it fails.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use skills_agents::profile;
use skills_discovery::discover::DiscoveryContext;
use skills_engine::sessions::registry::Sessions;
use skills_engine::sessions::session::{Invocation, SessionOptions, TouchDelta};
use skills_engine::sessions::store::Store;
use skills_engine::sessions::store::grant::Grant;
use skills_engine::sessions::store::trust::TrustChange;
use skills_engine::watch::notify_watcher::recommended;
use skills_engine::{Engine, Freshness, Options, View, ViewKey};
use skills_syntax::path::AbsPath;

/// Set for the process in the namespace.
const INSIDE: &str = "SKILLSD_TEST_INSIDE";

/// Returns true in the process that may mount. Otherwise that process has been run and has passed.
#[expect(clippy::print_stdout, reason = "what is left out is said")]
fn may_mount(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    let enter = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]).args(args).env(INSIDE, "1");
        command
    };
    if !enter(&["true"]).status().is_ok_and(|it| it.success()) {
        assert!(env::var_os("CI").is_none(), "no namespace to mount in");
        println!("left out: this system gives no namespace to mount in");
        return false;
    }
    let this = env::current_exe().unwrap();
    let output = enter(&[this.to_str().unwrap(), "--exact", test]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[track_caller]
fn run(program: &str, args: &[&str]) {
    assert!(Command::new(program).args(args).status().unwrap().success(), "{program} {args:?}");
}

/// Returns a directory with its own small file system.
fn small_disk(size: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().canonicalize().unwrap().join("disk");
    fs::create_dir(&disk).unwrap();
    run("mount", &["-t", "tmpfs", "-o", &format!("size={size}"), "none", text(&disk)]);
    (dir, disk)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn sessions(disk: &Path) -> Sessions {
    Sessions::new(Store::new(Some(disk.join("state/sessions.db"))))
}

/// Opens a session, discovers a directory in it, and returns the session's directories.
async fn find(sessions: &Sessions, dir: &str) -> Vec<AbsPath> {
    let opening = SessionOptions {
        cwd: AbsPath::new("/w".as_ref()).unwrap(),
        profile: "claude-code".to_owned(),
        environment: [].into(),
        additional: Vec::new(),
        auto: None,
    };
    let session = sessions.open(Some("s".to_owned()), opening).await.unwrap().session;
    let discovered = vec![AbsPath::new(dir.as_ref()).unwrap()];
    let met = TouchDelta { discovered, activated: Vec::new() };
    let (session, _) = sessions.touch(&session, met).await.unwrap();
    session.discovered.keys().cloned().collect()
}

/// Waits until the condition holds, with a generous timeout.
#[track_caller]
fn until(holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < end, "in vain");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn problems(sessions: &Sessions) -> Vec<&'static str> {
    sessions.store().health().iter().map(|it| it.code).collect()
}

#[tokio::test]
async fn full_disk_is_reported_and_changes_are_saved_later() {
    if !may_mount("full_disk_is_reported_and_changes_are_saved_later") {
        return;
    }
    let (_dir, disk) = small_disk("4m");
    let live = sessions(&disk);
    assert_eq!(find(&live, "/w/a").await.len(), 1);
    assert_eq!(problems(&live), [""; 0]);
    let filler = disk.join("filler");
    let mut file = File::create(&filler).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    // The write-ahead log may have room in its file for a while.
    let mut known = 1;
    while problems(&live).is_empty() && known < 4096 {
        known = find(&live, &format!("/w/full{known}")).await.len().max(known) + 1;
    }
    assert_eq!(problems(&live), ["store"]);
    let invocation = Invocation {
        name: "pdf".to_owned(),
        path: AbsPath::new("/w/pdf/SKILL.md".as_ref()).unwrap(),
        args: None,
        body: "Body.".to_owned(),
    };
    live.record_invocation("s", None, invocation.clone()).await.unwrap();
    assert_eq!(live.invoked("s", None).await.unwrap().len(), 1, "what waits for the disk is known");
    let grant = Grant { session: None, permission: "skill".to_owned(), pattern: "pdf".to_owned() };
    live.store().grant(&disk, vec![grant.clone()]).await;
    assert_eq!(live.store().grants(&disk, None).await.unwrap(), std::slice::from_ref(&grant));
    assert_eq!(problems(&live), ["store"]);
    // A change reported as failed must not be saved later.
    assert!(live.store().set_trust(&disk, TrustChange::Trust(Vec::new())).await.is_err());
    drop(file);
    fs::remove_file(filler).unwrap();
    // Without any further call.
    until(|| problems(&live).is_empty());
    let other = sessions(&disk);
    let kept = other.get("s").await.unwrap().unwrap();
    assert_eq!(kept.discovered, live.get("s").await.unwrap().unwrap().discovered);
    assert_eq!(other.invoked("s", None).await.unwrap()[0].invocation, invocation);
    assert_eq!(other.store().grants(&disk, None).await.unwrap(), [grant]);
    assert_eq!(other.store().trust_decisions().await.unwrap().decisions, []);
}

#[tokio::test]
async fn store_on_a_full_disk_is_written_once_it_has_room() {
    if !may_mount("store_on_a_full_disk_is_written_once_it_has_room") {
        return;
    }
    let (_dir, disk) = small_disk("4m");
    assert_eq!(find(&sessions(&disk), "/w/a").await.len(), 1);
    let filler = disk.join("filler");
    let mut file = File::create(&filler).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    drop(file);
    let live = sessions(&disk);
    find(&live, "/w/b").await;
    assert_eq!(problems(&live), ["store"]);
    // A success reply would not be reliable.
    assert!(live.store().set_trust("/w".as_ref(), TrustChange::Trust(Vec::new())).await.is_err());
    fs::remove_file(filler).unwrap();
    until(|| problems(&live).is_empty());
    let kept = sessions(&disk).get("s").await.unwrap().unwrap();
    let dirs: Vec<_> = kept.discovered.keys().map(|it| it.to_str().unwrap()).collect();
    assert_eq!(dirs, ["/w/a", "/w/b"]);
}

#[tokio::test]
async fn read_only_disk_is_reported_and_sessions_continue() {
    if !may_mount("read_only_disk_is_reported_and_sessions_continue") {
        return;
    }
    let (_dir, disk) = small_disk("4m");
    find(&sessions(&disk), "/w/a").await;
    // The thread of that store ends with it, and its file is closed then.
    let read_only = || {
        let remount = ["-o", "remount,ro", text(&disk)];
        Command::new("mount").args(remount).status().unwrap().success()
    };
    while !read_only() {
        std::thread::yield_now();
    }
    let live = sessions(&disk);
    let known = find(&live, "/w/b").await;
    assert!(known.contains(&AbsPath::new("/w/b".as_ref()).unwrap()));
    assert!(problems(&live).contains(&"store"), "{:?}", live.store().health());
    assert!(live.store().health().iter().all(|it| !it.hint.is_empty()));
}

fn skill(dir: &Path, name: &str) {
    fs::create_dir_all(dir.join(name)).unwrap();
    let text = format!("---\nname: {name}\ndescription: d\n---\n");
    fs::write(dir.join(name).join("SKILL.md"), text).unwrap();
}

async fn shown(engine: &Engine, top: &Path) -> Vec<String> {
    let view = seen(engine, top).await;
    view.resolution.candidates.iter().map(|it| it.name.clone()).collect()
}

async fn seen(engine: &Engine, top: &Path) -> Arc<View> {
    let ctx = DiscoveryContext {
        profile: Arc::clone(profile::find("agentskills").unwrap()),
        cwd: AbsPath::new(top).unwrap(),
        additional: Vec::new(),
        agent: None,
        environment: [("HOME".to_owned(), top.join("home").into_os_string())].into(),
        overlay: Arc::default(),
    };
    let key = ViewKey {
        cwd: ctx.cwd.clone(),
        profile: "agentskills".into(),
        environment: ctx.environment.clone(),
        additional: Vec::new(),
        agent: None,
        overlay: Arc::default(),
    };
    engine.view(key, || ctx, Freshness::Synced).await.unwrap()
}

#[tokio::test]
async fn mount_over_a_search_root_is_listed() {
    if !may_mount("mount_over_a_search_root_is_listed") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    fs::create_dir(top.join(".git")).unwrap();
    let (root, other) = (top.join(".agents/skills"), top.join("other"));
    skill(&root, "here");
    skill(&other, "there");
    let hints = Some(recommended(top.join("cookies")));
    let engine = Engine::start(Options { hints, ..Options::new("boot".into()) }).unwrap();
    assert_eq!(shown(&engine, &top).await, ["here"]);
    run("mount", &["--bind", text(&other), text(&root)]);
    assert_eq!(shown(&engine, &top).await, ["there"]);
    // One directory has two names now, and changes by either must be noticed.
    skill(&other, "too");
    assert_eq!(shown(&engine, &top).await, ["there", "too"]);
    skill(&root, "three");
    assert_eq!(shown(&engine, &top).await, ["there", "three", "too"]);
    run("mount", &["-t", "tmpfs", "none", text(&root)]);
    assert!(shown(&engine, &top).await.is_empty());
    skill(&root, "new");
    assert_eq!(shown(&engine, &top).await, ["new"]);
    run("umount", &[text(&root)]);
    assert_eq!(shown(&engine, &top).await, ["there", "three", "too"]);
    run("umount", &[text(&root)]);
    assert_eq!(shown(&engine, &top).await, ["here"]);
    engine.stop();
}

#[tokio::test]
async fn overlay_changes_are_compared_and_reported_in_health() {
    if !may_mount("overlay_changes_are_compared_and_reported_in_health") {
        return;
    }
    let (_dir, disk) = small_disk("4m");
    let [lower, upper, work, top] = ["lower", "upper", "work", "top"].map(|it| disk.join(it));
    for dir in [&lower, &upper, &work, &top] {
        fs::create_dir(dir).unwrap();
    }
    fs::create_dir(lower.join(".git")).unwrap();
    skill(&lower.join(".agents/skills"), "here");
    let layers = ["lowerdir", "upperdir", "workdir"].into_iter().zip([&lower, &upper, &work]);
    let options: Vec<_> = layers.map(|(key, dir)| format!("{key}={}", text(dir))).collect();
    run("mount", &["-t", "overlay", "overlay", "-o", &options.join(","), text(&top)]);
    let hints = Some(recommended(disk.join("cookies")));
    let engine = Engine::start(Options { hints, ..Options::new("boot".into()) }).unwrap();
    let view = seen(&engine, &top).await;
    let said: Vec<_> =
        view.health.iter().map(|it| (it.code, it.message.contains("overlay"))).collect();
    assert_eq!(said, [("file-system", true)]);
    for description in ["Changed beneath.", "Changed once more, beneath."] {
        // Writes to the lower layer are not reported to the overlay's watcher.
        let file = lower.join(".agents/skills/here/SKILL.md");
        fs::write(file, format!("---\nname: here\ndescription: {description}\n---\n")).unwrap();
        let view = seen(&engine, &top).await;
        assert_eq!(view.resolution.candidates[0].description.as_deref(), Some(description));
    }
    engine.stop();
}
