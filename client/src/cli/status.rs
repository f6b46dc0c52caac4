//! `skillsd status`: how the daemon is, at a glance.

use std::fmt::Write as _;

use skills_protocol::method::ServerStatus;
use skills_protocol::wire::{
    LayerRebuilds, Rebuilds, SkillCounts, StatusParams, StatusResult, Worktree,
};

use crate::cli::Cx;
use crate::cli::exit::Exit;
use crate::cli::failure::CommandError;
use crate::cli::link::Link;
use crate::cli::style::{self, paint};
use crate::cli::terminal::{Terminal, render_health};
use crate::cli::text::{count, duration, pad, plain, size, width};

pub(super) fn run(cx: &Cx<'_>) -> Result<Exit, CommandError> {
    let mut link = Link::open(cx)?;
    if cx.global.json {
        cx.terminal.print(&format!("{}\n", link.call_text::<ServerStatus>(&StatusParams {})?))?;
        return Ok(Exit::Fine);
    }
    let result = link.call::<ServerStatus>(&StatusParams {})?;
    cx.terminal.print(&render(&result, cx.terminal))?;
    Ok(Exit::Fine)
}

/// Returns the status for a person.
pub(super) fn render(result: &StatusResult, terminal: &Terminal) -> String {
    let unwell: usize = result.worktrees.iter().map(|worktree| worktree.health.len()).sum();
    let mark = if result.health.is_empty() && unwell == 0 {
        paint(style::GOOD, "●")
    } else {
        paint(style::WAITING, "●")
    };
    let heading = paint(style::HEADING, format!("skillsd {}", plain(&result.version)));
    let age = duration(result.uptime);
    let mut text = format!("{mark} {heading} · up {age} · pid {}\n\n", result.pid);
    for (name, value) in facts(result, terminal) {
        let _ = writeln!(text, "  {}  {value}", paint(style::FAINT, pad(name, 11)));
    }
    text.push('\n');
    push_worktrees(&result.worktrees, terminal, &mut text);
    let health = result.health.iter().chain(result.worktrees.iter().flat_map(|it| &it.health));
    let health: Vec<_> = health.cloned().collect();
    if !health.is_empty() {
        text.push('\n');
        text.push_str(&render_health(&health, terminal));
    }
    text
}

fn facts(result: &StatusResult, terminal: &Terminal) -> Vec<(&'static str, String)> {
    let socket = result.socket.as_deref().map(|path| terminal.path(path, result.path_encoding));
    let watches = match result.watches.limit {
        Some(limit) => format!("{} of {limit}", result.watches.used),
        None => result.watches.used.to_string(),
    };
    vec![
        ("socket", socket.unwrap_or_else(|| "none, in this process".to_owned())),
        ("protocol", plain(&result.protocol_version)),
        ("memory", result.rss.map_or_else(|| "unknown".to_owned(), size)),
        ("watches", watches),
        ("connections", result.connections.to_string()),
        ("rebuilds", rebuilds(&result.rebuilds)),
    ]
}

// `12 files (9 first, 3 changed), 4 roots, 2 views`
fn rebuilds(rebuilds: &Rebuilds) -> String {
    let layers = [(&rebuilds.files, "file"), (&rebuilds.roots, "root"), (&rebuilds.views, "view")];
    let words: Vec<String> = layers.iter().map(|(layer, noun)| layer_text(layer, noun)).collect();
    words.join(", ")
}

fn layer_text(layer: &LayerRebuilds, noun: &str) -> String {
    let causes = layer.causes.iter().filter(|(_, n)| **n > 0);
    let causes: Vec<String> = causes.map(|(cause, n)| format!("{n} {}", plain(cause))).collect();
    let causes =
        if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(", ")) };
    format!("{}{causes}", count(layer.count, noun))
}

fn push_worktrees(worktrees: &[Worktree], terminal: &Terminal, text: &mut String) {
    if worktrees.is_empty() {
        let _ = writeln!(text, "No worktree is open; `skillsd list` opens one.");
        return;
    }
    let _ = writeln!(text, "{}", paint(style::HEADING, "Worktrees"));
    let path = |worktree: &Worktree| terminal.path(&worktree.path, worktree.path_encoding);
    let columns = worktrees.iter().map(|it| width(&path(it))).max().unwrap_or(0);
    for worktree in worktrees {
        let mut facts = vec![skills(&worktree.skills), count(worktree.views, "view")];
        if worktree.pinned {
            facts.push("pinned".to_owned());
        }
        if !worktree.health.is_empty() {
            let unwell = count(worktree.health.len() as u64, "problem");
            facts.push(paint(style::WARNING, unwell));
        }
        let path = paint(style::NAME, pad(&path(worktree), columns));
        let _ = writeln!(text, "  {path}  {}", facts.join(" · "));
    }
}

fn skills(counts: &SkillCounts) -> String {
    let counts = counts.iter().filter(|(_, n)| **n > 0);
    let words: Vec<String> = counts.map(|(state, n)| format!("{n} {state}")).collect();
    if words.is_empty() { "no skills".to_owned() } else { words.join(", ") }
}
