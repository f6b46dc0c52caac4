//! An MCP server for tests, with prompts and configurable misbehaviour.
//!
//! It is written without a library, so that the client is not tested against its own library.
//! Prompts come from a file that is polled; when it changes, the server sends a notification.
//! [`run`] is the program; its arguments:
//!
//! - `--prompts FILE`: a JSON list of prompts as the protocol writes them;
//! - `--complain TEXT`: prints this text on standard error first;
//! - `--die CODE`: exits at once; `--mute`: never answers; `--rubbish`: prints invalid messages;
//! - `--slow MILLISECONDS`: delay before answering `prompts/get`;
//! - `--starts FILE`: appends its process id to this file when it starts;
//! - `--hostile MODE`: floods the client, see [`Hostile`]; `--sent FILE` receives the number of
//!   bytes;
//! - `--family FILE`: starts a child process, writes both process ids to this file, and does not
//!   exit by itself.

use std::fs;
use std::io::{self, BufRead, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// Misbehaviour of a server after initialization.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hostile {
    /// Notifications.
    Notifications,
    /// Requests of its own.
    Requests,
    /// One line that never ends.
    Line,
    /// Text on standard error.
    Stderr,
    /// A page of prompts, each with a cursor for the next.
    Pages,
    /// More prompts on one page than a server may list.
    Prompts,
    /// Prompts with descriptions of a megabyte, page after page.
    HugePages,
    /// Reports changed prompts without pause.
    Changes,
    /// Answers `initialize` and nothing else.
    Silent,
}

impl Hostile {
    fn parse(text: &str) -> Self {
        match text {
            "notifications" => Self::Notifications,
            "requests" => Self::Requests,
            "line" => Self::Line,
            "stderr" => Self::Stderr,
            "pages" => Self::Pages,
            "prompts" => Self::Prompts,
            "huge-pages" => Self::HugePages,
            "changes" => Self::Changes,
            "silent" => Self::Silent,
            other => panic!("there is no mode `{other}`"),
        }
    }

    /// Returns the text to repeat, or `None` if the mode does not flood.
    fn flood(self) -> Option<String> {
        let text = "x".repeat(1000);
        Some(match self {
            Self::Notifications => {
                let params = json!({"level": "info", "data": text});
                let method = "notifications/message";
                format!("{}\n", json!({"jsonrpc": "2.0", "method": method, "params": params}))
            }
            Self::Requests => {
                format!("{}\n", json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}))
            }
            Self::Changes => {
                let method = "notifications/prompts/list_changed";
                format!("{}\n", json!({"jsonrpc": "2.0", "method": method}))
            }
            Self::Line | Self::Stderr => "x".repeat(4096),
            Self::Pages | Self::Prompts | Self::HugePages | Self::Silent => return None,
        })
    }
}

#[derive(Default)]
struct Behavior {
    hostile: Option<Hostile>,
    sent: Option<PathBuf>,
    prompts: Option<PathBuf>,
    mute: bool,
    rubbish: bool,
    slow: Duration,
    /// Thread that waits for the child process.
    family: Option<JoinHandle<io::Result<()>>>,
}

/// Serves on standard input and output.
#[expect(clippy::print_stderr, reason = "a server that complains does so there")]
pub fn run() {
    let mut args = std::env::args().skip(1);
    let mut behavior = Behavior::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("it has a value");
        match arg.as_str() {
            "--prompts" => behavior.prompts = Some(value().into()),
            "--complain" => eprintln!("{}", value()),
            "--die" => exit(value().parse().expect("a number")),
            "--mute" => behavior.mute = true,
            "--rubbish" => behavior.rubbish = true,
            "--slow" => behavior.slow = Duration::from_millis(value().parse().expect("a number")),
            "--starts" => {
                let file = fs::OpenOptions::new().create(true).append(true).open(value());
                let written = file.and_then(|mut it| writeln!(it, "{}", std::process::id()));
                written.expect("it can be written");
            }
            "--hostile" => behavior.hostile = Some(Hostile::parse(&value())),
            "--sent" => behavior.sent = Some(value().into()),
            "--family" => {
                let mut child = Command::new("sleep").arg("1000").spawn().expect("it can be run");
                let ids = format!("{} {}", std::process::id(), child.id());
                fs::write(value(), ids).expect("it can be written");
                behavior.family = Some(thread::spawn(move || child.wait().map(|_| ())));
            }
            other => panic!("there is no argument `{other}`"),
        }
    }
    serve(&mut behavior);
}

