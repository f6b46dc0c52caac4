//! The `skillsd` commands that are clients of the daemon: flags, and one module per command.
//!
//! The binary adds the commands that are servers (`serve`, `lsp`) and passes in how to run a server
//! within this process, for `--no-daemon`.
//! A command makes one or two calls, renders the result and returns an exit code. It reads no skill
//! itself, so `--json`, the human output and the daemon cannot disagree.

pub mod exit;

mod agent_config;
mod budget;
mod call_context;
mod check;
mod complete;
mod confirm;
mod context;
mod doctor;
mod explain;
mod failure;
mod global;
mod heading;
mod help;
mod hook;
mod install;
mod link;
mod list;
mod listing_costs;
mod load;
mod logs;
mod manual;
mod new;
mod permission;
mod replace;
mod report;
mod search;
mod server_connection;
mod session;
mod show;
mod status;
mod stop;
mod style;
mod suggestion;
mod switch;
mod sync;
mod terminal;
mod text;
mod top;
mod touch;
mod trust;
mod watch;

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use clap::Subcommand;
use skills_client::spawn::StartOptions;
use skills_protocol::env::SKILLSD_PROFILE;
use skills_protocol::wire::{Context, Contextual as _, Health, ListParams};

use call_context::CallContext;
use context::CommandContext;
use exit::Exit;
use server_connection::ServerConnection;
use terminal::Terminal;

pub use context::{Binary, Local};
pub use failure::CommandError;
pub use global::{Color, GlobalArgs, ProfileVariables};
pub use help::grouped_help;
#[cfg(feature = "invariants")]
pub use hook::shell_files;

/// Time limit for each answer of a daemon that may be an older one. A daemon that hangs delays the
/// start of a server by it.
const REPLACE_TIMEOUT: Duration = Duration::from_secs(3);

/// The commands of this crate alone, for tests; the binary composes its own from the same parts.
#[cfg(test)]
#[derive(Debug, clap::Parser)]
#[command(name = "skillsd", version, about = ABOUT, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// First line of the program's help.
pub const ABOUT: &str = "Finds, explains and serves the agent skills (SKILL.md) of a worktree";

