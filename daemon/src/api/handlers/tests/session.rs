//! Sessions over a real engine, a real store and real files.

use std::sync::Arc;

use skills_engine::sessions::session::Invocation;
use skills_protocol::wire::Context;
use skills_syntax::path::AbsPath;

use super::*;
use crate::api::session::TouchScope;
use crate::rpc::peer::ClientPeer;

/// Returns a worktree with packages that have their own skills.
fn monorepo() -> Rig {
    Rig::new(&[
        ("w/.claude/skills/commit/SKILL.md", &skill("commit", "")),
        ("w/.claude/skills/rust/SKILL.md", &skill("rust", "paths: 'src/**/*.rs, *.toml'\n")),
        ("w/packages/web/.claude/skills/component/SKILL.md", &skill("component", "")),
        ("w/packages/web/.claude/skills/commit/SKILL.md", &skill("commit", "")),
        ("w/packages/web/.claude/skills/css/SKILL.md", &skill("css", "paths: '*.css'\n")),
        ("w/packages/web/ui/.claude/skills/button/SKILL.md", &skill("button", "")),
        ("w/dist/x/.claude/skills/built/SKILL.md", &skill("built", "")),
        ("w/.gitignore", "/dist/\n"),
        ("w/packages/web/ui/a.css", ""),
    ])
}

impl Rig {
    async fn touch(&mut self, profile: &str, paths: &[&str]) -> Value {
        let paths: Vec<_> = paths.iter().map(|it| self.path(it)).collect();
        self.call("session/touch", json!({"session": "s", "profile": profile, "paths": paths}))
            .await
    }

    async fn session_list(&mut self) -> Vec<String> {
        self.list(json!({"session": "s", "cwd": null})).await
    }
}

/// Renders the result of a touch as names.
fn touch_result(touched: &Value) -> (Vec<String>, Vec<String>) {
    let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
    let activated = touched["activated"].as_array().unwrap().iter();
    let activated = activated
        .map(|it| format!("{} by {}", name(it), it["matched"]["pattern"].as_str().unwrap()));
    let discovered = touched["discovered"].as_array().unwrap().iter();
    let discovered = discovered.map(|it| {
        let names: Vec<_> = it["skills"].as_array().unwrap().iter().map(name).collect();
        let dir = it["dir"].as_str().unwrap().split("/w/").nth(1).unwrap();
        format!("{dir}: {}", names.join(" "))
    });
    (activated.collect(), discovered.collect())
}

#[tokio::test]
async fn touch_discovers_and_activates_once() {
    let mut rig = monorepo();
    let paths = ["w/packages/web/ui/a.css", "w/src/a.rs"];
    let touched = rig.touch("claude-code", &paths).await;
    let (activated, discovered) = touch_result(&touched);
    // Claude Code ignores `paths` in nested directories.
    assert_eq!(activated, ["rust by src/**/*.rs"]);
    assert_eq!(
        discovered,
        [
            "packages/web/ui/.claude/skills: button",
            "packages/web/.claude/skills: packages/web:commit component css",
        ]
    );
    assert_eq!(touched["activated"][0]["state"], "activated");
    assert_eq!(touched["activated"][0]["scope"], "project");
    assert_eq!(touched["activated"][0]["matched"]["path"], rig.path("w/src/a.rs"));
    let again = rig.touch("claude-code", &paths).await;
    assert_eq!(touch_result(&again), (vec![], vec![]));
    assert_eq!(again["clock"], touched["clock"]);
    let expected = [
        "commit active",
        "rust activated",
        "button active",
        "packages/web:commit active",
        "component active",
        "css active",
    ];
    assert_eq!(rig.session_list().await, expected);
    assert_eq!(rig.list(json!({"profile": "claude-code"})).await, ["commit active"]);
}

#[tokio::test]
async fn nested_skills_take_precedence_in_the_default_profile() {
    let mut rig = monorepo();
    rig.touch("agentskills", &["w/packages/web/x.rs"]).await;
    assert_eq!(rig.session_list().await, ["commit active", "component active"]);
    let got = rig.call("skills/get", json!({"session": "s", "name": "commit"})).await;
    assert_eq!(got["scope"], "nested");
}

#[tokio::test]
async fn touch_adds_nothing_for_agents_without_nested_discovery() {
    for profile in ["opencode", "codex", "gemini-cli", "opencode-agent-skills"] {
        let mut rig = monorepo();
        let touched = rig.touch(profile, &["w/packages/web/ui/a.css", "w/src/a.rs"]).await;
        assert_eq!(touch_result(&touched), (vec![], vec![]), "{profile}");
    }
}

