//! `skillsd stop`: asks the daemon to stop and waits until it is gone. Starts none.
//!
//! One that hangs, or has no place left to be asked in, is told by a signal, and killed when it
//! does not follow that either: this is the command to run when nothing else works.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use skills_protocol::error::TOO_MANY_CONNECTIONS;
use skills_protocol::method::ServerShutdown;
use skills_protocol::wire::{ShutdownParams, ShutdownResult};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
use crate::style::{self, paint};
use skills_client::ClientError;

/// How long it may take to answer. One that drains its calls takes as long to go.
const PATIENCE: Duration = Duration::from_secs(6);

/// How long it may take to follow a signal.
const GRACE: Duration = Duration::from_secs(2);

const INTERVAL: Duration = Duration::from_millis(20);

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    if cx.global.no_daemon {
        return Err(CommandError::usage(
            "`stop` is about the daemon, and `--no-daemon` about none",
        ));
    }
    let mut link = Link::open_running(PATIENCE)?;
    let process = link.daemon_process();
    let answer = link.call_text::<ServerShutdown>(&ShutdownParams {});
    let ended = answer.and_then(|text| link.wait_for_end().map(|()| text));
    let text = match (ended, process) {
        (Ok(text), _) => text,
        (Err(error), Some(process)) if cannot_be_asked(&error) => {
            return end(cx, process);
        }
        // It was on its way out already. When it is gone, that is what there is to say.
        (Err(error), _) if error.is_broken_connection() => {
            Link::open_running(PATIENCE)?;
            return Err(error.into());
        }
        (Err(error), _) => return Err(error.into()),
    };
    if cx.global.json {
        cx.terminal.print(&format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    let result: ShutdownResult = serde_json::from_str(text.get())
        .map_err(|source| ClientError::Form { method: "server/shutdown", source })?;
    let mark = paint(style::GOOD, "✓");
    cx.terminal.print(&format!("{mark} skillsd has stopped (pid {})\n", result.pid))?;
    Ok(Exit::Fine)
}

fn cannot_be_asked(error: &ClientError) -> bool {
    match error {
        ClientError::Silent { .. } => true,
        ClientError::Rpc(error) => error.code == TOO_MANY_CONNECTIONS,
        _ => false,
    }
}

// It did not take what it was asked; a signal needs no place and no answer.
fn end(cx: &CommandContext<'_>, process: Pid) -> Result<Exit, CommandError> {
    let pid = process.as_raw_nonzero().get();
    let mut how = None;
    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::KILL, "SIGKILL")] {
        // It fails for one that is gone, which is what the next line looks for.
        let _ = kill_process(process, signal);
        if is_gone_soon(process) {
            how = Some(name);
            break;
        }
    }
    let Some(signal) = how else {
        return Err(ClientError::Silent { pid: Some(pid), waited: Some(PATIENCE) }.into());
    };
    if cx.global.json {
        let text = json!({"pid": pid, "signal": signal});
        cx.terminal.print(&format!("{text}\n"))?;
        return Ok(Exit::Fine);
    }
    let mark = paint(style::GOOD, "✓");
    let text = format!("{mark} skillsd did not answer and was ended by {signal} (pid {pid})\n");
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

// Whoever started it and has not looked at how it ended; it serves nobody any more.
fn is_zombie(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    // The name before the state may hold anything, also a parenthesis.
    stat.is_ok_and(|it| it.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
}
