//! Rules about the directories in a hook's command.

use skills_agents::fields::HookHandler;
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::Edit;
use skills_syntax::quote;
use skills_syntax::text::Span;

use crate::finding::Finding;
use crate::rule::Rule;
use crate::rule_id::RuleId;
use crate::subject::Cx;

use super::family::FAMILY;

pub(crate) static VARIABLE: Rule = FAMILY.rule(
    RuleId::HooksVariable,
    "A hook's command uses `CLAUDE_SKILL_DIR`, which Claude Code does not set for hooks.",
    "The variable is empty, so the path begins at the root directory. Claude Code replaces it only in the body and in `allowed-tools`; a skill's hooks get the directory as `CLAUDE_PLUGIN_ROOT`.",
    "Write `${CLAUDE_PLUGIN_ROOT}`.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: '\"${CLAUDE_SKILL_DIR}\"/check.sh'\n---\nRead the file.\n",
)
.severity(Severity::Warning)
.passing("---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: '\"${CLAUDE_PLUGIN_ROOT}\"/check.sh'\n---\nRead the file.\n")
.fixable();

pub(crate) static UNQUOTED: Rule = FAMILY.rule(
    RuleId::HooksUnquoted,
    "A directory in a hook's command is not in quotes.",
    "If the directory's path contains a space, the shell splits it and the hook fails.",
    "Put the variable in double quotes.",
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: $CLAUDE_PROJECT_DIR/check.sh\n---\nRead the file.\n",
)
.severity(Severity::Hint)
.fixable();

/// Variables with the path of a directory that Claude Code sets for a hook.
const DIRECTORIES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT"];

/// Reports directories in a shell command that are not set or not in quotes.
pub(super) fn check_command(cx: &Cx<'_>, handler: &HookHandler, out: &mut Vec<Finding>) {
    const UNSET: &str = "CLAUDE_SKILL_DIR";
    let Some(command) = handler.text("command") else { return };
    let written = command.span.slice(cx.text);
    let at_variable = |(at, _): &(usize, &str)| written[..*at].ends_with(['$', '{']);
    let places: Vec<usize> =
        written.match_indices(UNSET).filter(at_variable).map(|(at, _)| at).collect();
    if let Some(first) = places.first() {
        let place = |at: usize| {
            let start = command.span.start + at;
            Span::new(start, start + UNSET.len())
        };
        let message = format!("Claude Code does not set `{UNSET}` in hooks");
        let text = "CLAUDE_PLUGIN_ROOT".to_owned();
        let edits = places.iter().map(|it| Edit { span: place(*it), text: text.clone() });
        let finding = Finding::new(&VARIABLE, place(*first), message)
            .fix_all("Change to `CLAUDE_PLUGIN_ROOT`", edits.collect());
        // A command that tests the path or has another one is written for several agents.
        let has_fallback = ["||", "[ -", "test -", ":-"].iter().any(|it| written.contains(it));
        let is_fallback = |it: Finding| it.severity(Severity::Hint).into_drafts();
        out.push(if has_fallback { is_fallback(finding) } else { finding });
        return;
    }
    let is_shell =
        handler.settings.iter().all(|(name, _)| name.text != "args" && name.text != "shell");
    // The lines of a block scalar are the text, except for the indentation.
    let (head, block) = written.split_at(written.find('\n').map_or(0, |it| it + 1));
    let is_block = head.starts_with(['|', '>']);
    let shell = if is_block { block } else { &command.text };
    let Some((start, quoted)) = quote_directories(shell).filter(|_| is_shell) else { return };
    let variable = &shell[start..];
    let is_end = |it: char| it.is_whitespace() || "/;&|()<>\"'`".contains(it);
    let variable = &variable[..variable.find(is_end).unwrap_or(variable.len())];
    let at = match written.find(variable) {
        _ if is_block => Some(head.len() + start),
        _ if shell == written => Some(start),
        found => found,
    };
    let place =
        |at: usize| Span::new(command.span.start + at, command.span.start + at + variable.len());
    let span = at.map_or(command.span, place);
    let message =
        format!("`{variable}` is not in quotes; a path with a space ends the command there");
    let finding = Finding::new(&UNQUOTED, span, message);
    let title = "Put the variable in quotes";
    let is_line = !written.contains(['\n', '\r', '\\']);
    out.push(if is_block {
        let place = Span::new(command.span.start + head.len(), command.span.end);
        let finding = finding.fix(title, place, quoted);
        // Quotes in a here-document are text, and an apostrophe in a comment opens none.
        let has_text =
            block.contains("<<") || block.lines().any(|it| it.trim_start().starts_with('#'));
        if has_text { finding.into_drafts() } else { finding }
    } else if is_line {
        finding.fix(title, command.span, quote::quote_scalar(&quoted))
    } else {
        finding
    });
}

