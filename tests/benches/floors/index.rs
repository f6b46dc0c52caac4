//! Time of a cold index in this process, compared with a parallel walk that only reads the same
//! files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ignore::{WalkBuilder, WalkState};
use skills_agents::profile;
use skills_discovery::discover::DiscoveryContext;
use skills_engine::watch::notify_watcher;
use skills_engine::{Engine, Freshness, Options, ViewKey};
use skills_syntax::path::AbsPath;
use skills_testkit::Home;
use skills_testkit::fixture::write_skill;

use crate::table::{Bar, Figure, Table, median};

pub(crate) const SKILLS: usize = 1000;

const ROUNDS: usize = 21;

pub(crate) fn measure(table: &mut Table) {
    let home = Home::new();
    let top = home.worktree("w", "");
    for index in 0..SKILLS {
        let name = format!("skill-{index:04}");
        write_skill(
            &top.join(".agents/skills").join(&name),
            &name,
            &"Says when to use it. ".repeat(9),
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it can be built");
    let mut walks = Vec::new();
    let mut plain = Vec::new();
    let mut armed = Vec::new();
    for round in 0..ROUNDS {
        walks.push(walk_and_read(&top));
        plain.push(runtime.block_on(cold_index_time(&top, home.path(), None)));
        let cookies = home.runtime_dir().join(format!("cookies-{round}"));
        armed.push(runtime.block_on(cold_index_time(&top, home.path(), Some(&cookies))));
    }
    let floor = median(walks);
    let mut add = |name: &str, times: Vec<Duration>, times_floor: f64| {
        let name = format!("cold index of {SKILLS}, {name}, beside walk+read");
        table.add(Figure::time(&name, floor, median(times), Bar::Times(times_floor)));
    };
    add("no watches", plain, 1.5);
    add("watches armed", armed, 3.0);
}

/// Walks the root with two threads and reads each SKILL.md whole.
fn walk_and_read(top: &Path) -> Duration {
    let n_bytes = AtomicUsize::new(0);
    let begin = Instant::now();
    let walk = WalkBuilder::new(top.join(".agents/skills"))
        .standard_filters(false)
        .threads(2)
        .build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            let entry = entry.expect("our own files can be walked");
            if entry.file_name() == "SKILL.md" {
                let bytes = fs::read(entry.path()).expect("our own files can be read");
                n_bytes.fetch_add(bytes.len(), Ordering::Relaxed);
            }
            WalkState::Continue
        })
    });
    let time = begin.elapsed();
    assert!(n_bytes.into_inner() > SKILLS * 100, "the walk read the files");
    time
}

/// Returns the time that a new engine needs for its first complete view.
pub(crate) async fn cold_index_time(top: &Path, home: &Path, cookies: Option<&Path>) -> Duration {
    let path = |path: &Path| AbsPath::new(path).expect("our paths are absolute");
    let profile = profile::find(profile::DEFAULT).expect("the default profile is built in");
    let environment = BTreeMap::from([("HOME".to_owned(), home.into())]);
    let key = ViewKey {
        cwd: path(top),
        profile: profile.id.to_string(),
        environment: environment.clone(),
        additional: Vec::new(),
        overlay: Arc::default(),
        agent: None,
    };
    let ctx = DiscoveryContext {
        profile: Arc::clone(profile),
        cwd: path(top),
        additional: Vec::new(),
        environment,
        overlay: Arc::default(),
        agent: None,
    };
    let mut options = Options::new("bench".to_owned());
    if let Some(cookies) = cookies {
        options.hints = Some(notify_watcher::recommended(cookies.to_path_buf()));
    }
    let begin = Instant::now();
    let engine = Engine::start(options).expect("a thread can be started");
    let view = engine.view(key, || ctx, Freshness::Synced).await.expect("the engine answers");
    let time = begin.elapsed();
    assert_eq!(view.resolution.listed().count(), SKILLS);
    engine.stop();
    time
}
