//! `skillsd load`, which prints a skill as its agent gives it to the model, and `skillsd catalog`,
//! which prints the prompt listing.
//!
//! The text goes to standard output unchanged; notes about it go to standard error.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, ValueEnum};
use skills_protocol::method::{CatalogBudget, CatalogRender, SkillsList, SkillsLoad};
use skills_protocol::wire::{
    BudgetParams, By, CatalogParams, CatalogResult, Include, ListParams, LoadParams, LoadResult,
    Shell, State,
};

use crate::call_context::{CallContext, SessionFlag, SkillArgument};
use crate::confirm::has_person;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::{CommandError, in_commands};
use crate::heading;
use crate::listing_costs::cut_mark;
use crate::server_connection::ServerConnection;
use crate::terminal::Terminal;
use crate::text::{count, plain};

#[derive(Debug, Clone, Args)]
pub struct LoadArgs {
    /// Name of a skill, a SKILL.md or a skill's directory
    #[arg(value_name = "NAME|PATH")]
    target: OsString,
    /// Arguments of the skill
    #[arg(value_name = "ARGS")]
    arguments: Vec<String>,
    /// Format of this agent [default: the profile's]
    ///
    /// A profile's name, or one of `opencode`, `claude`, `agentskills`, `codex`, `gemini`, `plugin`
    /// and `raw`. `opencode@founding` and `claude@founding` are the formats of the agents' first
    /// documents.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// The caller: model, user
    #[arg(long, value_name = "WHO", default_value = "model", hide_possible_values = true)]
    by: Caller,
    /// Treatment of commands in the skill: list, none, execute
    #[arg(long, value_name = "WHAT", default_value = "list", hide_possible_values = true)]
    shell: CommandMode,
    /// Wait for the answer if the user must approve first
    ///
    /// `skillsd permission pending` shows the request and `skillsd permission reply` answers it.
    /// Without this flag the command fails with the id of the request, and the answer applies to
    /// the next call.
    #[arg(long)]
    wait: bool,
}

/// Value of `--by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Caller {
    /// The model.
    Model,
    /// The user.
    User,
}

/// Value of `--shell`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CommandMode {
    /// Lists them.
    List,
    /// Replaces them by a sentence.
    None,
    /// Runs them.
    Execute,
}

#[derive(Debug, Clone, Args)]
pub struct CatalogArgs {
    /// Format of this agent [default: the profile's]
    ///
    /// A profile's name, or one of `xml`, `markdown`, `claude`, `codex`, `gemini`, `plugin`,
    /// `skills-ref` and `json`.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Size of the model's context in tokens
    #[arg(long = "context", value_name = "TOKENS")]
    context_tokens: Option<u64>,
    /// Budget of the listing in characters [default: the agent's own rule]
    #[arg(long = "budget", value_name = "CHARACTERS")]
    budget_chars: Option<u64>,
    /// List only skills whose name or description contains QUERY; `*` matches anything
    ///
    /// The format `plugin` then prints that plugin's search result: each skill with its origin and
    /// scripts.
    #[arg(long, value_name = "QUERY")]
    query: Option<String>,
    #[command(flatten)]
    session: SessionFlag,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &LoadArgs) -> Result<Exit, CommandError> {
    if args.wait && cx.global.no_daemon {
        return Err(
            CommandError::usage("`--wait` needs the daemon").with_hint("Leave out `--no-daemon`.")
        );
    }
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let mut params = LoadParams {
        args: (!args.arguments.is_empty()).then(|| raw(&args.arguments)),
        by: Some(match args.by {
            Caller::Model => By::Model,
            Caller::User => By::User,
        }),
        format: args.format.clone(),
        shell: Some(match args.shell {
            CommandMode::List => Shell::List,
            CommandMode::None => Shell::None,
            CommandMode::Execute => Shell::Execute,
        }),
        wait: args.wait.then_some(true),
        ..LoadParams::default()
    };
    let target = match args.target.to_str().map(str::trim) {
        Some(name) if is_slash_command(name) => SkillArgument::Name(name.to_owned()),
        _ => context.target(&args.target),
    };
    (params.name, params.path) = context.fill_target(&mut params, target);
    // Only arguments typed at a terminal count as the user's own.
    let is_typed =
        matches!((args.by, args.shell), (Caller::User, CommandMode::Execute)) && has_person();
    let mut server = match (args.wait, is_typed) {
        (true, _) => ServerConnection::open_for_the_user(cx)?,
        (false, true) => ServerConnection::open_consent(cx)?,
        (false, false) => ServerConnection::open_reading(cx)?,
    };
    heading::print_choice(cx, &mut server, &context);
    let Some(result) = server.call_or_print::<SkillsLoad>(cx, &params)? else {
        return Ok(Exit::Fine);
    };
    print(cx.terminal, &result.output)?;
    cx.terminal.print_notes(&notes(&result));
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}

