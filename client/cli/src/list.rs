//! `skillsd list`: the skills that an agent sees, grouped by search root.
//!
//! The plain output requests all skills and shows the visible ones, so that its last line can count
//! the others. `--json` prints the daemon's answer, or an object with one answer per profile.

mod matrix;
pub(super) mod table;
mod unfound;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::value::{RawValue, to_raw_value};
use skills_client::ClientError;
use skills_client::error::parse;
use skills_client::pages::{Pages, has_next_page};
use skills_protocol::method::{CatalogBudget, SkillsExplain, SkillsList};
use skills_protocol::wire::{
    DetectResult, Entry, ExplainParams, ExplainResult, Include, ListParams, Step, StepKind,
};

use crate::call_context::{CallContext, SessionFlag};
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::global::ALL_PROFILES;
use crate::heading;
use crate::listing_costs::{CostScope, ListingCosts, budget_params, listing_costs};
use crate::server_connection::ServerConnection;
use crate::text::fold;

#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// Working directory of the agent [default: the current directory]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Also list skills that the model does not see, each with the reason
    #[arg(long, short)]
    all: bool,
    /// Show the tokens of each skill's entry in the agent's listing
    #[arg(long)]
    tokens: bool,
    #[command(flatten)]
    session: SessionFlag,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &ListArgs) -> Result<Exit, CommandError> {
    let mut context =
        CallContext::from_args(cx.global, args.dir.as_deref())?.with_session(&args.session);
    if args.tokens && cx.global.json {
        return Err(CommandError::usage("`--tokens` adds a column to the table, not to JSON")
            .with_hint("`skillsd budget --json` has the tokens."));
    }
    let mut server = ServerConnection::open_reading(cx)?;
    heading::drop_missing_session(cx, &mut server, &mut context);
    if !context.wants_several_profiles() {
        return list_detected(cx, args, &mut server, &context);
    }
    let profiles = heading::selected(&mut server, &context)?;
    if cx.global.json {
        let mut texts = Vec::new();
        for profile in profiles {
            let params = params(cx, args, &context.with_profile(&profile));
            texts.push((profile, list_text(&mut server, params)?));
        }
        cx.terminal.print(&heading::by_profile(&texts))?;
        return Ok(Exit::Fine);
    }
    let mut lists = lists(cx, args, &mut server, &context, &profiles)?;
    print_matrix(cx, args, &mut server, &context, &mut lists, None)?;
    Ok(Exit::Fine)
}

