//! The `skillsd` commands that ask the daemon: the flags, and one file per command.
//!
//! The binary adds the commands that *are* a server (`serve`, `lsp`) and hands in how a server is
//! run within this process, for `--no-daemon`; everything else about the command line is here.
//! A command makes one or two calls, renders the result and returns an exit code. It looks at no
//! skill itself, so `--json`, the human output and the daemon cannot disagree.

pub mod exit;

mod check;
mod confirm;
mod context;
mod doctor;
mod explain;
mod failure;
mod global;
mod hook;
mod install;
mod link;
mod list;
mod load;
mod logs;
mod manual;
mod new;
mod permission;
mod place;
mod replace;
mod search;
mod session;
mod show;
mod status;
mod stop;
mod style;
mod sync;
mod terminal;
mod text;
mod top;
mod touch;
mod trust;
mod watch;

use std::process::ExitCode;
use std::rc::Rc;

use clap::{Parser, Subcommand};

use context::CommandContext;
use exit::Exit;
use place::Place;
use skills_protocol::wire::{Context, Contextual as _, ListParams};
use terminal::Terminal;

pub use context::{Binary, Local};
pub use failure::CommandError;
pub use global::{Color, GlobalArgs};
#[cfg(feature = "invariants")]
pub use hook::shell_files;

/// The commands of this crate alone; the binary composes its own from the same parts.
#[derive(Debug, Parser)]
#[command(name = "skillsd", version, about = ABOUT, max_term_width = 100)]
pub struct Cli {
    /// The flags that every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program is, for the first line of its help.
pub const ABOUT: &str = "Finds, explains and serves the agent skills (SKILL.md) of a worktree";

/// The commands that ask the daemon.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// List the skills that an agent would see
    List(list::ListArgs),
    /// Show a skill's entry, frontmatter and findings
    Show(show::ShowArgs),
    /// Find skills by their names and by what they say they do
    Search(search::SearchArgs),
    /// Print a skill as its agent hands it to the model
    ///
    /// Arguments are put in where the agent puts them in. Commands in the skill are not run, unless
    /// `--shell execute` asks for it and the configuration lets skillsd run them.
    Load(load::LoadArgs),
    /// Print the list of skills that goes into a prompt
    Catalog(load::CatalogArgs),
    /// Explain why a skill is seen, or why it is not
    Explain(explain::ExplainArgs),
    /// Find what is wrong with skills
    ///
    /// Checks every SKILL.md below the working directory, or those that are named, by the rules of
    /// docs/rules.md. Ends with 1 when there are errors or warnings. A daemon that runs is asked,
    /// and none is started. Without `--profile` the agents in wide use count.
    Check(check::CheckArgs),
    /// Make a skill to begin with
    New(new::NewArgs),
    /// Show how the daemon is and what it watches
    Status,
    /// Wait until everything on the disk is visible
    Sync,
    /// Print what changes, as it changes
    ///
    /// A line for each skill that comes, goes or changes, until it is interrupted. With `--json`
    /// the first line is the whole list, the others what changed since the line before, as
    /// `skills/list` gives them, and events of other kinds.
    Watch(watch::WatchArgs),
    /// Show the daemon, its worktrees and what happens in them, live
    ///
    /// Worktrees with their skills by state, agents' conversations, which files have activated which
    /// skills, and what happened last. `q` ends it.
    Top,
    /// Tell that an agent has touched files, and show what that brings
    ///
    /// Skill directories near the files are found, and skills that wait for such files are
    /// activated, for the rest of the agent's conversation.
    Touch(touch::TouchArgs),
    /// Open, show, forget or list agents' conversations
    Session(session::SessionArgs),
    /// Show and answer what agents want to be allowed
    ///
    /// An agent that wants to load or run a skill about which a rule says `ask` waits for an answer
    /// here, or asks again after it.
    Permission(permission::PermissionArgs),
    /// Trust what comes with a worktree, so that its skills may run things
    ///
    /// Without DIR the worktree is meant that this is in. Trust holds for the directory and what is
    /// below it, and is kept outside of it. A skill that is changed later asks before it runs
    /// anything again.
    Trust(trust::TrustArgs),
    /// Stop the daemon
    Stop,
    /// Find what is wrong with the daemon and its surroundings
    ///
    /// Looks at the socket, the directories and their modes, the daemon and its version, the
    /// watches, the roots of this place and the configuration, and says what to do about each
    /// finding. It starts no daemon.
    Doctor(doctor::DoctorArgs),
    /// Show the log of a daemon that a command started
    ///
    /// One that systemd runs logs to the journal: `journalctl --user -u skillsd`.
    Logs(logs::LogsArgs),
    /// Register with systemd and with the agents that are there
    ///
    /// Shows each change as a difference and asks before it is written: units of systemd's user
    /// manager, hooks and the MCP server of Claude Code, Codex, Gemini CLI and opencode. A copy of each
    /// file that is changed is kept beside it.
    Install(install::InstallArgs),
    /// Take out what `install` has put in, and nothing else
    Uninstall(install::InstallArgs),
    /// Tell the daemon what an agent's tools do, as the agent's hook
    ///
    /// Reads the hook's JSON on standard input and touches the files that it names, also those in
    /// shell commands and searches; answers in the agent's own form which skills that has brought.
    /// Whatever goes wrong, it ends with 0 and prints nothing, so that no agent is kept from its work.
    Hook(hook::HookArgs),
    /// Print a completion script for a shell
    ///
    /// For example `skillsd completions bash > ~/.local/share/bash-completion/completions/skillsd`.
    Completions(manual::CompletionsArgs),
    /// Print the manual page, or write all of them
    ///
    /// `skillsd man | man -l -` shows the page.
    Man(manual::ManArgs),
}

