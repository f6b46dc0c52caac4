//! The whole command line: the commands of the client, and those that are a server.
//!
//! Reads flags and hands them on; nothing happens here.

use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use skills_cli::{ABOUT, Binary, GlobalArgs};
use skills_protocol::wire::Shell;

use crate::bridges::lsp;
use crate::bridges::mcp;
use crate::bridges::mcp::McpOptions;
use crate::lifecycle::in_process;
use crate::lifecycle::serve;
use crate::lifecycle::serve::ServeOptions;

/// The program's arguments.
#[derive(Debug, Parser)]
#[command(name = "skillsd", version, about = ABOUT, max_term_width = 100)]
struct Program {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Ask(skills_cli::Command),
    /// Run the daemon in the foreground
    ///
    /// Commands start it by themselves. It ends at `skillsd stop`, SIGTERM or SIGINT, and answers
    /// first what it was asked before. Where one runs already, this names it and ends with 1.
    Serve(ServeArgs),
    /// Run the language server on standard input and output
    ///
    /// For an editor that starts it. What is on the disk it learns from the daemon, which it starts
    /// like every command; with `--no-daemon`, or where none can be started, it looks itself.
    Lsp(LspArgs),
    /// Serve the skills over the Model Context Protocol
    ///
    /// For an agent that starts it and speaks MCP on standard input and output: the tools `skill`,
    /// `search_skills`, `read_skill_file` and `explain_skill`, and each skill as a resource and as
    /// a prompt. The roots of the client decide where it works, unless `--cwd` does. Commands in
    /// skills are never run. It logs to the files that `skillsd logs` shows.
    Mcp(McpArgs),
}

/// How the daemon is run.
#[derive(Debug, Args)]
struct ServeArgs {
    /// Say on standard output that it listens, and log to the state directory from then on
    ///
    /// For a client that starts the daemon and goes.
    #[arg(long, hide = true)]
    spawned: bool,
    /// How much to log, for example `debug` or `warn,skills_engine=debug`
    ///
    /// The filters of `tracing`. Without it the variable SKILLSD_LOG counts, then `log.level` of
    /// the configuration, then `info`.
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
}

/// How the language server is run.
#[derive(Debug, Args)]
struct LspArgs {
    /// Use standard input and output, as it does anyway
    ///
    /// Many editors say so to every language server.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// How the MCP server is run.
#[derive(Debug, Args)]
struct McpArgs {
    /// Make its calls part of this conversation
    ///
    /// What the conversation has activated is listed as well, and what is loaded is recorded.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// What becomes of commands in skills: list, none
    ///
    /// With `list` the model is told of them and may run them itself; with `none` a sentence
    /// stands in their place.
    #[arg(long, value_name = "WHAT", default_value = "list", hide_possible_values = true)]
    shell: Commands,
}

/// What becomes of commands in skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Commands {
    /// They are listed.
    List,
    /// A sentence stands in their place.
    None,
}

/// Runs what the arguments of this process say.
pub(crate) fn run() -> ExitCode {
    let Program { global, command } =
        Program::try_parse().unwrap_or_else(|error| skills_cli::refuse_arguments(&error));
    match command {
        Command::Ask(command) => {
            let binary = Binary { local: &in_process::connect, definition: Program::command };
            skills_cli::run(&global, &command, binary)
        }
        Command::Serve(ServeArgs { spawned, log }) => serve::run(&ServeOptions { spawned, log }),
        Command::Lsp(LspArgs { stdio: _ }) => lsp::run(global.no_daemon),
        Command::Mcp(McpArgs { session, shell }) => {
            let shell = match shell {
                Commands::List => Shell::List,
                Commands::None => Shell::None,
            };
            mcp::run(&global, McpOptions { session, shell })
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_help_of_mcp_says_what_an_agent_gets() {
        let mut program = Program::command();
        program.build();
        let command = program.find_subcommand_mut("mcp").expect("it is there");
        // What stands between paragraphs is blank.
        let help = command.clone().render_long_help().to_string();
        let help: String = help.lines().flat_map(|it| [it.trim_end(), "\n"]).collect();
        expect![[r#"
            Serve the skills over the Model Context Protocol

            For an agent that starts it and speaks MCP on standard input and output: the tools `skill`,
            `search_skills`, `read_skill_file` and `explain_skill`, and each skill as a resource and as a
            prompt. The roots of the client decide where it works, unless `--cwd` does. Commands in skills are
            never run. It logs to the files that `skillsd logs` shows.

            Usage: skillsd mcp [OPTIONS]

            Options:
                  --session <ID>
                      Make its calls part of this conversation

                      What the conversation has activated is listed as well, and what is loaded is recorded.

                  --shell <WHAT>
                      What becomes of commands in skills: list, none

                      With `list` the model is told of them and may run them itself; with `none` a sentence
                      stands in their place.

                      [default: list]

              -h, --help
                      Print help (see a summary with '-h')

            Global options:
                  --cwd <DIR>
                      Act as if started in DIR

                  --add-dir <DIR>
                      Count the skills of DIR as well (repeatable)

                      Directories in the variable SKILLSD_ADD_DIRS, separated by colons, count besides.

                  --profile <PROFILE>
                      Apply the rules of this agent, of several (`a,b`) or of `all` [default: agentskills]

                      For example `claude-code`. With several, and with `all`, `list` and `explain` show them
                      side by side, and `check` goes by the rules of each. `all` holds no variants
                      (`claude-code@founding`); they are named. Without it `profile` of the worktree's
                      `.skillsd.toml` counts, then that of `config.toml`.

                  --json
                      Print the daemon's answer as one line of JSON

                  --no-daemon
                      Index within this process in place of asking the daemon

                  --timeout <SECONDS>
                      Give the daemon up that has not answered for so many seconds [default: 60]

                      It says that it is there at once and is given up after 10 seconds where it does not. After
                      2 seconds without an answer a line on standard error says what is waited for.

                  --color <WHEN>
                      When to use colours: auto, always, never

                      [default: auto]
        "#]].assert_eq(&help);
    }
}
