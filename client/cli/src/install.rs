//! `skillsd install` and `skillsd uninstall`: systemd's units, and what agents are told of us.
//!
//! Decides everything first, shows it, asks, and then writes: each file whole or not at all, with
//! a copy of what it was beside it. What was put in is recorded, and only that is taken out again.
//! An agent that is not there, and a systemd that does not run, is said and is no failure.

mod agents;
mod args;
mod document;
mod file;
mod item;
mod json;
mod plan;
mod record;
mod show;
mod surroundings;
mod toml;
mod units;
mod wanted;

use std::io;
use std::path::Path;

use skills_protocol::method::ServerShutdown;
use skills_protocol::wire::{InstallAction, InstallPart, ShutdownParams};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
pub(crate) use args::InstallArgs;
use plan::{Change, Keep, Texts};
use record::Record;
use skills_client::blocking::PATIENCE;
use surroundings::Surroundings;
use units::Manager;

pub(super) fn install(cx: &CommandContext<'_>, args: &InstallArgs) -> Result<Exit, CommandError> {
    let around = Surroundings::look()?;
    let parts = args.parts();
    let mut record = read_record(&around.state)?;
    let mut left_out = Vec::new();
    let mut wanted = Vec::new();
    let has_units = parts.contains(&InstallPart::Units);
    if has_units {
        wanted.extend(units::wanted(&around, &mut left_out));
    }
    if parts.iter().any(|it| *it != InstallPart::Units) {
        wanted.extend(agents::wanted(&around, &mut left_out));
    }
    wanted.retain(|it| parts.contains(&it.part));
    let mut texts = Texts::default();
    let changes: Vec<_> = wanted.iter().map(|it| plan::install(it, &record, &mut texts)).collect();
    let manager = if has_units { Manager::find(&around, &mut left_out) } else { None };
    let written = show::decide(cx, args, &changes, &left_out, "install")?;
    let (n_told, mut failed) = (left_out.len(), false);
    if written {
        failed |= carry_out(&changes, &mut record, &around.state, &mut left_out)?;
        if let Some(manager) = manager {
            stop_daemon();
            if let Err(why) = manager.enable() {
                failed = true;
                left_out.push(format!("The units are not enabled: {why}."));
            }
        }
    }
    show::close(cx, args, &changes, written, &left_out, n_told)?;
    Ok(exit(&changes, failed))
}

pub(super) fn uninstall(cx: &CommandContext<'_>, args: &InstallArgs) -> Result<Exit, CommandError> {
    let around = Surroundings::look()?;
    let parts = args.parts();
    let mut record = read_record(&around.state)?;
    let mut left_out = Vec::new();
    let mut texts = Texts::default();
    // The last that was put into a file is the first that is taken out.
    let mut traces: Vec<_> = record.of_parts(&parts).cloned().collect();
    traces.reverse();
    let changes: Vec<_> = traces.iter().filter_map(|it| plan::uninstall(it, &mut texts)).collect();
    let has_units = changes.iter().any(|it| it.part == InstallPart::Units);
    let manager = if has_units { Manager::find(&around, &mut Vec::new()) } else { None };
    let written = show::decide(cx, args, &changes, &left_out, "uninstall")?;
    let (n_told, mut failed) = (left_out.len(), false);
    if written {
        let mut tell = |done: Result<(), String>| {
            if let Err(why) = done {
                failed = true;
                left_out.push(format!("The units may still be active: {why}."));
            }
        };
        if let Some(manager) = &manager {
            tell(manager.disable());
        }
        let is_failed = carry_out(&changes, &mut record, &around.state, &mut left_out)?;
        failed |= is_failed;
        if let Some(Err(why)) = manager.map(|it| it.reload()) {
            left_out.push(format!("systemd has not noticed yet: {why}."));
        }
    }
    show::close(cx, args, &changes, written, &left_out, n_told)?;
    Ok(exit(&changes, failed))
}

fn read_record(state: &Path) -> Result<Record, CommandError> {
    Record::read(state).map_err(|error| {
        CommandError::finding("what is installed cannot be read from the record of it")
            .because(error.to_string())
            .with_hint(format!(
                "Remove `{}/installed.json`; what was installed then counts as your own.",
                state.display()
            ))
    })
}

/// Writes the changes and the record, and returns whether some could not be written.
fn carry_out(
    changes: &[Change],
    record: &mut Record,
    state: &Path,
    left_out: &mut Vec<String>,
) -> Result<bool, CommandError> {
    let mut failed = false;
    for change in changes {
        if let Err(error) = carry_out_one(change, record) {
            failed = true;
            left_out.push(format!("`{}` was not written: {error}.", change.path.display()));
        }
        // After each, so that what is in a file is never unknown.
        record.write(state).map_err(|error| {
            CommandError::finding("what was installed could not be recorded")
                .because(error.to_string())
                .with_hint(format!("See that `{}` can be written.", state.display()))
        })?;
    }
    Ok(failed)
}

fn carry_out_one(change: &Change, record: &mut Record) -> io::Result<()> {
    let mut dirs = Vec::new();
    match (&change.action, &change.after) {
        (InstallAction::Create, Some(text)) => dirs = file::write(&change.path, text)?,
        (InstallAction::Change, Some(text)) => {
            // Only of what it was without us: another part may have put something into it.
            if matches!(change.trace, Keep::New(_)) && !record.knows(&change.path) {
                file::keep_backup(&change.path)?;
            }
            file::write(&change.path, text)?;
        }
        (InstallAction::Remove, _) => file::remove(&change.path)?,
        (InstallAction::None | InstallAction::Fail, _)
        | (InstallAction::Create | InstallAction::Change, None) => {}
    }
    match &change.trace {
        Keep::Unchanged => {}
        Keep::New(trace) => {
            let mut trace = trace.clone();
            trace.note_dirs(&dirs);
            record.keep(trace);
        }
        Keep::Forget(trace) => {
            record.forget(trace);
            tidy_up(change, trace, record);
        }
    }
    Ok(())
}

// The copy, where it says what the file says again, and directories that hold nothing any more.
fn tidy_up(change: &Change, trace: &record::Trace, record: &Record) {
    let backup = file::backup(&change.path);
    let kept = file::read(&backup).ok().flatten();
    let is_as_it_was = kept == change.after || change.action == InstallAction::Remove;
    if is_as_it_was && !record.knows(&change.path) {
        // One that stays costs nothing.
        let _ = file::remove(&backup);
    }
    for dir in trace.dirs() {
        // It fails where somebody has put something there, which is what is wanted.
        let _ = std::fs::remove_dir(dir);
    }
}

// The manager could not listen where a daemon does.
fn stop_daemon() {
    if let Ok(mut link) = Link::open_running(PATIENCE) {
        let stopped = link.call_text::<ServerShutdown>(&ShutdownParams {});
        // One that does not stop is told of by the manager, whose socket it keeps.
        let _ = stopped.and_then(|_| link.wait_for_end());
    }
}

fn exit(changes: &[Change], failed: bool) -> Exit {
    let is_failure = |it: &Change| it.action == InstallAction::Fail;
    if failed || changes.iter().any(is_failure) { Exit::Findings } else { Exit::Fine }
}
