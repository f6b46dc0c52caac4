//! `skillsd enable` and `skillsd disable`: a skill's setting in the configuration of its agent.
//!
//! Shows the change of one file, asks, writes it atomically, and asks the daemon whether the skill
//! is in the new state; otherwise the file is restored. The inverse command restores the bytes.

mod agent;
mod bounds;
mod effect;
pub(crate) mod history;

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use skills_protocol::method::SkillsExplain;
use skills_protocol::path::{encode, encoding_of};
use skills_protocol::wire::{ExplainParams, ExplainResult};

use crate::agent_config::diff;
use crate::agent_config::environment::InstallEnvironment;
use crate::agent_config::file;
use crate::agent_config::item::EditError;
use crate::call_context::CallContext;
use crate::confirm;
use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::heading;
use crate::server_connection::ServerConnection;
use crate::style::{self, paint};
pub(super) use agent::SwitchTo;
use agent::{Setting, SettingsScope, SwitchAgent};
pub(crate) use bounds::{confined, worktree_top};
use history::{History, Switched};

#[derive(Debug, Clone, Args)]
pub struct SwitchArgs {
    /// Name of the skill
    #[arg(value_name = "NAME")]
    name: String,
    /// Change the settings of: user, project, local [default: user]
    ///
    /// `local` is the file of Claude Code and Qoder for one person in one project,
    /// `settings.local.json`.
    #[arg(long, value_name = "SCOPE", default_value = "user", hide_possible_values = true)]
    #[arg(hide_default_value = true)]
    scope: SettingsScope,
    /// Show the change without making it
    #[arg(long)]
    dry_run: bool,
    /// Change without asking
    #[arg(long, short)]
    yes: bool,
}

#[derive(Debug)]
struct Plan {
    agent: SwitchAgent,
    file: PathBuf,
    before: Option<String>,
    after: Option<String>,
    /// The record after the change; a change that restores nothing is added when it is made.
    history: History,
    switched: Option<Switched>,
    /// Directories to remove if they are empty, innermost first.
    dirs: Vec<PathBuf>,
}

impl Plan {
    /// Returns true if the change takes an earlier one back.
    fn is_undo(&self) -> bool {
        self.switched.is_none()
    }
}

pub(super) fn run(
    cx: &CommandContext<'_>,
    args: &SwitchArgs,
    to: SwitchTo,
) -> Result<Exit, CommandError> {
    let context = CallContext::from_args(cx.global, None)?.single_profile()?;
    let environment = InstallEnvironment::read()?;
    let mut server = ServerConnection::open_reading(cx)?;
    heading::print_choice(cx, &mut server, &context);
    let found = explain(&mut server, &context, &args.name)?;
    // The same agent later, whatever selected it.
    let context = context.with_profile(&found.profile);
    let plan = plan(args, to, &context, &environment, &found)?;
    let hunks = diff::hunks(plan.before.as_deref(), plan.after.as_deref());
    let shown = cx.terminal.local_path(&plan.file);
    let is_change = plan.before != plan.after;
    if is_change && !cx.global.json {
        let title = plan.agent.title();
        let path = paint(style::NAME, &shown);
        cx.terminal.print(&format!("{path}  {title}\n{}\n", diff::painted(&hunks)))?;
    }
    let is_written = is_change && !args.dry_run && (args.yes || confirm::ask_to_change(cx)?);
    if is_written {
        let mut explain = || explain(&mut server, &context, &args.name);
        if plan.is_undo() {
            apply(&plan, &environment.state, &mut || Ok(()))?;
            effect::check_undo(plan.agent, &args.name, to, &explain()?)?;
        } else {
            let mut check = || effect::check_change(plan.agent, &args.name, to, &explain()?);
            apply(&plan, &environment.state, &mut check)?;
        }
    }
    let result = if cx.global.json {
        let encoding = encoding_of([&*plan.file]);
        let result = json!({
            "name": args.name,
            "profile": found.profile,
            "enabled": to == SwitchTo::Enabled,
            "file": encode(&plan.file, encoding),
            "pathEncoding": encoding,
            "written": is_written,
            "diff": hunks,
        });
        format!("{result}\n")
    } else {
        let name = cx.terminal.prose(&format!("`{}`", args.name));
        let (state, title) = (to.state(), plan.agent.title());
        let good = paint(style::GOOD, "✓");
        match (is_change, is_written) {
            (false, _) => format!("{good} {name} is already {state} for {title}\n"),
            (true, true) => format!("{good} {name} is {state} for {title}\n"),
            (true, false) if args.dry_run => "1 file would be changed\n".to_owned(),
            (true, false) => "Nothing was changed.\n".to_owned(),
        }
    };
    cx.terminal.print(&result)?;
    Ok(Exit::Fine)
}

pub(super) fn explain(
    server: &mut ServerConnection,
    context: &CallContext,
    name: &str,
) -> Result<ExplainResult, CommandError> {
    let params = ExplainParams { name: Some(name.to_owned()), ..context.params() };
    Ok(server.call::<SkillsExplain>(&params)?)
}