/// Returns the start of the first of [`DIRECTORIES`] outside quotes at the start of a word, and the
/// command with all of them in quotes.
fn quote_directories(command: &str) -> Option<(usize, String)> {
    let (mut first, mut quoted) = (None, String::new());
    let (mut at, mut inside) = (0, None);
    let mut word = WordPosition { start: 0, may_assign: true, is_case: false };
    let is_start = |it: &str| it.is_empty() || it.ends_with([' ', '\n', '=', ';', '(', '&', '|']);
    while let Some(next) = command[at..].chars().next() {
        let rest = &command[at..];
        let variable = DIRECTORIES.iter().find_map(|name| {
            let plain = rest.strip_prefix('$')?;
            let name_length = match plain.strip_prefix('{') {
                Some(it) if it.starts_with(name) && it[name.len()..].starts_with('}') => {
                    name.len() + 2
                }
                None if plain.starts_with(name) => name.len(),
                Some(_) | None => return None,
            };
            let ends =
                !plain[name_length..].starts_with(|it: char| it.is_alphanumeric() || it == '_');
            ends.then_some(name_length + 1)
        });
        match (inside, next) {
            (None, '"' | '\'') => inside = Some(next),
            (Some(mark), _) if mark == next => inside = None,
            _ => {}
        }
        if inside.is_none() {
            word.advance(command, at, next);
        }
        let is_split =
            inside.is_none() && is_start(&command[..at]) && !word.assigns(&command[..at]);
        if let Some(length) = variable.filter(|_| is_split) {
            first = first.or(Some(at));
            quoted.push('"');
            quoted.push_str(&rest[..length]);
            quoted.push('"');
            at += length;
        } else {
            quoted.push(next);
            at += next.len_utf8();
        }
    }
    first.map(|it| (it, quoted))
}

/// The position of a word of a shell command.
struct WordPosition {
    start: usize,
    /// True if an assignment is possible: at the start of a command, and after other assignments.
    may_assign: bool,
    /// True after `case`, whose patterns end with `)`.
    is_case: bool,
}

impl WordPosition {
    /// Follows the letter at `at`, which is outside quotes.
    fn advance(&mut self, command: &str, at: usize, letter: char) {
        /// Words that assignments can follow.
        const BEFORE: [&str; 14] = [
            "export", "readonly", "local", "declare", "if", "then", "elif", "else", "do", "while",
            "until", "time", "{", "!",
        ];
        let word = &command[self.start..at];
        if matches!(letter, ';' | '&' | '|' | '(' | '\n') || letter == ')' && self.is_case {
            self.may_assign = true;
        } else if letter.is_whitespace() {
            let is_assignment = word.split_once('=').is_some_and(|(it, _)| is_variable(it));
            self.is_case |= self.may_assign && word == "case";
            self.may_assign &= word.is_empty() || is_assignment || BEFORE.contains(&word);
        } else {
            return;
        }
        self.start = at + letter.len_utf8();
    }

    /// Returns whether the value of an assignment starts at the end of `before`; the shell does not
    /// split it.
    fn assigns(&self, before: &str) -> bool {
        let name = before.get(self.start..).and_then(|it| it.strip_suffix('='));
        self.may_assign && name.is_some_and(is_variable)
    }
}

fn is_variable(name: &str) -> bool {
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}
