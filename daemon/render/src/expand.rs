//! Expands a skill's body: substitutes arguments, variables and command results.

use std::collections::BTreeMap;

use super::command::{CommandSyntax, ShellCommand, find_commands};
use super::substitute::Substitutions;

/// Treatment of embedded commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellMode {
    /// Commands are returned to the client, which runs them and sends the results.
    List,
    /// Commands are replaced by a notice.
    Disabled,
}

/// Results of commands, by id.
pub type ShellResults = BTreeMap<String, String>;

/// Claude Code's notice for disabled commands.
pub(super) const DISABLED: &str = "[shell command execution disabled by policy]";

pub(super) struct Expanded {
    pub(super) text: String,
    /// The commands without a result, which remain in the text.
    pub(super) commands: Vec<ShellCommand>,
    /// True if a command was replaced by the notice.
    pub(super) has_disabled: bool,
    /// The ids of the substituted results.
    pub(super) filled: Vec<String>,
}

/// Substitutes values and command results in a body.
pub(super) fn expand(
    body: &str,
    marks: CommandSyntax,
    values: &mut Substitutions<'_>,
    shell: ShellMode,
    results: &ShellResults,
) -> Expanded {
    let mut expanded = Expanded {
        text: String::with_capacity(body.len()),
        commands: Vec::new(),
        has_disabled: false,
        filled: Vec::new(),
    };
    let mut from = 0;
    for (nth, injected) in find_commands(body, marks).into_iter().enumerate() {
        expanded.text.push_str(&values.fill(&body[from..injected.whole.start]));
        from = injected.whole.end;
        // Substitute even if the command is not shown, so that its arguments count as used.
        let command = ShellCommand::new(nth, values.fill(&body[injected.command.clone()]));
        if shell == ShellMode::Disabled {
            expanded.text.push_str(DISABLED);
            expanded.has_disabled = true;
            continue;
        }
        if let Some(result) = results.get(&command.id) {
            expanded.text.push_str(result);
            expanded.filled.push(command.id);
        } else {
            expanded.text.push_str(&body[injected.whole.start..injected.command.start]);
            expanded.text.push_str(&command.command);
            expanded.text.push_str(&body[injected.command.end..injected.whole.end]);
            expanded.commands.push(command);
        }
    }
    expanded.text.push_str(&values.fill(&body[from..]));
    expanded
}
