//! Subscriptions: which events each subscriber receives, without polling and independent of other
//! clients.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Framing, Wire};

use crate::support::{Live, entries};

/// Subscribes to events for a directory and returns the subscription's name and clock.
#[track_caller]
fn subscribe(wire: &mut Wire, cwd: &Path, kinds: &[&str]) -> (String, String) {
    let result = wire.call("events/subscribe", &json!({"cwd": cwd, "kinds": kinds}));
    let text = |key: &str| result[key].as_str().unwrap_or_default().to_owned();
    (text("subscription"), text("clock"))
}

/// Reads the next event of a kind and skips others.
#[track_caller]
fn next_event(wire: &mut Wire, kind: &str) -> Value {
    loop {
        let note = wire.note();
        assert_eq!(note["method"], "events/event", "{note}");
        if note["params"]["result"]["kind"] == kind {
            return note["params"]["result"].clone();
        }
    }
}

fn add_skill(top: &Path, name: &str, description: &str) {
    write_skill(&top.join(".agents/skills").join(name), name, description);
}

#[test]
fn subscribed_view_updates_without_calls() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    add_skill(&top, "a", "first");
    let (_, mut clock) = subscribe(&mut live.wire, &top, &["skills/changed"]);
    let mut asking = live.daemon.connect(Framing::Header);
    for round in 0..100 {
        add_skill(&top, "a", &format!("round {round}"));
        loop {
            let event = next_event(&mut live.wire, "skills/changed");
            assert_eq!((&event["cwd"], &event["profile"]), (&json!(top), &json!("agentskills")));
            // The announced state is available to a cached call.
            let params = json!({"cwd": top, "since": clock, "freshness": "cached"});
            let list = asking.call("skills/list", &params);
            assert_eq!(list["fresh"], false, "{list}");
            clock = list["clock"].as_str().expect("a clock").to_owned();
            // On a busy machine a reader may see the file empty for a while.
            let skills = entries(&list);
            let told = skills.iter().find(|it| it["name"] == "a").map(|it| &it["description"]);
            if told == Some(&json!(format!("round {round}"))) {
                break;
            }
        }
    }
}

#[test]
fn subscribed_view_survives_worktree_close() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let (_, clock) = subscribe(&mut live.wire, &top, &[]);
    live.wire.call("worktree/open", &json!({"cwd": top}));
    live.wire.call("worktree/close", &json!({"cwd": top}));
    add_skill(&top, "a", "d");
    next_event(&mut live.wire, "skills/changed");
    let list = live.wire.call("skills/list", &json!({"cwd": top, "since": clock}));
    assert_eq!((&list["fresh"], entries(&list).len()), (&json!(false), 1), "{list}");
}

#[test]
fn only_subscribed_events_are_sent() {
    let mut live = Live::start();
    let (one, two) = (live.home.worktree("one", ""), live.home.worktree("two", ""));
    let (first, _) = subscribe(&mut live.wire, &one, &["skills/changed"]);
    let mut all = live.daemon.connect(Framing::Header);
    let result = all.call("events/subscribe", &json!({}));
    assert_eq!(result["clock"], Value::Null);
    assert_eq!(result["kinds"].as_array().map(Vec::len), Some(7), "{result}");
    live.wire.call("skills/list", &json!({"cwd": two}));
    add_skill(&two, "b", "d");
    // The order on this connection proves that the other worktree's event was not sent.
    assert_eq!(next_event(&mut all, "skills/changed")["cwd"], json!(two));
    add_skill(&one, "a", "d");
    assert_eq!(live.wire.note()["params"]["result"]["cwd"], json!(one));
    while next_event(&mut all, "skills/changed")["cwd"] != json!(one) {}
    let end = |wire: &mut Wire, name: &str| {
        wire.call("events/unsubscribe", &json!({"subscription": name}))["ended"].clone()
    };
    assert_eq!(end(&mut all, &first), false, "it is another connection's");
    assert_eq!([end(&mut live.wire, &first), end(&mut live.wire, &first)], [true, false]);
    subscribe(&mut live.wire, &one, &["skills/invalid"]);
    fs::write(one.join(".agents/skills/a/SKILL.md"), "---\nname: a\n---\n").expect("written");
    let note = live.wire.note();
    let result = &note["params"]["result"];
    assert_eq!((&result["kind"], &result["name"]), (&json!("skills/invalid"), &json!("a")));
    let message = result["message"].as_str().expect("a message");
    assert!(message.contains("description"), "{message}");
    assert_eq!(result["path"], json!(one.join(".agents/skills/a/SKILL.md")));
    // A fault in the text is reported as a finding too.
    fs::write(one.join(".agents/skills/a/SKILL.md"), "---\nname: a\nx: [\n---\n").expect("written");
    next_event(&mut all, "diagnostics/changed");
}

