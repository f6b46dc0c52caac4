//! Commands in a body: `` !`…` `` and code blocks that begin with ```` ```! ````.
//!
//! They are looked for in the body as its author wrote it, before anything is put in: an argument
//! can be part of a command that is there, and can never make one.

use std::ops::Range;

/// A command that stands in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedCommand {
    /// All of it, with what marks it as a command.
    pub whole: Range<usize>,
    /// The command.
    pub command: Range<usize>,
}

/// A command with its arguments put in, to be run by whoever may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// Names it in the results; the same for the same command at the same place.
    pub id: String,
    /// The command, one or several lines of shell.
    pub command: String,
}

/// Whose marks mean a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandSyntax {
    /// Claude Code's: `` !`…` `` at the start of a line or after white space, and fenced blocks.
    Claude,
    /// opencode's slash commands: `` !`…` `` anywhere.
    Slash,
}

const FENCE: &str = "```";

/// Returns how many commands there are in a text, by the rules of the agent that has them.
pub fn count_commands(text: &str) -> usize {
    find_commands(text, CommandSyntax::Claude).len()
}

/// Finds the commands of a body, in order.
pub(super) fn find_commands(body: &str, marks: CommandSyntax) -> Vec<EmbeddedCommand> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = body[from..].find(['!', '`']).map(|it| from + it) {
        let next = match (body.as_bytes()[at], marks) {
            (b'`', CommandSyntax::Claude) if body[at..].starts_with("```!") => fenced(body, at),
            (b'!', CommandSyntax::Claude) if follows_white_space(body, at) => inline(body, at),
            (b'!', CommandSyntax::Slash) => inline(body, at),
            _ => None,
        };
        from = next.as_ref().map_or(at + 1, |it| it.whole.end);
        found.extend(next);
    }
    found
}

fn follows_white_space(body: &str, at: usize) -> bool {
    body[..at].chars().next_back().is_none_or(char::is_whitespace)
}

/// `` !`…` ``: up to the next backtick, over lines too.
fn inline(body: &str, at: usize) -> Option<EmbeddedCommand> {
    let start = at + 2;
    if !body[at..].starts_with("!`") {
        return None;
    }
    let end = start + body[start..].find('`')?;
    (end > start).then_some(EmbeddedCommand { whole: at..end + 1, command: start..end })
}

/// A code block: from the next line, or what stands behind the mark, up to the closing fence.
fn fenced(body: &str, at: usize) -> Option<EmbeddedCommand> {
    let behind = at + FENCE.len() + 1;
    let close = behind + body[behind..].find(FENCE)?;
    let inside = &body[behind..close];
    let start = behind + (inside.len() - inside.trim_start().len());
    let end = close - usize::from(start < close && body[..close].ends_with('\n'));
    let end = end - usize::from(start < end && body[..end].ends_with('\r'));
    // Nothing to run is no command.
    (start < end).then_some(EmbeddedCommand { whole: at..close + FENCE.len(), command: start..end })
}

impl ShellCommand {
    /// Names a command by its place among the others and by what it is.
    pub(super) fn new(nth: usize, command: String) -> Self {
        // FNV-1a: the number has to be the same in another run, and guards against mistakes only.
        let hash = command.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { id: format!("{}-{:08x}", nth + 1, hash as u32), command }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, marks: CommandSyntax, expected: &[&str]) {
        let found = find_commands(body, marks);
        let commands: Vec<_> = found.iter().map(|it| &body[it.command.clone()]).collect();
        assert_eq!(commands, expected, "{body:?}");
    }

    #[test]
    fn commands_stand_at_the_start_of_a_line_or_behind_white_space() {
        check("!`a` x !`b c`\n!`d`\t!`e`", CommandSyntax::Claude, &["a", "b c", "d", "e"]);
        check("x!`a` (!`b`) `!`c` !d !`` !`e", CommandSyntax::Claude, &[]);
        check("!`a\nb`", CommandSyntax::Claude, &["a\nb"]);
        check("x!`a` (!`b`)", CommandSyntax::Slash, &["a", "b"]);
    }

    #[test]
    fn commands_stand_in_blocks() {
        check("```!\ngit status\ngit log\n```\nx", CommandSyntax::Claude, &["git status\ngit log"]);
        check("```! date```", CommandSyntax::Claude, &["date"]);
        check("```!\r\ndate\r\n```", CommandSyntax::Claude, &["date"]);
        check("```!\n!`x`\n``` !`y`", CommandSyntax::Claude, &["!`x`", "y"]);
        check("```bash\ndate\n```\n```!\n\n```", CommandSyntax::Claude, &[]);
        check("```!\nnever closed", CommandSyntax::Claude, &[]);
        check("```!\ndate\n```", CommandSyntax::Slash, &[]);
    }

    #[test]
    fn a_command_keeps_its_name() {
        let name = |nth, command: &str| ShellCommand::new(nth, command.to_owned()).id;
        assert_eq!(name(0, "date"), name(0, "date"));
        assert_ne!(name(0, "date"), name(1, "date"));
        assert_ne!(name(0, "date"), name(0, "dat"));
        assert!(name(0, "date").starts_with("1-"));
    }
}
