//! An MCP server for tests, with prompts and with manners of a test's choice.
//!
//! Written by hand, line by line, so that the client is not tested against its own library. The
//! prompts are in a file that is looked at again and again: when it changes the server says so.
//! [`run`] is the program; its arguments:
//!
//! - `--prompts FILE`: a JSON list of prompts as the protocol writes them;
//! - `--complain TEXT`: printed beside the protocol first;
//! - `--die CODE`: ends at once; `--mute`: never answers; `--rubbish`: prints what is no message;
//! - `--slow MILLISECONDS`: before it answers with a prompt;
//! - `--family FILE`: starts a child, writes both process ids there, and does not end by itself.

use std::fs;
use std::io::{self, BufRead, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

#[derive(Default)]
struct Manners {
    prompts: Option<PathBuf>,
    mute: bool,
    rubbish: bool,
    slow: Duration,
    /// Waits for the child.
    family: Option<JoinHandle<io::Result<()>>>,
}

/// Serves on standard input and output.
#[expect(clippy::print_stderr, reason = "a server that complains does so there")]
pub fn run() {
    let mut args = std::env::args().skip(1);
    let mut manners = Manners::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("it has a value");
        match arg.as_str() {
            "--prompts" => manners.prompts = Some(value().into()),
            "--complain" => eprintln!("{}", value()),
            "--die" => exit(value().parse().expect("a number")),
            "--mute" => manners.mute = true,
            "--rubbish" => manners.rubbish = true,
            "--slow" => manners.slow = Duration::from_millis(value().parse().expect("a number")),
            "--family" => {
                let mut child = Command::new("sleep").arg("1000").spawn().expect("it can be run");
                let ids = format!("{} {}", std::process::id(), child.id());
                fs::write(value(), ids).expect("it can be written");
                manners.family = Some(thread::spawn(move || child.wait().map(|_| ())));
            }
            other => panic!("there is no argument `{other}`"),
        }
    }
    serve(&mut manners);
}

fn serve(manners: &mut Manners) {
    if let Some(path) = manners.prompts.clone() {
        // As it is before anybody is told of it.
        let before = fs::read(&path).ok();
        thread::spawn(move || follow(&path, before));
    }
    for line in stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else {
            continue;
        };
        if manners.rubbish {
            say("this is no message");
            say("{\"neither\": \"is this\"}");
        }
        if manners.mute || message.get("id").is_none() {
            continue;
        }
        let answer = answer(&message, manners);
        let (name, body) = match answer {
            Ok(result) => ("result", result),
            Err(error) => ("error", json!({"code": -32602, "message": error})),
        };
        say(&json!({"jsonrpc": "2.0", "id": message["id"], name: body}).to_string());
    }
    if let Some(family) = manners.family.take() {
        // Nobody ends the child but whoever ends us too.
        let _ = family.join();
    }
}

fn answer(message: &Value, manners: &Manners) -> Result<Value, String> {
    let params = &message["params"];
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"prompts": {"listChanged": true}},
            "serverInfo": {"name": "test", "version": "1"},
        })),
        "prompts/list" => Ok(json!({"prompts": prompts(manners.prompts.as_deref())})),
        "prompts/get" => {
            thread::sleep(manners.slow);
            let all = prompts(manners.prompts.as_deref());
            let asked =
                all.as_array().and_then(|it| it.iter().find(|it| it["name"] == params["name"]));
            let Some(prompt) = asked else { return Err("there is no such prompt".to_owned()) };
            for argument in prompt["arguments"].as_array().into_iter().flatten() {
                let name = argument["name"].as_str().unwrap_or_default();
                if argument["required"] == true && params["arguments"].get(name).is_none() {
                    return Err(format!("`{name}` is missing"));
                }
            }
            let text = format!("{} with {}", params["name"], params["arguments"]);
            let content = json!({"type": "text", "text": text});
            Ok(
                json!({"description": "What it is.", "messages": [{"role": "user", "content": content}]}),
            )
        }
        "ping" => Ok(json!({})),
        other => Err(format!("there is no method `{other}`")),
    }
}

fn prompts(path: Option<&Path>) -> Value {
    let text = path.and_then(|it| fs::read_to_string(it).ok());
    text.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_else(|| json!([]))
}

/// Tells when the file has changed.
fn follow(path: &Path, mut before: Option<Vec<u8>>) {
    loop {
        thread::sleep(Duration::from_millis(20));
        let now = fs::read(path).ok();
        if now != before {
            before = now;
            say(r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#);
        }
    }
}

fn say(line: &str) {
    // One line at a time, whoever says it.
    static SAYING: Mutex<()> = Mutex::new(());
    let _saying = SAYING.lock();
    let mut out = stdout().lock();
    // A client that is gone does not hear it.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
