//! Approval before a skill is loaded or read, with waiting and late calls.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use super::Rig;
use super::running::{project, text};

#[tokio::test]
async fn a_load_opens_the_session_that_it_names() {
    let mut rig = project("true");
    let load = json!({"name": "p", "session": "new"});
    rig.call("skills/load", load.clone()).await;
    let invoked = rig.call("session/invoked", json!({"session": "new"})).await;
    assert_eq!(invoked["skills"][0]["name"], "p", "{invoked}");
    rig.call("session/close", json!({"session": "new"})).await;
    assert!(rig.try_call("session/get", json!({"session": "new"})).await.is_err());
    rig.call("skills/load", load).await;
    rig.call("session/get", json!({"session": "new"})).await;
}

#[tokio::test]
async fn reading_files_needs_the_same_approval_as_loading_once_per_session() {
    let mut rig = project("true");
    rig.write("w/.agents/skills/p/more.md", "More.");
    rig.write("config.toml", "[permission]\nskill = { \"p\" = \"ask\" }\n");
    let file = |relative: &str, session: Value| json!({"name": "p", "relative": relative, "session": session});
    let plain = file("SKILL.md", Value::Null);
    let asked = rig.try_call("skills/read", plain.clone()).await.unwrap_err();
    assert_eq!(asked["code"], -32003, "{asked}");
    assert!(asked["message"].as_str().unwrap().contains("a file of `p` is read"), "{asked}");
    // File names need no approval.
    assert_eq!(
        rig.call("skills/resources", json!({"name": "p"})).await["resources"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    rig.call("permission/reply", json!({"id": asked["data"]["requestId"], "reply": "once"})).await;
    for relative in ["SKILL.md", "more.md", "SKILL.md"] {
        rig.call("skills/read", file(relative, Value::Null)).await;
    }
    // A session needs its own approval, which a load by the user gives.
    let in_session = file("more.md", json!("s"));
    let asked = rig.try_call("skills/read", in_session.clone()).await.unwrap_err();
    assert_eq!(asked["code"], -32003, "{asked}");
    let load = json!({"name": "p", "session": "s", "by": "user"});
    rig.call("skills/load", load).await;
    rig.call("skills/read", in_session.clone()).await;
    // A changed text needs a new approval; a read by the user needs none.
    rig.write("w/.agents/skills/p/SKILL.md", &text("echo other"));
    for params in [plain.clone(), in_session] {
        assert_eq!(rig.try_call("skills/read", params).await.unwrap_err()["code"], -32003);
    }
    let mut by_user = plain;
    by_user["by"] = json!("user");
    rig.call("skills/read", by_user).await;
}

#[tokio::test]
async fn model_may_read_a_user_only_skill_after_the_user_loads_it() {
    let mut rig = Rig::new(&[(
        "w/.claude/skills/h/SKILL.md",
        "---\nname: h\ndescription: d\ndisable-model-invocation: true\n---\nHidden.\n",
    )]);
    let read =
        json!({"name": "h", "relative": "SKILL.md", "by": "model", "profile": "claude-code"});
    let refused = rig.try_call("skills/read", read.clone()).await.unwrap_err();
    assert_eq!(refused["code"], -32009, "{refused}");
    let load = json!({"name": "h", "by": "user", "profile": "claude-code"});
    rig.call("skills/load", load).await;
    assert!(rig.call("skills/read", read).await["content"].as_str().unwrap().contains("Hidden."));
}

#[tokio::test]
async fn permission_request_with_zero_timeout_asks_no_user() {
    let mut rig = project("true");
    rig.write("config.toml", "[permission]\nskill = { \"p\" = \"ask\" }\n");
    let request = json!({"permission": "skill", "patterns": ["p"], "timeoutMs": 0});
    let said = rig.call("permission/request", request).await;
    assert_eq!((&said["action"], &said["timedOut"]), (&json!("deny"), &json!(true)), "{said}");
    assert_eq!(said["reply"], Value::Null);
    let status = rig.call("server/status", json!({})).await;
    assert_eq!(status["actions"]["permissions"]["asked"], Value::Null, "{status}");
}

#[tokio::test]
async fn refused_pattern_of_a_reply_names_each_possible_one_once() {
    let mut rig = project("true");
    rig.write("config.toml", "[permission]\nskill = { \"p\" = \"ask\" }\n");
    let asked = rig.try_call("skills/load", json!({"name": "p"})).await.unwrap_err();
    let reply = json!({"id": asked["data"]["requestId"], "reply": "always", "always": ["x"]});
    let error = rig.try_call("permission/reply", reply).await.unwrap_err();
    assert_eq!(error["data"]["path"], "params.always", "{error}");
    assert_eq!(error["data"]["hint"].as_str().unwrap().matches("`p`").count(), 1, "{error}");
}

#[tokio::test]
async fn rejected_load_reports_the_rule_that_asked() {
    let mut rig = project("true");
    rig.write("w/.claude/skills/c/SKILL.md", "---\ndescription: d\nhooks: {}\n---\nb\n");
    rig.write("config.toml", "[permission]\nskill = { \"p\" = \"ask\" }\n");
    let mut refused = Vec::new();
    for (name, profile) in [("p", "agentskills"), ("c", "claude-code")] {
        let load = json!({"name": name, "profile": profile});
        let asked = rig.try_call("skills/load", load.clone()).await.unwrap_err();
        let reply = json!({"id": asked["data"]["requestId"], "reply": "reject"});
        rig.call("permission/reply", reply).await;
        let error = rig.try_call("skills/load", load).await.unwrap_err();
        assert_eq!(error["code"], -32002, "{error}");
        refused.push((asked["data"]["rule"].clone(), error["data"]["rule"].clone()));
    }
    assert_eq!(refused[0].0["pattern"], "p");
    assert_eq!(refused[0].0, refused[0].1);
    // Claude Code asks by default if no rule matches.
    assert_eq!(refused[1], (Value::Null, Value::Null));
}

#[tokio::test]
async fn shutdown_cancels_waiting_calls_before_it_is_answered() {
    let mut rig = project("true");
    rig.write("config.toml", "[permission]\nskill = { \"p\" = \"ask\" }\n");
    let calls = [
        ("skills/load", json!({"name": "p", "wait": true})),
        ("permission/request", json!({"permission": "skill", "patterns": ["p"]})),
        ("server/shutdown", json!({})),
    ];
    let cwd = rig.path("w");
    for (nth, (method, mut params)) in calls.into_iter().enumerate() {
        params["cwd"] = json!(cwd);
        let call = json!({"jsonrpc": "2.0", "id": nth, "method": method, "params": params});
        rig.client.write_all(format!("{call}\n").as_bytes()).await.unwrap();
        while nth < 2
            && rig.daemon.parts.guarded.access.counters.now().permissions.get("asked")
                != Some(&(nth as u64 + 1))
        {
            tokio::task::yield_now().await;
        }
    }
    let mut answers = Vec::new();
    for _ in 0..3 {
        let mut line = String::new();
        rig.client.read_line(&mut line).await.unwrap();
        answers.push(serde_json::from_str::<Value>(&line).unwrap());
    }
    for waiting in &answers[..2] {
        assert_eq!(waiting["error"]["code"], -32800, "{waiting}");
        let message = waiting["error"]["message"].as_str().unwrap();
        assert!(message.contains("skillsd is shutting down"), "{message}");
    }
    assert_eq!(answers[2]["id"], 2, "{answers:?}");
    assert!(answers[2]["result"].is_object(), "{answers:?}");
}

#[tokio::test]
async fn approval_once_covers_only_the_text_shown() {
    let mut rig = project("true");
    rig.write("config.toml", "[permission]\nskill = { \"p\" = \"ask\" }\n");
    let load = json!({"name": "p", "format": "claude"});
    let asked = rig.try_call("skills/load", load.clone()).await.unwrap_err();
    let reply = json!({"id": asked["data"]["requestId"], "reply": "once"});
    rig.call("permission/reply", reply).await;
    rig.write("w/.agents/skills/p/SKILL.md", &text("echo other"));
    assert_eq!(rig.try_call("skills/load", load.clone()).await.unwrap_err()["code"], -32003);
    rig.write("w/.agents/skills/p/SKILL.md", &text("true"));
    assert!(rig.call("skills/load", load).await["output"].as_str().unwrap().contains("true"));
}