#[tokio::test]
async fn extended_touch_adds_skills_under_the_settings_and_trust_of_the_agent() {
    for (profile, n_expected) in [("opencode", 2), ("codex", 2), ("gemini-cli", 0)] {
        let mut rig = monorepo();
        let own = rig.list(json!({"profile": profile})).await;
        let paths = ["w/packages/web/ui/a.css", "w/src/a.rs"].map(|it| rig.path(it));
        let params = json!({"session": "s", "profile": profile, "paths": paths, "extended": true});
        let touched = rig.call("session/touch", params).await;
        let (activated, discovered) = touch_result(&touched);
        // Gemini CLI does not trust the folder.
        assert_eq!((activated.len(), discovered.len()), (n_expected, n_expected), "{profile}");
        assert_eq!(rig.session_list().await, own, "{profile}");
    }
}

#[tokio::test]
async fn extended_touch_leaves_out_directories_that_a_variable_switches_off() {
    let mut rig = monorepo();
    let params = json!({
        "session": "s", "profile": "opencode", "extended": true,
        "paths": [rig.path("w/packages/web/ui/a.css")],
        "environment": {"OPENCODE_DISABLE_EXTERNAL_SKILLS": "1"},
    });
    let touched = rig.call("session/touch", params).await;
    assert_eq!(touch_result(&touched), (vec![], vec![]));
}

#[tokio::test]
async fn touched_path_may_be_missing_outside_or_a_symlink() {
    let mut rig = monorepo();
    let touched = rig.touch("claude-code", &["w/src/gone/x.rs", "elsewhere/a.toml", "w"]).await;
    assert_eq!(touch_result(&touched).0, ["rust by src/**/*.rs"]);
    let mut rig = monorepo();
    let touched = rig.touch("claude-code", &["w/dist/x/y.js", "w/.git/packages/web/y"]).await;
    assert_eq!(touch_result(&touched), (vec![], vec![]), "git ignores it");
    std::os::unix::fs::symlink(rig.path("w/packages/web/ui"), rig.path("w/link")).unwrap();
    std::os::unix::fs::symlink(rig.path("w"), rig.path("same")).unwrap();
    let touched = rig.touch("claude-code", &["w/link/b.css"]).await;
    assert_eq!(touch_result(&touched).1.len(), 2, "{touched}");
    let mut rig = monorepo();
    std::os::unix::fs::symlink(rig.path("w"), rig.path("same")).unwrap();
    let touched = rig.touch("claude-code", &["same/packages/web/gone.css", "same/src/a.rs"]).await;
    assert_eq!(touch_result(&touched).0, ["rust by src/**/*.rs"]);
    assert_eq!(touch_result(&touched).1.len(), 1, "{touched}");
}

#[tokio::test]
async fn relative_touch_path_is_refused_with_a_hint() {
    let mut rig = monorepo();
    let params = json!({"session": "s", "paths": ["src/a.rs"]});
    let error = rig.try_call("session/touch", params).await.unwrap_err();
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32602), &json!("path `src/a.rs` is not absolute"))
    );
    assert!(
        error["data"]["hint"].as_str().unwrap().starts_with("Send an absolute path"),
        "{error}"
    );
    let error = rig.try_call("session/touch", json!({"paths": []})).await.unwrap_err();
    assert_eq!(error["message"], "`session` is missing");
}

#[tokio::test]
async fn calls_use_the_directory_and_profile_of_their_session() {
    let mut rig = monorepo();
    let opened = rig.call("session/open", json!({"session": "s", "profile": "claude-code"})).await;
    assert_eq!((&opened["isNew"], &opened["profile"]), (&json!(true), &json!("claude-code")));
    // Without `cwd` the call uses the session's directory.
    let list = rig.list(json!({"session": "s", "cwd": null, "include": ["all"]})).await;
    assert_eq!(list, ["commit active", "rust conditional"]);
    let again = rig.call("session/open", json!({"session": "s", "profile": "codex"})).await;
    assert_eq!((&again["isNew"], &again["profile"]), (&json!(false), &json!("codex")));
    let error = rig.try_call("skills/list", json!({"session": "none", "cwd": null})).await;
    let error = error.unwrap_err();
    assert_eq!(error["message"], "there is no session `none`, and `cwd` is missing");
    let error = rig.try_call("session/get", json!({"session": "none"})).await.unwrap_err();
    assert_eq!(error["message"], "there is no session `none`");
    let ours = rig.call("session/open", json!({})).await;
    assert!(ours["session"].as_str().unwrap().starts_with("s-"), "{ours}");
    let list = rig.call("session/list", json!({})).await;
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(rig.call("session/close", json!({"session": "s"})).await["closed"], true);
    assert_eq!(rig.call("session/close", json!({"session": "s"})).await["closed"], false);
}

