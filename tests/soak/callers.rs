//! Callers of the daemon in the soak test: socket clients, editors and MCP agents.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use skills_testkit::{Framing, Wire};

use crate::soak_state::{Dice, SoakState, connect};

const PROFILES: [&str; 5] = ["agentskills", "claude-code", "opencode", "codex", "gemini-cli"];
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "own"];

/// Number of sessions that the clients use, so that each has long pauses while the total stays
/// constant.
const SESSIONS: usize = 400;

/// Connects, makes calls and hangs up, repeatedly until the run ends.
pub(crate) fn client(soak: &SoakState<'_>, nth: usize) {
    let mut dice = Dice::new(1_000 + nth);
    while soak.is_running() {
        soak.attempt(|| {
            let framing = if nth.is_multiple_of(2) { Framing::Header } else { Framing::Lines };
            let mut wire = connect(&soak.home.socket(), framing);
            if dice.below(3) == 0 {
                let kinds = json!({"kinds": ["skills/changed", "session/changed"],
                    "cwd": soak.top(&mut dice)});
                wire.call("events/subscribe", &kinds);
            }
            for _ in 0..5 + dice.below(30) {
                let (method, params) = call(&mut dice, soak);
                // A skill removed meanwhile is refused, as expected.
                let _ = wire.try_call(method, &params);
                soak.count_call();
                soak.rest(Duration::from_millis(dice.below(200) as u64));
            }
            if dice.below(2) == 0 {
                // Hangs up with a call in flight.
                let (method, params) = call(&mut dice, soak);
                wire.start(method, &params);
            }
        });
        soak.rest(Duration::from_millis(dice.below(2_000) as u64));
    }
}

fn call(dice: &mut Dice, soak: &SoakState<'_>) -> (&'static str, Value) {
    let top = soak.top(dice);
    let profile = dice.pick(&PROFILES);
    let name = dice.pick(&NAMES);
    let session = format!("soak-{}", dice.below(SESSIONS));
    match dice.below(20) {
        0..=6 => ("skills/list", json!({"cwd": top, "profile": profile})),
        7 => ("skills/list", json!({"cwd": top, "profile": profile, "include": ["all"]})),
        8 | 9 => ("skills/get", json!({"cwd": top, "name": name})),
        10 | 11 => ("skills/search", json!({"cwd": top, "query": "says when"})),
        12 | 13 => ("skills/load", json!({"cwd": top, "name": name, "session": session})),
        14 | 15 => {
            let file = top.join("src").join(format!("f{}.rs", dice.below(50)));
            ("session/touch", json!({"cwd": top, "session": session, "paths": [file]}))
        }
        16 => ("session/close", json!({"session": session})),
        17 => ("skills/explain", json!({"cwd": top, "name": name, "profile": profile})),
        18 => ("catalog/render", json!({"cwd": top, "profile": profile, "session": session})),
        _ => ("skills/check", json!({"cwd": top})),
    }
}