/// Returns the change, or the reason why this file cannot switch the skill.
fn plan(
    args: &SwitchArgs,
    to: SwitchTo,
    context: &CallContext,
    environment: &InstallEnvironment,
    found: &ExplainResult,
) -> Result<Plan, CommandError> {
    let name = &*args.name;
    let agent = SwitchAgent::of(&found.profile).ok_or_else(|| {
        CommandError::usage(format!("`{}` has no setting for single skills", found.profile))
            .with_hint(
                "Remove the skill from the agent's directories, or use the agent's own switch.",
            )
    })?;
    let (named, file) = settings_file(args.scope, agent, context, environment)?;
    let before = file::read(&file).map_err(|error| failed("read", &file, &error))?;
    let history = History::read(&environment.state)
        .map_err(|error| failed("read", &environment.state.join("switches.json"), &error))?;
    let edit = |text: Option<&str>, setting| {
        let is_path = |it: &str| effect::is_path_of(it, &file, &environment.home, found);
        agent.edit(text, name, setting, &is_path).map_err(|error| cannot_edit(&file, error))
    };
    let unchanged = |history| Plan {
        agent,
        file: file.clone(),
        before: before.clone(),
        after: before.clone(),
        history,
        switched: None,
        dirs: Vec::new(),
    };
    let redo =
        |text: Option<&str>, it: &Switched| agent.edit(text, &it.name, it.setting, &|_| false).ok();
    let undone = history.undo(&file, before.as_deref(), name, to, redo);
    let is_valid = |text: &String| agent.parses(text);
    if let Some(undone) = undone.filter(|it| it.text.as_ref().is_none_or(is_valid)) {
        return Ok(Plan { after: undone.text, dirs: undone.dirs, ..unchanged(undone.history) });
    }
    let Some(setting) = needed_setting(agent, name, to, &named, found)? else {
        return Ok(unchanged(history));
    };
    let mut after = Some(edit(before.as_deref(), setting)?);
    let mut history = history;
    let is_ours = history.forget(&file, name);
    let is_empty = |it: &str| it.trim().is_empty() || it.trim() == "{}";
    if is_ours && after.as_deref().is_some_and(is_empty) {
        after = None;
    }
    if after == before {
        return Err(effect::other_setting(agent, name, found));
    }
    let switched =
        after.as_deref().map(|it| Switched::new(&file, name, setting, before.as_deref(), it));
    Ok(Plan { after, switched, ..unchanged(history) })
}

/// Returns the setting that switches the skill on or off; none if it is so already.
fn needed_setting(
    agent: SwitchAgent,
    name: &str,
    to: SwitchTo,
    settings: &Path,
    found: &ExplainResult,
) -> Result<Option<Setting>, CommandError> {
    if found.verdict.state.is_none() {
        return Err(CommandError::finding(found.verdict.summary.trim_end_matches('.'))
            .with_hint_if(found.verdict.next.as_ref()));
    }
    effect::check_readable(settings, found)?;
    match to {
        SwitchTo::Enabled if effect::is_kept_from_model(found) => {
            effect::setting_to_enable(agent, name, settings, found).map(Some)
        }
        SwitchTo::Enabled => effect::check_listed(name, found).map(|()| None),
        SwitchTo::Disabled if effect::is_off(found) => Ok(None),
        SwitchTo::Disabled => {
            effect::check_can_disable(agent, name, settings, found).map(|()| Some(Setting::Off))
        }
    }
}

fn cannot_edit(file: &Path, error: EditError) -> CommandError {
    let at = error.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    CommandError::finding(format!("`{}{at}` cannot be edited", file.display()))
        .because(error.message)
        .with_hint("Fix the file and run the command again; nothing was changed.")
}

/// Returns the path of the settings file that is changed: as it is named, and without links.
fn settings_file(
    scope: SettingsScope,
    agent: SwitchAgent,
    context: &CallContext,
    environment: &InstallEnvironment,
) -> Result<(PathBuf, PathBuf), CommandError> {
    let top = worktree_top(&context.cwd);
    let named = agent.file(scope, environment, &context.cwd, &top).ok_or_else(|| {
        let title = agent.title();
        CommandError::usage(format!("{title} reads `{}` from no file of this scope", agent.key()))
            .with_hint(if agent.is_user_only() {
                "Only the user's settings switch its skills; leave out `--scope`."
            } else {
                "Use `--scope user` or `--scope project`."
            })
    })?;
    let bounds = match scope {
        SettingsScope::User => {
            vec![environment.home.clone(), named.parent().unwrap_or(&named).to_owned()]
        }
        SettingsScope::Project | SettingsScope::Local => vec![top],
    };
    let file = confined(&named, &bounds)?;
    Ok((named, file))
}

/// Makes the change, and restores the file if `check` fails.
fn apply(
    plan: &Plan,
    state: &Path,
    check: &mut dyn FnMut() -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    if !bounds::is_real(&plan.file) {
        let path = plan.file.display();
        return Err(CommandError::refused(format!("a directory of `{path}` has become a link"))
            .with_hint("Run the command again; it shows the file that it would change."));
    }
    let dirs = file::change(&plan.file, plan.before.as_deref(), plan.after.as_deref())
        .map_err(|error| failed("write", &plan.file, &error))?;
    let mut history = plan.history.clone();
    if let Some(switched) = &plan.switched {
        history.keep(switched.clone(), &dirs);
    }
    let checked = check().and_then(|()| {
        history.write(state).map_err(|error| failed("write", &state.join("switches.json"), &error))
    });
    if let Err(error) = checked {
        file::change(&plan.file, plan.after.as_deref(), plan.before.as_deref())
            .map_err(|error| failed("restore", &plan.file, &error))?;
        file::remove_empty(dirs.iter().rev());
        return Err(error);
    }
    file::remove_empty(&plan.dirs);
    Ok(())
}

/// Returns the error for a file.
pub(super) fn failed(verb: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::finding(format!("failed to {verb} `{}`", path.display()))
        .because(error.to_string())
}