#[tokio::test]
async fn sessions_with_equal_additions_share_a_view() {
    let mut rig = monorepo();
    let file = rig.path("w/src/a.rs");
    let touch =
        |session: &str| json!({"session": session, "profile": "claude-code", "paths": [file]});
    let one = rig.call("session/touch", touch("one")).await;
    let two = rig.call("session/touch", touch("two")).await;
    assert_eq!(one["clock"], two["clock"]);
    assert_eq!(touch_result(&one), touch_result(&two));
    rig.call("session/open", json!({"session": "three", "profile": "claude-code"})).await;
    let status = rig.daemon.parts.resolver.engine.status().await.unwrap();
    assert_eq!(status.worktrees[0].views, 2);
}

#[tokio::test]
async fn loaded_skills_are_kept_per_agent_and_returned_after_compaction() {
    let mut rig = monorepo();
    rig.call("session/open", json!({"session": "s", "profile": "claude-code"})).await;
    let sessions = rig.daemon.parts.resolver.sessions.clone();
    let load = async |agent: Option<&str>, name: &str, body: &str| {
        let path = AbsPath::new(format!("/w/{name}/SKILL.md").as_ref()).unwrap();
        let (name, body) = (name.to_owned(), body.to_owned());
        let invocation = Invocation { name, path, args: None, body };
        sessions.record_invocation("s", agent, invocation).await.unwrap();
    };
    load(None, "a", "Body of a.").await;
    load(None, "b", "First.").await;
    load(Some("sub"), "c", "Body of c.").await;
    load(None, "b", &"x".repeat(30_000)).await;
    let names = |it: &Value| -> Vec<String> {
        let all = it["skills"].as_array().unwrap().iter();
        all.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let invoked = rig.call("session/invoked", json!({"session": "s"})).await;
    assert_eq!(names(&invoked), ["a", "b"]);
    assert_eq!(invoked["skills"][0]["body"], "Body of a.");
    let sub = rig.call("session/invoked", json!({"session": "s", "agent": "sub"})).await;
    assert_eq!(names(&sub), ["c"]);
    let compacted = rig.call("session/compacted", json!({"session": "s"})).await;
    assert_eq!(names(&compacted), ["a", "b"]);
    let body = compacted["skills"][1]["body"].as_str().unwrap();
    assert_eq!((body.len(), &compacted["skills"][1]["truncated"]), (20_000, &json!(true)));
    let ended = rig.call("session/agentEnd", json!({"session": "s", "agent": "sub"})).await;
    assert_eq!(ended["forgotten"], json!(["c"]));
    let sub = rig.call("session/invoked", json!({"session": "s", "agent": "sub"})).await;
    assert_eq!(names(&sub), [""; 0]);
    let forgetting = json!({"session": "s", "profile": "opencode-agent-skills"});
    let compacted = rig.call("session/compacted", forgetting).await;
    assert_eq!(compacted["forgotten"], json!(["a", "b"]));
    assert_eq!(compacted["listAgain"], true);
    let got = rig.call("session/get", json!({"session": "s"})).await;
    assert_eq!(got["invoked"], json!([]));
}

#[tokio::test]
async fn automatic_touch_adds_nothing_from_an_untrusted_worktree() {
    let mut rig = monorepo();
    rig.write("home/.claude/skills/own/SKILL.md", &skill("own", "paths: '*.css'\n"));
    let written = AbsPath::new(Path::new(&rig.path("w/packages/web/ui/a.css"))).unwrap();
    let mut touch_result = Vec::new();
    for trusted in [None, Some(false), Some(true)] {
        let dir = rig.path("w");
        if trusted.is_some() {
            rig.call("trust/set", json!({"dir": dir, "trusted": trusted})).await;
        }
        let context = Context {
            cwd: Some(rig.path("w")),
            profile: Some("claude-code".to_owned()),
            session: Some("s".to_owned()),
            ..Context::default()
        };
        let named = rig
            .daemon
            .parts
            .sessions
            .get_or_open_session(&Arc::new(ClientPeer::new(7)), context)
            .await
            .unwrap();
        let paths = vec![written.clone()];
        let touched =
            rig.daemon.parts.sessions.touch(named, paths, TouchScope::Trusted).await.unwrap();
        touch_result.push((touched.delta.activated.len(), touched.delta.discovered.len()));
    }
    assert_eq!(touch_result, [(1, 0), (0, 0), (0, 2)]);
    assert!(rig.session_list().await.contains(&"css active".to_owned()));
}

#[tokio::test]
async fn touch_resolves_parents_and_tells_bad_paths() {
    let text = "---\ndescription: d\npaths: 'src/*.rs'\n---\nDo.\n";
    let mut rig = Rig::new(&[("w/.claude/skills/later/SKILL.md", text)]);
    let good = rig.path("w/docs/../src/a.rs");
    let touch = json!({"session": "s", "profile": "claude-code", "paths": ["relative.rs", good]});
    let touched = rig.call("session/touch", touch).await;
    assert_eq!(touched["activated"][0]["name"], "later", "{touched}");
    assert_eq!(touched["refused"][0]["path"], "relative.rs");
    assert!(
        touched["refused"][0]["message"].as_str().unwrap().contains("relative.rs"),
        "{touched}"
    );
}

#[tokio::test]
async fn first_listing_of_a_new_session_counts_as_announced() {
    let text = "---\ndescription: d\n---\nDo.\n";
    let mut rig = Rig::new(&[("w/.claude/skills/a/SKILL.md", text)]);
    let render = json!({"session": "new", "profile": "claude-code"});
    let first = rig.call("catalog/render", render).await;
    assert!(first["text"].as_str().unwrap().contains("- a: d"), "{first}");
    let again = json!({"session": "new", "profile": "claude-code", "onlyNew": true});
    let second = rig.call("catalog/render", again).await;
    assert!(!second["text"].as_str().unwrap_or_default().contains("- a: d"), "{second}");
}

#[tokio::test]
async fn list_changes_are_news_once() {
    let text = |description: &str| format!("---\nname: x\ndescription: {description}\n---\nDo.\n");
    let mut rig = Rig::new(&[("w/.opencode/skills/a/SKILL.md", &skill("a", "")), ("w/b.css", "")]);
    let ask = json!({"session": "s", "profile": "opencode"});
    let open = json!({"session": "s", "profile": "claude-code"});
    rig.call("session/open", open).await;
    let none = json!([[], [], []]);
    let names = |it: &Value| {
        let of = |key: &str| -> Vec<Value> {
            let all = it[key].as_array().unwrap().iter();
            all.map(|it| it.get("name").unwrap_or(it).clone()).collect()
        };
        json!([of("added"), of("changed"), of("removed")])
    };
    assert_eq!(names(&rig.call("session/news", ask.clone()).await), none);
    rig.write("w/.opencode/skills/x/SKILL.md", &text("New."));
    assert_eq!(names(&rig.call("session/news", ask.clone()).await), json!([["x"], [], []]));
    assert_eq!(names(&rig.call("session/news", ask.clone()).await), none);
    rig.write("w/.opencode/skills/x/SKILL.md", &text("Newer."));
    assert_eq!(names(&rig.call("session/news", ask.clone()).await), json!([[], ["x"], []]));
    // The same skill elsewhere is a change of it.
    rig.write("w/.agents/skills/x/SKILL.md", &text("Newer."));
    std::fs::remove_dir_all(rig.path("w/.opencode/skills/x")).unwrap();
    assert_eq!(names(&rig.call("session/news", ask.clone()).await), json!([[], ["x"], []]));
    std::fs::remove_dir_all(rig.path("w/.agents")).unwrap();
    rig.write("w/.opencode/skills/y/SKILL.md", &skill("y", ""));
    let restart = json!({"session": "s", "profile": "opencode", "restart": true});
    assert_eq!(names(&rig.call("session/news", restart).await), none);
    std::fs::remove_dir_all(rig.path("w/.opencode/skills/y")).unwrap();
    assert_eq!(names(&rig.call("session/news", ask).await), json!([[], [], ["y"]]));
    let error = rig.try_call("session/news", json!({"session": "other"})).await.unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("no session `other`"), "{error}");
}

