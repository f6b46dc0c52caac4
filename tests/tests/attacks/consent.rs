//! Attacks by agents that try to answer their own approval requests or to grant themselves trust.

use std::io::{self, BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{fs, thread};

use serde_json::{Value, json};
use skills_testkit::{Framing, Home, Screen, Wire};

use crate::support::{Live, run, run_at_terminal, run_json, skillsd, stderr};

const SKILLS: &str = "//- /.claude/skills/deploy/SKILL.md
---
name: deploy
description: Deploys.
allowed-tools: Bash
---
Deploy. !`echo $ARGUMENTS`
//- /.claude/skills/deploy/go mode=0755
#!/bin/sh
echo went
";

fn fixture() -> (Live, PathBuf) {
    let home = Home::new();
    fs::create_dir_all(home.config_dir().join("skillsd")).expect("made");
    let config = "run.scripts = true\nrun.shell = true\n";
    fs::write(home.config_dir().join("skillsd/config.toml"), config).expect("written");
    let top = home.worktree("w", SKILLS);
    (Live::start_in(home), top)
}

fn load(top: &Path) -> Value {
    json!({"cwd": top, "profile": "claude-code", "name": "deploy"})
}

/// Loads the skill and returns the id of the approval request.
fn request_approval(wire: &mut Wire, top: &Path) -> Value {
    let error = wire.try_call("skills/load", &load(top)).expect_err("the user is asked");
    assert_eq!(error.code, -32003, "{error}");
    error.data["requestId"].clone()
}

fn is_trusted(wire: &mut Wire, top: &Path) -> bool {
    wire.call("trust/get", &json!({"dir": top}))["trusted"] == true
}

fn is_pending(wire: &mut Wire, id: &Value) -> bool {
    let pending = wire.call("permission/pending", &json!({}));
    pending["requests"].as_array().expect("a list").iter().any(|it| it["id"] == *id)
}

/// Asserts that the refusal says that a person must act, and how.
#[track_caller]
fn assert_needs_a_person(wire: &mut Wire, method: &str, params: &Value) {
    let error = wire.try_call(method, params).expect_err("only the user grants");
    assert_eq!(error.code, -32003, "{error}");
    assert!(error.data["requestId"].is_null(), "{error}");
    let hint = error.data["hint"].as_str().expect("a hint");
    assert!(hint.contains("`skillsd permission reply`"), "{hint}");
}

#[test]
fn agent_cannot_set_trust() {
    let (mut live, top) = fixture();
    let home = live.home.path().to_owned();
    for dir in [&top, &top.join(".claude"), &home, Path::new("/")] {
        for trusted in [json!(true), json!(false), Value::Null] {
            let params = json!({"dir": dir, "trusted": trusted});
            assert_needs_a_person(&mut live.wire, "trust/set", &params);
        }
    }
    assert!(!is_trusted(&mut live.wire, &top));
    let all = live.wire.call("trust/get", &json!({}));
    assert_eq!(all["all"], json!([]));
    let script = json!({"cwd": top, "name": "deploy", "relative": "go"});
    let error = live.wire.try_call("skills/run", &script).expect_err("it is not trusted");
    assert_eq!(error.code, -32004);
}

#[test]
fn agent_cannot_revoke_the_users_distrust() {
    let (mut live, top) = fixture();
    live.wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    live.wire.grant("trust/set", &json!({"dir": top.join(".claude"), "trusted": false}));
    assert_needs_a_person(
        &mut live.wire,
        "trust/set",
        &json!({"dir": top.join(".claude"), "trusted": null}),
    );
    assert!(!is_trusted(&mut live.wire, &top.join(".claude")));
}

#[test]
fn agent_cannot_answer_its_own_refused_load() {
    let (mut live, top) = fixture();
    let id = request_approval(&mut live.wire, &top);
    for reply in ["once", "always", "reject"] {
        assert_needs_a_person(
            &mut live.wire,
            "permission/reply",
            &json!({"id": id, "reply": reply}),
        );
    }
    assert!(is_pending(&mut live.wire, &id));
    assert_eq!(request_approval(&mut live.wire, &top), id);
}

#[test]
fn agent_cannot_answer_its_own_waiting_request() {
    let (mut live, top) = fixture();
    let params = json!({"cwd": top, "profile": "opencode", "permission": "bash",
        "patterns": ["rm -rf /"], "always": ["*"], "timeoutMs": 2000});
    let request = live.wire.start("permission/request", &params);
    let mut other = live.daemon.connect(Framing::Lines);
    let id = skills_testkit::wait::wait_for("the question", || {
        let pending = other.call("permission/pending", &json!({}));
        Some(pending["requests"].as_array()?.first()?["id"].clone())
    });
    let reply = live.wire.start("permission/reply", &json!({"id": id, "reply": "always"}));
    let refused = live.wire.answer(reply).expect_err("only the user grants");
    assert_eq!(refused.code, -32003);
    let result = live.wire.answer(request).expect("it is answered");
    assert_eq!((&result["action"], &result["timedOut"]), (&json!("deny"), &json!(true)));
}

#[test]
fn agent_cannot_answer_over_another_connection() {
    let (mut live, top) = fixture();
    let id = request_approval(&mut live.wire, &top);
    for framing in [Framing::Header, Framing::Lines] {
        let mut other = live.daemon.connect(framing);
        assert_needs_a_person(&mut other, "permission/reply", &json!({"id": id, "reply": "once"}));
        assert_needs_a_person(
            &mut other,
            "permission/reply",
            &json!({"id": id, "reply": "always"}),
        );
    }
    assert!(is_pending(&mut live.wire, &id));
}

#[test]
fn agent_cannot_answer_after_a_reconnect() {
    let (mut live, top) = fixture();
    for n in 0..20 {
        let mut agent = live.daemon.connect(Framing::Lines);
        let name = if n % 2 == 0 { "skillsd" } else { "skillsd-mcp" };
        let info = json!({"clientInfo": {"name": name, "version": env!("CARGO_PKG_VERSION")}});
        agent.call("initialize", &info);
        let id = request_approval(&mut agent, &top);
        drop(agent);
        let mut again = live.daemon.connect(Framing::Lines);
        again.call("initialize", &info);
        assert_needs_a_person(&mut again, "permission/reply", &json!({"id": id, "reply": "once"}));
    }
    request_approval(&mut live.wire, &top);
}

#[test]
fn approval_cannot_be_answered_by_its_requesting_connection() {
    let (mut live, top) = fixture();
    let mut user = live.daemon.connect_consent(Framing::Lines);
    // Requested first there, and also as the second client with the same request.
    for is_second in [false, true] {
        if is_second {
            request_approval(&mut live.wire, &top);
        }
        let id = request_approval(&mut user, &top);
        for reply in ["once", "always", "reject"] {
            assert_needs_a_person(
                &mut user,
                "permission/reply",
                &json!({"id": id, "reply": reply}),
            );
        }
        let mut other = live.daemon.connect_consent(Framing::Lines);
        other.call("permission/reply", &json!({"id": id, "reply": "reject"}));
        let no = user.try_call("skills/load", &load(&top)).expect_err("the user said no");
        assert_eq!(no.code, -32002, "{no}");
    }
}

#[test]
fn always_with_other_patterns_is_refused() {
    let (mut live, top) = fixture();
    let id = request_approval(&mut live.wire, &top);
    for patterns in [json!(["*"]), json!(["deploy", "*"]), json!([""]), json!(["Deploy *"])] {
        let reply = json!({"id": id, "reply": "always", "always": patterns});
        assert_needs_a_person(&mut live.wire, "permission/reply", &reply);
        // The user's answer grants no more than was requested.
        let error = live.wire.try_grant("permission/reply", &reply).expect_err("not asked for");
        assert_eq!(error.code, -32602, "{error}");
    }
    let granted = live.wire.call("permission/granted", &json!({"cwd": top}));
    assert_eq!(granted["grants"], json!([]));
}

#[test]
fn trust_command_without_a_terminal_is_refused() {
    let (mut live, top) = fixture();
    for how in [&[][..], &["--no-daemon"], &["--json"], &["--json", "--no-daemon"]] {
        let output = run(&live.home, &top, &[&["trust"], how].concat());
        assert_eq!(output.status.code(), Some(5), "{how:?}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("terminal") && said.contains("`skillsd trust"), "{said}");
    }
    assert!(!is_trusted(&mut live.wire, &top));
    // Revoking needs no terminal.
    live.wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    assert!(run(&live.home, &top, &["trust", "--revoke"]).status.success());
    assert!(!is_trusted(&mut live.wire, &top));
}

#[test]
fn trust_command_with_yes_piped_in_is_refused() {
    let (mut live, top) = fixture();
    let program = crate::support::exe().display().to_string();
    for line in [
        format!("yes | '{program}' trust"),
        format!("yes | '{program}' trust --no-daemon"),
        format!("'{program}' trust <<< y"),
        format!("yes | '{program}' trust 2>/dev/null"),
    ] {
        let output = live.home.command("bash").args(["-c", &line]).current_dir(&top).output();
        let output = output.expect("bash can be run");
        assert_eq!(output.status.code(), Some(5), "{line}: {}", stderr(&output));
    }
    assert!(!is_trusted(&mut live.wire, &top));
}

#[test]
fn reply_command_without_a_terminal_is_refused() {
    let (mut live, top) = fixture();
    let id = request_approval(&mut live.wire, &top);
    let name = id.as_str().expect("an id");
    for reply in ["once", "always"] {
        let output = run(&live.home, &top, &["permission", "reply", name, reply]);
        assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    }
    assert!(is_pending(&mut live.wire, &id));
    let output = run(&live.home, &top, &["permission", "reply", name, "reject"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Relays the consent socket at the returned `SKILLSD_SOCKET` path. The relay creates an approval
/// request after the client has listed the requests and before its answer arrives.
fn relay_consent_socket(live: &Live, ask: impl FnOnce() + Send + 'static) -> PathBuf {
    let dir = live.home.runtime_dir().join("relay");
    fs::DirBuilder::new().mode(0o700).create(&dir).expect("made");
    let listener = UnixListener::bind(dir.join("v1-consent.sock")).expect("bound");
    // Clients connect here first, to check that a daemon runs.
    let main = UnixListener::bind(dir.join("v1.sock")).expect("bound");
    let mut daemon = UnixStream::connect(live.home.consent_socket()).expect("it listens");
    thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("the client connects");
        let mut answers = daemon.try_clone().expect("cloned");
        let mut back = client.try_clone().expect("cloned");
        thread::spawn(move || io::copy(&mut answers, &mut back));
        let (mut ask, mut chunk) = (Some(ask), [0; 16 * 1024]);
        while let Ok(length @ 1..) = client.read(&mut chunk) {
            if String::from_utf8_lossy(&chunk[..length]).contains("permission/reply") {
                ask.take().into_iter().for_each(|it| it());
            }
            daemon.write_all(&chunk[..length]).expect("the daemon reads");
        }
        drop(main);
    });
    dir.join("v1.sock")
}

#[test]
fn approval_that_was_not_shown_is_not_answered() {
    let (mut live, top) = fixture();
    let first = request_approval(&mut live.wire, &top);
    let run_id = first.as_str().and_then(|it| it.rsplit_once('-')).expect("a run and a number").0;
    let next = format!("{run_id}-2");
    let mut agent = live.daemon.connect(Framing::Lines);
    let other = top.join(".claude/skills/other");
    fs::create_dir_all(&other).expect("made");
    let text = "---\nname: other\ndescription: d\nallowed-tools: Bash\n---\nDo it.\n";
    fs::write(other.join("SKILL.md"), text).expect("written");
    let mut params = load(&top);
    params["name"] = "other".into();
    let (asked, expected) = (params.clone(), next.clone());
    let socket = relay_consent_socket(&live, move || {
        let error = agent.try_call("skills/load", &asked).expect_err("the user is asked");
        assert_eq!(error.data["requestId"], expected);
    });
    let mut command = skillsd(&live.home, &["permission", "reply", &next, "always"]);
    let mut screen = Screen::start(command.env("SKILLSD_SOCKET", socket), 40, 160);
    screen.type_in("y\n");
    let (code, shown) = (screen.wait().code(), screen.text());
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("there is no pending request"), "{shown}");
    let error = live.wire.try_call("skills/load", &params).expect_err("nothing is allowed");
    assert_eq!(error.code, -32003, "{error}");
}

#[test]
fn trust_is_granted_only_after_confirmation() {
    let (mut live, top) = fixture();
    for answer in ["n", "", "no", "maybe", "trust"] {
        let (code, shown) = run_at_terminal(&live.home, &top, &["trust"], answer);
        assert_eq!(code, Some(5), "{shown}");
        assert!(shown.contains("deploy asks for trust"), "{shown}");
        assert!(!is_trusted(&mut live.wire, &top), "{answer}");
    }
    let (code, shown) = run_at_terminal(&live.home, &top, &["trust"], "y");
    assert_eq!(code, Some(0), "{shown}");
    assert!(is_trusted(&mut live.wire, &top));
}

#[test]
fn editor_socket_grants_nothing() {
    let (mut live, top) = fixture();
    let socket = live.home.socket().with_file_name("v1-lsp.sock");
    let mut editor = Wire::connect(&socket, Framing::Header).expect("it listens");
    let params = json!({"processId": null, "rootUri": format!("file://{}", top.display()), "capabilities": {}});
    let id = editor.start("initialize", &params);
    assert!(editor.answer(id).is_ok());
    for method in ["trust/set", "permission/reply"] {
        let params = json!({"dir": top, "trusted": true, "id": "1", "reply": "once"});
        assert_eq!(editor.try_call(method, &params).expect_err("it is unknown").code, -32601);
    }
    assert!(!is_trusted(&mut live.wire, &top));
}

#[test]
fn agent_claiming_to_be_the_user_needs_approval_for_commands() {
    let (mut live, top) = fixture();
    live.wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    let mut params = load(&top);
    params["by"] = json!("user");
    params["shell"] = json!("execute");
    params["args"] = json!("; touch pwned");
    let error = live.wire.try_call("skills/load", &params).expect_err("the user is asked");
    assert_eq!(error.code, -32003, "{error}");
    assert!(!top.join("pwned").exists() && !top.join(".claude/skills/deploy/pwned").exists());
}

#[test]
fn user_can_answer_while_agents_hold_every_connection() {
    let (mut live, top) = fixture();
    let id = request_approval(&mut live.wire, &top);
    let limit = run_json(&live.home, &top, &["status"])["pid"].clone();
    assert!(limit.is_number());
    let agents: Vec<_> =
        (0..160).filter_map(|_| Wire::connect(&live.home.socket(), Framing::Lines).ok()).collect();
    for command in [
        &["permission", "pending"][..],
        &["permission", "granted"],
        &["trust", "--list"],
        &["trust", "--revoke"],
        &["status"],
    ] {
        let output = run(&live.home, &top, command);
        assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    }
    live.wire.grant("permission/reply", &json!({"id": id, "reply": "once"}));
    drop(agents);
    live.wire.call("skills/load", &load(&top));
}

/// Calls an MCP tool without a greeting, with the user's answers to earlier questions.
fn call_tool(mcp: &mut Mcp, id: u64, name: &str, answers: Option<&Value>) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut params = json!({"name": "skill", "arguments": {"name": name}, "_meta": meta});
    if let Some(answers) = answers {
        params["inputResponses"] = answers.clone();
    }
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    writeln!(mcp.input, "{message}").expect("it listens");
    loop {
        let line = mcp.output.next().expect("an answer").expect("text");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        if answer["id"] == json!(id) {
            return answer["result"].clone();
        }
    }
}

/// A running MCP server.
struct Mcp {
    input: std::process::ChildStdin,
    output: Lines<BufReader<std::process::ChildStdout>>,
}

#[test]
fn mcp_answer_to_one_question_is_none_to_another() {
    let (live, top) = fixture();
    let other = SKILLS.replace("deploy", "remove").replace("Deploy", "Remove");
    skills_testkit::fixture::lay_out(&top, &other);
    let mut child = skillsd(&live.home, &["mcp", "--profile", "claude-code"])
        .current_dir(&top)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let input = child.stdin.take().expect("piped");
    let output = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut mcp = Mcp { input, output };
    let asked = call_tool(&mut mcp, 1, "deploy", None);
    let questions = asked["inputRequests"].as_object().expect("the user is asked").clone();
    let question = questions.keys().next().expect("one question").clone();
    let yes = json!({"action": "accept", "content": {"answer": "always"}});
    let answers = json!({question: yes, "permission": yes});
    // The call comes again for another skill, or with an answer that was guessed.
    for answers in [&answers, &json!({"permission": yes})] {
        let asked = call_tool(&mut mcp, 2, "remove", Some(answers));
        assert!(asked["inputRequests"].is_object(), "{asked}");
        assert!(!asked.to_string().contains("Remove."), "{asked}");
    }
    let loaded = call_tool(&mut mcp, 3, "deploy", Some(&answers));
    assert!(loaded.to_string().contains("Deploy."), "{loaded}");
    drop(mcp);
    child.wait().expect("it ends");
}

#[test]
fn agent_cannot_describe_the_skill_that_it_asks_for() {
    let (mut live, top) = fixture();
    let forged = json!({"name": "weather", "description": "Shows the weather.",
        "path": "/usr/share/weather/SKILL.md", "act": "look", "note": "own"});
    let path = top.join(".claude/skills/deploy/SKILL.md");
    let known = json!({"name": "deploy", "description": "Deploys.", "path": path, "act": "",
        "note": "own"});
    let unknown = json!({"note": "own"});
    let mut other = live.daemon.connect(Framing::Lines);
    for (patterns, expected) in [
        (json!(["deploy"]), &known),
        (json!(["deploy", "ask"]), &unknown),
        (json!(["no such skill"]), &unknown),
    ] {
        let params = json!({"cwd": top, "profile": "claude-code", "permission": "skill",
            "patterns": patterns, "metadata": forged});
        let request = live.wire.start("permission/request", &params);
        let asked = skills_testkit::wait::wait_for("the question", || {
            let pending = other.call("permission/pending", &json!({}));
            pending["requests"].as_array()?.first().cloned()
        });
        assert_eq!(&asked["metadata"], expected, "{patterns}");
        let reply = json!({"id": asked["id"], "reply": "reject"});
        other.grant("permission/reply", &reply);
        live.wire.answer(request).expect("it is answered");
    }
}