/// The commands that ask the daemon.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// List the skills that an agent sees
    List(list::ListArgs),
    /// Show a skill's entry, frontmatter and findings
    Show(show::ShowArgs),
    /// Search skills by name and description
    Search(search::SearchArgs),
    /// Print a skill as its agent gives it to the model
    ///
    /// Arguments are inserted by the agent's rules. Commands in the skill run only with
    /// `--shell execute`, and only if the configuration allows it.
    Load(load::LoadArgs),
    /// Print the skill listing of an agent's prompt
    Catalog(load::CatalogArgs),
    /// Show the cost of each skill in the agent's listing
    ///
    /// Agents limit the listing of skills that they give to their model, and drop or shorten
    /// descriptions that do not fit. Shows the size of the listing and its limit, the characters
    /// and tokens of each skill's entry, by the agent's own estimate if it is known, the tokens
    /// that a skill adds when it is loaded, and what to shorten first. Claude Code counts a wide
    /// character, such as a Chinese one, as two.
    Budget(budget::BudgetArgs),
    /// Explain why an agent sees a skill, or why not
    Explain(explain::ExplainArgs),
    /// Find errors in skills
    ///
    /// Checks every SKILL.md below the working directory, or the given paths, by the rules of
    /// docs/rules.md. Exits with 1 if there are errors or warnings. Asks a running daemon and does
    /// not start one. Without `--profile` and `check.profiles` it applies the rules of the agent
    /// that runs it, else of the agents that are present, else of the widely used ones.
    Check(check::CheckArgs),
    /// Write a page about a worktree's skills
    ///
    /// Writes one HTML file: skills with their state for each agent and the reason, their size,
    /// conflicts, findings, and references between skills. The page needs no network. Without
    /// `--profile` it covers the agents that are present, which come first, and all widely used
    /// ones. Does not start a daemon.
    Report(report::ReportArgs),
    /// Create a skill from a template
    New(new::NewArgs),
    /// Switch a skill on in its agent's settings
    ///
    /// Takes back what `disable` wrote, byte for byte, or removes the entry that switches the skill
    /// off. Shows the change of the file and asks before it writes.
    Enable(switch::SwitchArgs),
    /// Switch a skill off in its agent's settings
    ///
    /// Edits the settings of Claude Code, Codex, Gemini CLI or opencode and keeps comments and
    /// layout. Shows the change of the file and asks before it writes. Refuses if another setting
    /// is stronger.
    Disable(switch::SwitchArgs),
    /// Make a skill visible to another agent by a symlink
    ///
    /// Creates a relative link in the agent's directory: of the project for a project's skill, of
    /// the user for a user's. Refuses if the agent would not take it, and says why.
    Link(link::LinkArgs),
    /// Remove a link of `link`
    Unlink(link::UnlinkArgs),
    /// Show the daemon's state and what it watches
    ///
    /// Starts no daemon: if none runs, shows the state of a server within this process.
    Status,
    /// Wait until the index has every change on the disk
    Sync,
    /// Print changes of the skill list as they happen
    ///
    /// Prints a line for each skill that is added, removed or changed, until interrupted. With
    /// `--json` the first line is the whole list in the form of `skills/list`; each later line has
    /// the changes since the line before it, or another event.
    Watch(watch::WatchArgs),
    /// Show the daemon, its worktrees and events, live
    ///
    /// Shows worktrees with their skills by state, agents' sessions, the files that activated
    /// skills, and the latest events. `q` quits.
    Top,
    /// Report touched files and show which skills they activate
    ///
    /// Discovers skill directories near the files and activates skills whose `paths` match, for the
    /// rest of the agent's session.
    Touch(touch::TouchArgs),
    /// Open, get, close or list agents' sessions
    Session(session::SessionArgs),
    /// Show and answer agents' requests for approval
    ///
    /// If a rule says `ask` about a skill, the agent that loads or runs it waits for an answer here
    /// or asks again later.
    Permission(permission::PermissionArgs),
    /// Trust a worktree, so that its skills may run scripts
    ///
    /// Defaults to the current worktree. Trust covers the directory and everything below it. It is
    /// stored outside the worktree. If a skill changes later, it asks again before it runs
    /// anything.
    Trust(trust::TrustArgs),
    /// Stop the daemon
    Stop,
    /// Find problems of the daemon and its environment
    ///
    /// Examines the socket, directories and their modes, the daemon and its version, the watches,
    /// the search roots of the working directory and the configuration. Each finding says what to
    /// do. Does not start a daemon.
    Doctor(doctor::DoctorArgs),
    /// Show the log of a daemon that a command started
    ///
    /// Also of one that launchd started. A daemon started by systemd logs to the journal:
    /// `journalctl --user -u skillsd`. One in the foreground logs to its terminal.
    Logs(logs::LogsArgs),
    /// Register skillsd with systemd and with installed agents
    ///
    /// Shows the change of each file as a diff and asks before it writes: units of systemd's user
    /// manager, and hooks of the agents that have them; with `--only mcp` the MCP server. Keeps a
    /// copy of each changed file beside it.
    Install(install::InstallArgs),
    /// Remove what `install` added
    Uninstall(install::InstallArgs),
    /// Report an agent's tool calls to the daemon, as the agent's hook
    ///
    /// Reads the hook's JSON from standard input and touches the files that it names, including
    /// those in shell commands and searches. Answers in the agent's format with the skills that
    /// became available. On any error it exits with 0 and prints nothing to
    /// standard output, so the agent goes on.
    Hook(hook::HookArgs),
    /// Print a completion script for a shell
    ///
    /// The script completes commands and options, and the names of skills, sessions, rules,
    /// profiles and worktrees: from the daemon if it runs. It never starts one.
    ///
    /// For example `skillsd completions bash > ~/.local/share/bash-completion/completions/skillsd`.
    Completions(manual::CompletionsArgs),
    /// Print the names that fit the end of a command line, for completion scripts
    #[command(name = "__complete", hide = true)]
    Complete(complete::CompleteArgs),
    /// Print the manual page, or write one for each command
    ///
    /// `skillsd man | man -l -` shows the page.
    Man(manual::ManArgs),
}

