//! Handler tests over a real engine and real files, called through a connection.

mod approvals;
mod configured;
mod counting;
mod loading;
mod paged;
mod resolving;
mod restricting;
mod running;
mod session;
mod stalls;
mod trusting;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use skills_discovery::discover::Environment;
use skills_engine::sessions::registry::Sessions;
use skills_engine::sessions::store::Store;
use skills_engine::{Engine, Options};
use skills_protocol::method::METHODS;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};

use crate::lifecycle::daemon::{Daemon, DaemonOptions};
use crate::request::settings::Settings;

/// A worktree, a home directory and a client of a server over both.
struct Rig {
    top: TempDir,
    daemon: Daemon,
    client: BufReader<DuplexStream>,
    /// A connection with the right to grant, as the user.
    user: BufReader<DuplexStream>,
}

impl Rig {
    fn new(skills: &[(&str, &str)]) -> Self {
        let top = TempDir::new().unwrap();
        fs::create_dir_all(top.path().join("w/.git")).unwrap();
        let environment = Environment::from([("HOME".to_owned(), top.path().join("home").into())]);
        let engine = Engine::start(Options::new("boot".to_owned())).unwrap();
        let config = top.path().join("config.toml");
        let settings = Settings::load(Some(config));
        let sessions = Sessions::new(Store::new(Some(top.path().join("state/sessions.db"))));
        let boot = "boot".to_owned();
        let options =
            DaemonOptions { boot_id: boot, socket: None, environment, settings, sessions };
        let daemon = Daemon::new(engine, Arc::default(), options);
        let serving = daemon.server();
        let (client, server) = duplex(1 << 20);
        tokio::spawn(serving.serve_stream(server));
        let (user, server) = duplex(1 << 20);
        tokio::spawn(daemon.uncounted_server().serve_consent(server));
        let rig = Self { top, daemon, client: BufReader::new(client), user: BufReader::new(user) };
        for (path, text) in skills {
            rig.write(path, text);
        }
        rig
    }

    fn path(&self, relative: &str) -> String {
        self.top.path().join(relative).to_str().unwrap().to_owned()
    }