/// Opens files in an editor, types and closes it, repeatedly until the run ends.
pub(crate) fn editor(soak: &SoakState<'_>, nth: usize) {
    let mut dice = Dice::new(2_000 + nth);
    let socket = soak.home.socket().with_file_name("v1-lsp.sock");
    while soak.is_running() {
        soak.attempt(|| {
            let wire = connect(&socket, Framing::Header);
            let mut editor = Editor { wire, last_id: 0 };
            let top = soak.top(&mut dice);
            editor.ask(
                "initialize",
                &json!({"processId": null, "rootUri": uri(top),
                "capabilities": {"textDocument": {"completion": {}}}}),
            );
            editor.note("initialized", &json!({}));
            let file = uri(&top.join(".claude/skills").join(dice.pick(&NAMES)).join("SKILL.md"));
            let text = "---\nname: a\ndescription: Says when to use it.\n---\n";
            editor.note(
                "textDocument/didOpen",
                &json!({"textDocument": {"uri": file, "languageId": "markdown", "version": 1,
                    "text": text}}),
            );
            for version in 2..60 + dice.below(60) {
                if !soak.is_running() {
                    break;
                }
                let place = json!({"line": 2, "character": 13});
                let letter = char::from(b'a' + u8::try_from(dice.below(26)).unwrap_or_default());
                editor.note(
                    "textDocument/didChange",
                    &json!({"textDocument": {"uri": file, "version": version},
                        "contentChanges": [{"range": {"start": place, "end": place},
                            "text": letter.to_string()}]}),
                );
                if version % 5 == 0 {
                    let method = dice.pick(&["textDocument/completion", "textDocument/hover"]);
                    editor.ask(method, &json!({"textDocument": {"uri": file}, "position": place}));
                    soak.count_call();
                }
                soak.rest(Duration::from_millis(50 + dice.below(150) as u64));
            }
            editor.note("textDocument/didClose", &json!({"textDocument": {"uri": file}}));
            editor.ask("shutdown", &Value::Null);
            editor.note("exit", &Value::Null);
        });
        soak.rest(Duration::from_millis(dice.below(3_000) as u64));
    }
}

/// An editor's connection.
struct Editor {
    wire: Wire,
    last_id: u64,
}

impl Editor {
    fn note(&mut self, method: &str, params: &Value) {
        self.wire.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request, and answers the server's own requests meanwhile.
    fn ask(&mut self, method: &str, params: &Value) {
        self.last_id += 1;
        let id = self.last_id;
        self.wire.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.wire.receive().expect("the server answers before it hangs up");
            match (message.get("method"), message.get("id")) {
                (Some(_), Some(theirs)) => {
                    self.wire.send(&json!({"jsonrpc": "2.0", "id": theirs, "result": null}));
                }
                (Some(_), None) => {}
                (None, Some(answered)) if *answered == id => return,
                (None, _) => panic!("an answer to nothing: {message}"),
            }
        }
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Starts `skillsd mcp`, calls its tools and ends it, repeatedly until the run ends.
pub(crate) fn mcp(soak: &SoakState<'_>, nth: usize, program: &str) {
    let mut dice = Dice::new(3_000 + nth);
    while soak.is_running() {
        soak.attempt(|| {
            let mut child = soak
                .home
                .command(program)
                .arg("mcp")
                .current_dir(soak.top(&mut dice))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("our program can be run");
            let mut input = child.stdin.take().expect("it is piped");
            let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
            let mut ask = |id: usize, method: &str, params: Value| {
                let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
                writeln!(input, "{call}").expect("the server reads");
                loop {
                    let mut line = String::new();
                    let length = output.read_line(&mut line).expect("the server writes");
                    assert!(length > 0, "`skillsd mcp` ended before it answered `{method}`");
                    let message: Value = serde_json::from_str(&line).expect("it writes JSON");
                    if message["id"] == id && message.get("method").is_none() {
                        break;
                    }
                }
                if id == 0 {
                    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                    writeln!(input, "{note}").expect("the server reads");
                }
            };
            ask(
                0,
                "initialize",
                json!({"protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "soak", "version": "1"}}),
            );
            for id in 1..20 + dice.below(40) {
                if !soak.is_running() {
                    break;
                }
                match dice.below(4) {
                    0 => ask(id, "tools/list", json!({})),
                    1 => ask(id, "prompts/list", json!({})),
                    2 => {
                        let arguments = json!({"name": dice.pick(&NAMES)});
                        ask(id, "tools/call", json!({"name": "skill", "arguments": arguments}));
                    }
                    _ => {
                        let arguments = json!({"query": "when"});
                        let call = json!({"name": "search_skills", "arguments": arguments});
                        ask(id, "tools/call", call);
                    }
                }
                soak.count_call();
                soak.rest(Duration::from_millis(100 + dice.below(400) as u64));
            }
            drop(input);
            child.wait().expect("our child can be waited for");
        });
        soak.rest(Duration::from_millis(dice.below(3_000) as u64));
    }
}
