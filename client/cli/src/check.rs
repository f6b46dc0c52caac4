//! `skillsd check`: the linter, for people, for CI and before a commit.
//!
//! One call, one rendering; what is wrong is the server's to say. A daemon that runs is asked,
//! else a server within this process: a check starts no daemon. With `--fix` the edits that the
//! server offers are made here, until nothing is left that has one right answer.

mod github;
mod human;
mod mend;
mod rule;
mod sarif;
mod source;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};
use skills_protocol::bounds::LIST_ITEMS;
use skills_protocol::method::{RulesDescribe, SkillsCheck};
use skills_protocol::wire::{
    CheckFinding, CheckParams, CheckResult, RuleDescription, RulesDescribeParams, Severity,
};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::link::Link;
use crate::place::Place;
use mend::Mended;
use skills_client::blocking::PATIENCE;

/// Arguments of `skillsd check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// Skills, commands, instruction files such as CLAUDE.md, subagents, or directories that contain
    /// them [default: the current directory]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Apply the fixes that have exactly one right result
    #[arg(long)]
    fix: bool,
    /// Output format: human, json, sarif, github [default: human]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
    /// Check again whenever something changes, until interrupted
    #[arg(long, conflicts_with = "fix")]
    watch: bool,
    /// Explain a rule, or a family such as `yaml/*`, and check nothing
    #[arg(long, value_name = "RULE", conflicts_with_all = ["paths", "fix", "format", "watch"])]
    explain: Option<String>,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: with the source on a terminal, a line each in a pipe.
    Human,
    /// The wire's result.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub's actions.
    Github,
}

/// How often `--watch` looks.
const PAUSE: Duration = Duration::from_millis(700);

/// How often fixes are made before what is left is left: what is mended in one file may uncover
/// something in another.
const MOST_PASSES: usize = 5;

pub(super) fn run(cx: &CommandContext<'_>, args: &CheckArgs) -> Result<Exit, CommandError> {
    if let Some(rule) = &args.explain {
        return explain(cx, rule);
    }
    let format = format(cx, args)?;
    let mut place = Place::of(cx.global, None)?;
    let mut params = CheckParams { fix_all: args.fix, ..CheckParams::default() };
    if place.wants_several_profiles() {
        params.profiles = place.several(&link(cx)?.server()?.capabilities.profiles);
        place.profile = None;
    }
    let paths: Vec<PathBuf> = args.paths.iter().map(|it| place.file(it)).collect();
    params.paths = place.fill_all(&mut params, &paths);
    let mut result = call(cx, &params)?;
    let mut mended = Mended::default();
    if args.fix {
        for _ in 0..MOST_PASSES {
            if !mended.mend(&result)? {
                break;
            }
            result = call(cx, &params)?;
        }
        result.left_alone = mended.left_alone();
    }
    print(cx, format, &place, &result, mended.n_made)?;
    print_left_alone(cx, &result);
    cx.terminal.print_notes(&mended.outside().collect::<Vec<_>>());
    if args.watch {
        return watch(cx, format, &place, &params, result);
    }
    let fails = |it: &CheckFinding| matches!(it.severity, Severity::Error | Severity::Warning);
    let is_bad = result.files.iter().flat_map(|it| &it.findings).any(fails);
    Ok(if is_bad || !result.left_alone.is_empty() { Exit::Findings } else { Exit::Fine })
}

/// Returns how findings are to be printed: `--json` is a format too.
fn format(cx: &CommandContext<'_>, args: &CheckArgs) -> Result<Format, CommandError> {
    match (args.format, cx.global.json) {
        (None | Some(Format::Json), true) => Ok(Format::Json),
        (Some(_), true) => {
            let message = "`--json` and another `--format` exclude each other";
            Err(CommandError::usage(message).with_hint("Leave one of them out."))
        }
        (format, false) => Ok(format.unwrap_or(Format::Human)),
    }
}

