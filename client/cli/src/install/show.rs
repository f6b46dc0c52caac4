//! Output of the planned changes as diffs, the confirmation, and the summary.

use std::fmt::Write as _;

use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{InstallAction, InstallChange, InstallPart, InstallResult};

use crate::agent_config::diff;
use crate::confirm;
use crate::context::CommandContext;
use crate::failure::CommandError;
use crate::install::args::InstallArgs;
use crate::install::plan::PlannedChange;
use crate::server_connection::VERSION;
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::count;

/// Shows the planned changes, and returns whether to make them.
pub(super) fn confirm(
    cx: &CommandContext<'_>,
    args: &InstallArgs,
    changes: &[PlannedChange],
    left_out: &[String],
    what: &str,
) -> Result<bool, CommandError> {
    let has_work = changes.iter().any(is_change);
    if !cx.global.json {
        let text: String = changes.iter().map(|it| one(it, cx.terminal)).collect();
        cx.terminal.print(&text)?;
        cx.terminal.print(&notes(left_out, cx.terminal))?;
    }
    if args.dry_run {
        return Ok(false);
    }
    // Enabling units changes no file and needs no confirmation.
    Ok(args.yes || !has_work || confirm::ask_to_change(cx, what)?)
}

/// Prints the summary, and the notes after the first `n_shown`.
pub(super) fn print_result(
    cx: &CommandContext<'_>,
    args: &InstallArgs,
    changes: &[PlannedChange],
    written: bool,
    left_out: &[String],
    n_shown: usize,
) -> Result<(), CommandError> {
    if cx.global.json {
        let result = InstallResult {
            version: VERSION.to_owned(),
            written,
            changes: changes.iter().map(on_wire).collect(),
            left_out: left_out.to_vec(),
        };
        let text = serde_json::to_string(&result).unwrap_or_default();
        return cx.terminal.print(&format!("{text}\n"));
    }
    cx.terminal.print(&notes(&left_out[n_shown..], cx.terminal))?;
    let n_changes = changes.iter().filter(|it| is_change(it)).count() as u64;
    let n_failed = changes.iter().filter(|it| it.action == InstallAction::Fail).count() as u64;
    let files = count(n_changes, "file");
    let mut text = match (n_changes, written) {
        (0, _) if n_failed == 0 => {
            format!("{} nothing to change\n", paint(style::GOOD, "✓"))
        }
        (0, _) => String::new(),
        (_, true) => format!("{} {files} changed\n", paint(style::GOOD, "✓")),
        (_, false) if args.dry_run => format!("{files} would be changed\n"),
        (_, false) => "Nothing was changed.\n".to_owned(),
    };
    if n_failed > 0 {
        let files = count(n_failed, "file");
        let _ = writeln!(text, "{} {files} cannot be edited", paint(style::BAD, "✗"));
    }
    cx.terminal.print(&text)
}

fn is_change(change: &PlannedChange) -> bool {
    match change.action {
        InstallAction::Create | InstallAction::Change | InstallAction::Remove => true,
        InstallAction::None | InstallAction::Fail => false,
    }
}

fn one(change: &PlannedChange, terminal: &Terminal) -> String {
    let part = match change.part {
        InstallPart::Units => "units",
        InstallPart::Hooks => "hooks",
        InstallPart::Mcp => "MCP server",
    };
    let word = match change.action {
        InstallAction::Create => paint(style::GOOD, "new"),
        InstallAction::Change => paint(style::WAITING, "changed"),
        InstallAction::Remove => paint(style::BAD, "removed"),
        InstallAction::None => paint(style::FAINT, "unchanged"),
        InstallAction::Fail => paint(style::ERROR, "cannot be edited"),
    };
    let path = paint(style::NAME, terminal.local_path(&change.path));
    let mut text = format!("{path}  {} {part} · {word}\n", change.owner);
    text.push_str(&diff::painted(&hunks(change)));
    for note in &change.notes {
        let _ = writeln!(text, "  {} {}", paint(style::HINT, "note:"), terminal.prose(note));
    }
    text.push('\n');
    text
}

fn notes(left_out: &[String], terminal: &Terminal) -> String {
    let line = |it: &String| format!("{} {}\n", paint(style::HINT, "skipped:"), terminal.prose(it));
    left_out.iter().map(line).collect()
}

fn hunks(change: &PlannedChange) -> String {
    diff::hunks(change.before.as_deref(), change.after.as_deref())
}

fn on_wire(change: &PlannedChange) -> InstallChange {
    let path_encoding = encoding_of([&*change.path]);
    InstallChange {
        part: change.part,
        owner: change.owner.clone(),
        path: encode(&change.path, path_encoding),
        path_encoding,
        action: change.action,
        diff: hunks(change),
        notes: change.notes.clone(),
    }
}
