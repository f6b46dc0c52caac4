//! Latency of calls over the socket, compared with an echo server that sends the same bytes.
//!
//! Everything runs on one core: waking a server on another core makes such a call two to three
//! times slower, and the kernel chooses anew for each process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Daemon, Home, wait_for};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};

use crate::table::{Bar, Figure, Table, median};

/// Argument that makes this program the echo server.
pub(crate) const ECHO: &str = "serve-echo";

/// Calls in one block before floor and figure alternate.
const BLOCK: usize = 50;

pub(crate) fn measure(table: &mut Table) {
    let cores = on_one_core();
    let home = Home::new();
    let echo = Echo::start(home.runtime_dir().join("echo.sock"));
    let _daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    let worktrees = [100, 1000].map(|n_skills| {
        let top = home.worktree(&format!("w{n_skills}"), "");
        for index in 0..n_skills {
            let name = format!("skill-{index:04}");
            let description =
                "Does one thing and says when to use it, in a sentence or two. ".repeat(3);
            write_skill(&top.join(".agents/skills").join(&name), &name, &description);
        }
        (n_skills, top)
    });
    let (_, small) = &worktrees[0];

    let mut add = |name: &str, method: &str, params: &Value, n_blocks: usize, bar: Bar| {
        let (floor, measured) = compare(&home.socket(), &echo, method, params, n_blocks);
        table.add(Figure::time(name, floor, measured, bar));
        measured
    };
    add("server/status beside echo", "server/status", &json!({}), 60, Bar::Times(1.5));
    let get = json!({"cwd": small, "name": "skill-0050", "freshness": "cached"});
    add("skills/get, cached, beside echo", "skills/get", &get, 60, Bar::Times(1.5));
    let mut cached_times = Vec::new();
    for (n_skills, top) in &worktrees {
        let params = json!({"cwd": top, "freshness": "cached"});
        let name = format!("skills/list of {n_skills}, cached, beside echo");
        cached_times.push(add(&name, "skills/list", &params, 20, Bar::Times(1.5)));
    }
    // Compares synced with cached calls: the cost of the cookie.
    for ((n_skills, top), cached) in worktrees.iter().zip(cached_times) {
        let params = json!({"cwd": top, "freshness": "synced"});
        let (_, synced) = compare(&home.socket(), &echo, "skills/list", &params, 20);
        let name = format!("skills/list of {n_skills}, synced, beside cached");
        table.add(Figure::time(&name, cached, synced, Bar::Plus(50e-6)));
    }
    sched_setaffinity(None, &cores).expect("it was so before");
}

/// Pins this thread and its child processes to one core. Returns the previous cores.
fn on_one_core() -> CpuSet {
    let cores = sched_getaffinity(None).expect("a thread knows its cores");
    let first = (0..CpuSet::MAX_CPU).find(|it| cores.is_set(*it)).expect("it runs on one");
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).expect("it is one of them");
    cores
}

/// Returns the median times of echo and daemon for one call, measured alternately.
pub(crate) fn compare(
    daemon: &Path,
    echo: &Echo,
    method: &str,
    params: &Value,
    n_blocks: usize,
) -> (Duration, Duration) {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = frame(request.to_string().as_bytes());
    let mut daemon = FrameConnection::connect(daemon);
    let answer = daemon.ask(&request);
    let text = String::from_utf8_lossy(&answer);
    assert!(text.contains("\"result\""), "{method} was refused: {text}");

    let mut echo = FrameConnection::connect(&echo.socket);
    // The echo server answers all later messages with the first one.
    echo.ask(&frame(&answer));
    let (mut echo_times, mut daemon_times) = (Vec::new(), Vec::new());
    for _ in 0..n_blocks {
        echo.block(&request, &mut echo_times);
        daemon.block(&request, &mut daemon_times);
    }
    (median(echo_times), median(daemon_times))
}

pub(crate) fn frame(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// A blocking connection that reads frames without decoding them.
pub(crate) struct FrameConnection {
    reader: BufReader<UnixStream>,
    answer: Vec<u8>,
}

impl FrameConnection {
    pub(crate) fn connect(socket: &Path) -> FrameConnection {
        let stream = UnixStream::connect(socket).expect("the server listens");
        // Large enough for any answer here, so that both sides need as few reads.
        FrameConnection { reader: BufReader::with_capacity(1 << 16, stream), answer: Vec::new() }
    }

    pub(crate) fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        self.exchange(request);
        self.answer.clone()
    }

    fn block(&mut self, request: &[u8], times: &mut Vec<Duration>) {
        for _ in 0..BLOCK {
            let begin = Instant::now();
            self.exchange(request);
            times.push(begin.elapsed());
        }
    }

    /// Sends one request and reads one answer, in one buffer.
    pub(crate) fn exchange(&mut self, request: &[u8]) {
        self.reader.get_mut().write_all(request).expect("the server reads");
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line).expect("the server answers");
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().expect("a length is a number");
            }
            if line == "\r\n" {
                break;
            }
            assert!(!line.is_empty(), "the server hung up");
        }
        self.answer.resize(length, 0);
        self.reader.read_exact(&mut self.answer).expect("the server sends what it announced");
    }
}

/// The floor: a process that sends the stored bytes back.
pub(crate) struct Echo {
    child: Child,
    pub(crate) socket: PathBuf,
}

impl Echo {
    pub(crate) fn start(socket: PathBuf) -> Echo {
        let program = std::env::current_exe().expect("this program has a path");
        let child = Command::new(program).arg(ECHO).arg(&socket).spawn().expect("it can be run");
        wait_for("the echo to listen", || UnixStream::connect(&socket).ok());
        Echo { child, socket }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until killed: stores each connection's first message and answers every message with it.
pub(crate) fn serve_echo(socket: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    runtime.block_on(async {
        let listener = tokio::net::UnixListener::bind(socket).expect("the socket can be bound");
        loop {
            let (stream, _) = listener.accept().await.expect("clients connect");
            tokio::spawn(echo(stream));
        }
    });
}

async fn echo(stream: tokio::net::UnixStream) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = tokio::io::BufReader::with_capacity(1 << 16, reader);
    let mut stored: Option<Vec<u8>> = None;
    let mut line = String::new();
    loop {
        let mut length = 0;
        loop {
            line.clear();
            if reader.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().expect("a length is a number");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await?;
        let answer = stored.get_or_insert_with(|| frame(&body));
        writer.write_all(answer).await?;
    }
}
