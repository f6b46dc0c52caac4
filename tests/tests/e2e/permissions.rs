//! Approvals: announced by an event, answered by any consenting client, and remembered with
//! `always`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::{Daemon, Framing, Home, Wire, wait_for};

use crate::configuration::configure;
use crate::support::{Live, exe, run, run_at_terminal, run_json, stderr, stdout};

/// For Claude Code, one skill that needs no approval and two that do.
const SKILLS: &str = "//- /.git/HEAD
ref: refs/heads/main
//- /.claude/skills/read/SKILL.md
---
name: read
description: Reads.
---
Read.
//- /.claude/skills/deploy/SKILL.md
---
name: deploy
description: Deploys.
allowed-tools: Bash
---
Deploy.
//- /.claude/skills/deploy-prod/SKILL.md
---
name: deploy-prod
description: Deploys for all.
allowed-tools: Bash
---
Deploy for all.
";

fn load(top: &Path, name: &str) -> Value {
    json!({"cwd": top, "profile": "claude-code", "name": name})
}

fn with(mut params: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().expect("an object") {
        params[name] = value.clone();
    }
    params
}

fn fixture() -> (Live, PathBuf) {
    let live = Live::start();
    let top = live.home.worktree("w", SKILLS);
    (live, top)
}

fn pending_requests(wire: &mut Wire) -> Vec<Value> {
    let result = wire.call("permission/pending", &json!({}));
    result["requests"].as_array().expect("a list").clone()
}

/// Waits for a pending approval and returns it.
fn wait_for_request(wire: &mut Wire) -> Value {
    wait_for("a pending request", || pending_requests(wire).into_iter().next())
}

fn reply_to(wire: &Wire, id: &Value, reply: &str) -> Value {
    wire.grant("permission/reply", &json!({"id": id, "reply": reply}))
}

#[test]
fn load_that_needs_approval_is_refused_until_answered() {
    let (mut live, top) = fixture();
    let wire = &mut live.wire;
    wire.call("skills/load", &load(&top, "read"));
    let params = load(&top, "deploy");
    let error = wire.try_call("skills/load", &params).expect_err("the user is asked");
    assert_eq!(error.code, -32003, "{error}");
    assert!(
        error.message.contains("`deploy` is loaded") && error.message.contains("`allowed-tools`")
    );
    let id = &error.data["requestId"];
    assert!(error.data["hint"].as_str().expect("a hint").contains("skillsd permission reply"));
    let again = wire.try_call("skills/load", &params).expect_err("it is asked already");
    assert_eq!((&again.data["requestId"], pending_requests(wire).len()), (id, 1));
    let one = wait_for_request(wire);
    assert_eq!((&one["permission"], &one["patterns"]), (&json!("skill"), &json!(["deploy"])));
    assert_eq!(one["suggestions"], json!(["deploy", "deploy:*"]));
    assert_eq!((&one["metadata"]["act"], &one["waiting"]), (&json!("load"), &json!(false)));
    reply_to(wire, id, "once");
    assert!(
        wire.call("skills/load", &params)["output"].as_str().expect("text").contains("Deploy.")
    );
    // `once` covers one call.
    let error = wire.try_call("skills/load", &params).expect_err("the user is asked again");
    assert_eq!(error.code, -32003);
    let reject = json!({"id": error.data["requestId"], "reply": "reject", "message": "not today"});
    wire.grant("permission/reply", &reject);
    let error = wire.try_call("skills/load", &params).expect_err("the user said no");
    assert_eq!(error.code, -32002, "{error}");
    // No rule matches: the agent asks by default, and the user has rejected.
    assert!(error.message.contains("not today") && error.data["rule"].is_null(), "{error}");
    // A skill that the user invokes by name needs no approval.
    wire.call("skills/load", &with(params, &json!({"by": "user"})));
    let stale = wire.try_grant("permission/reply", &json!({"id": id, "reply": "once"}));
    assert_eq!(stale.expect_err("it is answered").code, -32602);
}

