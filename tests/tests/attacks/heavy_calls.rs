//! Attacks by agents that delay the user and other agents with heavy calls.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use skills_testkit::wait::wait_for;
use skills_testkit::{Framing, Wire};

use super::requests::{heavy_call_counts, many_skills, send_many, start_with_timeout};
use super::trust::{configured, skill_params};
use crate::support::Live;

/// A skill of a worktree with a hook.
const HOOK: &str = "//- /.claude/skills/guard/SKILL.md
---
name: guard
description: Checks each command.
hooks:
  PreToolUse:
    - hooks:
        - type: command
          command: ./check
---
Text.
";

/// Returns the number of heavy calls that have begun.
fn begun(wire: &mut Wire) -> u64 {
    heavy_call_counts(wire)["begun"].as_u64().expect("a number")
}

/// Sends checks on many connections, waits until most of them wait, and returns the connections.
fn send_checks(live: &mut Live, connections: usize, calls: usize) -> (Vec<Wire>, PathBuf) {
    let top = many_skills(live, 150);
    let params = json!({"cwd": top});
    live.wire.call("skills/list", &params);
    let greedy = send_many(live, connections, calls, "skills/check", &params);
    wait_for_queue(&mut live.wire, (connections * calls) as u64 / 2);
    (greedy, top)
}

fn wait_for_queue(wire: &mut Wire, length: u64) {
    wait_for("the calls to wait", || {
        (heavy_call_counts(wire)["waiting"].as_u64() > Some(length)).then_some(())
    });
}

#[test]
fn trust_of_the_user_does_not_wait_for_heavy_calls_of_agents() {
    let mut live = start_with_timeout();
    let mut user = live.daemon.connect_consent(Framing::Lines);
    user.set_timeout(Duration::from_mins(2));
    let (greedy, top) = send_checks(&mut live, 40, 10);
    let before = begun(&mut live.wire);
    let shown = user.call("trust/get", &json!({"cwd": top, "waiting": true, "contents": true}));
    let set = json!({"dir": top, "trusted": true, "digest": shown["digest"]});
    assert_eq!(user.call("trust/set", &set)["trusted"], true);
    let others = begun(&mut live.wire) - before;
    assert!(others < 30, "{others} calls began before the user was answered");
    drop(greedy);
}

#[test]
fn contents_of_trust_are_for_the_consent_socket_only() {
    let mut live = start_with_timeout();
    let top = live.home.worktree("w", HOOK);
    for waiting in [true, false] {
        let params = json!({"cwd": top, "waiting": waiting, "contents": true});
        let error = live.wire.try_call("trust/get", &params).expect_err("only the user sees them");
        assert_eq!(error.code, -32003, "{error}");
        assert!(error.message.contains("`contents`"), "{error}");
        let shown = live.daemon.connect_consent(Framing::Lines).call("trust/get", &params);
        assert!(shown["digest"].is_string(), "{shown}");
    }
    assert_eq!(begun(&mut live.wire), 2, "the refused calls did not begin");
}

#[test]
fn match_of_hooks_does_not_wait_for_other_heavy_calls() {
    let home = configured("");
    let hooked = home.worktree("w", HOOK);
    let mut live = Live::start_in(home);
    live.wire.set_timeout(Duration::from_mins(2));
    live.wire.grant("trust/set", &json!({"dir": hooked, "trusted": true}));
    let load = skill_params(&hooked, "guard", &json!({"session": "t"}));
    live.wire.call("skills/load", &load);
    let (greedy, top) = send_checks(&mut live, 40, 10);
    // The agent's own calls before the match do not delay it either.
    let mut agent = live.daemon.connect(Framing::Lines);
    agent.set_timeout(Duration::from_mins(2));
    let own: Vec<_> = (0..10).map(|_| agent.start("skills/check", &json!({"cwd": top}))).collect();
    wait_for_queue(&mut live.wire, 200);
    let before = begun(&mut live.wire);
    let matching = json!({"cwd": hooked, "session": "t", "event": "PreToolUse", "tool": "Bash"});
    let id = agent.start("hooks/match", &matching);
    let answer = agent.receive().expect("an answer");
    assert_eq!(answer["id"], json!(id), "its answer comes before those of {own:?}: {answer}");
    assert_eq!(answer["result"]["hooks"].as_array().map(Vec::len), Some(1), "{answer}");
    let others = begun(&mut live.wire) - before;
    assert!(others < 30, "{others} calls began before the match was answered");
    drop(greedy);
}
