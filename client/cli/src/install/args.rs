//! Command-line arguments of `skillsd install` and `skillsd uninstall`.

use clap::{Args, ValueEnum};
use skills_protocol::wire::InstallPart;

/// Arguments of `install` and `uninstall`.
#[derive(Debug, Clone, Args)]
pub struct InstallArgs {
    /// Show the changes without making them
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Change without asking
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Parts, separated by commas: units, hooks, mcp [default: all]
    #[arg(long, value_name = "PARTS", value_delimiter = ',', hide_possible_values = true)]
    only: Vec<OnlyPart>,
}

/// A part of the installation, as named by `--only`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnlyPart {
    Units,
    Hooks,
    Mcp,
}

impl InstallArgs {
    /// Returns the selected parts; all of them by default.
    pub(super) fn parts(&self) -> Vec<InstallPart> {
        let part = |it: &OnlyPart| match it {
            OnlyPart::Units => InstallPart::Units,
            OnlyPart::Hooks => InstallPart::Hooks,
            OnlyPart::Mcp => InstallPart::Mcp,
        };
        if self.only.is_empty() {
            return vec![InstallPart::Units, InstallPart::Hooks, InstallPart::Mcp];
        }
        self.only.iter().map(part).collect()
    }
}