/// Runs a command and returns the process's exit code. Prints its own errors.
pub fn run(global: &GlobalArgs, command: &Command, binary: Binary<'_>) -> ExitCode {
    let terminal = Terminal::detect(global.color, global.json);
    let outcome = execute(global, command, binary, &terminal);
    let exit = outcome.unwrap_or_else(|error| {
        terminal.print_error(&error);
        error.exit()
    });
    exit.into()
}

/// Returns where a call acts and by whose rules, as the flags say: what a command of the binary
/// puts into its own calls.
pub fn context(global: &GlobalArgs) -> Result<Context, CommandError> {
    let mut params = ListParams::default();
    Place::of(global, None)?.single_profile()?.fill(&mut params, None);
    Ok(params.take_context())
}

/// Says why a command is not carried out, and returns the process's exit code.
pub fn refuse(global: &GlobalArgs, error: &CommandError) -> ExitCode {
    Terminal::detect(global.color, global.json).print_error(error);
    error.exit().into()
}

/// Prints an error about arguments, or the help, and ends the process.
/// Arguments that would steer a terminal are spelled out.
pub fn refuse_arguments(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    let harmless = text::plain_lines(&text);
    if text == harmless {
        error.exit()
    }
    Terminal::detect(Color::Never, false).print_usage(&harmless);
    std::process::exit(error.exit_code())
}

fn execute(
    global: &GlobalArgs,
    command: &Command,
    binary: Binary<'_>,
    terminal: &Terminal,
) -> Result<Exit, CommandError> {
    let cx = CommandContext { global, binary, terminal, notes: Rc::default() };
    let outcome = perform(&cx, command);
    terminal.print_health(&cx.notes.borrow());
    outcome
}

fn perform(cx: &CommandContext<'_>, command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::List(args) => list::run(cx, args),
        Command::Show(args) => show::run(cx, args),
        Command::Search(args) => search::run(cx, args),
        Command::Load(args) => load::run(cx, args),
        Command::Catalog(args) => load::catalog(cx, args),
        Command::Explain(args) => explain::run(cx, args),
        Command::Check(args) => check::run(cx, args),
        Command::New(args) => new::run(cx, args),
        Command::Status => status::run(cx),
        Command::Sync => sync::run(cx),
        Command::Watch(args) => watch::run(cx, args),
        Command::Top => top::run(cx),
        Command::Touch(args) => touch::run(cx, args),
        Command::Session(args) => session::run(cx, args),
        Command::Permission(args) => permission::run(cx, args),
        Command::Trust(args) => trust::run(cx, args),
        Command::Stop => stop::run(cx),
        Command::Doctor(args) => doctor::run(cx, args),
        Command::Logs(args) => logs::run(cx, args),
        Command::Install(args) => install::install(cx, args),
        Command::Uninstall(args) => install::uninstall(cx, args),
        Command::Hook(args) => Ok(hook::run(cx, args)),
        Command::Completions(args) => manual::completions(cx, args),
        Command::Man(args) => manual::pages(cx, args),
    }
}

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
