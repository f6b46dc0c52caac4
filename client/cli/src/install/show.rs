//! Output of the planned changes as diffs, the confirmation, and the summary.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{InstallAction, InstallChange, InstallPart, InstallResult};

use crate::agent_config::diff;
use crate::confirm;
use crate::context::CommandContext;
use crate::failure::CommandError;
use crate::install::args::InstallArgs;
use crate::install::plan::{PlannedChange, PlannedTexts, TraceUpdate};
use crate::server_connection::VERSION;
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{continued, count};

/// The planned changes after the user was asked.
pub(super) struct Agreed {
    /// The changes to make; if nothing is written, those that would be made.
    pub(super) changes: Vec<PlannedChange>,
    /// The parts of the changes that the user declined.
    pub(super) declined: Vec<InstallPart>,
    /// True if the changes are to be made.
    pub(super) written: bool,
    /// True if a part was refused; the notes say why.
    pub(super) refused: bool,
}

/// Plans and shows each change, and asks whether to make it. `plans` plans a change over the texts
/// of the files after those before it.
pub(super) fn confirm<F: Fn(&PlannedTexts) -> Option<PlannedChange>>(
    cx: &CommandContext<'_>,
    args: &InstallArgs,
    plans: impl Iterator<Item = F>,
    left_out: &[String],
) -> Result<Agreed, CommandError> {
    let asks = !args.dry_run && !args.yes && !cx.global.json && io::stdin().is_terminal();
    let mut texts = PlannedTexts::default();
    let mut answer = if asks { Answer::Yes } else { Answer::All };
    let (changes, declined) = (Vec::new(), Vec::new());
    let mut agreed = Agreed { changes, declined, written: !args.dry_run, refused: false };
    if asks {
        cx.terminal.print(&notes(left_out, cx.terminal))?;
    }
    for plan in plans {
        let Some(change) = plan(&texts) else { continue };
        if !cx.global.json {
            cx.terminal.print(&one(&change, cx.terminal))?;
        }
        if is_change(&change) && matches!(answer, Answer::Yes | Answer::No) {
            let question =
                if change.is_switch() { "Change the units?" } else { "Change this file?" };
            answer = ask(cx, question)?;
        }
        if is_change(&change) && matches!(answer, Answer::No | Answer::Quit) {
            agreed.declined.push(change.part);
        } else {
            texts.note(&change);
            agreed.changes.push(change);
        }
    }
    if asks {
        // Without a change, enabling units needs no confirmation.
        agreed.written = agreed.declined.is_empty() || agreed.changes.iter().any(is_change);
        return Ok(agreed);
    }
    if !cx.global.json {
        cx.terminal.print(&notes(left_out, cx.terminal))?;
    }
    if !args.dry_run && !args.yes && agreed.changes.iter().any(is_change) {
        // Fails without a terminal.
        agreed.written = confirm::ask_to_change(cx)?;
    }
    Ok(agreed)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// Yes to this and to all others.
    All,
    /// No to this and to all others.
    Quit,
}

fn ask(cx: &CommandContext<'_>, question: &str) -> Result<Answer, CommandError> {
    cx.terminal.print(&format!("{question} [y]es, [N]o, [a]ll, [q]uit: "))?;
    Ok(match &*confirm::read_answer()? {
        "y" | "Y" | "yes" => Answer::Yes,
        "a" | "A" | "all" => Answer::All,
        "q" | "Q" | "quit" => Answer::Quit,
        _ => Answer::No,
    })
}

/// Prints the summary, and the notes after the first `n_shown`.
pub(super) fn print_result(
    cx: &CommandContext<'_>,
    args: &InstallArgs,
    agreed: &Agreed,
    left_out: &[String],
    n_shown: usize,
) -> Result<(), CommandError> {
    let Agreed { changes, declined, written, refused } = agreed;
    let written = *written;
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
    let n_switches = changes.iter().filter(|it| it.is_switch()).count() as u64;
    let files = count(n_changes, if n_switches > 0 { "change" } else { "file" });
    let done = if n_switches > 0 { "made" } else { "changed" };
    let mut text = match (n_changes, written) {
        (0, _) if n_failed == 0 && declined.is_empty() && !refused => {
            format!("{} nothing to change\n", paint(style::GOOD, "✓"))
        }
        (0, _) if declined.is_empty() => String::new(),
        (0, _) => "Nothing was changed.\n".to_owned(),
        (_, true) => format!("{} {files} {done}\n", paint(style::GOOD, "✓")),
        (_, false) if args.dry_run => format!("{files} would be {done}\n"),
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
        InstallAction::Change if change.is_switch() => match change.trace {
            TraceUpdate::Forget(_) => paint(style::BAD, "disabled"),
            TraceUpdate::New(_) | TraceUpdate::Unchanged => paint(style::GOOD, "enabled"),
        },
        InstallAction::Change => paint(style::WAITING, "changed"),
        InstallAction::Remove => paint(style::BAD, "removed"),
        InstallAction::None => paint(style::FAINT, "unchanged"),
        InstallAction::Fail => paint(style::ERROR, "cannot be edited"),
    };
    let path = paint(style::NAME, terminal.local_path(&change.path));
    let mut text = format!("{path}  {} {part} · {word}\n", change.owner);
    text.push_str(&diff::painted(&hunks(change)));
    for note in &change.notes {
        let note = continued(&terminal.prose(note), 8, terminal.width);
        let _ = writeln!(text, "  {} {note}", paint(style::HINT, "note:"));
    }
    text.push('\n');
    text
}

fn notes(left_out: &[String], terminal: &Terminal) -> String {
    let line = |it: &String| {
        let note = continued(&terminal.prose(it), 9, terminal.width);
        format!("{} {note}\n", paint(style::HINT, "skipped:"))
    };
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
