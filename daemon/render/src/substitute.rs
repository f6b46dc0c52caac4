//! Substitutes arguments and variables for the placeholders in a skill's body.
//!
//! One pass runs from left to right over the author's text. Substituted values are copied and never
//! scanned again.

use std::collections::BTreeMap;

use super::arguments::{shell_words, slash_words};
use super::placeholder::{
    Placeholder, PlaceholderKind, PlaceholderSyntax, highest_number, leading_number,
};

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
    /// True if an argument was substituted.
    pub(super) used: bool,
    /// Bytes that may still be inserted.
    left: usize,
    /// True if a placeholder was kept because nothing more may be inserted.
    pub(super) is_full: bool,
}

/// Maximum bytes that are inserted into one body; more than any message holds.
const MAX_INSERTED: usize = 64 * 1024 * 1024;

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
            PlaceholderSyntax::Claude { .. } => shell_words(raw),
            PlaceholderSyntax::Slash => slash_words(raw),
        };
        let last = highest_number(body);
        let (used, left, is_full) = (false, MAX_INSERTED, false);
        Self { placeholders, raw, words, names, dir, variables, last, used, left, is_full }
    }

    /// Substitutes the placeholders in a text.
    pub(super) fn fill(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let (mut done, mut from) = (0, 0);
        while let Some(found) = self.placeholders.next(text, from, self.names) {
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
                    filled.push_str(&value.text);
                }
                // Escaped, or an argument that was not given.
                Some(_) | None => filled.push_str(span.slice(text)),
            }
        }
        filled.push_str(&text[done..]);
        filled
    }

    /// Returns the value of a placeholder, if any.
    fn value(&self, kind: PlaceholderKind<'_>) -> Option<Substitution> {
        let nth = |index: usize| self.words.get(index).cloned();
        match (kind, self.placeholders) {
            (PlaceholderKind::All, _) => Some(Substitution::argument(self.raw.to_owned())),
            (PlaceholderKind::Named(index), _) => {
                Some(Substitution::argument(nth(index).unwrap_or_default()))
            }
            (
                PlaceholderKind::Indexed(index) | PlaceholderKind::Numbered(index),
                PlaceholderSyntax::Claude { .. },
            ) => nth(index).map(Substitution::argument),
            (
                PlaceholderKind::Indexed(number) | PlaceholderKind::Numbered(number),
                PlaceholderSyntax::Slash,
            ) => Some(Substitution::argument(self.slash(number))),
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
            "CLAUDE_SKILL_DIR" => Some(self.dir.to_owned()),
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