pub(super) fn catalog(cx: &CommandContext<'_>, args: &CatalogArgs) -> Result<Exit, CommandError> {
    let mut context =
        CallContext::from_args(cx.global, None)?.single_profile()?.with_session(&args.session);
    let mut server = ServerConnection::open_reading(cx)?;
    heading::drop_missing_session(cx, &mut server, &mut context);
    let params = CatalogParams {
        format: args.format.clone(),
        context_tokens: args.context_tokens,
        budget_chars: args.budget_chars,
        query: args.query.clone(),
        ..context.params()
    };
    let Some(result) = server.call_or_print::<CatalogRender>(cx, &params)? else {
        return Ok(Exit::Fine);
    };
    let detected = heading::detect(&mut server, &context)?;
    if !result.text.is_empty() {
        print(cx.terminal, &result.text)?;
    }
    // The text itself is what the model gets, so its agent is named beside it.
    let whose = heading::note(&detected, cx.terminal);
    let mut notes = vec![whose, summary(&result)];
    if args.query.is_none() {
        // A daemon of an older version does not know the costs, which only add notes.
        let format = params.format;
        notes.extend(cut_notes(&mut server, &context, args, format).unwrap_or_default());
    }
    cx.terminal.print_notes(&notes);
    cx.terminal.print_health(&result.health);
    Ok(Exit::Fine)
}

/// Returns notes on the skills that the listing does not show whole, and on those hidden from the
/// model.
fn cut_notes(
    server: &mut ServerConnection,
    context: &CallContext,
    args: &CatalogArgs,
    format: Option<String>,
) -> Result<Vec<String>, CommandError> {
    let params = BudgetParams {
        format,
        context_tokens: args.context_tokens,
        budget_chars: args.budget_chars,
        only_cut: Some(true),
        ..context.params()
    };
    let cut = server.call::<CatalogBudget>(&params)?.skills;
    let params = ListParams { include: vec![Include::All], ..context.params() };
    let mut hidden = server.call_whole::<SkillsList>(params)?.skills;
    hidden.retain(|it| it.state == State::Hidden);
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    let marks = cut.iter().filter_map(|it| Some((cut_mark(it.shown)?, it.name.as_str())));
    for (mark, name) in marks.chain(hidden.iter().map(|it| ("hidden", it.name.as_str()))) {
        match groups.iter_mut().find(|it| it.0 == mark) {
            Some(group) => group.1.push(name),
            None => groups.push((mark, vec![name])),
        }
    }
    let note = |(mark, names): (&str, Vec<&str>)| {
        let first = names.iter().take(MAX_NAMED).map(|it| format!("`{}`", plain(it)));
        let first = first.collect::<Vec<_>>().join(", ");
        let n_more = names.len().saturating_sub(MAX_NAMED);
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        format!("{mark}: {first}{more}.")
    };
    Ok(groups.into_iter().map(note).collect())
}

/// Maximum number of skills that a note names.
const MAX_NAMED: usize = 10;

/// Returns whether an argument is a skill as typed to an agent, `/name`, and no file.
fn is_slash_command(argument: &str) -> bool {
    let name = argument.strip_prefix('/').unwrap_or_default();
    !name.is_empty() && !name.contains('/') && Path::new(argument).symlink_metadata().is_err()
}

/// Joins arguments into one text that splits into the same arguments.
fn raw(arguments: &[String]) -> String {
    let quoted = |it: &String| {
        let is_plain =
            !it.is_empty() && !it.contains(|c: char| c.is_whitespace() || "'\"\\".contains(c));
        if is_plain { it.clone() } else { format!("'{}'", it.replace('\'', "'\\''")) }
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Prints a text unchanged, or with escaped control characters to a terminal.
fn print(terminal: &Terminal, text: &str) -> Result<(), CommandError> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    terminal.print_exact(&format!("{text}{end}"))
}

fn notes(result: &LoadResult) -> Vec<String> {
    let mut notes: Vec<_> = result.warnings.iter().map(|it| plain(&in_commands(it))).collect();
    match result.commands.len() {
        0 => {}
        1 => {
            notes.push("The agent must run a command of this skill; `--json` shows it.".to_owned());
        }
        n_commands => notes.push(format!(
            "The agent must run {n_commands} commands of this skill; `--json` lists them."
        )),
    }
    notes
}

fn summary(result: &CatalogResult) -> String {
    let mut parts =
        vec![format!("{}, about {}", count(result.count, "skill"), count(result.tokens, "token"))];
    if result.shortened > 0 {
        let shortened = count(result.shortened, "description");
        parts.push(format!("{shortened} shortened to fit the budget"));
    }
    if result.omitted > 0 {
        parts.push(format!("{} omitted", count(result.omitted, "skill")));
    }
    parts.join("; ") + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_joined_with_quotes() {
        let raw = |list: &[&str]| raw(&list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(raw(&["a", "b c", "", "it's", "-x"]), "a 'b c' '' 'it'\\''s' -x");
    }
}