/// Prints what there is to say about a rule, or about a family of them.
fn explain(cx: &CommandContext<'_>, rule: &str) -> Result<Exit, CommandError> {
    let params = RulesDescribeParams { rules: vec![rule.to_owned()] };
    let mut link = link(cx)?;
    let text = if cx.global.json {
        format!("{}\n", link.call_text::<RulesDescribe>(&params)?)
    } else {
        rule::render(&link.call::<RulesDescribe>(&params)?.rules, cx.terminal)
    };
    cx.terminal.print(&text)?;
    Ok(Exit::Fine)
}

/// Returns what there is to say about the rules that have found something.
fn described(
    cx: &CommandContext<'_>,
    result: &CheckResult,
) -> Result<Vec<RuleDescription>, CommandError> {
    let findings = result.files.iter().flat_map(|it| &it.findings);
    let rules: BTreeSet<&str> = findings.map(|it| &*it.code).collect();
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let rules = rules.into_iter().map(ToOwned::to_owned).collect();
    Ok(link(cx)?.call::<RulesDescribe>(&RulesDescribeParams { rules })?.rules)
}

/// Asks the daemon that runs, else a server within this process.
fn link(cx: &CommandContext<'_>) -> Result<Link, CommandError> {
    if !cx.global.no_daemon
        && let Ok(link) = Link::open_running(PATIENCE)
    {
        return Ok(link);
    }
    Ok(Link::local(cx.binary.local)?)
}

/// Checks all paths, in as many calls as the limit on lists takes.
fn call(cx: &CommandContext<'_>, params: &CheckParams) -> Result<CheckResult, CommandError> {
    let mut link = link(cx)?;
    let mut paths = params.paths.chunks(LIST_ITEMS);
    let mut check = |paths: &[String]| {
        let params = CheckParams { paths: paths.to_vec(), ..params.clone() };
        link.call_whole::<SkillsCheck>(params)
    };
    let mut all = check(paths.next().unwrap_or_default())?;
    for paths in paths {
        let more = check(paths)?;
        all.checked += more.checked;
        all.files.extend(more.files);
    }
    Ok(all)
}

fn print(
    cx: &CommandContext<'_>,
    format: Format,
    place: &Place,
    result: &CheckResult,
    n_fixed: u64,
) -> Result<(), CommandError> {
    let text = match format {
        Format::Human => human::render(result, n_fixed, &place.cwd, cx.terminal),
        Format::Json => format!("{}\n", serde_json::to_string(result).unwrap_or_default()),
        Format::Sarif => sarif::render(result, &described(cx, result)?, &place.cwd),
        Format::Github => github::render(result, &place.cwd),
    };
    match format {
        Format::Human | Format::Github => cx.terminal.print(&text)?,
        Format::Json | Format::Sarif => cx.terminal.print_json(&text)?,
    }
    cx.terminal.print_health(&result.health);
    Ok(())
}

/// Says which files were left as somebody else has written them.
fn print_left_alone(cx: &CommandContext<'_>, result: &CheckResult) {
    let told = result.left_alone.iter().map(|it| {
        let path = cx.terminal.path(&it.path, it.path_encoding);
        format!(
            "`{path}` was changed while it was checked, and is left as it is; `skillsd check --fix` mends it when it is saved"
        )
    });
    cx.terminal.print_notes(&told.collect::<Vec<_>>());
}

/// Prints again whenever the answer is another one.
fn watch(
    cx: &CommandContext<'_>,
    format: Format,
    place: &Place,
    params: &CheckParams,
    mut last: CheckResult,
) -> Result<Exit, CommandError> {
    loop {
        thread::sleep(PAUSE);
        let result = call(cx, params)?;
        if result.files != last.files || result.checked != last.checked {
            if format == Format::Human {
                cx.terminal.print("\n")?;
            }
            print(cx, format, place, &result, 0)?;
            last = result;
        }
    }
}