fn serve(behavior: &mut Behavior) {
    if let Some(path) = behavior.prompts.clone() {
        // The content before the first announcement.
        let before = fs::read(&path).ok();
        thread::spawn(move || follow(&path, before));
    }
    for line in stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else {
            continue;
        };
        if behavior.rubbish {
            say("this is no message");
            say("{\"neither\": \"is this\"}");
        }
        if behavior.mute || message.get("id").is_none() {
            continue;
        }
        if behavior.hostile == Some(Hostile::Silent) && message["method"] != "initialize" {
            continue;
        }
        let answer = answer(&message, behavior);
        let (name, body) = match answer {
            Ok(result) => ("result", result),
            Err(error) => ("error", json!({"code": -32602, "message": error})),
        };
        say(&json!({"jsonrpc": "2.0", "id": message["id"], name: body}).to_string());
        if message["method"] == "initialize"
            && let Some(hostile) = behavior.hostile
        {
            flood(hostile, behavior.sent.as_deref());
        }
    }
    if let Some(family) = behavior.family.take() {
        // The child only ends when the test ends both processes.
        let _ = family.join();
    }
}

fn answer(message: &Value, behavior: &Behavior) -> Result<Value, String> {
    let params = &message["params"];
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => Ok(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"prompts": {"listChanged": true}},
            "serverInfo": {"name": "test", "version": "1"},
        })),
        "prompts/list" => match behavior.hostile {
            Some(Hostile::Pages) => {
                let nth = params["cursor"].as_str().and_then(|it| it.parse().ok()).unwrap_or(0_u64);
                let prompts = [json!({"name": format!("p{nth}")})];
                Ok(json!({"prompts": prompts, "nextCursor": (nth + 1).to_string()}))
            }
            Some(Hostile::Prompts) => {
                let prompts: Vec<_> =
                    (0..20_000).map(|it| json!({"name": format!("p{it}")})).collect();
                Ok(json!({"prompts": prompts}))
            }
            Some(Hostile::HugePages) => {
                let nth = params["cursor"].as_str().and_then(|it| it.parse().ok()).unwrap_or(0_u64);
                let description = "d".repeat(1_000_000);
                let prompts = [json!({"name": format!("p{nth}"), "description": description})];
                Ok(json!({"prompts": prompts, "nextCursor": (nth + 1).to_string()}))
            }
            _ => Ok(json!({"prompts": prompts(behavior.prompts.as_deref())})),
        },
        "prompts/get" => {
            thread::sleep(behavior.slow);
            let all = prompts(behavior.prompts.as_deref());
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

/// Starts a thread that sends until the client closes the pipe.
fn flood(hostile: Hostile, sent: Option<&Path>) {
    let Some(piece) = hostile.flood() else { return };
    let sent = sent.map(Path::to_owned);
    thread::spawn(move || {
        let mut out: Box<dyn Write> =
            if hostile == Hostile::Stderr { Box::new(io::stderr()) } else { Box::new(stdout()) };
        let block = piece.repeat((1 << 16) / piece.len());
        let mut total = 0;
        while out.write_all(block.as_bytes()).and_then(|()| out.flush()).is_ok() {
            total += block.len();
            if let Some(sent) = &sent {
                fs::write(sent, total.to_string()).expect("it can be written");
            }
        }
    });
}

/// Polls the file and sends a notification when it has changed.
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
    // Serialises lines from several threads.
    static SAYING: Mutex<()> = Mutex::new(());
    let _saying = SAYING.lock();
    let mut out = stdout().lock();
    // Fails if the client has closed the pipe.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
