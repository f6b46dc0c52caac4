//! The global flags of the command line.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use skills_protocol::PROFILES;
use skills_syntax::quote::quote_word;

/// The value of `--profile` that selects the profiles of the agents that are present, the widely
/// used ones and the user's own.
pub(crate) const ALL_PROFILES: &str = "all";

/// The value of `--profile` that selects every agent's current profile, those present first, and
/// the user's own profiles.
pub(crate) const EVERY_PROFILE: &str = "every";

/// Separator of the names in `--profile`.
pub(crate) const PROFILE_SEPARATOR: char = ',';

/// Flags that every command accepts, before or after its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Run as if started in DIR
    #[arg(long, global = true, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Also include skills from DIR (repeatable)
    ///
    /// The variable SKILLSD_ADD_DIRS adds more directories, separated by colons.
    #[arg(long = "add-dir", global = true, value_name = "DIR")]
    pub add_dirs: Vec<PathBuf>,
    /// Apply the rules of this agent, of several (`a,b`) or of `all` [default: detected]
    ///
    /// For example `claude-code`. With several agents, `list` and `explain` show them side by side,
    /// `budget` one after the other, and `check` applies the rules of each. `all` takes the agents
    /// that are present and the widely used ones, `every` all that have a profile. Both leave out
    /// variants such as `claude-code@founding`; name them. The default is, in this order: the
    /// variable SKILLSD_PROFILE, `profile` in the worktree's `.skillsd.toml` unless an agent runs
    /// the command, `profile` in `config.toml`, the agent that runs the command, the agents that
    /// are installed or that the worktree is set up for, `agentskills`. With several such agents,
    /// `list`, `explain`, `check` and `budget` answer for each; the other commands take the first,
    /// and say so.
    #[arg(
        long,
        global = true,
        value_name = "PROFILE",
        value_parser = ProfileNames,
        hide_possible_values = true
    )]
    pub profile: Option<String>,
    /// Print the daemon's answer as one line of JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Run without the daemon, with an index in this process
    #[arg(long, global = true)]
    pub no_daemon: bool,
    /// Stop waiting for the daemon after this many seconds [default: 60]
    ///
    /// A daemon that does not accept the connection within 10 seconds is given up earlier. After 2
    /// seconds without an answer, standard error says what the command waits for.
    #[arg(
        long,
        global = true,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=86_400)
    )]
    pub timeout: Option<u32>,
    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help = "Use colours: auto, always, never"
    )]
    pub color: Color,
    /// Reads the variables of the user's own profiles; set by the program.
    #[arg(skip)]
    pub profile_variables: Option<ProfileVariables>,
}

impl GlobalArgs {
    /// Returns the options that select the skills of a call, as they are typed.
    pub(crate) fn target_options(&self) -> Vec<String> {
        let dir = |it: &PathBuf| quote_word(&it.to_string_lossy());
        let cwd = self.cwd.iter().map(|it| format!("--cwd {}", dir(it)));
        let add_dirs = self.add_dirs.iter().map(|it| format!("--add-dir {}", dir(it)));
        let profile = self.profile.iter().map(|it| format!("--profile {}", quote_word(it)));
        cwd.chain(add_dirs).chain(profile).collect()
    }
}

/// Returns the variables that the user's profiles read beyond those that every client sends: each
/// with the name of its profile.
pub type ProfileVariables = fn() -> Vec<(String, String)>;

/// When to colour output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Parser of `--profile`. It accepts any name, since users define profiles, and completes the
/// built-in ones.
#[derive(Clone, Debug)]
struct ProfileNames;

impl TypedValueParser for ProfileNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new([ALL_PROFILES, EVERY_PROFILE].iter().chain(PROFILES).map(PossibleValue::new)))
    }
}