#[test]
fn waiting_load_is_answered_by_any_client_with_events() {
    let (mut live, top) = fixture();
    let mut user = live.daemon.connect(Framing::Lines);
    let kinds = json!(["permission/asked", "permission/replied"]);
    user.call("events/subscribe", &json!({"kinds": kinds, "cwd": top}));
    for (reply, code) in [("once", None), ("reject", Some(-32002))] {
        let params = with(load(&top, "deploy"), &json!({"wait": true, "session": "s"}));
        let call = live.wire.start("skills/load", &params);
        let asked = user.note()["params"]["result"].clone();
        assert_eq!(
            (&asked["kind"], &asked["name"]),
            (&json!("permission/asked"), &json!("deploy"))
        );
        let one = wait_for_request(&mut user);
        assert_eq!((&one["id"], &one["waiting"]), (&asked["request"], &json!(true)));
        assert_eq!(one["session"], "s");
        reply_to(&user, &asked["request"], reply);
        let replied = user.note()["params"]["result"].clone();
        assert_eq!(
            (&replied["kind"], &replied["reply"]),
            (&json!("permission/replied"), &json!(reply))
        );
        assert_eq!(replied["request"], asked["request"]);
        let outcome = live.wire.answer(call);
        assert_eq!(outcome.as_ref().err().map(|it| it.code), code, "{outcome:?}");
    }
    // A disconnecting client withdraws its approval request.
    let mut gone = live.daemon.connect(Framing::Lines);
    gone.start("skills/load", &with(load(&top, "deploy"), &json!({"wait": true})));
    let asked = user.note()["params"]["result"]["request"].clone();
    drop(gone);
    let replied = user.note()["params"]["result"].clone();
    assert_eq!((&replied["request"], &replied["reply"]), (&asked, &Value::Null));
    assert_eq!(pending_requests(&mut user), [Value::Null; 0]);
}

#[test]
fn waiting_request_frees_its_slot_and_another_connection_answers_it() {
    let home = Home::new();
    configure(&home, "limits.requests_in_flight = 1\n");
    let top = home.worktree("w", SKILLS);
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Header);
    let params = json!({
        "cwd": top, "profile": "opencode", "permission": "bash", "patterns": ["git push"],
        "always": ["git *"], "metadata": {"why": "to publish"},
    });
    let first = wire.start("permission/request", &params);
    let second = wire.start("permission/request", &params);
    // If each waiting call used a slot, this call would never be read.
    let listed = wire.start("permission/pending", &json!({}));
    let listed = wire.answer(listed).expect("it is answered");
    let requests = listed["requests"].as_array().expect("a list");
    assert_eq!(requests.len(), 2, "{listed}");
    assert_eq!(requests[0]["metadata"], json!({"why": "to publish"}));
    let reply = json!({"id": requests[0]["id"], "reply": "always"});
    let replied = wire.grant("permission/reply", &reply);
    let mut answers = Vec::new();
    for _ in 0..2 {
        let message = wire.receive().expect("an answer");
        answers.push((message["id"].as_u64().expect("a number"), message["result"].clone()));
    }
    answers.sort_by_key(|it| it.0);
    assert_eq!((answers[0].0, answers[1].0), (first, second));
    // An `always` answer resolves the other request too.
    assert_eq!(replied["also"], json!([requests[1]["id"]]));
    for (_, result) in &answers {
        assert_eq!((&result["action"], &result["reply"]), (&json!("allow"), &json!("always")));
    }
    let more = with(params, &json!({"patterns": ["git pull"]}));
    assert_eq!(wire.call("permission/request", &more)["action"], "allow", "it is remembered");
    let check = wire.call("permission/check", &more);
    assert_eq!((&check["action"], &check["rule"]["pattern"]), (&json!("allow"), &json!("git *")));
}