    fn write(&self, relative: &str, text: &str) {
        let path = self.top.path().join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Calls a method in the worktree and returns its result or error.
    async fn try_call(&mut self, method: &str, mut params: Value) -> Result<Value, Value> {
        if params.get("cwd").is_none() {
            params["cwd"] = json!(self.path("w"));
        }
        let grants = METHODS.iter().any(|it| it.name == method && it.grants);
        let stream = if grants { &mut self.user } else { &mut self.client };
        Self::call_over(stream, method, &params).await
    }

    /// Calls a method in the worktree as the user.
    async fn try_call_as_user(&mut self, method: &str, mut params: Value) -> Result<Value, Value> {
        params["cwd"] = json!(self.path("w"));
        Self::call_over(&mut self.user, method, &params).await
    }

    async fn call_over(
        stream: &mut BufReader<DuplexStream>,
        method: &str,
        params: &Value,
    ) -> Result<Value, Value> {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        stream.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        match answer.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(answer["result"].take()),
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let result = self.try_call(method, params).await;
        result.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Lists skills and renders each entry as `name state`.
    async fn list(&mut self, params: Value) -> Vec<String> {
        shown(&self.call("skills/list", params).await)
    }
}

fn shown(list: &Value) -> Vec<String> {
    let show =
        |it: &Value| format!("{} {}", it["name"].as_str().unwrap(), it["state"].as_str().unwrap());
    list["skills"].as_array().unwrap().iter().map(show).collect()
}

fn skill(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\nBody.\n")
}

/// Three skills that are listed, and one each that is shadowed, hidden and invalid.
fn tree() -> Rig {
    Rig::new(&[
        ("w/.agents/skills/a/SKILL.md", &skill("a", "")),
        ("w/.agents/skills/b/SKILL.md", &skill("b", "license: MIT\nmetadata:\n  version: 1.10\n")),
        ("w/.agents/skills/c/SKILL.md", &skill("c", "")),
        ("w/.agents/skills/d/SKILL.md", &skill("d", "disable-model-invocation: true\n")),
        ("w/.agents/skills/e/SKILL.md", "---\nname: e\n---\n"),
        ("w/.claude/skills/a/SKILL.md", &skill("a", "")),
    ])
}

#[tokio::test]
async fn every_method_of_the_protocol_is_answered() {
    let mut rig = tree();
    let methods = rig.daemon.methods();
    let mut names: Vec<_> = methods.method_names().collect();
    let mut expected: Vec<_> = METHODS.iter().map(|it| it.name).collect();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
    // Shutdown comes last; the session is opened first and closed before it.
    expected.sort_by_key(|it| match *it {
        "session/open" => 0,
        "session/close" => 2,
        "server/shutdown" => 3,
        _ => 1,
    });
    for method in expected {
        let params = json!({
            "name": "a", "relative": "SKILL.md", "query": "a", "subscription": "1", "session": "s",
            "permission": "skill", "patterns": ["a"], "pattern": "a", "id": "1", "reply": "once",
            "event": "Stop", "ok": true,
        });
        if method == "skills/run" {
            // Disabled by default.
            assert_eq!(rig.try_call(method, params).await.unwrap_err()["code"], -32005);
        } else if method == "permission/reply" {
            // No request is pending.
            assert_eq!(rig.try_call(method, params).await.unwrap_err()["code"], -32602);
        } else {
            rig.call(method, params).await;
        }
    }
}

#[tokio::test]
async fn list_contains_visible_skills_and_included_states() {
    let mut rig = tree();
    assert_eq!(rig.list(json!({})).await, ["a active", "b active", "c active"]);
    let all = rig.list(json!({"include": ["all"]})).await;
    assert_eq!(all, ["a active", "b active", "c active", "d hidden", "e invalid", "a shadowed"]);
    let some = rig.list(json!({"include": ["shadowed", "invalid"]})).await;
    assert_eq!(some, ["a active", "b active", "c active", "e invalid", "a shadowed"]);
    assert_eq!(
        rig.list(json!({"freshness": "cached"})).await,
        ["a active", "b active", "c active"]
    );
    let error = rig.try_call("skills/list", json!({"include": ["odd"]})).await.unwrap_err();
    assert_eq!(error["code"], -32602, "{error}");
}

#[tokio::test]
async fn list_since_a_clock_contains_only_changes() {
    let mut rig = tree();
    for include in [json!([]), json!(["all"])] {
        let list = rig.call("skills/list", json!({"include": include})).await;
        assert_eq!(list["fresh"], true);
        let again =
            rig.call("skills/list", json!({"include": include, "since": list["clock"]})).await;
        assert_eq!((&again["fresh"], shown(&again).len()), (&json!(false), 0), "{again}");
        let other =
            rig.call("skills/list", json!({"include": ["hidden"], "since": list["clock"]})).await;
        assert_eq!(other["fresh"], true, "clocks of different lists are not comparable");
    }
    let list = rig.call("skills/list", json!({})).await;
    rig.write("w/.agents/skills/f/SKILL.md", &skill("f", ""));
    let changed = rig.call("skills/list", json!({"since": list["clock"]})).await;
    assert_eq!((&changed["fresh"], shown(&changed).len()), (&json!(false), 1), "{changed}");
    assert_eq!((&changed["skills"][0]["name"], &changed["removed"]), (&json!("f"), &json!([])));
    assert_eq!(changed["positions"], json!([3]));
}

#[tokio::test]
async fn all_pages_make_up_the_list() {
    let mut rig = tree();
    let mut all = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = rig
            .call("skills/list", json!({"include": ["all"], "limit": 4, "cursor": cursor}))
            .await;
        all.extend(shown(&page));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert_eq!(all.len(), 4);
    }
    assert_eq!(all, rig.list(json!({"include": ["all"]})).await);
}

#[tokio::test]
async fn cursor_of_another_list_is_refused() {
    let mut rig = tree();
    let page = rig.call("skills/list", json!({"limit": 1})).await;
    let cursor = &page["nextCursor"];
    assert!(
        rig.try_call("skills/list", json!({"cursor": cursor, "include": ["all"]})).await.is_err()
    );
    rig.write("w/.agents/skills/f/SKILL.md", &skill("f", ""));
    let error = rig.try_call("skills/list", json!({"cursor": cursor})).await.unwrap_err();
    assert_eq!(error["data"]["hint"], "Start again without `cursor`.");
    assert!(rig.try_call("skills/list", json!({"limit": 0})).await.is_err());
    assert!(rig.try_call("skills/list", json!({"cursor": "nonsense"})).await.is_err());
}

#[tokio::test]
async fn get_returns_the_winner_with_its_frontmatter() {
    let mut rig = tree();
    let got = rig.call("skills/get", json!({"name": "b"})).await;
    assert_eq!(got["frontmatter"]["metadata"], json!({"version": "1.10"}));
    assert_eq!(
        got["ranges"]["license"]["value"]["start"],
        json!({"line": 4, "column": 10, "offset": 42})
    );
    let got = rig.call("skills/get", json!({"name": "a"})).await;
    assert_eq!(got["state"], "active");
    let shadowed = rig.path("w/.claude/skills/a");
    for path in [shadowed.clone(), format!("{shadowed}/SKILL.md")] {
        let got = rig.call("skills/get", json!({"path": path})).await;
        assert_eq!(got["state"], "shadowed");
    }
}

#[tokio::test]
async fn unknown_skill_error_lists_similar_and_available_names() {
    let mut rig = tree();
    rig.write("w/.agents/skills/commit/SKILL.md", &skill("commit", ""));
    let error = rig.try_call("skills/get", json!({"name": "comit"})).await.unwrap_err();
    assert_eq!(error["code"], -32001);
    assert_eq!(error["data"]["nearest"], json!(["commit"]));
    assert_eq!(error["data"]["available"], json!(["a", "b", "c", "commit"]));
}

#[tokio::test]
async fn dirs_match_the_listed_skills() {
    let mut rig = tree();
    let dirs = rig.call("skills/dirs", json!({})).await;
    let expected: Vec<_> =
        ["a", "b", "c"].iter().map(|it| rig.path(&format!("w/.agents/skills/{it}"))).collect();
    assert_eq!(dirs["dirs"], json!(expected));
}

#[tokio::test]
async fn explanation_has_root_candidate_and_rule_steps() {
    let mut rig = tree();
    let explained = rig.call("skills/explain", json!({"name": "a"})).await;
    assert_eq!(explained["verdict"]["state"], "active");
    let kinds: Vec<_> = explained["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["outcome"] != "missing")
        .collect();
    let kinds: Vec<_> = kinds
        .iter()
        .map(|it| (it["kind"].as_str().unwrap(), it["outcome"].as_str().unwrap()))
        .collect();
    let expected = [
        ("root", "searched"),
        ("candidate", "kept"),
        ("root", "searched"),
        ("candidate", "dropped"),
        ("rule", "dropped"),
    ];
    assert_eq!(kinds, expected, "{explained}");
    let explained =
        rig.call("skills/explain", json!({"path": rig.path("w/.agents/skills/e")})).await;
    assert_eq!(
        (&explained["name"], &explained["verdict"]["state"]),
        (&json!("e"), &json!("invalid"))
    );
}

#[tokio::test]
async fn explanation_of_a_directory_counts_its_roots() {
    let mut rig = tree();
    let explained = rig.call("skills/explain", json!({})).await;
    let summary = explained["verdict"]["summary"].as_str().unwrap();
    assert!(summary.contains("shows 3 skills to its model"), "{summary}");
    let steps = explained["steps"].as_array().unwrap();
    let found: Vec<_> = steps.iter().filter_map(|it| it["found"].as_u64()).collect();
    assert_eq!(found, [5, 1]);
    let mut empty = Rig::new(&[]);
    let explained = empty.call("skills/explain", json!({})).await;
    assert!(
        explained["verdict"]["next"].as_str().unwrap().starts_with("Put a skill at "),
        "{explained}"
    );
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let mut rig = tree();
    for name in ["z.md", "references/y.md", "assets/x.bin"] {
        rig.write(&format!("w/.agents/skills/a/{name}"), "abc\u{e4}");
    }
    fs::write(rig.path("w/.agents/skills/a/assets/x.bin"), b"\xff\x00").unwrap();
    let resources = rig.call("skills/resources", json!({"name": "a"})).await;
    let relative = |it: &Value| it["relative"].as_str().unwrap().to_owned();
    let all: Vec<_> = resources["resources"].as_array().unwrap().iter().map(relative).collect();
    assert_eq!(
        (all, &resources["truncated"]),
        (vec!["assets/x.bin".into(), "references/y.md".into(), "z.md".into()], &json!(false))
    );
    let some = rig.call("skills/resources", json!({"name": "a", "limit": 2})).await;
    assert_eq!(
        (some["resources"].as_array().unwrap().len(), &some["truncated"]),
        (2, &json!(true))
    );

    let read = rig.call("skills/read", json!({"name": "a", "relative": "z.md"})).await;
    assert_eq!(
        (&read["content"], &read["size"], &read["truncated"]),
        (&json!("abc\u{e4}"), &json!(5), &json!(false))
    );
    let cut = rig.call("skills/read", json!({"name": "a", "relative": "z.md", "length": 4})).await;
    assert_eq!(
        (&cut["content"], &cut["truncated"]),
        (&json!("abc"), &json!(true)),
        "a partial character is left out"
    );
    let binary = rig.call("skills/read", json!({"name": "a", "relative": "assets/x.bin"})).await;
    assert_eq!((&binary["base64"], binary.get("content")), (&json!("/wA="), None));
}

#[tokio::test]
async fn reading_is_bounded() {
    let mut rig = tree();
    let error =
        |relative: &str, length: u64| json!({"name": "a", "relative": relative, "length": length});
    let outside = rig.try_call("skills/read", error("../b/SKILL.md", 9)).await.unwrap_err();
    assert_eq!(outside["code"], -32006);
    let much = rig.try_call("skills/read", error("SKILL.md", 1 << 30)).await.unwrap_err();
    assert_eq!((&much["code"], &much["data"]["limit"]), (&json!(-32007), &json!(1 << 20)));
    let missing = rig.try_call("skills/read", error("none", 9)).await.unwrap_err();
    assert_eq!(missing["code"], -32602);
    rig.write("w/.agents/skills/a/big", &"x".repeat((1 << 20) + 1));
    let big = rig.call("skills/read", json!({"name": "a", "relative": "big"})).await;
    assert_eq!(
        (big["content"].as_str().unwrap().len(), &big["truncated"]),
        (1 << 20, &json!(true))
    );
}

#[tokio::test]
async fn environment_of_initialize_applies_to_later_calls() {
    let mut rig = tree();
    rig.write("other/.agents/skills/theirs/SKILL.md", &skill("theirs", ""));
    let environment = json!({"HOME": rig.path("other")});
    let introduced = rig.call("initialize", json!({"environment": environment})).await;
    assert_eq!(
        (&introduced["bootId"], &introduced["limits"]["connections"]),
        (&json!("boot"), &json!(128))
    );
    assert!(rig.list(json!({})).await.contains(&"theirs active".to_owned()));
    let without = rig.list(json!({"environment": {"HOME": rig.path("home")}})).await;
    assert!(!without.contains(&"theirs active".to_owned()));
}

#[tokio::test]
async fn worktree_is_pinned_and_unpinned() {
    let mut rig = tree();
    let opened = rig.call("worktree/open", json!({})).await;
    assert_eq!(opened["worktree"]["pinned"], true);
    assert_eq!(
        opened["worktree"]["skills"],
        json!({"active": 3, "hidden": 1, "invalid": 1, "shadowed": 1})
    );
    let listed = rig.call("worktree/list", json!({})).await;
    assert_eq!(listed["worktrees"][0]["path"], json!(rig.path("w")));
    // Pinned again, it still has one pin.
    rig.call("worktree/open", json!({})).await;
    let closed = rig.call("worktree/close", json!({"cwd": rig.path("w/.agents")})).await;
    assert_eq!(closed, json!({"closed": true, "path": rig.path("w")}));
    assert_eq!(rig.call("worktree/close", json!({})).await["closed"], false);
}

#[tokio::test]
async fn refused_parameter_is_named() {
    let mut rig = tree();
    for (method, params, name) in [
        ("session/touch", json!({"paths": ["/a"]}), "params.session"),
        ("worktree/open", json!({"cwd": "/nonexistent"}), "params.cwd"),
        ("trust/set", json!({"dir": "/nonexistent", "trusted": true}), "params.dir"),
    ] {
        let error = rig.try_call(method, params).await.unwrap_err();
        assert_eq!((&error["code"], &error["data"]["path"]), (&json!(-32602), &json!(name)));
    }
}

#[tokio::test]
async fn status_reports_the_daemon() {
    let mut rig = tree();
    rig.list(json!({})).await;
    let status = rig.call("server/status", json!({})).await;
    assert_eq!((&status["pid"], &status["connections"]), (&json!(std::process::id()), &json!(1)));
    assert_eq!(
        (&status["socket"], &status["rebuilds"]["views"]["count"]),
        (&Value::Null, &json!(1))
    );
    assert!(status["rss"].as_u64().unwrap() > 1 << 20);
    assert_eq!(status["worktrees"][0]["skills"]["active"], 3);
}

#[tokio::test]
async fn skill_removed_since_it_was_listed_is_not_found() {
    let mut rig = tree();
    rig.call("skills/list", json!({})).await;
    std::fs::remove_dir_all(rig.path("w/.agents/skills/b")).unwrap();
    std::fs::remove_file(rig.path("w/.agents/skills/c/SKILL.md")).unwrap();
    for (method, params) in [
        ("skills/load", json!({"name": "b", "freshness": "cached"})),
        ("skills/load", json!({"name": "c", "freshness": "cached"})),
        ("skills/read", json!({"name": "b", "relative": "x", "freshness": "cached"})),
        ("skills/resources", json!({"name": "b", "freshness": "cached"})),
    ] {
        let error = rig.try_call(method, params.clone()).await.unwrap_err();
        assert_eq!(error["code"], -32001, "{method} {params}: {error}");
    }
}

#[tokio::test]
async fn stopped_engine_shuts_the_daemon_down() {
    let mut rig = tree();
    rig.daemon.parts.resolver.engine.stop();
    let error = rig.try_call("skills/list", json!({})).await.unwrap_err();
    assert_eq!(error["code"], -32603, "{error}");
    assert!(rig.daemon.parts.resolver.shutdown.has_failed() && rig.daemon.closing().is_cancelled());
}

#[tokio::test]
async fn cwd_may_contain_a_dot_component() {
    let mut rig = tree();
    let cwd = Path::new(&rig.path("w")).join("./");
    assert_eq!(rig.list(json!({"cwd": cwd})).await.len(), 3);
}

#[tokio::test]
async fn diagnostic_of_a_tolerated_fault_is_a_warning() {
    let text = "---\nname: a\ndescription: Does it: all.\n---\nBody.\n";
    let mut rig = Rig::new(&[("w/.claude/skills/a/SKILL.md", text)]);
    for (profile, error, severity) in
        [("opencode", 0, "warning"), ("opencode-agent-skills", 1, "error")]
    {
        let got = rig.call("skills/get", json!({"name": "a", "profile": profile})).await;
        assert_eq!(got["diagnostics"]["error"], error, "{got}");
        assert_eq!(got["diagnostics"]["warning"], 1 - error, "{got}");
        assert_eq!(got["findings"][0]["severity"], severity, "{got}");
    }
}