#[tokio::test]
async fn listing_says_whether_a_prefixed_nested_skill_has_an_unscoped_one() {
    // Measured: Claude Code 2.1.332.
    let mut rig = Rig::new(&[
        ("w/p/.claude/skills/n/SKILL.md", &skill("n", "")),
        ("w/p/q/.claude/skills/n/SKILL.md", &skill("n", "")),
        ("w/.claude/commands/k.md", "Command.\n"),
        ("w/p/.claude/skills/k/SKILL.md", &skill("k", "")),
        ("w/p/q/f", ""),
    ]);
    rig.touch("claude-code", &["w/p/q/f"]).await;
    let params = json!({"session": "s", "cwd": null, "contextTokens": 1_000_000});
    let listing = rig.call("catalog/render", params).await;
    let text = listing["text"].as_str().unwrap();
    let note = |name: &str| {
        let line = text.lines().find(|it| it.starts_with(&format!("- {name}: ")));
        line.unwrap_or_else(|| panic!("{text}")).split_once('(').unwrap().1.to_owned()
    };
    assert!(note("p/q:n").starts_with("from p/q/.claude/skills — applies"), "{text}");
    assert!(note("p:n").starts_with("from p/.claude/skills — applies"), "{text}");
    assert!(note("p:k").starts_with("scoped to p/ — use this instead"), "{text}");
}
