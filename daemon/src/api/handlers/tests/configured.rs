//! Effects of the configuration on answers, from the first call after an edit.

use serde_json::json;

use super::{Rig, tree};

async fn profile(rig: &mut Rig) -> String {
    rig.call("skills/explain", json!({})).await["profile"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn profile_comes_from_the_call_then_the_repository_then_the_user() {
    let mut rig = tree();
    assert_eq!(profile(&mut rig).await, "agentskills");
    rig.write("config.toml", "profile = \"claude-code\"\n");
    assert_eq!(profile(&mut rig).await, "claude-code");
    let introduced = rig.call("initialize", json!({})).await;
    assert_eq!(introduced["capabilities"]["profiles"][0], "claude-code");
    rig.write("w/.skillsd.toml", "profile = \"agentskills\"\n");
    assert_eq!(profile(&mut rig).await, "agentskills");
    let named = rig.call("skills/explain", json!({"profile": "claude-code"})).await;
    assert_eq!(named["profile"], "claude-code");
    // Also from a directory below the worktree's top.
    rig.write("w/deep/x", "");
    let below = rig.call("skills/explain", json!({"cwd": rig.path("w/deep")})).await;
    assert_eq!(below["profile"], "agentskills");
}

#[tokio::test]
async fn configuration_mistakes_are_in_every_health_and_change_nothing_else() {
    let mut rig = tree();
    let before = rig.list(json!({})).await;
    rig.write("config.toml", "[log]\nlevle = \"debug\"\n");
    rig.write("w/.skillsd.toml", "read_limit = 4096\n");
    let list = rig.call("skills/list", json!({})).await;
    assert_eq!(super::shown(&list), before);
    let messages: Vec<_> = list["health"].as_array().unwrap().iter().collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[0]["code"], "config");
    assert_eq!(messages[0]["path"], rig.path("config.toml"));
    let expected = "line 2, column 1: unknown key `log.levle` (Did you mean `log.level`?)";
    assert_eq!(messages[0]["message"], expected);
    assert_eq!(messages[1]["path"], rig.path("w/.skillsd.toml"));
    for (method, params) in [
        ("skills/get", json!({"name": "a"})),
        ("skills/dirs", json!({})),
        ("skills/explain", json!({})),
        ("server/sync", json!({})),
        ("server/status", json!({})),
    ] {
        let answer = rig.call(method, params).await;
        assert_eq!(answer["health"].as_array().map(Vec::len), Some(2), "{method}: {answer}");
    }
    let status = rig.call("server/status", json!({})).await;
    assert_eq!(status["config"]["state"], "broken");
    rig.write("config.toml", "");
    rig.write("w/.skillsd.toml", "");
    assert_eq!(rig.call("skills/list", json!({})).await["health"], json!([]));
}

#[tokio::test]
async fn limits_are_those_configured() {
    let mut rig = tree();
    rig.write("config.toml", "limits.requests_in_flight = 7\n");
    rig.call("server/status", json!({})).await;
    let introduced = rig.call("initialize", json!({})).await;
    assert_eq!(introduced["limits"]["requestsInFlight"], 7);
}

#[tokio::test]
async fn calls_with_a_profile_report_mistakes_of_the_repository_configuration() {
    let mut rig = tree();
    rig.write("w/.skillsd.toml", "profile = \"codexx\"\n");
    let n_told = |answer: serde_json::Value| answer["health"].as_array().unwrap().len();
    for (method, params) in [
        ("skills/list", json!({"profile": "claude-code"})),
        ("skills/load", json!({"profile": "agentskills", "name": "a"})),
        ("server/sync", json!({"profile": "codex"})),
        ("session/touch", json!({"profile": "codex", "session": "s", "paths": []})),
        ("server/status", json!({})),
    ] {
        assert_eq!(n_told(rig.call(method, params).await), 1, "{method}");
    }
    rig.write("w/.skillsd.toml", "profile = \"codex\"\n");
    assert_eq!(n_told(rig.call("server/status", json!({})).await), 0, "the file is read again");
}