#[test]
fn approval_timeout_denies() {
    let (mut live, top) = fixture();
    configure(&live.home, "permission.timeout = 1\n");
    let params = json!({"cwd": top, "profile": "claude-code", "permission": "skill",
        "patterns": ["deploy"], "timeoutMs": 30});
    let result = live.wire.call("permission/request", &params);
    let shown = (&result["action"], &result["timedOut"], &result["reply"]);
    assert_eq!(shown, (&json!("deny"), &json!(true), &Value::Null), "{result}");
    let wait = with(load(&top, "deploy"), &json!({"wait": true}));
    let error = live.wire.try_call("skills/load", &wait).expect_err("no client answers");
    assert_eq!(error.code, -32002);
    assert!(error.message.contains("no reply within 1 seconds"), "{error}");
    assert_eq!(pending_requests(&mut live.wire), [Value::Null; 0]);
}

#[test]
fn permission_check_names_the_rule_without_asking() {
    let (mut live, top) = fixture();
    let settings = "{\"permissions\": {\n\"deny\": [\"Skill(deploy-prod)\"],\n\"allow\": [\"Skill(deploy *)\"]}}";
    fs::write(top.join(".claude/settings.json"), settings).expect("written");
    live.wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    let mut check = |names: &[&str]| {
        let params =
            json!({"cwd": top, "profile": "claude-code", "permission": "skill", "patterns": names});
        let result = live.wire.call("permission/check", &params);
        (
            result["action"].as_str().expect("a word").to_owned(),
            result["rule"]["source"]["line"].clone(),
        )
    };
    assert_eq!(check(&["read"]), ("allow".to_owned(), Value::Null));
    assert_eq!(check(&["deploy"]), ("allow".to_owned(), json!(3)));
    assert_eq!(
        check(&["read", "deploy-prod", "deploy"]),
        ("deny".to_owned(), json!(2)),
        "the strictest"
    );
    assert_eq!(check(&["nothing"]), ("ask".to_owned(), Value::Null), "nothing is known of it");
    assert_eq!(pending_requests(&mut live.wire), [Value::Null; 0]);
    let empty = json!({"cwd": top, "permission": "skill", "patterns": []});
    assert_eq!(
        live.wire.try_call("permission/check", &empty).expect_err("of nothing").code,
        -32602
    );
}

