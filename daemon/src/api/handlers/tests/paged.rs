//! Paged answers: the data of the first page is kept for all pages.

use std::sync::Arc;

use serde_json::{Value, json};
use skills_engine::cancel::Cancel;
use skills_engine::views::snapshot_index::SnapshotIndex;
use skills_protocol::error::INVALID_PARAMS;
use skills_protocol::wire::Context;

use super::{Rig, skill, tree};
use crate::api::handlers::check::{Active, active};
use crate::rpc::peer::ClientPeer;

const PROFILES: [&str; 2] = ["agentskills", "codex"];

impl Rig {
    /// Returns how often two requests build the snapshot index of these profiles.
    async fn n_index_builds(&self) -> usize {
        let peer = Arc::new(ClientPeer::new(0));
        let context = Context { cwd: Some(self.path("w")), ..Context::default() };
        let profiles = PROFILES.map(ToOwned::to_owned).to_vec();
        let Active { views, .. } = active(&self.daemon.parts.resolver, &peer, &context, profiles)
            .await
            .expect("there are views");
        let mut n_index_builds = 0;
        for _ in 0..2 {
            let parts: Vec<_> = views.iter().map(|it| it.parts()).collect();
            views[0].responses().snapshot_index(&parts, |views| {
                n_index_builds += 1;
                SnapshotIndex::of(views, &Cancel::default())
            });
        }
        n_index_builds
    }

    /// Returns all pages of an answer.
    async fn pages(&mut self, method: &str, mut params: Value) -> Vec<Value> {
        let mut pages = Vec::new();
        loop {
            let page = self.call(method, params.clone()).await;
            params["cursor"] = page["nextCursor"].clone();
            pages.push(page);
            if params["cursor"].is_null() {
                return pages;
            }
        }
    }
}

#[tokio::test]
async fn snapshot_index_is_built_once_for_all_pages() {
    let mut rig = tree();
    assert_eq!(rig.n_index_builds().await, 1);
    rig.write("w/.agents/skills/f/SKILL.md", &skill("f", ""));
    let params = json!({"profiles": PROFILES, "limit": 1});
    let pages = rig.pages("index/snapshot", params).await;
    // Seven files, and the candidates of two agents.
    assert_eq!(pages.len(), 7 + 7 + 6);
    assert_eq!(rig.n_index_builds().await, 0, "the pages have built the index");
    rig.write("w/.agents/skills/g/SKILL.md", &skill("g", ""));
    assert_eq!(rig.n_index_builds().await, 1);
}

#[tokio::test]
async fn cancelled_snapshot_builds_no_index_and_keeps_nothing() {
    let rig = tree();
    let context = Context { cwd: Some(rig.path("w")), ..Context::default() };
    let profiles = PROFILES.map(ToOwned::to_owned).to_vec();
    let Active { views, .. } =
        active(&rig.daemon.parts.resolver, &Arc::new(ClientPeer::new(0)), &context, profiles)
            .await
            .expect("there are views");
    let cancel = Cancel::default();
    cancel.cancel();
    let cache = views[0].responses();
    let parts: Vec<_> = views.iter().map(|it| it.parts()).collect();
    assert!(cache.snapshot_index(&parts, |it| SnapshotIndex::of(it, &cancel)).is_none());
    assert_eq!(rig.n_index_builds().await, 1, "the next call builds it");
}

#[tokio::test]
async fn catalog_is_a_heavy_call() {
    let mut rig = tree();
    let n_before = rig.daemon.parts.queries.heavy.counts().begun;
    rig.call("catalog/render", json!({})).await;
    assert_eq!(rig.daemon.parts.queries.heavy.counts().begun, n_before + 1);
}

#[tokio::test]
async fn snapshots_of_other_profiles_have_their_own_index() {
    let mut rig = tree();
    let one = rig.call("index/snapshot", json!({"profiles": ["agentskills"]})).await;
    let two = rig.call("index/snapshot", json!({"profiles": PROFILES})).await;
    assert_eq!(one["profiles"][0], two["profiles"][0]);
    assert_eq!(two["profiles"][1]["profile"], "codex");
    assert_eq!(rig.n_index_builds().await, 0);
}

fn names(pages: &[Value], list: &str) -> Vec<Value> {
    pages.iter().flat_map(|it| it[list].as_array().expect("a list").clone()).collect()
}

/// Five skills with a finding and a reference each.
fn findings() -> Rig {
    let rig = Rig::new(&[]);
    for name in ["a", "b", "c", "d", "e"] {
        let text =
            format!("---\nname: {name}\ndescription: Use it.\ncolour: red\n---\nSee `/a`.\n");
        rig.write(&format!("w/.agents/skills/{name}/SKILL.md"), &text);
    }
    rig
}

