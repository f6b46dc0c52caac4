//! Concurrent changes of trust decisions.

use std::sync::atomic::{AtomicBool, Ordering};

use skills_engine::sessions::store::trust::TrustChange;
use skills_syntax::path::AbsPath;
use tokio::task::yield_now;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn last_of_concurrent_trust_decisions_applies() {
    let mut rig = Rig::new(&[("w/.agents/skills/a/SKILL.md", &skill("a", ""))]);
    let top = AbsPath::new(rig.path("w").as_ref()).unwrap();
    let resolver = Arc::clone(&rig.daemon.parts.resolver);
    for round in 0..60 {
        let is_said = Arc::new(AtomicBool::new(false));
        // Like calls after an edit of the configuration.
        let followers = (0..3).map(|_| {
            let (resolver, is_said) = (Arc::clone(&resolver), Arc::clone(&is_said));
            tokio::spawn(async move {
                while !is_said.load(Ordering::Relaxed) {
                    resolver.trusts.update_policy().await;
                    yield_now().await;
                }
            })
        });
        let followers: Vec<_> = followers.collect();
        let trusted = round % 2 == 0;
        let change = if trusted { TrustChange::Trust(Vec::new()) } else { TrustChange::Distrust };
        resolver.sessions.store().set_trust(&top, change).await.unwrap();
        resolver.trusts.reload().await;
        is_said.store(true, Ordering::Relaxed);
        for follower in followers {
            follower.await.unwrap();
        }
        let list = rig.call("skills/list", json!({})).await;
        assert_eq!(list["skills"][0]["trusted"], trusted, "round {round}");
    }
}

#[tokio::test]
async fn trust_that_a_newer_store_refuses_has_its_reason_and_hint() {
    let mut rig = Rig::new(&[("w/.agents/skills/a/SKILL.md", &skill("a", ""))]);
    // An empty SQLite database of one page; bytes 60 to 63 are its `user_version`.
    let mut page = [0; 4096];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    for (at, byte) in [(16, 16), (18, 1), (19, 1), (21, 64), (22, 32), (23, 32), (27, 1), (31, 1)] {
        page[at] = byte;
    }
    for (at, byte) in [(47, 4), (59, 1), (63, 99), (95, 1), (100, 13), (105, 16)] {
        page[at] = byte;
    }
    std::fs::create_dir_all(rig.path("state")).unwrap();
    std::fs::write(rig.path("state/sessions.db"), page).unwrap();
    let trusted = json!({"dir": rig.path("w"), "trusted": true});
    let error = rig.try_call("trust/set", trusted).await.unwrap_err();
    assert_eq!(error["code"], -32011, "{error}");
    assert!(
        error["message"].as_str().unwrap().contains("a newer skillsd wrote the file"),
        "{error}"
    );
    assert!(error["data"]["hint"].as_str().unwrap().starts_with("Update skillsd"), "{error}");
}

#[tokio::test]
async fn grant_calls_report_a_damaged_store() {
    let mut rig = Rig::new(&[("w/.agents/skills/a/SKILL.md", &skill("a", ""))]);
    rig.write("state/sessions.db", &"damaged ".repeat(1024));
    let grant = json!({"permission": "skill", "pattern": "a"});
    let revoked = rig.call("permission/revoke", grant).await;
    assert_eq!(revoked["revoked"], false);
    let granted = rig.call("permission/granted", json!({})).await;
    for answer in [revoked, granted] {
        assert_eq!(answer["health"][0]["code"], "store", "{answer}");
        assert!(answer["health"][0]["message"].as_str().unwrap().contains("set aside"));
    }
}
