//! Throughput of many concurrent clients with mixed calls, compared with an echo server that sends
//! the same bytes.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skills_testkit::fixture::write_skill;
use skills_testkit::{Daemon, Home};

use crate::call::{Echo, FrameConnection, frame};
use crate::table::{Bar, Figure, Table};

const CLIENTS: usize = 64;

const ROUNDS: usize = 5;

/// Time for which one side is measured before the other.
const TURN: Duration = Duration::from_millis(800);

pub(crate) fn measure(table: &mut Table) {
    let home = Home::new();
    let echo = Echo::start(home.runtime_dir().join("echo.sock"));
    let _daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
    let top = home.worktree("w", "");
    for index in 0..100 {
        let name = format!("skill-{index:03}");
        write_skill(&top.join(".agents/skills").join(&name), &name, "Says when to use it.");
    }
    let calls: [(&str, Value); 4] = [
        ("server/status", json!({})),
        ("skills/get", json!({"cwd": top, "name": "skill-050", "freshness": "cached"})),
        ("skills/list", json!({"cwd": top, "freshness": "cached"})),
        ("skills/get", json!({"cwd": top, "name": "skill-051", "freshness": "synced"})),
    ];
    let requests = calls.map(|(method, params)| {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        frame(request.to_string().as_bytes())
    });
    let answers =
        requests.each_ref().map(|it| frame(&FrameConnection::connect(&home.socket()).ask(it)));
    let (mut floor, mut measured) = (0, 0);
    for _ in 0..ROUNDS {
        floor += calls_in_a_turn(&echo.socket, &requests, Some(&answers));
        measured += calls_in_a_turn(&home.socket(), &requests, None);
    }
    let per_second = |calls: usize| {
        let seconds = TURN.as_secs_f64() * f64::from(u32::try_from(ROUNDS).expect("few rounds"));
        f64::from(u32::try_from(calls).expect("few calls")) / seconds
    };
    table.add(Figure::rate(
        &format!("{CLIENTS} connections, mixed calls, beside echo"),
        per_second(floor),
        per_second(measured),
        Bar::Part(0.6),
    ));
}

/// Returns the number of calls that all clients made in one turn; each client makes one kind of
/// call. `stored` holds the answers of an echo server.
fn calls_in_a_turn(socket: &Path, requests: &[Vec<u8>], stored: Option<&[Vec<u8>]>) -> usize {
    let n_calls = AtomicUsize::new(0);
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let kind = client % requests.len();
            let n_calls = &n_calls;
            scope.spawn(move || {
                let mut line = FrameConnection::connect(socket);
                if let Some(stored) = stored {
                    line.exchange(&stored[kind]);
                }
                let begin = Instant::now();
                while begin.elapsed() < TURN {
                    line.exchange(&requests[kind]);
                    n_calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    n_calls.into_inner()
}
