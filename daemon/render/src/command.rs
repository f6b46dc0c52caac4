//! Finds embedded shell commands in a body: `` !`…` `` and code blocks whose info string is `!`.
//!
//! The search runs on the author's text before substitution: an argument can become part of an
//! existing command but cannot create one.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedCommand {
    /// The range including the markers.
    pub whole: Range<usize>,
    pub command: Range<usize>,
}

/// A command with its arguments substituted, to be run by the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// The id in the results; stable for the same command at the same position.
    pub id: String,
    /// The command, one or several lines of shell.
    pub command: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandSyntax {
    /// Claude Code's: `` !`…` `` at the start of a line or after white space, and fenced blocks.
    Claude,
    /// opencode's slash commands: `` !`…` `` anywhere.
    Slash,
}

const FENCE: &str = "```";

/// Returns the number of embedded commands in a text, by Claude Code's syntax.
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

/// Parses `` !`…` `` up to the next backtick, also across lines.
fn inline(body: &str, at: usize) -> Option<EmbeddedCommand> {
    let start = at + 2;
    if !body[at..].starts_with("!`") {
        return None;
    }
    let end = start + body[start..].find('`')?;
    (end > start).then_some(EmbeddedCommand { whole: at..end + 1, command: start..end })
}

/// Parses a code block, from the next line or the text after the marker up to the closing fence.
fn fenced(body: &str, at: usize) -> Option<EmbeddedCommand> {
    let behind = at + FENCE.len() + 1;
    let close = behind + body[behind..].find(FENCE)?;
    let inside = &body[behind..close];
    let start = behind + (inside.len() - inside.trim_start().len());
    let end = close - usize::from(start < close && body[..close].ends_with('\n'));
    let end = end - usize::from(start < end && body[..end].ends_with('\r'));
    // An empty block is not a command.
    (start < end).then_some(EmbeddedCommand { whole: at..close + FENCE.len(), command: start..end })
}

impl ShellCommand {
    /// Derives the id from the command's position and text.
    pub(super) fn new(nth: usize, command: String) -> Self {
        // FNV-1a is stable across processes; the hash only guards against mistakes.
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
    fn inline_commands_start_a_line_or_follow_white_space() {
        check("!`a` x !`b c`\n!`d`\t!`e`", CommandSyntax::Claude, &["a", "b c", "d", "e"]);
        check("x!`a` (!`b`) `!`c` !d !`` !`e", CommandSyntax::Claude, &[]);
        check("!`a\nb`", CommandSyntax::Claude, &["a\nb"]);
        check("x!`a` (!`b`)", CommandSyntax::Slash, &["a", "b"]);
    }

    #[test]
    fn fenced_commands_are_found() {
        check("```!\ngit status\ngit log\n```\nx", CommandSyntax::Claude, &["git status\ngit log"]);
        check("```! date```", CommandSyntax::Claude, &["date"]);
        check("```!\r\ndate\r\n```", CommandSyntax::Claude, &["date"]);
        check("```!\n!`x`\n``` !`y`", CommandSyntax::Claude, &["!`x`", "y"]);
        check("```bash\ndate\n```\n```!\n\n```", CommandSyntax::Claude, &[]);
        check("```!\nnever closed", CommandSyntax::Claude, &[]);
        check("```!\ndate\n```", CommandSyntax::Slash, &[]);
    }

    #[test]
    fn command_id_is_stable() {
        let name = |nth, command: &str| ShellCommand::new(nth, command.to_owned()).id;
        assert_eq!(name(0, "date"), name(0, "date"));
        assert_ne!(name(0, "date"), name(1, "date"));
        assert_ne!(name(0, "date"), name(0, "dat"));
        assert!(name(0, "date").starts_with("1-"));
    }
}
