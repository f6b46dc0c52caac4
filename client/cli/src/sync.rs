//! `skillsd sync`: returns once everything that finished on the disk before is visible.

use skills_protocol::method::ServerSync;
use skills_protocol::wire::SyncParams;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
use crate::place::Place;
use crate::style::{self, paint};
use crate::text::plain;

pub(super) fn run(cx: &CommandContext<'_>) -> Result<Exit, CommandError> {
    let place = Place::of(cx.global, None)?.single_profile()?;
    let mut params = SyncParams::default();
    place.fill(&mut params, None);
    let mut link = Link::open(cx)?;
    if cx.global.json {
        cx.terminal.print(&format!("{}\n", link.call_text::<ServerSync>(&params)?))?;
        return Ok(Exit::Fine);
    }
    let result = link.call::<ServerSync>(&params)?;
    let clock = paint(style::FAINT, format!("clock {}", plain(&result.clock)));
    cx.terminal.print(&format!("{} in sync · {clock}\n", paint(style::GOOD, "✓")))?;
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}
