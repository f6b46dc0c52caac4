//! What nobody needs any more is let go of: watches, views, and conversations.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use skills_core::path::AbsPath;
use skills_core::profile;
use skills_core::resolve::Site;
use skills_engine::session::{Opening, Sessions};
use skills_engine::store::Store;
use skills_engine::watch::recommended;
use skills_engine::{Engine, Options, ViewKey};

#[tokio::test]
async fn closing_the_last_user_of_a_worktree_frees_its_watches() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let hints = Some(recommended(root.join("cookies")));
    let engine = Engine::start(Options { hints, ..Options::new("boot".into()) }).unwrap();
    let mut counts = Vec::new();
    let mut opened = Vec::new();
    for name in ["one", "two"] {
        let top = root.join(name);
        for n in 0..20 {
            let skill = top.join(format!(".agents/skills/s{n}"));
            fs::create_dir_all(&skill).unwrap();
            fs::write(skill.join("SKILL.md"), format!("---\nname: s{n}\ndescription: d\n---\n"))
                .unwrap();
        }
        fs::create_dir(top.join(".git")).unwrap();
        let site = Site {
            profile: Arc::clone(profile::find("agentskills").unwrap()),
            cwd: AbsPath::new(&top).unwrap(),
            additional: Vec::new(),
            agent: None,
            environment: [("HOME".to_owned(), root.join("home").into_os_string())].into(),
            overlay: Arc::default(),
        };
        let key = ViewKey {
            cwd: site.cwd.clone(),
            profile: "agentskills".into(),
            environment: site.environment.clone(),
            additional: Vec::new(),
            agent: None,
            overlay: Arc::default(),
        };
        opened.push(engine.open(key, site).await.unwrap().resolution.worktree.clone());
        counts.push(engine.status().await.unwrap().watches);
    }
    for top in opened {
        assert!(engine.close(top).await.unwrap());
        let status = engine.status().await.unwrap();
        counts.push(status.watches);
    }
    // The way to the second is shared with the first.
    let [one, both, second, none] = counts[..] else { panic!("{counts:?}") };
    assert!(one > 20 && both > one + 20 && second <= one && none == 0, "{counts:?}");
    let status = engine.status().await.unwrap();
    assert!(status.worktrees.is_empty(), "{:?}", status.worktrees);
    engine.stop();
}

#[tokio::test]
async fn sessions_that_nobody_has_used_for_long_are_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("state/sessions.db");
    let opening = Opening {
        cwd: AbsPath::new("/w".as_ref()).unwrap(),
        profile: "claude-code".to_owned(),
        environment: [].into(),
        additional: Vec::new(),
        auto: None,
    };
    let sessions = Sessions::new(Store::new(Some(file.clone())));
    sessions.open(Some("s".to_owned()), opening).await;
    sessions.expire(Duration::from_hours(1)).await;
    assert!(sessions.get("s").await.is_some(), "it was used just now");
    let used = sessions.get("s").await.unwrap().used;
    // Times are in milliseconds.
    while std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .is_ok_and(|it| it.as_millis() <= u128::from(used))
    {
        std::thread::yield_now();
    }
    // It is looked for once an hour; the next daemon does it at once.
    let sessions = Sessions::new(Store::new(Some(file)));
    sessions.expire(Duration::ZERO).await;
    assert!(sessions.get("s").await.is_none());
    assert!(sessions.list().await.is_empty());
}

#[tokio::test]
async fn uses_are_counted_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("state/sessions.db");
    let store = Store::new(Some(file.clone()));
    assert!(store.usage().await.unwrap().is_empty());
    assert!(!file.exists(), "nothing is made for a question");
    let skill = dir.path().join("SKILL.md");
    for _ in 0..3 {
        store.count_use(&skill).await.unwrap();
    }
    let kept = Store::new(Some(file)).usage().await.unwrap();
    assert_eq!((kept.len(), kept[&skill].count), (1, 3));
}