/// Lists the skills of the detected agent, or of all that are present.
fn list_detected(
    cx: &CommandContext<'_>,
    args: &ListArgs,
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<Exit, CommandError> {
    if cx.global.json {
        let result = list_text(server, params(cx, args, context))?;
        cx.terminal.print(&format!("{result}\n"))?;
        return Ok(Exit::Fine);
    }
    let detected = heading::detect(server, context)?;
    if let Some(profiles) = heading::several(&detected) {
        let mut lists = lists(cx, args, server, context, &profiles)?;
        let is_shown = |skill: &Entry| args.all || skill.state.is_listed();
        // For an empty list, the searched roots say more than a table.
        if lists.iter().any(|it| it.result.skills.iter().any(is_shown)) {
            print_matrix(cx, args, server, context, &mut lists, Some(&detected))?;
            return Ok(Exit::Fine);
        }
    }
    // Names the profile, so that no further call looks for agents again.
    print_one(cx, args, server, &context.with_profile(&detected.profile), &detected)?;
    Ok(Exit::Fine)
}

fn lists(
    cx: &CommandContext<'_>,
    args: &ListArgs,
    server: &mut ServerConnection,
    context: &CallContext,
    profiles: &[String],
) -> Result<Vec<matrix::Column>, CommandError> {
    // The server reads no more calls while many of its answers are unread.
    const SENT_AHEAD: usize = 5;
    let mut lists = Vec::new();
    for part in profiles.chunks(SENT_AHEAD) {
        for profile in part {
            send_calls(cx, args, server, &context.with_profile(profile))?;
        }
        for profile in part {
            let context = context.with_profile(profile);
            let result = server.call_whole::<SkillsList>(params(cx, args, &context))?;
            let costs = costs(cx, args, server, &context)?;
            let profile = profile.clone();
            lists.push(matrix::Column { profile, result, confidence: None, costs });
        }
    }
    Ok(lists)
}

fn cost_scope(args: &ListArgs) -> CostScope {
    if args.tokens { CostScope::All } else { CostScope::OnlyCut }
}

/// Returns the costs of the skills that are marked, or with `--tokens` of all.
fn costs(
    cx: &CommandContext<'_>,
    args: &ListArgs,
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<ListingCosts, CommandError> {
    match listing_costs(server, context, cost_scope(args)) {
        Err(error) if args.tokens => Err(error.into()),
        Ok((costs, caveat)) => {
            cx.terminal.print_notes(&Vec::from_iter(caveat.filter(|_| args.tokens)));
            Ok(costs)
        }
        // A daemon of an older version does not know the costs, which only add marks.
        Err(_) => Ok(ListingCosts::new()),
    }
}

fn print_matrix(
    cx: &CommandContext<'_>,
    args: &ListArgs,
    server: &mut ServerConnection,
    context: &CallContext,
    lists: &mut [matrix::Column],
    detected: Option<&DetectResult>,
) -> Result<(), CommandError> {
    let (all, tokens, cwd) = (args.all, args.tokens, &*context.cwd);
    let selection = context.profile.as_deref().unwrap_or(ALL_PROFILES);
    let options = matrix::MatrixOptions { all, tokens, detected, selection, cwd };
    let mut explained = Vec::new();
    for column in &mut *lists {
        let found = explain_roots(server, &context.with_profile(&column.profile))?;
        column.confidence = found.confidence;
        explained.push(found);
    }
    let mut text = matrix::render(lists, &options, cx.terminal);
    let mut files: Option<Vec<Step>> = None;
    for (matrix::Column { profile, .. }, explained) in lists.iter().zip(&explained) {
        let steps = unfound::steps(&explained.steps);
        if !args.all {
            let agent = Some(profile.as_str());
            text.push_str(&unfound::render_waiting(&steps, agent, &context.cwd, cx.terminal));
        }
        // Files that no agent finds.
        files = Some(match files {
            Some(files) => unfound::common(files, &steps),
            None => steps,
        });
    }
    if let Some(files) = files.filter(|it| args.all && !it.is_empty()) {
        text.push('\n');
        text.push_str(&unfound::render(&files, &context.cwd, cx.terminal));
    }
    cx.terminal.print(&fold(&text, cx.terminal.width))?;
    if let Some(first) = lists.first() {
        cx.terminal.print_health(&first.result.health);
    }
    Ok(())
}

fn params(cx: &CommandContext<'_>, args: &ListArgs, context: &CallContext) -> ListParams {
    let is_whole = args.all || !cx.global.json;
    let include = if is_whole { vec![Include::All] } else { Vec::new() };
    ListParams { include, ..context.params() }
}

/// Sends the calls for one agent's list, which the server answers at the same time.
fn send_calls(
    cx: &CommandContext<'_>,
    args: &ListArgs,
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<(), ClientError> {
    server.send_ahead::<SkillsList>(&params(cx, args, context))?;
    server.send_ahead::<CatalogBudget>(&budget_params(context, cost_scope(args)))?;
    server.send_ahead::<SkillsExplain>(&explain_params(context))
}

fn print_one(
    cx: &CommandContext<'_>,
    args: &ListArgs,
    server: &mut ServerConnection,
    context: &CallContext,
    detected: &DetectResult,
) -> Result<(), CommandError> {
    send_calls(cx, args, server, context)?;
    let result = server.call_whole::<SkillsList>(params(cx, args, context))?;
    let costs = costs(cx, args, server, context)?;
    let options = table::TableOptions {
        all: args.all,
        tokens: args.tokens,
        costs: &costs,
        detected,
        cwd: &context.cwd,
        in_checkout: is_checkout(&context.cwd),
    };
    let explained = explain_roots(server, context)?;
    let skips = if args.all { skipped_candidates(&explained) } else { Vec::new() };
    let mut text = table::render(&result, &skips, &options, cx.terminal);
    if !result.skills.iter().any(|skill| skill.state.is_listed()) {
        text.push_str(&table::render_none(&result, &explained, &options, cx.terminal));
    }
    let files = unfound::steps(&explained.steps);
    let files = if args.all {
        unfound::render(&files, &context.cwd, cx.terminal)
    } else {
        unfound::render_waiting(&files, None, &context.cwd, cx.terminal)
    };
    if !files.is_empty() {
        text.push('\n');
        text.push_str(&files);
    }
    cx.terminal.print(&fold(&text, cx.terminal.width))?;
    cx.terminal.print_health(&result.health);
    Ok(())
}

/// Returns the answer as raw JSON, with its pages joined.
fn list_text(
    server: &mut ServerConnection,
    params: ListParams,
) -> Result<Box<RawValue>, ClientError> {
    let text = server.call_text::<SkillsList>(&params)?;
    if !has_next_page(&text) {
        return Ok(text);
    }
    let whole = server.call_rest(Pages::<SkillsList>::new(params), parse::<SkillsList>(&text)?)?;
    Ok(to_raw_value(&whole).expect("a parsed answer can be serialized"))
}

fn explain_roots(
    server: &mut ServerConnection,
    context: &CallContext,
) -> Result<ExplainResult, ClientError> {
    let mut params = explain_params(context);
    match server.call::<SkillsExplain>(&params) {
        // A daemon of an older version refuses the parameter.
        Err(ClientError::Rpc(_)) => {
            params.near_misses = None;
            server.call::<SkillsExplain>(&params)
        }
        explained => explained,
    }
}

fn explain_params(context: &CallContext) -> ExplainParams {
    ExplainParams { near_misses: Some(true), ..context.params() }
}

// Candidates that are not skills; `skills/list` does not contain them.
fn skipped_candidates(explained: &ExplainResult) -> Vec<Step> {
    let steps = explained.steps.iter();
    let is_skip = |it: &&Step| it.kind == StepKind::Candidate && it.root.is_some();
    steps.filter(is_skip).cloned().collect()
}

fn is_checkout(cwd: &Path) -> bool {
    cwd.join("tests/samples/worktree").is_dir() && cwd.join("Cargo.toml").is_file()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn list_as_json_asks_for_each_page_once() {
        let (ours, mut theirs) = UnixStream::pair().expect("made");
        let page = |id: u32, cursor: &str| {
            let result =
                format!(r#"{{"clock":"{id}","fresh":true,"nextCursor":{cursor},"skills":[]}}"#);
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
        };
        let initialized = r#"{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"skillsd","version":"0"},"protocolVersion":"1.0","capabilities":{},"limits":{},"bootId":"b"}}"#;
        for answer in [initialized.to_owned(), page(2, "\"c\""), page(3, "null")] {
            let message = format!("Content-Length: {}\r\n\r\n{answer}", answer.len());
            theirs.write_all(message.as_bytes()).expect("buffered");
        }
        let mut server = ServerConnection::over(Box::new(ours)).expect("sent");
        let text = list_text(&mut server, ListParams::default()).expect("answered");
        // The joined answer is the first page with the skills of the others.
        assert!(text.get().contains(r#""clock":"2""#), "{text}");
    }
}
