//! `skillsd report`: one HTML file about the skills of a worktree, for people and CI.
//!
//! Asks the running daemon, or else a server within this process, like `skillsd check`. Replaces an
//! existing file only if it is a report, or with `--force`.

mod facts;
mod graph;
mod page;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use skills_client::ClientError;
use skills_protocol::error::TOO_LARGE;
use skills_protocol::method::{
    CatalogRender, IndexSnapshot, SkillsCheck, SkillsList, SkillsReferences,
};
use skills_protocol::path::decode;
use skills_protocol::wire::{
    CatalogResult, CheckParams, CheckResult, CheckedFile, Include, ListParams, SkillReference,
    SnapshotParams, SnapshotResult, State,
};

use crate::call_context::CallContext;
use crate::check::{confirm_wide, connect, source};
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::listing_costs::{CostScope, ListingCosts, listing_costs};
use crate::replace::replace;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
use facts::{AgentAnswers, Answers};

/// Maximum size of a file whose lines are shown, in bytes.
const MAX_SOURCE: u64 = 256 * 1024;

/// Maximum size of all files whose lines are shown, in bytes.
const MAX_SOURCES: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// File to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "skillsd-report.html")]
    output: PathBuf,
    /// Replace FILE even if it is not a report of skillsd
    #[arg(long)]
    force: bool,
    /// Date to show on the page; without it, equal skills make an equal page
    #[arg(long, value_name = "DATE")]
    date: Option<String>,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &ReportArgs) -> Result<Exit, CommandError> {
    if cx.global.json {
        return Err(CommandError::usage("`report` writes HTML, not JSON")
            .with_hint("`skillsd list --all --json` and `skillsd check --json` have the facts."));
    }
    let context = CallContext::from_args(cx.global, None)?;
    let target = (args.output != Path::new("-")).then(|| context.file(&args.output));
    if let Some(target) = &target {
        check_target(target, args.force)?;
    }
    let mut server = connect(cx)?;
    let (profiles, snapshot) = snapshot(&mut server, &context)?;
    let worktree = decode(&snapshot.worktree, snapshot.path_encoding).unwrap_or_default();
    let is_named = cx.global.cwd.is_some() && context.cwd == worktree;
    let anyway = format!("report --cwd {}", cx.terminal.local_path(&worktree));
    if !is_named && !confirm_wide(cx, &worktree, "report", &anyway)? {
        cx.terminal.prompt("Nothing was written.\n");
        return Ok(Exit::Denied);
    }
    let answers = fetch_pages(&mut server, &context, profiles, snapshot, worktree)?;
    let facts = facts::collect(&answers, args.date.as_deref(), cx.terminal);
    let page = page::render(&facts);
    match &target {
        Some(target) => {
            // Asks again: another program may have made the file in the meantime.
            let is_wanted = || Ok(check_target(target, args.force).is_ok());
            let written = replace(target, page.as_bytes(), is_wanted).map_err(|error| {
                CommandError::finding(format!("failed to write `{}`", target.display()))
                    .because(error.to_string())
            })?;
            if !written {
                check_target(target, args.force)?;
                let message = format!("`{}` changed at the same time", target.display());
                return Err(CommandError::finding(message).with_hint("Run the command again."));
            }
            let shown = cx.terminal.local_path(target);
            cx.terminal.print(&format!("{} {shown}\n", paint(style::GOOD, "✓")))?;
        }
        None => cx.terminal.print_exact(&page)?,
    }
    cx.terminal.print_health(&answers.snapshot.health);
    Ok(Exit::Fine)
}

/// Refuses to replace a file that is not a report. A link counts as such a file: a repository may
/// contain one that leads out of it.
fn check_target(target: &Path, force: bool) -> Result<(), CommandError> {
    let Ok(found) = target.symlink_metadata() else { return Ok(()) };
    let shown = target.display();
    if !found.is_file() && !found.is_symlink() {
        return Err(CommandError::usage(format!("`{shown}` is not a regular file"))
            .with_hint("Name another file with `--output`."));
    }
    if force || found.is_file() && is_report(target).unwrap_or(false) {
        return Ok(());
    }
    Err(CommandError::usage(format!("`{shown}` exists and is not a report of skillsd"))
        .with_hint("Name another file with `--output`, or replace it with `--force`."))
}

