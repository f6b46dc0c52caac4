//! The wire protocol: both framings, limits, and malformed messages.

use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Framing, Wire};

use crate::support::{Live, entries};

#[test]
fn both_framings_return_the_same_results() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "umlaut \u{e4} and \u{1f426}");
    let params = json!({"cwd": top, "include": ["all"]});
    let by_header = live.wire.call("skills/list", &params);
    let by_line = live.daemon.connect(Framing::Lines).call("skills/list", &params);
    assert_eq!(entries(&by_header), entries(&by_line));
    assert_eq!(entries(&by_line)[0]["description"], "umlaut \u{e4} and \u{1f426}");
}

#[test]
fn initialize_is_optional_and_states_the_limits() {
    let mut live = Live::start();
    let result = live.wire.call("initialize", &json!({"clientInfo": {"name": "test"}}));
    assert_eq!(result["limits"]["requestsInFlight"], 32, "{result}");
    assert_eq!(result["limits"]["messageBytesIn"], 1 << 20, "{result}");
    assert!(result["bootId"].is_string() && result["protocolVersion"].is_string(), "{result}");
}

#[test]
fn split_and_joined_messages_are_read() {
    let live = Live::start();
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"server/status"}"#;
    let second = text.replace("\"id\":1", "\"id\":2");
    let framed = format!("content-type: x\r\nCONTENT-LENGTH: {}\r\n\r\n{text}", text.len());
    let both = format!("{framed}Content-Length: {}\r\n\r\n{second}", second.len());
    let mut wire = live.daemon.connect(Framing::Header);
    for byte in both.as_bytes() {
        wire.send_bytes(&[*byte]).expect("the daemon reads");
    }
    let ids =
        [wire.receive(), wire.receive()].map(|answer| answer.expect("two answers")["id"].clone());
    assert!(ids.contains(&json!(1)) && ids.contains(&json!(2)), "{ids:?}");
}

/// Sends `bytes` on a new connection and returns the first answer, or `None` if the connection
/// ends.
fn first_answer(live: &Live, framing: Framing, bytes: &[u8]) -> Option<Value> {
    let mut wire = live.daemon.connect(framing);
    // The daemon may hang up during the write.
    let _ = wire.send_bytes(bytes);
    wire.receive()
}

#[test]
fn malformed_messages_are_answered_with_an_error() {
    let mut live = Live::start();
    let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    for (text, code) in [
        ("{not json", -32700),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"server/status"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"skills/list","params":{"cwd":5}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"skills/list","params":{"cwd":"relative"}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"skills/list","params":{"cwd":"/","profile":"no-such"}}"#,
            -32602,
        ),
    ] {
        let answer = first_answer(&live, Framing::Header, framed(text).as_bytes());
        let answer = answer.unwrap_or_else(|| panic!("{text}: hung up without an answer"));
        assert_eq!(answer["error"]["code"], code, "{text}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|it| it.len() > 5), "{answer}");
    }
    // The existing connection is not affected.
    live.wire.call("server/status", &json!({}));
}

#[test]
fn oversized_messages_are_refused_without_being_read() {
    let mut live = Live::start();
    let answer = first_answer(&live, Framing::Header, b"Content-Length: 9999999999\r\n\r\n{");
    if let Some(answer) = answer {
        assert_eq!(answer["error"]["code"], -32007, "{answer}");
    }
    let line = vec![b'x'; 3 << 20];
    let answer = first_answer(&live, Framing::Lines, &[b"{\"x\":\"", line.as_slice()].concat());
    if let Some(answer) = answer {
        assert_eq!(answer["error"]["code"], -32007, "{answer}");
    }
    live.wire.call("server/status", &json!({}));
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "d");
    // More calls than may be in flight: the daemon pauses reading and continues.
    let ids: Vec<u64> =
        (0..200).map(|_| live.wire.start("skills/list", &json!({"cwd": top}))).collect();
    let mut answered: Vec<u64> = Vec::new();
    while answered.len() < ids.len() {
        let message = live.wire.receive().expect("the daemon stays");
        assert_eq!(entries(&message["result"]).len(), 1, "{message}");
        answered.push(message["id"].as_u64().expect("an answer has an id"));
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
}

#[test]
fn client_that_never_reads_does_not_block_others() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    for index in 0..200 {
        let name = format!("s{index}");
        write_skill(&top.join(".agents/skills").join(&name), &name, &"long ".repeat(150));
    }
    let mut deaf = live.daemon.connect(Framing::Lines);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "skills/list", "params": {"cwd": top}});
    for _ in 0..30 {
        deaf.send(&call);
    }
    for _ in 0..50 {
        assert_eq!(live.check(&top, "agentskills"), 200);
    }
}

#[test]
fn cancelled_call_is_answered_once() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let id = live.wire.start("skills/list", &json!({"cwd": top}));
    live.wire.send(&json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}}));
    // Finished or cancelled, there is exactly one answer, and the connection stays open.
    if let Err(error) = live.wire.answer(id) {
        assert_eq!(error.code, -32800, "{error}");
    }
    live.wire.call("server/status", &json!({}));
}

