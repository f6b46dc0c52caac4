//! `skillsd sync`: waits until the index includes all earlier changes on the disk.

use skills_protocol::method::ServerSync;
use skills_protocol::wire::SyncParams;

use crate::call_context::CallContext;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
use crate::text::plain;

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let mut params = SyncParams::default();
    context.fill(&mut params, None);
    let mut server = ServerConnection::open(cx)?;
    if cx.global.json {
        cx.terminal.print(&format!("{}\n", server.call_text::<ServerSync>(&params)?))?;
        return Ok(Exit::Fine);
    }
    let result = server.call::<ServerSync>(&params)?;
    let clock = paint(style::FAINT, format!("clock {}", plain(&result.clock)));
    cx.terminal.print(&format!("{} in sync · {clock}\n", paint(style::GOOD, "✓")))?;
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}
