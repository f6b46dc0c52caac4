//! `skillsd list`: the skills that an agent would see, grouped by where they come from.
//!
//! The plain output asks the daemon for all skills and shows the listed ones, so that its last
//! line can say how many are not shown. `--json` is the daemon's answer to what was asked for; for
//! several profiles an object of their answers.

mod matrix;
pub(super) mod table;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::value::{RawValue, to_raw_value};
use skills_protocol::method::{SkillsExplain, SkillsList};
use skills_protocol::wire::{ExplainParams, ExplainResult, Include, ListParams, Step, StepKind};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
use crate::place::{Place, SessionFlag};
use skills_client::ClientError;
use skills_client::pages::goes_on;

/// Arguments of `skillsd list`.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Working directory of the agent [default: the current directory]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Also list skills that the model does not see, each with the reason
    #[arg(long, short)]
    all: bool,
    #[command(flatten)]
    session: SessionFlag,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &ListArgs) -> Result<Exit, CommandError> {
    let place = Place::of(cx.global, args.dir.as_deref())?.seen_by(&args.session);
    let mut link = Link::open(cx)?;
    if !place.wants_several_profiles() {
        print_one(cx, args, &mut link, &place)?;
        return Ok(Exit::Fine);
    }
    let profiles = place.several(&link.server()?.capabilities.profiles);
    if cx.global.json {
        let mut texts = Vec::new();
        for profile in profiles {
            let params = params(cx, args, &place.with_profile(&profile));
            texts.push((profile, whole_text(&mut link, params)?));
        }
        cx.terminal.print(&by_profile(&texts))?;
        return Ok(Exit::Fine);
    }
    let mut lists = Vec::new();
    for profile in profiles {
        let list =
            link.call_whole::<SkillsList>(params(cx, args, &place.with_profile(&profile)))?;
        lists.push((profile, list));
    }
    cx.terminal.print(&matrix::render(&lists, args.all, cx.terminal))?;
    if let Some((_, list)) = lists.first() {
        cx.terminal.print_health(&list.health);
    }
    Ok(Exit::Fine)
}

/// Returns the results of several profiles as one object on a line, each as it came.
pub(super) fn by_profile(results: &[(String, Box<RawValue>)]) -> String {
    let name = |name: &String| serde_json::Value::from(name.as_str());
    let fields = results.iter().map(|(profile, result)| format!("{}:{result}", name(profile)));
    format!("{{{}}}\n", fields.collect::<Vec<_>>().join(","))
}

fn params(cx: &CommandContext<'_>, args: &ListArgs, place: &Place) -> ListParams {
    let mut params = ListParams::default();
    if args.all || !cx.global.json {
        params.include = vec![Include::All];
    }
    place.fill(&mut params, None);
    params
}

fn print_one(
    cx: &CommandContext<'_>,
    args: &ListArgs,
    link: &mut Link,
    place: &Place,
) -> Result<(), CommandError> {
    let params = params(cx, args, place);
    if cx.global.json {
        let result = whole_text(link, params)?;
        return cx.terminal.print(&format!("{result}\n"));
    }
    let result = link.call_whole::<SkillsList>(params)?;
    let view = table::View { all: args.all, cwd: &place.cwd, in_checkout: is_checkout(&place.cwd) };
    let skips = if args.all { skips(link, place)? } else { Vec::new() };
    let mut text = table::render(&result, &skips, &view, cx.terminal);
    if !result.skills.iter().any(|skill| skill.state.is_listed()) {
        text.push_str(&table::render_none(&result, &looked_in(link, place)?, &view, cx.terminal));
    }
    cx.terminal.print(&text)?;
    cx.terminal.print_health(&result.health);
    Ok(())
}

/// Returns the answer as it came; where it comes in pages, all of them as one.
fn whole_text(link: &mut Link, params: ListParams) -> Result<Box<RawValue>, ClientError> {
    let text = link.call_text::<SkillsList>(&params)?;
    if !goes_on(&text) {
        return Ok(text);
    }
    let whole = link.call_whole::<SkillsList>(params)?;
    Ok(to_raw_value(&whole).expect("what was read from JSON is JSON"))
}

fn looked_in(link: &mut Link, place: &Place) -> Result<ExplainResult, ClientError> {
    let mut params = ExplainParams::default();
    place.fill(&mut params, None);
    link.call::<SkillsExplain>(&params)
}

// What was meant as a skill, and is none: the list itself has only skills.
fn skips(link: &mut Link, place: &Place) -> Result<Vec<Step>, ClientError> {
    let mut steps = looked_in(link, place)?.steps;
    steps.retain(|step| step.kind == StepKind::Candidate);
    Ok(steps)
}

fn is_checkout(cwd: &Path) -> bool {
    cwd.join("tests/samples/worktree").is_dir() && cwd.join("Cargo.toml").is_file()
}
