//! Substitutes arguments and variables for the placeholders in a skill's body.
//!
//! One pass runs from left to right over the author's text. Substituted values are copied and never
//! scanned again, except for opencode's `$ARGUMENTS` in a value, which the agent replaces too.

use std::collections::BTreeMap;

use super::arguments::{shell_words, slash_words};
use super::claude_words::{claude_words, without_commands};
use super::placeholder::{
    Placeholder, PlaceholderKind, PlaceholderSyntax, highest_number, leading_number,
};

/// opencode's placeholder for all arguments.
const ALL: &str = "$ARGUMENTS";

/// Limit on the text that `` $` `` and `$'` in opencode's arguments refer to, and on the bytes that
/// they insert.
const MAX_REFERRED: usize = 1 << 20;

/// Returns true if JavaScript's `replaceAll` would insert parts of the text into a replacement, or
/// read `$` in it specially.
fn refers_to_text(replacement: &str) -> bool {
    ["$$", "$&", "$`", "$'"].iter().any(|it| replacement.contains(it))
}

/// Values of the variables that a body may use; unknown variables stay as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// `${CLAUDE_PROJECT_DIR}`: the top of the worktree.
    pub project_dir: Option<String>,
    /// `${CLAUDE_SESSION_ID}`: the session's id.
    pub session_id: Option<String>,
    /// `${CLAUDE_EFFORT}`: the effort level.
    pub effort: Option<String>,
    /// `${CLAUDE_PLUGIN_ROOT}`: the directory of the skill's plugin.
    pub plugin_root: Option<String>,
    /// `${CLAUDE_PLUGIN_DATA}`: the plugin's data directory, which survives updates.
    pub plugin_data: Option<String>,
    /// `${user_config.X}`: the user's settings for the plugin.
    pub user_config: BTreeMap<String, String>,
}

/// The values for the placeholders of one body.
pub(super) struct Substitutions<'a> {
    placeholders: PlaceholderSyntax,
    raw: &'a str,
    words: Vec<String>,
    names: &'a [String],
    dir: &'a str,
    variables: &'a Variables,
    /// The highest argument number in a slash command; that argument takes the rest.
    last: usize,
    /// The text of a slash command with its numbered arguments, if the arguments refer to it.
    numbered: Option<String>,
    /// Offset in `numbered` behind the last `$ARGUMENTS` that was replaced.
    replaced: usize,
    /// Bytes that references to `numbered` may still insert.
    budget: usize,
    /// True if an argument was substituted.
    pub(super) used: bool,
    /// Bytes that may still be inserted.
    left: usize,
    /// True if a placeholder was kept because nothing more may be inserted.
    pub(super) is_full: bool,
}

/// Maximum bytes that are inserted into one body; more than any message holds.
pub(super) const MAX_INSERTED: usize = 64 * 1024 * 1024;

/// Warning about arguments of which more than [`MAX_INSERTED`] bytes would be inserted.
pub(super) const ARGUMENTS_TOO_LONG: &str =
    "The arguments are too long to insert them at every place.";

impl<'a> Substitutions<'a> {
    /// Creates the values for the text `body`.
    pub(super) fn new(
        placeholders: PlaceholderSyntax,
        raw: &'a str,
        names: &'a [String],
        dir: &'a str,
        variables: &'a Variables,
        body: &str,
    ) -> Self {
        let words = match placeholders {
            PlaceholderSyntax::Claude { braced: true } => shell_words(raw),
            PlaceholderSyntax::Claude { braced: false } => claude_words(raw),
            PlaceholderSyntax::Slash => slash_words(raw),
        };
        let last = highest_number(body);
        let mut values = Self {
            placeholders,
            raw,
            words,
            names,
            dir,
            variables,
            last,
            numbered: None,
            replaced: 0,
            budget: MAX_REFERRED,
            used: false,
            left: MAX_INSERTED,
            is_full: false,
        };
        if placeholders == PlaceholderSyntax::Slash && refers_to_text(raw) {
            values.numbered = values.with_numbers(body);
        }
        values
    }

