//! The whole command line: the commands of `skills-cli`, and the servers `serve`, `lsp` and `mcp`.
//!
//! Parses arguments and calls the module that carries the command out.

use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use skills_cli::{ABOUT, Binary, GlobalArgs};
use skills_platform::descriptors::close_inherited;
use skills_protocol::wire::Shell;

use crate::bridges::lsp;
use crate::bridges::mcp;
use crate::bridges::mcp::McpOptions;
use crate::lifecycle::in_process;
use crate::request::settings;
use crate::serve;
use crate::serve::ServeOptions;

/// The program's arguments.
#[derive(Debug, Parser)]
#[command(name = "skillsd", version, about = ABOUT, max_term_width = 100)]
struct Program {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// All commands of the program.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Ask(skills_cli::Command),
    /// Run the daemon in the foreground
    ///
    /// Other commands start the daemon when they need it. It ends at `skillsd stop`, SIGTERM or
    /// SIGINT, after it has answered the calls in flight. If a daemon runs already, prints its
    /// process id and exits with 1.
    Serve(ServeArgs),
    /// Run the language server on standard input and output
    ///
    /// Editors start it. It gets the index from the daemon, and starts the daemon if needed. With
    /// `--no-daemon`, or if no daemon can be started, it keeps an index of its own.
    Lsp(LspArgs),
    /// Serve skills over the Model Context Protocol
    ///
    /// Agents start it and speak MCP on standard input and output. It offers the tools `skill`,
    /// `search_skills`, `read_skill_file` and `explain_skill`, and each skill as a resource and as
    /// a prompt. The working directory comes from the client's roots or from `--cwd`. Commands in
    /// skills never run. `skillsd logs` shows its log.
    Mcp(McpArgs),
}

/// Arguments of `skillsd serve`.
#[derive(Debug, Args)]
struct ServeArgs {
    /// Announce on standard output that the socket listens, then log to the state directory
    ///
    /// For a client that starts the daemon in the background.
    #[arg(long, hide = true)]
    spawned: bool,
    /// Log filter, for example `debug` or `warn,skills_engine=debug`
    ///
    /// In the syntax of `tracing`. Defaults to the variable SKILLSD_LOG, then to `log.level` of the
    /// configuration, then to `info`.
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
}

/// Arguments of `skillsd lsp`.
#[derive(Debug, Args)]
struct LspArgs {
    /// Use standard input and output; accepted because many editors pass it
    ///
    /// It is the only transport.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Arguments of `skillsd mcp`.
#[derive(Debug, Args)]
struct McpArgs {
    /// Make all calls in this session
    ///
    /// Lists also the skills that the session has activated, and records loaded skills.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Treatment of commands in skills: list, none
    ///
    /// `list` shows the commands to the model, which may run them itself; `none` replaces each by a
    /// sentence.
    #[arg(long, value_name = "WHAT", default_value = "list", hide_possible_values = true)]
    shell: Commands,
}

/// Treatment of commands in skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Commands {
    /// Lists them.
    List,
    /// Replaces each by a sentence.
    None,
}

/// Runs the command that the arguments of this process name.
pub(crate) fn run() -> ExitCode {
    let Program { mut global, command } = parse_arguments();
    global.profile_variables = Some(settings::profile_variables);
    match command {
        Command::Ask(command) => {
            let binary = Binary {
                local: &in_process::connect,
                definition: Program::command,
                rules,
                profiles: settings::profile_names,
            };
            skills_cli::run(&global, &command, binary)
        }
        Command::Serve(ServeArgs { spawned, log }) => serve::run(&ServeOptions { spawned, log }),
        Command::Lsp(LspArgs { stdio: _ }) => {
            close_inherited(&[]);
            lsp::run(&global)
        }
        Command::Mcp(McpArgs { session, shell }) => {
            close_inherited(&[]);
            let shell = match shell {
                Commands::List => Shell::List,
                Commands::None => Shell::None,
            };
            mcp::run(&global, McpOptions { session, shell })
        }
    }
}

/// Parses the arguments of this process. For help and mistakes, prints a text and exits.
fn parse_arguments() -> Program {
    let parse = |definition: &mut clap::Command| {
        let matches = definition.try_get_matches_from_mut(std::env::args_os());
        matches.and_then(|mut it| Program::from_arg_matches_mut(&mut it))
    };
    let mut definition = Program::command();
    if let Ok(program) = parse(&mut definition) {
        if matches!(program.command, Command::Ask(_)) {
            // The process ends soon; freeing this takes as long as half of the parsing.
            std::mem::forget(definition);
        }
        return program;
    }
    // Only a printed text needs the layout of the help, which is rendered in advance.
    let mut definition = skills_cli::grouped_help(Program::command());
    parse(&mut definition)
        .unwrap_or_else(|error| skills_cli::refuse_arguments(error, &mut definition))
}

/// Returns all rules, each with its problem.
fn rules() -> Vec<(String, String)> {
    let rules = skills_lint::rules().iter();
    rules.map(|it| (it.id.as_str().to_owned(), it.problem.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn mcp_help_lists_its_tools() {
        let mut program = skills_cli::grouped_help(Program::command());
        program.build();
        let command = program.find_subcommand_mut("mcp").expect("it is there");
        // clap pads blank lines.
        let help = command.clone().render_long_help().to_string();
        let help: String = help.lines().flat_map(|it| [it.trim_end(), "\n"]).collect();
        expect![[r#"
            Serve skills over the Model Context Protocol

            Agents start it and speak MCP on standard input and output. It offers the tools `skill`,
            `search_skills`, `read_skill_file` and `explain_skill`, and each skill as a resource and as a
            prompt. The working directory comes from the client's roots or from `--cwd`. Commands in skills
            never run. `skillsd logs` shows its log.

            Usage: skillsd mcp [OPTIONS]

            Options:
                  --session <ID>
                      Make all calls in this session

                      Lists also the skills that the session has activated, and records loaded skills.

                  --shell <WHAT>
                      Treatment of commands in skills: list, none

                      `list` shows the commands to the model, which may run them itself; `none` replaces each by
                      a sentence.

                      [default: list]

              -h, --help
                      Print help (see a summary with '-h')

            Global options, see `help options`: --cwd --add-dir --profile --json --no-daemon --timeout --color
        "#]].assert_eq(&help);
    }
}
