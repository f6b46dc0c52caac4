//! What of a skill is run: commands of a project that is trusted, within their bounds, and hooks of
//! the agent that has loaded them.

use serde_json::{Value, json};

use super::Rig;

const EXECUTE: &str = "[run]\nshell = true\n";

/// A project's skill with one command.
fn project(command: &str) -> Rig {
    let rig = Rig::new(&[]);
    rig.write("w/.agents/skills/p/SKILL.md", &text(command));
    rig.write("config.toml", EXECUTE);
    rig
}

fn text(command: &str) -> String {
    format!("---\nname: p\ndescription: d\n---\nNow: !`{command}`\n")
}

impl Rig {
    async fn execute(&mut self, more: Value) -> Result<Value, Value> {
        let mut params = json!({"name": "p", "format": "claude", "shell": "execute"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.try_call("skills/load", params).await
    }

    async fn trust_worktree(&mut self) {
        let dir = self.path("w");
        self.call("trust/set", json!({"dir": dir, "trusted": true})).await;
    }
}

fn ends(loaded: &Value, with: &str) -> bool {
    loaded["output"].as_str().unwrap().ends_with(with)
}

#[tokio::test]
async fn commands_of_a_trusted_project_run_and_ask_again_behind_an_edit() {
    let mut rig = project("echo first");
    assert_eq!(rig.execute(json!({})).await.unwrap_err()["code"], -32004);
    rig.trust_worktree().await;
    assert!(ends(&rig.execute(json!({})).await.unwrap(), "Now: first\n"));
    rig.write("w/.agents/skills/p/SKILL.md", &text("echo second"));
    let asked = rig.execute(json!({})).await.unwrap_err();
    assert_eq!(asked["code"], -32003, "{asked}");
    assert!(asked["message"].as_str().unwrap().contains("it has changed"), "{asked}");
    // Its text is loaded all the same, with the command for the agent to run.
    let listed = rig.call("skills/load", json!({"name": "p", "format": "claude"})).await;
    assert_eq!(listed["commands"][0]["command"], "echo second");
    let id = asked["data"]["requestId"].clone();
    rig.call("permission/reply", json!({"id": id, "reply": "once"})).await;
    assert!(ends(&rig.execute(json!({})).await.unwrap(), "Now: second\n"));
    assert_eq!(rig.execute(json!({})).await.unwrap_err()["code"], -32003, "once was once");
    rig.trust_worktree().await;
    assert!(ends(&rig.execute(json!({})).await.unwrap(), "Now: second\n"));
}

#[tokio::test]
async fn commands_share_one_time_and_their_children_end_with_them() {
    let mut rig = project("true");
    let pid = rig.path("pid");
    let command = format!("sleep 1000 & echo $! > {pid}; wait");
    rig.write("w/.agents/skills/p/SKILL.md", &text(&command));
    rig.write("config.toml", "[run]\nshell = true\ntimeout = 1\n");
    rig.trust_worktree().await;
    assert_eq!(rig.execute(json!({})).await.unwrap_err()["code"], -32008);
    let child = std::fs::read_to_string(pid).unwrap();
    let is_gone = || {
        // One that has ended and was not waited for has no command line.
        let line = std::fs::read(format!("/proc/{}/cmdline", child.trim()));
        line.map_or(true, |it| it.is_empty())
    };
    while !is_gone() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_a_command_prints_is_bounded_and_that_is_said() {
    let mut rig = project("yes | head -c 100000");
    rig.write("config.toml", "[run]\nshell = true\noutput = 1024\n");
    rig.trust_worktree().await;
    let loaded = rig.execute(json!({})).await.unwrap();
    assert!(loaded["output"].as_str().unwrap().len() < 3 * 1024, "{loaded}");
    let warnings = loaded["warnings"].to_string();
    assert!(warnings.contains("printed more than is kept"), "{warnings}");
}

#[tokio::test]
async fn an_agents_end_takes_its_hooks_and_no_others() {
    let mut rig = Rig::new(&[]);
    let hooks = "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: ./check\n";
    let text = format!("---\nname: p\ndescription: d\n{hooks}---\nDo it.\n");
    rig.write("home/.claude/skills/p/SKILL.md", &text);
    let cwd = rig.path("w");
    let open = json!({"session": "s", "profile": "claude-code", "cwd": cwd});
    rig.call("session/open", open).await;
    let of = |agent: Option<&str>, more: Value| {
        let mut params = json!({"session": "s", "agent": agent, "cwd": null});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let agents = [None, Some("reviewer"), Some("tester")];
    for agent in agents {
        rig.call("skills/load", of(agent, json!({"name": "p", "by": "user"}))).await;
    }
    for (ended, left) in [(None, [1, 1, 1]), (Some("reviewer"), [1, 0, 1])] {
        if ended.is_some() {
            rig.call("session/agentEnd", of(ended, json!({}))).await;
        }
        for (agent, n_hooks) in agents.into_iter().zip(left) {
            let matched = json!({"event": "PreToolUse", "tool": "Bash"});
            let matched = rig.call("hooks/match", of(agent, matched)).await;
            assert_eq!(matched["hooks"].as_array().unwrap().len(), n_hooks, "{agent:?}");
        }
    }
}
