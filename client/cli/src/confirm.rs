//! Confirmation by the person at the terminal before a command grants anything or changes files of
//! other programs.
//!
//! An agent that runs a command has no terminal, and is refused.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::terminal::Terminal;

/// Returns true if standard input and error are a terminal, so that a person can answer a question.
pub(super) fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Fails without a terminal. `command` is the command line to show in the hint.
pub(super) fn require_person(command: &str) -> Result<(), CommandError> {
    if has_person() {
        return Ok(());
    }
    Err(CommandError::refused("granting needs a person at a terminal")
        .with_hint(format!("Run `{command}` in a terminal and answer its question.")))
}

/// Shows what would be granted, asks, and returns whether the answer is yes.
pub(super) fn agree(terminal: &Terminal, shown: &str) -> Result<bool, CommandError> {
    terminal.prompt(&format!("{shown} [y/N] "));
    read_yes()
}

fn read_yes() -> Result<bool, CommandError> {
    Ok(matches!(&*read_answer()?, "y" | "Y" | "yes"))
}

/// Reads a line from standard input, without the white space around it.
pub(super) fn read_answer() -> Result<String, CommandError> {
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|error| CommandError::output(&error))?;
    Ok(answer.trim().to_owned())
}

/// Asks whether to make the changes that were shown. `command` is the command that makes them
/// without a question, to show in the hint.
pub(super) fn ask_to_change(cx: &CommandContext<'_>, command: &str) -> Result<bool, CommandError> {
    if cx.global.json || !io::stdin().is_terminal() {
        return Err(CommandError::usage("cannot ask for confirmation, so nothing was changed")
            .with_hint(format!("Run `{command}`, or use `--dry-run` to see what it does.")));
    }
    cx.terminal.print("Make these changes? [y/N] ")?;
    read_yes()
}

/// Reports that nothing was granted, and returns the exit code.
pub(super) fn declined(terminal: &Terminal) -> Exit {
    terminal.prompt("Nothing was granted.\n");
    Exit::Denied
}