#[test]
fn only_files_of_the_skill_are_served() {
    let mut live = Live::start();
    let top = live.home.worktree(
        "w",
        "//- /.agents/skills/a/SKILL.md\n---\nname: a\ndescription: d\n---\n\
         //- /.agents/skills/a/scripts/run.sh mode=0755\n#!/bin/sh\n\
         //- /.agents/skills/a/references/r.md\nabc\u{e4}\n\
         //- /.agents/skills/a/out link=../../../secret\n\
         //- /.agents/skills/a/up link=..\n\
         //- /.agents/skills/a/pipe fifo\n\
         //- /secret\nno\n",
    );
    let call = json!({"cwd": top, "name": "a"});
    let resources = live.wire.call("skills/resources", &call);
    let resources = resources["resources"].as_array().expect("a list of files").clone();
    let relative: Vec<&str> = resources.iter().filter_map(|it| it["relative"].as_str()).collect();
    assert_eq!(relative, ["references/r.md", "scripts/run.sh"]);
    assert_eq!(resources[1]["executable"], true);

    let read = |live: &mut Live, relative: &str| {
        let params = json!({"cwd": top, "name": "a", "relative": relative});
        live.wire.try_call("skills/read", &params)
    };
    assert_eq!(read(&mut live, "references/r.md").expect("a file")["content"], "abc\u{e4}\n");
    for outside in ["out", "up/b/SKILL.md", "../../../secret", "/etc/hostname"] {
        let error = read(&mut live, outside).expect_err(outside);
        assert_eq!(error.code, -32006, "{outside}: {error}");
    }
    for unreadable in ["pipe", "references", "no-such"] {
        read(&mut live, unreadable).expect_err(unreadable);
    }
}

#[test]
fn command_serves_no_other_file() {
    let mut live = Live::start();
    let top = live.home.worktree(
        "w",
        "//- /.claude/commands/deploy.md\nPush.\n\
         //- /.claude/commands/secret.md\nNo.\n\
         //- /.claude/commands/.env\nTOKEN=1\n",
    );
    let params = json!({"cwd": top, "profile": "claude-code", "name": "deploy"});
    let resources = live.wire.call("skills/resources", &params);
    assert_eq!(resources["resources"], json!([]));
    let read = |live: &mut Live, relative: &str| {
        let mut params = params.clone();
        params["relative"] = json!(relative);
        live.wire.try_call("skills/read", &params)
    };
    assert_eq!(read(&mut live, "deploy.md").expect("its own file")["content"], "Push.\n");
    for other in ["secret.md", ".env", "./.env", "../settings.json", "SKILL.md"] {
        let error = read(&mut live, other).expect_err(other);
        assert!(error.message.starts_with("the skill has no file"), "{other}: {error}");
    }
}

#[test]
fn unknown_skill_error_names_similar_skills() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/commit"), "commit", "d");
    let error = live.wire.try_call("skills/get", &json!({"cwd": top, "name": "comit"}));
    let error = error.expect_err("there is none");
    assert_eq!(error.code, -32001);
    assert_eq!(error.data["nearest"], json!(["commit"]));
}

#[test]
fn skill_dirs_are_in_list_order() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    for name in ["b", "a"] {
        write_skill(&top.join(".agents/skills").join(name), name, "d");
    }
    let result = live.wire.call("skills/dirs", &json!({"cwd": top}));
    let dirs = result["dirs"].as_array().expect("a list").clone();
    let dirs: Vec<&Path> = dirs.iter().filter_map(|dir| dir.as_str().map(Path::new)).collect();
    assert_eq!(dirs, [top.join(".agents/skills/a"), top.join(".agents/skills/b")]);
}

#[test]
fn view_depends_on_the_environment_of_the_profile() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let other = live.home.work().join("elsewhere");
    write_skill(&other.join("skills/theirs"), "theirs", "d");
    write_skill(&live.home.path().join(".claude/skills/ours"), "ours", "d");
    let names = |wire: &mut Wire, environment: Value| -> Vec<String> {
        let params = json!({"cwd": top, "profile": "claude-code", "environment": environment});
        let list = entries(&wire.call("skills/list", &params));
        list.iter().map(|entry| entry["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let home = live.home.path().to_path_buf();
    assert_eq!(names(&mut live.wire, json!({"HOME": home})), ["ours"]);
    let moved = json!({"HOME": home, "CLAUDE_CONFIG_DIR": other});
    assert_eq!(names(&mut live.wire, moved), ["theirs"]);
    assert_eq!(names(&mut live.wire, json!({"HOME": other})), Vec::<String>::new());
}

#[test]
fn list_since_a_clock_returns_the_changes() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    write_skill(&top.join(".agents/skills/a"), "a", "d");
    write_skill(&top.join(".agents/skills/b"), "b", "d");
    let first = live.wire.call("skills/list", &json!({"cwd": top}));
    let clock = first["clock"].clone();
    let again = live.wire.call("skills/list", &json!({"cwd": top, "since": clock}));
    assert_eq!((&again["fresh"], entries(&again).len()), (&json!(false), 0), "{again}");

    write_skill(&top.join(".agents/skills/c"), "c", "d");
    std::fs::remove_dir_all(top.join(".agents/skills/a")).expect("it was there");
    let changed = live.wire.call("skills/list", &json!({"cwd": top, "since": clock}));
    if changed["fresh"] == json!(false) {
        assert_eq!(entries(&changed).len(), 1, "{changed}");
        assert_eq!(entries(&changed)[0]["name"], "c");
        assert_eq!(changed["removed"].as_array().map(Vec::len), Some(1), "{changed}");
    } else {
        assert_eq!(entries(&changed).len(), 2, "{changed}");
    }
    let strange = live.wire.call("skills/list", &json!({"cwd": top, "since": "0:0:0:0"}));
    assert_eq!(strange["fresh"], true, "a clock from elsewhere gives the whole list");
}
