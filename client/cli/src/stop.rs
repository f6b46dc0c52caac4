//! `skillsd stop`: asks the running daemon to stop and waits until it has exited. Starts none.
//!
//! A daemon that hangs, or accepts no more connections, gets SIGTERM, and SIGKILL if it ignores
//! that: this command must work when nothing else does.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use skills_client::ClientError;
use skills_client::error::parse;
use skills_protocol::error::TOO_MANY_CONNECTIONS;
use skills_protocol::method::ServerShutdown;
use skills_protocol::wire::ShutdownParams;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};

/// Time limit for the answer. A daemon that finishes its calls first takes as long.
const TIMEOUT: Duration = Duration::from_secs(6);

/// Time limit for exiting after a signal.
const GRACE: Duration = Duration::from_secs(2);

const INTERVAL: Duration = Duration::from_millis(20);

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    if cx.global.no_daemon {
        return Err(CommandError::usage(
            "`stop` cannot be combined with `--no-daemon`: there is no daemon to stop",
        ));
    }
    let mut server = ServerConnection::open_running_within(TIMEOUT)?;
    let process = server.daemon_process();
    let answer = server.call_text::<ServerShutdown>(&ShutdownParams {});
    let ended = answer.and_then(|text| server.wait_for_end().map(|()| text));
    let text = match (ended, process) {
        (Ok(text), _) => text,
        (Err(error), Some(process)) if cannot_be_asked(&error) => {
            return end(cx, process, &error);
        }
        // The daemon was exiting already. If it is gone now, report that none runs.
        (Err(error), _) if error.is_broken_connection() => {
            ServerConnection::open_running_within(TIMEOUT)?;
            return Err(error.into());
        }
        (Err(error), _) => return Err(error.into()),
    };
    if cx.global.json {
        cx.terminal.print(&format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    let result = parse::<ServerShutdown>(&text)?;
    let mark = paint(style::GOOD, "✓");
    cx.terminal.print(&format!("{mark} skillsd has stopped (pid {})\n", result.pid))?;
    Ok(Exit::Fine)
}

fn cannot_be_asked(error: &ClientError) -> bool {
    match error {
        ClientError::Silent { .. } | ClientError::Version { .. } => true,
        ClientError::Rpc(error) => error.code == TOO_MANY_CONNECTIONS,
        _ => false,
    }
}

// The daemon did not take the request; a signal needs no connection.
fn end(cx: &CommandContext<'_>, process: Pid, why: &ClientError) -> Result<Exit, CommandError> {
    let pid = process.as_raw_nonzero().get();
    let mut how = None;
    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::KILL, "SIGKILL")] {
        // An error means that the process is gone, which the next line finds.
        let _ = kill_process(process, signal);
        if is_gone_soon(process) {
            how = Some(name);
            break;
        }
    }
    let Some(signal) = how else {
        return Err(ClientError::Silent { pid: Some(pid), waited: Some(TIMEOUT) }.into());
    };
    if cx.global.json {
        let text = json!({"pid": pid, "signal": signal});
        cx.terminal.print(&format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    let mark = paint(style::GOOD, "✓");
    let why = match why {
        ClientError::Version { .. } => "speaks another protocol version",
        _ => "did not answer",
    };
    let text = format!("{mark} skillsd {why}; ended it with {signal} (pid {pid})\n");
    cx.terminal.print(&text)?;
    Ok(Exit::Fine)
}

fn is_gone_soon(process: Pid) -> bool {
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline {
        if test_kill_process(process).is_err() || is_zombie(process) {
            return true;
        }
        thread::sleep(INTERVAL);
    }
    false
}

// A zombie only waits for its parent to read the exit status.
fn is_zombie(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    // The process name may contain parentheses, so the state follows the last one.
    stat.is_ok_and(|it| it.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}