#[test]
fn health_changes_are_sent_as_events() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let cwd = top.join("sub");
    fs::create_dir(&cwd).expect("made");
    subscribe(&mut live.wire, &cwd, &["health/changed"]);
    fs::remove_dir(&cwd).expect("it was there");
    next_event(&mut live.wire, "health/changed");
    let health = live.wire.call("skills/list", &json!({"cwd": cwd}))["health"].clone();
    assert_eq!(health[0]["code"], "no-directory");
    fs::create_dir(&cwd).expect("made");
    next_event(&mut live.wire, "health/changed");
    assert_eq!(live.wire.call("skills/list", &json!({"cwd": cwd}))["health"], json!([]));
}

#[test]
fn subscriptions_are_limited_and_unknown_kinds_refused() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let names: Vec<_> = (0..8).map(|_| subscribe(&mut live.wire, &top, &[]).0).collect();
    let refused = live.wire.try_call("events/subscribe", &json!({"cwd": top}));
    let refused = refused.expect_err("eight is all");
    assert_eq!((refused.code, &refused.data["limit"]), (-32602, &json!(8)), "{refused}");
    live.wire.call("events/unsubscribe", &json!({"subscription": names[3]}));
    subscribe(&mut live.wire, &top, &["session/changed", "permission/asked"]);
    // A refused subscription does not count against the limit.
    live.wire.call("events/unsubscribe", &json!({"subscription": names[4]}));
    let refused = live.wire.try_call("events/subscribe", &json!({"kinds": ["skills/changd"]}));
    assert!(refused.expect_err("no such kind").message.contains("skills/changd"));
    let refused = live.wire.try_call("events/subscribe", &json!({"cwd": "w"}));
    assert!(refused.expect_err("a relative path").message.contains("not absolute"));
    subscribe(&mut live.wire, &top, &[]);
}

#[test]
fn eight_stalled_subscribers_do_not_delay_the_ninth() {
    const CHANGES: usize = 1500;
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    add_skill(&top, "a", "d");
    let mut stuck: Vec<Wire> = (0..8).map(|_| live.daemon.connect(Framing::Lines)).collect();
    for wire in &mut stuck {
        for _ in 0..8 {
            subscribe(wire, &top, &[]);
        }
    }
    let mut clock = subscribe(&mut live.wire, &top, &["skills/changed"]).1;
    let mut slowest = Duration::ZERO;
    let mut before = 0;
    for round in 0..CHANGES {
        if round == CHANGES / 3 {
            // By now the socket buffers are full.
            before = live.wire.call("server/status", &json!({}))["rss"].as_u64().expect("known");
        }
        let started = Instant::now();
        add_skill(&top, "a", &format!("round {round}"));
        next_event(&mut live.wire, "skills/changed");
        slowest = slowest.max(started.elapsed());
    }
    // Detects stalls, not slowness.
    assert!(slowest < Duration::from_secs(5), "the ninth waited {slowest:?}");
    let after = live.wire.call("server/status", &json!({}))["rss"].as_u64().expect("known");
    assert!(after < before + (4 << 20), "grew from {before} to {after} bytes");
    let params = json!({"cwd": top, "since": clock});
    clock = live.wire.call("skills/list", &params)["clock"].as_str().expect("one").to_owned();
    // A late reader gets the latest state and not every intermediate one.
    for mut wire in stuck {
        let mut n_told = 0;
        let mut reached = 0;
        while reached < 8 {
            let note = next_event(&mut wire, "skills/changed");
            n_told += 1;
            reached += usize::from(note["clock"] == json!(clock));
        }
        assert!(n_told < CHANGES * 8, "{n_told} events were kept for one who does not read");
    }
}

#[test]
fn half_closed_connection_still_receives_events() {
    let mut live = Live::start();
    let top = live.home.worktree("w", "");
    let mut stream = UnixStream::connect(live.home.socket()).expect("it listens");
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "events/subscribe", "params": {"cwd": top}});
    stream.write_all(format!("{call}\n").as_bytes()).expect("sent");
    stream.shutdown(Shutdown::Write).expect("as a shell's pipe ends");
    let mut heard = Vec::new();
    let mut more = |stream: &mut UnixStream, text: &str| {
        while !String::from_utf8_lossy(&heard).contains(text) {
            let mut buffer = [0; 4096];
            let length = stream.read(&mut buffer).expect("the daemon goes on");
            assert!(length > 0, "it hung up after {}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&buffer[..length]);
        }
    };
    more(&mut stream, "\"subscription\"");
    add_skill(&top, "a", "d");
    more(&mut stream, "skills/changed");
    drop(stream);
    // The daemon closes the connection.
    let mut own = || live.wire.call("server/status", &json!({}))["connections"].as_u64();
    skills_testkit::wait::wait_for("the connection to end", || (own() == Some(1)).then_some(()));
}