/// Runs a command, prints its errors, and returns the exit code.
pub fn run(global: &GlobalArgs, command: &Command, binary: Binary<'_>) -> ExitCode {
    let terminal = Terminal::detect(global);
    let outcome = execute(global, command, binary, &terminal);
    let exit = outcome.unwrap_or_else(|error| {
        terminal.print_error(&error);
        error.exit()
    });
    exit.into()
}

/// Returns the call context (directory, profile, environment) that the flags select, for commands
/// of the binary.
pub fn context(global: &GlobalArgs) -> Result<Context, CommandError> {
    let context = CallContext::from_args(global, None)?.single_profile()?;
    let mut params: ListParams = context.params();
    Ok(params.take_context())
}

/// Prints a note if standard input is a terminal, for a person who starts a server by hand.
pub fn print_server_note(global: &GlobalArgs, note: &str) {
    if std::io::stdin().is_terminal() {
        Terminal::detect(global).print_notes(&[note.to_owned()]);
    }
}

/// Replaces an older daemon that no other client uses, for a server of the binary that connects
/// afterwards. Prints what it did, or that the daemon has another version, and returns that.
pub fn replace_older_daemon(global: &GlobalArgs, options: &StartOptions) -> Vec<Health> {
    let options = StartOptions { connect_timeout: REPLACE_TIMEOUT, ..options.clone() };
    let health = ServerConnection::replace_running(&options);
    Terminal::detect(global).print_health(&health);
    health
}

/// Prints an error of a command and returns its exit code.
pub fn refuse(global: &GlobalArgs, error: &CommandError) -> ExitCode {
    Terminal::detect(global).print_error(error);
    error.exit().into()
}

/// Prints an error about arguments of a program, or the help, and exits. Suggests a command for an
/// unknown one. Control characters in arguments are escaped.
pub fn refuse_arguments(mut error: clap::Error, program: &mut clap::Command) -> ! {
    suggestion::suggest(&mut error);
    let error = error.format(program);
    let text = error.render().to_string();
    let harmless = text::plain_lines(&text);
    if text == harmless {
        error.exit()
    }
    Terminal::detect(&GlobalArgs { color: Color::Never, ..GlobalArgs::default() })
        .print_usage(&harmless);
    std::process::exit(error.exit_code())
}

fn execute(
    global: &GlobalArgs,
    command: &Command,
    binary: Binary<'_>,
    terminal: &Terminal,
) -> Result<Exit, CommandError> {
    let cx = CommandContext {
        global,
        binary,
        terminal,
        notes: Rc::default(),
        is_daemon_silent: Cell::new(false),
    };
    let outcome = perform(&cx, command);
    terminal.print_health(&cx.notes.borrow());
    outcome.map_err(|error| {
        let error = error.with_target_options(&global.target_options());
        match std::env::var(SKILLSD_PROFILE) {
            Ok(names) if global.profile.is_none() => error.with_variable(SKILLSD_PROFILE, &names),
            Ok(_) | Err(_) => error,
        }
    })
}

fn perform(cx: &CommandContext<'_>, command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::List(args) => list::run(cx, args),
        Command::Show(args) => show::run(cx, args),
        Command::Search(args) => search::run(cx, args),
        Command::Load(args) => load::run(cx, args),
        Command::Catalog(args) => load::catalog(cx, args),
        Command::Budget(args) => budget::run(cx, args),
        Command::Explain(args) => explain::run(cx, args),
        Command::Check(args) => check::run(cx, args),
        Command::Report(args) => report::run(cx, args),
        Command::New(args) => new::run(cx, args),
        Command::Enable(args) => switch::run(cx, args, switch::SwitchTo::Enabled),
        Command::Disable(args) => switch::run(cx, args, switch::SwitchTo::Disabled),
        Command::Link(args) => link::link(cx, args),
        Command::Unlink(args) => link::unlink(cx, args),
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
        Command::Complete(args) => complete::run(cx, args),
        Command::Completions(args) => manual::completions(cx, args),
        Command::Man(args) => manual::pages(cx, args),
    }
}

#[cfg(test)]
mod tests;
