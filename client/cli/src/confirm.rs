//! Confirmation by the person at the terminal before a command grants anything or changes files of
//! other programs.
//!
//! An agent that runs a command has no terminal, and is refused.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead as _, IsTerminal as _};

use skills_syntax::quote::quote_word;

use crate::context::CommandContext;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::terminal::Terminal;

/// Returns true if standard input and error are a terminal, so that a person can answer a question.
pub(super) fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Fails without a terminal.
pub(super) fn require_person() -> Result<(), CommandError> {
    if has_person() {
        return Ok(());
    }
    Err(CommandError::refused("granting needs a person at a terminal").with_hint(terminal_hint()))
}

/// Returns the hint for a command that asks a question and has no terminal.
pub(super) fn terminal_hint() -> String {
    let command = command_line(env::args_os(), None);
    format!("Run `{command}` in a terminal and answer its question.")
}

/// Returns a command line as it was typed, with one more option, to show in a hint.
fn command_line(args: impl Iterator<Item = OsString>, option: Option<&str>) -> String {
    let args = args.skip(1).map(|it| quote_word(&it.to_string_lossy()));
    let mut words: Vec<_> = std::iter::once("skillsd".to_owned()).chain(args).collect();
    let end = words.iter().position(|it| it == "--").unwrap_or(words.len());
    words.splice(end..end, option.map(str::to_owned));
    words.join(" ")
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

/// Asks whether to make the changes that were shown.
pub(super) fn ask_to_change(cx: &CommandContext<'_>) -> Result<bool, CommandError> {
    if cx.global.json || !io::stdin().is_terminal() {
        let command = command_line(env::args_os(), Some("--yes"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_keeps_options_and_puts_the_new_one_before_names() {
        let line = |args: &[&str]| command_line(args.iter().map(OsString::from), Some("--yes"));
        let install = ["/opt/skillsd", "install", "--only", "mcp", "--agent", "codex"];
        assert_eq!(line(&install), "skillsd install --only mcp --agent codex --yes");
        let disable = ["skillsd", "disable", "--cwd", "my dir", "--", "-odd"];
        assert_eq!(line(&disable), "skillsd disable --cwd 'my dir' --yes -- -odd");
    }
}
