//! opencode's slash commands: the text that a skill's command becomes, compared with ours.
//!
//! One server of the agent answers all commands, each in its own session.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use skills_testkit::{Daemon, Framing};

use crate::agent_fixture::{Agent, AgentFixture};

/// Bodies of skills.
const BODIES: [&str; 7] = [
    "A $1|$2|$ARGUMENTS end\n",
    "only $1\n",
    "$2 and $1, then $ARGUMENTS\n",
    "plain\n",
    "$ARGUMENTS twice $ARGUMENTS\n",
    "first $0 of $3\n",
    "$0",
];

/// Arguments as a person types them.
const ARGUMENTS: [&str; 24] = [
    "",
    "one",
    "one two three four",
    "\"quoted part\" x",
    "'single q' y z",
    "it's fine",
    "\"never closed x",
    "[Image 1] x",
    "a[image 2]b [Image]",
    "$$",
    "$& x",
    "$` y",
    "z $'",
    "$1 $2 $<n>",
    "$ARGUMENTS",
    "\"$ARGUMENTS\" \"$ARGUMENTS\"",
    "  spaced   out ",
    "ümlaut é 漢字 🙂",
    "one\ntwo\tthree",
    "<x> & \"y\"",
    "\\n \\ \\\"a",
    "$0 $3",
    "''",
    "a,b;c|d",
];

/// A server of the agent, killed at the end of the test.
struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(fixture: &AgentFixture) -> Self {
        let mut command = fixture.command();
        command.args(["serve", "--hostname", "127.0.0.1", "--port", "0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = lines.map_while(Result::ok);
        let line = said.find(|it| it.contains("listening on")).expect("the server starts");
        let address = line.split_once("http://").unwrap().1.trim().to_owned();
        thread::spawn(move || said.for_each(drop));
        Self { child, address }
    }

    /// Sends a request and returns the JSON in its answer.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (address, length) = (&self.address, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = None;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = Some(value.trim().parse::<usize>().unwrap());
            }
            assert!(!line.contains("chunked"), "{path}: {line}");
            if line.is_empty() {
                break;
            }
        }
        let mut answer = Vec::new();
        // The server keeps the connection open after an answer of known length.
        match length {
            Some(length) => {
                answer.resize(length, 0);
                reader.read_exact(&mut answer).unwrap();
            }
            None => drop(reader.read_to_end(&mut answer).unwrap()),
        }
        let text = String::from_utf8_lossy(&answer);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
    }

    /// Returns the text that a command becomes.
    fn text(&self, command: &str, arguments: &str) -> String {
        let session = self.call("POST", "/session", &json!({"title": "test"}));
        let path = format!("/session/{}", session["id"].as_str().unwrap());
        let body = json!({"command": command, "arguments": arguments});
        self.call("POST", &format!("{path}/command"), &body);
        let messages = self.call("GET", &format!("{path}/message"), &Value::Null);
        messages[0]["parts"][0]["text"].as_str().unwrap_or_default().to_owned()
    }
}

#[test]
fn opencode_slash_commands_give_the_same_text() {
    let name = |body: usize| format!("s{body}");
    let mut tree = String::new();
    for (nth, body) in BODIES.iter().enumerate() {
        let name = name(nth);
        tree.extend(["//- /proj/.opencode/skill/", &name, "/SKILL.md\n---\nname: ", &name]);
        tree.extend(["\ndescription: d\n---\n", body]);
    }
    let Some(fixture) = AgentFixture::set(Agent::OpenCode, &tree, Vec::new()) else { return };
    let cases: Vec<(usize, &str)> = (0..BODIES.len())
        .flat_map(|body| ARGUMENTS.iter().enumerate().map(move |(nth, it)| (body, nth, *it)))
        .filter(|(body, nth, _)| (body + nth) % 4 == 0)
        .map(|(body, _, arguments)| (body, arguments))
        .collect();
    assert_eq!(cases.len(), 42);
    let server = Server::start(&fixture);
    let (next, theirs) = (AtomicUsize::new(0), Mutex::new(vec![String::new(); cases.len()]));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((body, arguments)) = cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let text = server.text(&name(*body), arguments);
                    let case = (*body, *arguments);
                    let index = cases.iter().position(|it| *it == case).unwrap();
                    theirs.lock().unwrap_or_else(PoisonError::into_inner)[index] = text;
                }
            });
        }
    });
    let daemon = Daemon::start(&fixture.home, env!("CARGO_BIN_EXE_test-skillsd"));
    let mut wire = daemon.connect(Framing::Header);
    let theirs = theirs.into_inner().unwrap();
    let mut faults = Vec::new();
    for ((body, arguments), theirs) in cases.iter().zip(&theirs) {
        let params = json!({"cwd": fixture.cwd(), "profile": "opencode", "by": "user",
            "name": name(*body), "args": arguments});
        let ours = wire.call("skills/load", &params)["output"].as_str().unwrap().to_owned();
        if ours != *theirs {
            faults.push(format!("{:?} {arguments:?}\n  {theirs:?}\n  {ours:?}", BODIES[*body]));
        }
    }
    assert!(faults.is_empty(), "{} of 84 differ\n{}", faults.len(), faults.join("\n"));
}
