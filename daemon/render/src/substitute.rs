//! What a skill may ask for in its body, and what is put in.
//!
//! One pass from left to right over text that the author wrote. What is put in is copied and never
//! read again, in whatever order the placeholders stand.

use std::collections::BTreeMap;

use super::arguments::{shell_words, slash_words};
use super::placeholder::{
    Placeholder, PlaceholderKind, PlaceholderSyntax, highest_number, leading_number,
};

/// What a skill may ask for by name; what is not known stays as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// `${CLAUDE_PROJECT_DIR}`: the top of the worktree.
    pub project_dir: Option<String>,
    /// `${CLAUDE_SESSION_ID}`: the conversation.
    pub session_id: Option<String>,
    /// `${CLAUDE_EFFORT}`: how much the model thinks.
    pub effort: Option<String>,
    /// `${CLAUDE_PLUGIN_ROOT}`: the directory of the plugin that the skill comes with.
    pub plugin_root: Option<String>,
    /// `${CLAUDE_PLUGIN_DATA}`: where that plugin keeps what outlives an update.
    pub plugin_data: Option<String>,
    /// `${user_config.X}`: what the user has set for the plugin.
    pub user_config: BTreeMap<String, String>,
}

/// The values of one call.
pub(super) struct Substitutions<'a> {
    placeholders: PlaceholderSyntax,
    raw: &'a str,
    words: Vec<String>,
    names: &'a [String],
    dir: &'a str,
    variables: &'a Variables,
    /// The highest number that a slash command asks for: it takes the rest.
    last: usize,
    /// Whether an argument was put in.
    pub(super) used: bool,
}

impl<'a> Substitutions<'a> {
    /// Takes the values; `body` is the whole text that they are for.
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
        Self { placeholders, raw, words, names, dir, variables, last, used: false }
    }

    /// Puts the values into a text.
    pub(super) fn fill(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let (mut done, mut from) = (0, 0);
        while let Some(found) = self.placeholders.next(text, from, self.names) {
            let Placeholder { span, kind, is_escaped } = found;
            let value = self.value(kind);
            if value.is_none() && matches!(kind, PlaceholderKind::Braced(_)) {
                // It means nothing; what stands in it may.
                from = span.start + 1;
                continue;
            }
            filled.push_str(&text[done..span.start]);
            (done, from) = (span.end, span.end);
            if is_escaped {
                filled.pop();
            }
            match value {
                Some(value) if !is_escaped => {
                    self.used |= value.is_argument;
                    filled.push_str(&value.text);
                }
                // Escaped, or asking for an argument that there is not.
                Some(_) | None => filled.push_str(span.slice(text)),
            }
        }
        filled.push_str(&text[done..]);
        filled
    }

    /// Returns what is put in, if anything.
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

    /// `${ARGUMENTS}`, `${ARG1}` (counted from 1) and `${name}`.
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

    /// Returns what opencode has for a number: from 1, the last with all that follows it.
    fn slash(&self, number: usize) -> String {
        let words = number.checked_sub(1).and_then(|it| self.words.get(it..)).unwrap_or_default();
        let words = if number == self.last { words } else { &words[..words.len().min(1)] };
        words.join(" ")
    }
}

/// What is put in.
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
