//! What a skill may ask for in its body, and what is put in.
//!
//! One pass from left to right over text that the author wrote. What is put in is copied and never
//! read again, in whatever order the placeholders stand.

use std::collections::BTreeMap;

use super::arguments::{shell_words, slash_words};

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

/// Whose placeholders mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholders {
    /// Claude Code's; `braced` for `${ARG1}` and `${name}` as well.
    Claude {
        /// Whether arguments may stand in braces.
        braced: bool,
    },
    /// Those of opencode's slash commands.
    Slash,
}

/// The values of one call.
pub(super) struct Values<'a> {
    placeholders: Placeholders,
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

impl<'a> Values<'a> {
    /// Takes the values; `body` is the whole text that they are for.
    pub(super) fn new(
        placeholders: Placeholders,
        raw: &'a str,
        names: &'a [String],
        dir: &'a str,
        variables: &'a Variables,
        body: &str,
    ) -> Self {
        let words = match placeholders {
            Placeholders::Claude { .. } => shell_words(raw),
            Placeholders::Slash => slash_words(raw),
        };
        let last = body.match_indices('$').filter_map(|(at, _)| number(&body[at + 1..]));
        let last = last.map(|(number, _)| number).max().unwrap_or(0);
        Self { placeholders, raw, words, names, dir, variables, last, used: false }
    }

    /// Puts the values into a text.
    pub(super) fn fill(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            filled.push_str(before);
            let Some((length, value)) = self.placeholder(from) else {
                filled.push('$');
                rest = &from[1..];
                continue;
            };
            let is_claude = matches!(self.placeholders, Placeholders::Claude { .. });
            let is_escaped = is_claude && before.ends_with('\\') && !from.starts_with("${");
            if is_escaped {
                filled.pop();
            }
            match value {
                Some(value) if !is_escaped => {
                    self.used |= value.is_argument;
                    filled.push_str(&value.text);
                }
                // Escaped, or asking for an argument that there is not.
                Some(_) | None => filled.push_str(&from[..length]),
            }
            rest = &from[length..];
        }
        filled.push_str(rest);
        filled
    }

    /// Reads the placeholder that a text begins with: how long it is, and what is put in, if
    /// anything.
    fn placeholder(&self, text: &str) -> Option<(usize, Option<Value>)> {
        match self.placeholders {
            Placeholders::Slash => self.slash(text),
            Placeholders::Claude { braced } => {
                if let Some(inside) = text.strip_prefix("${") {
                    let (name, _) = inside.split_once('}')?;
                    let length = name.len() + 3;
                    let value = self.variable(name).map(Value::other);
                    let value = value.or_else(|| self.braced(name).filter(|_| braced))?;
                    return Some((length, Some(value)));
                }
                self.claude(text)
            }
        }
    }

    fn claude(&self, text: &str) -> Option<(usize, Option<Value>)> {
        let nth = |index: usize| self.words.get(index).cloned().map(Value::argument);
        let behind = &text[1..];
        if let Some(name) = self.named(behind) {
            let word = self.words.get(self.names.iter().position(|it| it == name)?);
            let value = Value::argument(word.cloned().unwrap_or_default());
            return Some((1 + name.len(), Some(value)));
        }
        if let Some(indexed) = behind.strip_prefix("ARGUMENTS") {
            let index = indexed.strip_prefix('[').and_then(number);
            if let Some((index, after)) = index
                && after.starts_with(']')
            {
                let length = text.len() - after.len() + 1;
                return Some((length, nth(index)));
            }
            return Some(("$ARGUMENTS".len(), Some(Value::argument(self.raw.to_owned()))));
        }
        let (index, after) = number(behind)?;
        if after.starts_with(is_word) {
            return None;
        }
        Some((text.len() - after.len(), nth(index)))
    }

    /// Returns the longest name of an argument that a text begins with as a whole word.
    fn named(&self, text: &str) -> Option<&'a str> {
        let fits = |name: &&str| {
            let after = text.strip_prefix(name);
            after.is_some_and(|it| !it.starts_with(|c: char| is_word(c) || c == '['))
        };
        let names = self.names.iter().map(String::as_str).filter(|it| !it.is_empty());
        names.filter(fits).max_by_key(|it| it.len())
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
    fn braced(&self, name: &str) -> Option<Value> {
        if name == "ARGUMENTS" {
            return Some(Value::argument(self.raw.to_owned()));
        }
        if let Some(index) = self.names.iter().position(|it| it == name) {
            return Some(Value::argument(self.words.get(index).cloned().unwrap_or_default()));
        }
        let (nth, after) = number(name.strip_prefix("ARG")?)?;
        let word = self.words.get(nth.checked_sub(1)?).filter(|_| after.is_empty())?;
        Some(Value::argument(word.clone()))
    }

    fn slash(&self, text: &str) -> Option<(usize, Option<Value>)> {
        if text.starts_with("$ARGUMENTS") {
            return Some(("$ARGUMENTS".len(), Some(Value::argument(self.raw.to_owned()))));
        }
        let (nth, after) = number(&text[1..])?;
        let words = nth.checked_sub(1).and_then(|it| self.words.get(it..)).unwrap_or_default();
        let words = if nth == self.last { words } else { &words[..words.len().min(1)] };
        Some((text.len() - after.len(), Some(Value::argument(words.join(" ")))))
    }
}

/// What is put in.
struct Value {
    text: String,
    is_argument: bool,
}

impl Value {
    fn argument(text: String) -> Self {
        Self { text, is_argument: true }
    }

    fn other(text: String) -> Self {
        Self { text, is_argument: false }
    }
}

/// Reads the number that a text begins with.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Whether a letter goes on with a word, as `\w` of Claude Code's expressions has it: one of another
/// alphabet does not.
fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