fn is_report(file: &Path) -> io::Result<bool> {
    let mut start = vec![0; page::START.len()];
    File::open(file)?.read_exact(&mut start)?;
    Ok(start == page::START.as_bytes())
}

/// Returns the selected profiles, or else all, and the index of the worktree for them.
fn snapshot(
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<(Vec<String>, SnapshotResult), CommandError> {
    let profiles = heading::selected(server, context)?;
    let context = context.without_profile();
    let params = SnapshotParams { profiles: profiles.clone(), ..context.params() };
    Ok((profiles, server.call_whole::<IndexSnapshot>(params)?))
}

/// Makes the other calls for these profiles, and reads what they do not answer.
fn fetch_pages(
    server: &mut ServerConnection,
    context: &CallContext,
    profiles: Vec<String>,
    snapshot: SnapshotResult,
    worktree: PathBuf,
) -> Result<Answers, CommandError> {
    let context = context.without_profile();
    let mut agents = Vec::new();
    let mut references: BTreeMap<(String, u64), SkillReference> = BTreeMap::new();
    for profile in &profiles {
        let context = context.with_profile(profile);
        let params = ListParams { include: vec![Include::All], ..context.params() };
        let list = server.call_whole::<SkillsList>(params)?;
        let listing = listing(server, &context)?;
        let costs = match listing_costs(server, &context, CostScope::All) {
            Err(ClientError::Rpc(error)) if error.code == TOO_LARGE => ListingCosts::new(),
            costs => costs?.0,
        };
        agents.push(AgentAnswers { profile: profile.clone(), list, listing, costs });
        for reference in server.call_whole::<SkillsReferences>(context.params())?.references {
            let key = (reference.path.clone(), reference.range.start.offset);
            references.entry(key).or_insert(reference);
        }
    }
    let mut params = CheckParams { profiles, ..CheckParams::default() };
    params.paths = context.fill_all(&mut params, &[worktree]);
    let check = server.call_whole::<SkillsCheck>(params)?;
    let (sources, n_unread) = sources(&check);
    Ok(Answers {
        sources,
        n_unread,
        sizes: sizes(&agents),
        references: references.into_values().collect(),
        snapshot,
        agents,
        check,
    })
}

/// Returns an agent's listing, or `None` if it exceeds a message.
fn listing(
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<Option<CatalogResult>, ClientError> {
    match server.call::<CatalogRender>(&context.params()) {
        Ok(listing) => Ok(Some(listing)),
        Err(ClientError::Rpc(error)) if error.code == TOO_LARGE => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the files with findings up to [`MAX_SOURCES`], and counts those that are not read.
fn sources(check: &CheckResult) -> (BTreeMap<String, String>, u64) {
    let mut sources = BTreeMap::new();
    let (mut room, mut n_unread) = (MAX_SOURCES, 0);
    for file in &check.files {
        let path = decode(&file.path, file.path_encoding).ok();
        // A file that was removed since has no lines.
        match path.map(|it| source::read_at_most(&it, room.min(MAX_SOURCE))) {
            Some(Ok(Some(bytes))) => {
                room -= bytes.len() as u64;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                sources.insert(file.path.clone(), text);
            }
            Some(Ok(None)) if is_file(file) => n_unread += 1,
            Some(Ok(None) | Err(_)) | None => {}
        }
    }
    (sources, n_unread)
}

/// Returns true for a regular file. A pipe or a directory has no lines, whatever its size.
fn is_file(file: &CheckedFile) -> bool {
    let path = decode(&file.path, file.path_encoding).ok();
    path.is_some_and(|it| it.symlink_metadata().is_ok_and(|it| it.is_file()))
}

fn sizes(agents: &[AgentAnswers]) -> BTreeMap<String, u64> {
    let skills = agents.iter().flat_map(|it| &it.list.skills);
    // A refused path may lead anywhere.
    let skills = skills.filter(|it| it.state != State::Refused);
    let encodings: BTreeMap<_, _> = skills.map(|it| (&it.path, it.path_encoding)).collect();
    let sizes = encodings.into_iter().filter_map(|(path, encoding)| {
        let local = decode(path, encoding).ok().filter(|it| it.is_absolute())?;
        let found = fs::metadata(local).ok().filter(fs::Metadata::is_file)?;
        Some((path.clone(), found.len()))
    });
    sizes.collect()
}