#[tokio::test]
async fn all_pages_of_findings_and_references_make_up_the_answer() {
    let mut rig = findings();
    for (method, list) in [("skills/check", "files"), ("skills/references", "references")] {
        let whole = rig.call(method, json!({})).await;
        assert_eq!(whole["nextCursor"], Value::Null);
        let whole = names(&[whole], list);
        assert_eq!(whole.len(), 5, "{method}");
        for limit in 1..=5 {
            let pages = rig.pages(method, json!({"limit": limit})).await;
            assert_eq!(pages.len(), 5_usize.div_ceil(limit));
            assert!(pages.iter().all(|it| it["clock"] == pages[0]["clock"]));
            assert_eq!(names(&pages, list), whole, "{method} in pages of {limit}");
        }
        let other = if method == "skills/check" { "skills/references" } else { "skills/check" };
        let first = rig.call(method, json!({"limit": 1})).await;
        let of_another = json!({"limit": 1, "cursor": first["nextCursor"]});
        assert_eq!(rig.try_call(other, of_another).await.unwrap_err()["code"], INVALID_PARAMS);
    }
    let none = rig.call("skills/references", json!({"limit": 0})).await;
    assert_eq!((&none["truncated"], &none["nextCursor"]), (&json!(true), &Value::Null));
    let none = rig.try_call("skills/check", json!({"limit": 0})).await.unwrap_err();
    assert_eq!(none["message"], "`limit` is 0");
}

#[tokio::test]
async fn changes_between_two_pages_are_in_neither() {
    let mut rig = findings();
    let whole = names(&[rig.call("skills/check", json!({})).await], "files");
    let mut pages = vec![rig.call("skills/check", json!({"limit": 3})).await];
    rig.write("w/.agents/skills/e/SKILL.md", &skill("e", ""));
    let rest = json!({"limit": 3, "cursor": pages[0]["nextCursor"]});
    pages.push(rig.call("skills/check", rest.clone()).await);
    assert_eq!(names(&pages, "files"), whole);
    // The last page dropped the cached answer, so a repeated call computes it again and finds it
    // changed.
    let refused = rig.try_call("skills/check", rest).await.unwrap_err();
    assert_eq!(refused["data"]["hint"], "Start again without `cursor`.");
}

#[tokio::test]
async fn evicted_answer_continues_if_it_is_unchanged() {
    let mut rig = findings();
    let whole = names(&[rig.call("skills/check", json!({})).await], "files");
    for is_changed in [false, true] {
        let mut pages = vec![rig.call("skills/check", json!({"limit": 3})).await];
        // Other questions evict the cached answer.
        for name in ["a", "b", "c", "d"] {
            let level = json!({"rule": "name/*", "level": "off", "glob": name});
            let first = rig.call("skills/check", json!({"limit": 1, "levels": [level]})).await;
            assert_ne!(first["nextCursor"], Value::Null);
        }
        let rest = json!({"limit": 3, "cursor": pages[0]["nextCursor"]});
        if is_changed {
            rig.write("w/.agents/skills/e/SKILL.md", &skill("e", ""));
            let refused = rig.try_call("skills/check", rest).await.unwrap_err();
            assert_eq!(refused["code"], INVALID_PARAMS);
        } else {
            pages.push(rig.call("skills/check", rest).await);
            assert_eq!(names(&pages, "files"), whole);
        }
    }
}

#[tokio::test]
async fn oversized_prompt_listing_is_refused_and_announces_nothing() {
    let rig = &mut Rig::new(&[]);
    let long = "word ".repeat(40_000);
    for index in 0..45 {
        let text = format!("---\nname: s{index}\ndescription: {long}\n---\nb\n");
        rig.write(&format!("w/.agents/skills/s{index}/SKILL.md"), &text);
    }
    let refused = |error: Value| {
        assert_eq!((&error["code"], &error["data"]["limit"]), (&json!(-32007), &json!(8 << 20)));
        let said = error["message"].as_str().expect("a text");
        assert!(said.starts_with("the listing of 45 skills has 9"), "{said}");
        assert!(
            error["data"]["hint"].as_str().is_some_and(|it| it.contains("`claude`")),
            "{error}"
        );
    };
    let new = json!({"session": "s", "onlyNew": true});
    refused(rig.try_call("catalog/render", new.clone()).await.unwrap_err());
    refused(rig.try_call("catalog/tool", json!({})).await.unwrap_err());
    // With a budget it fits, and all skills are new.
    let mut short = new;
    short["format"] = json!("claude");
    let told = rig.call("catalog/render", short).await;
    assert_eq!((&told["count"], &told["isInitial"]), (&json!(45), &json!(true)));
    assert!(rig.call("catalog/tool", json!({"style": "claude"})).await["tool"].is_object());
}