/// `always` replies given before the daemon is killed, and the decisions afterwards: profile |
/// rules in the agent's file | skill answered about | pattern allowed | skill asked about |
/// decision
const ALWAYS: &str = "
claude-code |  | deploy | | deploy | allow
claude-code |  | deploy | | deploy-prod | ask
claude-code |  | deploy | deploy:* | deploy-prod | allow
claude-code |  | deploy | deploy:* | deploy | allow
claude-code |  | deploy | deploy:* | undeploy | ask
claude-code | {\"permissions\":{\"ask\":[\"Skill(read)\"]}} | read | | read | allow
claude-code | {\"permissions\":{\"ask\":[\"Skill(*)\"]}} | read | | deploy | ask
claude-code | {\"permissions\":{\"ask\":[\"Skill(*)\"]}} | read | read:* | readme | allow
claude-code | {\"permissions\":{\"ask\":[\"Skill(*)\"]}} | read | | /read | allow
claude-code |  | deploy-prod | | deploy | ask
claude-code |  | deploy-prod | | deploy-prod | allow
opencode | {\"permission\":{\"skill\":\"ask\"}} | read | | read | allow
opencode | {\"permission\":{\"skill\":\"ask\"}} | read | | deploy | ask
opencode | {\"permission\":{\"skill\":\"ask\"}} | read | | reader | ask
opencode | {\"permission\":{\"skill\":{\"dep*\":\"ask\"}}} | deploy | | deploy | allow
opencode | {\"permission\":{\"skill\":{\"dep*\":\"ask\"}}} | deploy | | deploy-prod | ask
opencode | {\"permission\":{\"skill\":{\"dep*\":\"ask\"}}} | deploy | | read | allow
";

/// Deny rules added later, which override the grants.
const DENIED_SINCE: &str = "
claude-code | {\"permissions\":{\"deny\":[\"Skill(deploy)\"]}} | deploy | deny
opencode | {\"permission\":{\"skill\":{\"deploy\":\"deny\"}}} | deploy | deny
";

fn rules_of(profile: &str, top: &Path) -> PathBuf {
    top.join(if profile == "opencode" { "opencode.json" } else { ".claude/settings.json" })
}

#[test]
fn always_grants_survive_a_kill_and_follow_agent_semantics() {
    let home = Home::new();
    let cases: Vec<Vec<&str>> = ALWAYS
        .lines()
        .filter(|it| !it.is_empty())
        .map(|it| it.split('|').map(str::trim).collect())
        .collect();
    assert!(cases.len() >= 15, "{}", cases.len());
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Lines);
    for (n, case) in cases.iter().enumerate() {
        let top = home.worktree(&format!("w{n}"), SKILLS);
        let [profile, rules, name, pattern, ..] = case[..] else { panic!("{case:?}") };
        if !rules.is_empty() {
            fs::write(rules_of(profile, &top), rules).expect("written");
        }
        let params = json!({"cwd": top, "profile": profile, "name": name});
        let error = wire.try_call("skills/load", &params).expect_err("the user is asked");
        let id = &error.data["requestId"];
        let patterns: Vec<_> = Some(pattern).filter(|it| !it.is_empty()).into_iter().collect();
        let reply = json!({"id": id, "reply": "always", "always": patterns});
        wire.grant("permission/reply", &reply);
    }
    drop(wire);
    // Killed without an orderly shutdown.
    daemon.kill();
    let daemon = Daemon::start(&home, exe());
    let mut wire = daemon.connect(Framing::Lines);
    let action = |wire: &mut Wire, top: &Path, profile: &str, name: &str| {
        let params =
            json!({"cwd": top, "profile": profile, "permission": "skill", "patterns": [name]});
        wire.call("permission/check", &params)["action"].as_str().expect("a word").to_owned()
    };
    for (n, case) in cases.iter().enumerate() {
        let top = home.work().join(format!("w{n}"));
        let [profile, _, _, _, name, expected] = case[..] else { panic!("{case:?}") };
        assert_eq!(action(&mut wire, &top, profile, name), expected, "{case:?}");
    }
    // Grants of another worktree do not apply here.
    let other = home.worktree("other", SKILLS);
    assert_eq!(action(&mut wire, &other, "claude-code", "deploy"), "ask");
    for line in DENIED_SINCE.lines().filter(|it| !it.is_empty()) {
        let case: Vec<_> = line.split('|').map(str::trim).collect();
        let [profile, rules, name, expected] = case[..] else { panic!("{line}") };
        let n = cases.iter().position(|it| it[0] == profile && it[4] == name && it[5] == "allow");
        let top = home.work().join(format!("w{}", n.expect("there is one")));
        fs::write(rules_of(profile, &top), rules).expect("written");
        assert_eq!(action(&mut wire, &top, profile, name), expected, "{line}");
    }
    let top = home.work().join("w10");
    let at = json!({"cwd": top, "profile": "claude-code"});
    let granted = wire.call("permission/granted", &at);
    assert_eq!(granted["grants"], json!([{"permission": "skill", "pattern": "deploy-prod"}]));
    let revoke = with(at, &json!({"permission": "skill", "pattern": "deploy-prod"}));
    assert_eq!(wire.call("permission/revoke", &revoke)["revoked"], true);
    assert_eq!(wire.call("permission/revoke", &revoke)["revoked"], false);
    assert_eq!(action(&mut wire, &top, "claude-code", "deploy-prod"), "ask");
}

#[test]
fn cli_names_and_runs_the_reply_command() {
    let home = Home::new();
    let top = home.worktree("w", SKILLS);
    let load = ["load", "deploy", "--profile", "claude-code"];
    let refused = run(&home, &top, &load);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    let said = stderr(&refused);
    let id = said.split("skillsd permission reply ").nth(1).expect("it says how").split(' ').next();
    let id = id.expect("an id");
    let listed = stdout(&run(&home, &top, &["permission", "pending"]));
    assert!(listed.starts_with(id) && listed.contains("skill deploy"), "{listed}");
    let at_terminal = |args: &[&str]| run_at_terminal(&home, &top, args, "y");
    let (code, odd) = at_terminal(&["permission", "reply", id, "always", "--pattern", "*"]);
    assert_eq!(code, Some(2), "{odd}");
    let (_, answered) = at_terminal(&["permission", "reply", id, "always"]);
    assert!(answered.contains("Allow deploy here from now on?"), "{answered}");
    assert!(answered.contains("✓ answered"), "{answered}");
    assert!(run(&home, &top, &load).status.success());
    let check = ["permission", "check", "deploy", "--profile", "claude-code"];
    assert_eq!(run_json(&home, &top, &check)["action"], "allow");
    assert!(stdout(&run(&home, &top, &check)).contains("always allowed `deploy`"));
    assert!(stdout(&run(&home, &top, &["permission", "granted"])).contains("deploy"));
    let revoke = || stdout(&run(&home, &top, &["permission", "revoke", "deploy"]));
    assert_eq!(revoke(), "✓ revoked\n");
    assert!(revoke().starts_with("Nothing was revoked: "), "{}", revoke());
    assert_eq!(run(&home, &top, &load).status.code(), Some(5));
    let user = run(&home, &top, &[&load[..], &["--by", "user"]].concat());
    assert!(user.status.success(), "{}", stderr(&user));
}

/// Rules that ask and rules that decide while a question waits, by profile.
const DECIDED_SINCE: &[(&str, &str, &str)] = &[
    (
        "opencode",
        r#"{"permission":{"skill":"ask"}}"#,
        r#"{"permission":{"skill":{"read":"ACTION"}}}"#,
    ),
    (
        "claude-code",
        r#"{"permissions":{"ask":["Skill(read)"]}}"#,
        r#"{"permissions":{"ACTION":["Skill(read)"]}}"#,
    ),
];

#[test]
fn waiting_question_is_decided_when_the_rules_change() {
    let home = Home::new();
    let daemon = Daemon::start(&home, exe());
    let mut user = daemon.connect(Framing::Lines);
    let mut wire = daemon.connect(Framing::Lines);
    let mut other = daemon.connect(Framing::Lines);
    for (profile, asks, decides) in DECIDED_SINCE {
        let top = home.worktree(profile, SKILLS);
        wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
        for (action, code) in [("deny", Some(-32002)), ("allow", None)] {
            fs::write(rules_of(profile, &top), asks).expect("written");
            let params = json!({"cwd": top, "profile": profile, "name": "read", "wait": true});
            let request = json!({"cwd": top, "profile": profile, "permission": "skill",
                "patterns": ["read"]});
            let retried = with(params.clone(), &json!({"wait": false}));
            let id = wire.try_call("skills/load", &retried).expect_err("the user is asked");
            let first = wire.start("skills/load", &params);
            let second = other.start("permission/request", &request);
            wait_for("three questions", || {
                Some(()).filter(|()| pending_requests(&mut user).len() == 3)
            });
            fs::write(rules_of(profile, &top), decides.replace("ACTION", action)).expect("written");
            let loaded = wire.answer(first);
            assert_eq!(loaded.as_ref().err().map(|it| it.code), code, "{profile}: {loaded:?}");
            if let Err(error) = &loaded {
                assert_eq!(error.data["rule"]["action"], "deny", "{error}");
            }
            let requested = other.answer(second).expect("it is decided");
            assert_eq!(requested["action"], action, "{profile}: {requested}");
            assert_eq!(
                (&requested["timedOut"], &requested["reply"]),
                (&json!(false), &Value::Null)
            );
            // The question of the call that did not wait is over too.
            assert_eq!(pending_requests(&mut user), [Value::Null; 0]);
            let reply = json!({"id": id.data["requestId"], "reply": "once"});
            let late = wire.try_grant("permission/reply", &reply).expect_err("it is over");
            assert_eq!(late.code, -32602, "{late}");
        }
    }
}

#[test]
fn reply_of_the_user_does_not_override_a_rule_added_since() {
    let (mut live, top) = fixture();
    let mut user = live.daemon.connect(Framing::Lines);
    configure(&live.home, "[permission]\nskill = { \"read\" = \"ask\" }\n");
    for reply in ["once", "always"] {
        let params = with(load(&top, "read"), &json!({"wait": true}));
        let call = live.wire.start("skills/load", &params);
        let asked = wait_for_request(&mut user);
        configure(&live.home, "[permission]\nskill = { \"read\" = \"deny\" }\n");
        // Either the rule or the reply comes first; the rule holds.
        drop(live.wire.try_grant("permission/reply", &json!({"id": asked["id"], "reply": reply})));
        let error = live.wire.answer(call).expect_err("a rule denies it");
        assert_eq!(
            (error.code, &error.data["rule"]["action"]),
            (-32002, &json!("deny")),
            "{error}"
        );
        configure(&live.home, "[permission]\nskill = { \"read\" = \"ask\" }\n");
    }
}

#[test]
fn question_stays_for_another_text_or_beside_a_broken_file() {
    let (live, top) = fixture();
    let mut wire = live.daemon.connect(Framing::Lines);
    wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    let rules = rules_of("claude-code", &top);
    let skill = top.join(".claude/skills/read/SKILL.md");
    let text = fs::read_to_string(&skill).expect("read");
    let other = top.join(".claude/settings.local.json");
    let changes =
        [None, Some((&skill, text.replace("Read.", "Read all."))), Some((&other, "{".to_owned()))];
    for change in changes {
        fs::write(&rules, r#"{"permissions":{"ask":["Skill(read)"]}}"#).expect("written");
        let asked =
            wire.try_call("skills/load", &load(&top, "read")).expect_err("the user is asked");
        let is_changed = change.is_some();
        if let Some((path, content)) = change {
            fs::write(path, content).expect("written");
        }
        fs::write(&rules, r#"{"permissions":{"allow":["Skill(read)"]}}"#).expect("written");
        let pending = pending_requests(&mut wire);
        let is_pending = pending.iter().any(|it| it["id"] == asked.data["requestId"]);
        assert_eq!(is_pending, is_changed, "{pending:?}");
    }
}

/// A skill with a command and a script.
const RUNS: &str = "//- /.git/HEAD
ref: refs/heads/main
//- /.claude/skills/go/SKILL.md
---
name: go
description: Goes.
---
Go. !`touch went`
//- /.claude/skills/go/run.sh mode=0755
#!/bin/sh
touch went
";

#[test]
fn shell_rule_added_while_the_user_is_asked_stops_the_command() {
    let home = Home::new();
    configure(
        &home,
        "[run]\nshell = true\nscripts = true\n[permission]\nskill = { \"go\" = \"ask\" }\n",
    );
    let live = Live::start_in(home);
    let top = live.home.worktree("w", RUNS);
    let mut user = live.daemon.connect(Framing::Lines);
    let mut wire = live.daemon.connect(Framing::Lines);
    wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
    let rules = rules_of("claude-code", &top);
    let script = with(load(&top, "go"), &json!({"relative": "run.sh", "wait": true}));
    let commands = with(load(&top, "go"), &json!({"shell": "execute", "wait": true}));
    let added = [
        r#"{"permissions":{"deny":["Bash"]}}"#,
        r#"{"permissions":{"ask":["Bash"]}}"#,
        r#"{"disableSkillShellExecution": true}"#,
    ];
    for (method, params) in [("skills/run", &script), ("skills/load", &commands)] {
        for rule in added {
            fs::write(&rules, "{}").expect("written");
            let call = wire.start(method, params);
            // A load asks first about the text, then about its commands.
            let mut asked = wait_for_request(&mut user);
            if asked["metadata"]["act"] == "load" {
                reply_to(&wire, &asked["id"], "once");
                asked = wait_for_request(&mut user);
            }
            fs::write(&rules, rule).expect("written");
            reply_to(&wire, &asked["id"], "once");
            let error = wire.answer(call).expect_err("the rule applies");
            assert!([-32002, -32005].contains(&error.code), "{method} {rule}: {error}");
            assert!(!top.join("went").exists() && !top.join(".claude/skills/go/went").exists());
        }
    }
}