    /// Substitutes the numbered arguments of a slash command, unless the result is too long.
    fn with_numbers(&self, text: &str) -> Option<String> {
        let mut filled = String::with_capacity(text.len());
        let (mut done, mut from) = (0, 0);
        while let Some(found) = self.placeholders.next(text, from, self.names) {
            from = found.span.end;
            if let PlaceholderKind::Numbered(number) = found.kind {
                filled.push_str(&text[done..found.span.start]);
                filled.push_str(&self.slash(number));
                done = found.span.end;
            }
            if filled.len() > MAX_REFERRED {
                return None;
            }
        }
        filled.push_str(&text[done..]);
        Some(filled)
    }

    /// Returns the value of opencode's next `$ARGUMENTS`: the arguments, read as the replacement of
    /// JavaScript's `replaceAll`.
    fn slash_all(&mut self) -> String {
        let raw = self.raw;
        let Some(numbered) = &self.numbered else { return raw.to_owned() };
        let rest = numbered.get(self.replaced..).unwrap_or_default();
        let start = self.replaced + rest.find(ALL).unwrap_or(rest.len());
        let end = (start + ALL.len()).min(numbered.len());
        self.replaced = end;
        let mut value = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(at) = rest.find('$') {
            value.push_str(&rest[..at]);
            let (inserted, length) = match rest.as_bytes().get(at + 1) {
                Some(b'$') => ("$", 2),
                Some(b'&') => (ALL, 2),
                Some(b'`') => (&numbered[..start], 2),
                Some(b'\'') => (&numbered[end..], 2),
                _ => ("$", 1),
            };
            let Some(left) = self.budget.checked_sub(inserted.len()) else {
                return raw.to_owned();
            };
            self.budget = left;
            value.push_str(inserted);
            rest = &rest[at + length..];
        }
        value.push_str(rest);
        value
    }

    /// Substitutes the placeholders in a text.
    pub(super) fn fill(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let (mut done, mut from) = (0, 0);
        // Once it is full, the rest stays as it is.
        while !self.is_full
            && let Some(found) = self.placeholders.next(text, from, self.names)
        {
            let Placeholder { span, kind, is_escaped } = found;
            let value = self.value(kind);
            if value.is_none() && matches!(kind, PlaceholderKind::Braced(_)) {
                // Unknown in braces; a placeholder may follow inside.
                from = span.start + 1;
                continue;
            }
            filled.push_str(&text[done..span.start]);
            (done, from) = (span.end, span.end);
            if is_escaped {
                filled.pop();
            }
            match value {
                Some(value) if !is_escaped && value.text.len() > self.left => {
                    self.is_full = true;
                    filled.push_str(span.slice(text));
                }
                Some(value) if !is_escaped => {
                    self.left -= value.text.len();
                    self.used |= value.is_argument;
                    let is_guarded = value.is_argument && self.guards_commands();
                    let guarded = is_guarded.then(|| without_commands(&value.text));
                    filled.push_str(guarded.as_deref().unwrap_or(&value.text));
                }
                // Escaped, or an argument that was not given.
                Some(_) | None => filled.push_str(span.slice(text)),
            }
        }
        filled.push_str(&text[done..]);
        filled
    }

    /// Returns true if the agent escapes what could start a command in an argument.
    pub(super) fn guards_commands(&self) -> bool {
        self.placeholders == PlaceholderSyntax::Claude { braced: false }
    }

