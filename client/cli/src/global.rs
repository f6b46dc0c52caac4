//! The global flags of the command line.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use skills_protocol::PROFILES;

/// The value of `--profile` that selects every agent's current profile and the user's own profiles.
pub(crate) const ALL_PROFILES: &str = "all";

/// The flags that every command takes, before or after its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Act as if started in DIR
    #[arg(long, global = true, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Count the skills of DIR as well (repeatable)
    ///
    /// Directories in the variable SKILLSD_ADD_DIRS, separated by colons, count besides.
    #[arg(long = "add-dir", global = true, value_name = "DIR")]
    pub add_dirs: Vec<PathBuf>,
    /// Apply the rules of this agent, of several (`a,b`) or of `all` [default: agentskills]
    ///
    /// For example `claude-code`. With several, and with `all`, `list` and `explain` show them side
    /// by side, and `check` goes by the rules of each. `all` holds no variants (`claude-code@founding`); they are named.
    /// Without it `profile` of the worktree's `.skillsd.toml` counts, then that of `config.toml`.
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
    /// Index within this process in place of asking the daemon
    #[arg(long, global = true)]
    pub no_daemon: bool,
    /// Give the daemon up that has not answered for so many seconds [default: 60]
    ///
    /// It says that it is there at once and is given up after 10 seconds where it does not. After 2
    /// seconds without an answer a line on standard error says what is waited for.
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
        help = "When to use colours: auto, always, never"
    )]
    pub color: Color,
}

/// When output is coloured.
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

/// Parser of `--profile`. It accepts any name, since users define profiles, and completes the built-in ones.
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
        Some(Box::new([ALL_PROFILES].iter().chain(PROFILES).map(PossibleValue::new)))
    }
}
