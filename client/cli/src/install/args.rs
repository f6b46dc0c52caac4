//! Command-line arguments of `skillsd install` and `skillsd uninstall`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use skills_protocol::wire::InstallPart;

use crate::failure::CommandError;
use crate::install::agents;

#[derive(Debug, Clone, Args)]
pub struct InstallArgs {
    /// Show the changes without making them
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Change without asking
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Parts, separated by commas: units, hooks, mcp [default: units,hooks; uninstall: all]
    ///
    /// The agents that are registered here have skills of their own. With the MCP server they list
    /// each skill twice, so it is registered only on request.
    #[arg(long, value_name = "PARTS", value_delimiter = ',', hide_possible_values = true,
        value_parser = PossibleValuesParser::new(["units", "hooks", "mcp"]).map(|it| part(&it)))]
    only: Vec<InstallPart>,
    /// Only this agent (repeatable): claude-code, codex, gemini-cli, opencode, cline, copilot-cli,
    /// droid, kilo, qwen-code; with `--only mcp` also kimi-code, qoder
    #[arg(long = "agent", value_name = "NAME", hide_possible_values = true,
        value_parser = PossibleValuesParser::new(agents::names()))]
    agents: Vec<String>,
}

/// Returns the part of the installation with this name.
fn part(name: &str) -> InstallPart {
    match name {
        "units" => InstallPart::Units,
        "hooks" => InstallPart::Hooks,
        _ => InstallPart::Mcp,
    }
}

impl InstallArgs {
    /// Returns whether the files of this owner are selected; units belong to no agent.
    pub(super) fn selects(&self, owner: &str) -> bool {
        self.agents.is_empty() || self.agents.iter().any(|it| it == owner)
    }

    /// Refuses parts that a selected agent does not have: the units belong to the daemon.
    pub(super) fn check(&self, parts: &[InstallPart]) -> Result<(), CommandError> {
        if self.agents.is_empty() {
            return Ok(());
        }
        if !self.only.is_empty() && self.only.iter().all(|it| *it == InstallPart::Units) {
            let message = "`--only units` conflicts with `--agent`: no agent has units";
            return Err(CommandError::usage(message).with_hint("Pass one of the two."));
        }
        let without_hooks = self.agents.iter().find(|it| !agents::has_hooks(it));
        let wants_hooks = self.only.contains(&InstallPart::Hooks);
        match without_hooks.filter(|_| wants_hooks || !parts.contains(&InstallPart::Mcp)) {
            Some(name) => Err(CommandError::usage(format!("skillsd has no hooks for `{name}`"))
                .with_hint("Pass `--only mcp` to register the MCP server.")),
            None => Ok(()),
        }
    }

    /// Returns the selected parts, or else `default`.
    pub(super) fn parts(&self, default: &[InstallPart]) -> Vec<InstallPart> {
        if self.only.is_empty() { default } else { &self.only }.to_vec()
    }
}
