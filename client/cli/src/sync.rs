//! `skillsd sync`: waits until the index includes all earlier changes on the disk.

use skills_protocol::method::ServerSync;

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
use crate::text::plain;

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let mut server = ServerConnection::open(cx)?;
    let Some(result) = server.call_or_print::<ServerSync>(cx, &context.params())? else {
        return Ok(Exit::Fine);
    };
    let clock = paint(style::FAINT, format!("clock {}", plain(&result.clock)));
    cx.terminal.print(&format!("{} in sync · {clock}\n", paint(style::GOOD, "✓")))?;
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}