    /// Returns the value of a placeholder, if any.
    fn value(&mut self, kind: PlaceholderKind<'_>) -> Option<Substitution> {
        if self.placeholders == PlaceholderSyntax::Slash {
            let text = match kind {
                PlaceholderKind::All => self.slash_all(),
                PlaceholderKind::Indexed(number) | PlaceholderKind::Numbered(number) => {
                    let mut text = self.slash(number);
                    // The number of replacements is that of the occurrences in the words.
                    if text.contains(ALL) {
                        let parts: Vec<&str> = text.split(ALL).collect();
                        let mut filled = String::from(parts[0]);
                        for part in &parts[1..] {
                            filled.push_str(&self.slash_all());
                            filled.push_str(part);
                            if filled.len() > self.left {
                                break;
                            }
                        }
                        text = filled;
                    }
                    text
                }
                PlaceholderKind::Named(_) | PlaceholderKind::Braced(_) => return None,
            };
            return Some(Substitution::argument(text));
        }
        let nth = |index: usize| self.words.get(index).cloned();
        match (kind, self.placeholders) {
            (PlaceholderKind::All, _) => Some(Substitution::argument(self.raw.to_owned())),
            (PlaceholderKind::Named(index), _) => {
                Some(Substitution::argument(nth(index).unwrap_or_default()))
            }
            (PlaceholderKind::Indexed(index) | PlaceholderKind::Numbered(index), _) => {
                nth(index).map(Substitution::argument)
            }
            (PlaceholderKind::Braced(name), PlaceholderSyntax::Claude { braced }) => {
                let variable = self.variable(name).map(Substitution::other);
                variable.or_else(|| self.braced(name).filter(|_| braced))
            }
            (PlaceholderKind::Braced(_), PlaceholderSyntax::Slash) => None,
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        let variables = self.variables;
        match name {
            "CLAUDE_SKILL_DIR" => Some(self.dir.to_owned()).filter(|it| !it.is_empty()),
            "CLAUDE_PROJECT_DIR" => variables.project_dir.clone(),
            "CLAUDE_SESSION_ID" => variables.session_id.clone(),
            "CLAUDE_EFFORT" => variables.effort.clone(),
            "CLAUDE_PLUGIN_ROOT" => variables.plugin_root.clone(),
            "CLAUDE_PLUGIN_DATA" => variables.plugin_data.clone(),
            _ => variables.user_config.get(name.strip_prefix("user_config.")?).cloned(),
        }
    }

    /// Returns the value of `${ARGUMENTS}`, `${ARG1}` (counted from 1) or `${name}`.
    fn braced(&self, name: &str) -> Option<Substitution> {
        if name == "ARGUMENTS" {
            return Some(Substitution::argument(self.raw.to_owned()));
        }
        if let Some(index) = self.names.iter().position(|it| it == name) {
            return Some(Substitution::argument(
                self.words.get(index).cloned().unwrap_or_default(),
            ));
        }
        let (nth, after) = leading_number(name.strip_prefix("ARG")?)?;
        let word = self.words.get(nth.checked_sub(1)?).filter(|_| after.is_empty())?;
        Some(Substitution::argument(word.clone()))
    }

    /// Returns opencode's value of a numbered argument, counted from 1. The highest number takes
    /// all remaining words. The argument before the first is that of JavaScript's `slice(-1)` and
    /// `[-1]`.
    fn slash(&self, number: usize) -> String {
        let Some(index) = number.checked_sub(1) else {
            let last = self.words.last().cloned().unwrap_or_default();
            return if self.last == 0 { last } else { "undefined".to_owned() };
        };
        let words = self.words.get(index..).unwrap_or_default();
        let words = if number == self.last { words } else { &words[..words.len().min(1)] };
        words.join(" ")
    }
}

/// The value of a placeholder.
struct Substitution {
    text: String,
    is_argument: bool,
}

impl Substitution {
    fn argument(text: String) -> Self {
        Self { text, is_argument: true }
    }

    fn other(text: String) -> Self {
        Self { text, is_argument: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholder_is_kept_when_nothing_more_may_be_inserted() {
        let syntax = PlaceholderSyntax::Claude { braced: false };
        let (body, variables) = ("$ARGUMENTS, $ARGUMENTS, $ARGUMENTS", Variables::default());
        let mut values = Substitutions::new(syntax, "abcd", &[], "/s", &variables, body);
        values.left = 9;
        assert_eq!(values.fill(body), "abcd, abcd, $ARGUMENTS");
        assert!(values.is_full);
    }
}
