//! `skillsd stop`: asks the daemon to stop and waits until it is gone. Starts none.

use skills_protocol::method::ServerShutdown;
use skills_protocol::wire::{ShutdownParams, ShutdownResult};

use crate::ClientError;
use crate::cli::Cx;
use crate::cli::exit::Exit;
use crate::cli::failure::CommandError;
use crate::cli::link::Link;
use crate::cli::style::{self, paint};

pub(super) fn run(cx: &Cx<'_>) -> Result<Exit, CommandError> {
    if cx.global.no_daemon {
        return Err(CommandError::usage(
            "`stop` is about the daemon, and `--no-daemon` about none",
        ));
    }
    let mut link = Link::open_running()?;
    let text = match link.call_text::<ServerShutdown>(&ShutdownParams {}) {
        // It was on its way out already. When it is gone, that is what there is to say.
        Err(error) if error.is_broken_connection() => {
            Link::open_running()?;
            return Err(error.into());
        }
        outcome => outcome?,
    };
    link.wait_for_end()?;
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
