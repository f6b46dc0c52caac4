//! A body with everything put in: arguments, variables, and what its commands gave.

use std::collections::BTreeMap;

use super::command::{CommandSyntax, ShellCommand, find_commands};
use super::substitute::Substitutions;

/// What becomes of the commands in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellMode {
    /// They are given back, to be run and answered.
    List,
    /// A sentence stands in their place.
    Disabled,
}

/// What commands gave, by their ids.
pub type ShellResults = BTreeMap<String, String>;

/// Claude Code's words in place of a command where commands are switched off.
pub(super) const DISABLED: &str = "[shell command execution disabled by policy]";

/// A body with everything put in.
pub(super) struct Expanded {
    pub(super) text: String,
    /// The commands without a result, which still stand in the text.
    pub(super) commands: Vec<ShellCommand>,
    /// The ids of results that were put in.
    pub(super) filled: Vec<String>,
}

/// Puts values and results into a body.
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
        filled: Vec::new(),
    };
    let mut from = 0;
    for (nth, injected) in find_commands(body, marks).into_iter().enumerate() {
        expanded.text.push_str(&values.fill(&body[from..injected.whole.start]));
        from = injected.whole.end;
        // Also of what does not show: arguments that it takes are not told once more at the end.
        let command = ShellCommand::new(nth, values.fill(&body[injected.command.clone()]));
        if shell == ShellMode::Disabled {
            expanded.text.push_str(DISABLED);
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
