//! Readers for the values of a profile's keys, each with its error message.

use std::borrow::Cow;

use skills_agents::profile::{Keyword, Text};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::reader::ConfigReader;
use super::super::value::{nearest, type_name};

/// A key with its value, or with an item of its list.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) key: &'a str,
    /// The key's offset.
    pub(super) key_at: usize,
    pub(super) value: &'a DeValue<'a>,
    /// The value's offset.
    pub(super) at: usize,
}

impl<'a> Setting<'a> {
    pub(super) fn new((key, value): (&'a Spanned<Cow<'a, str>>, &'a Spanned<DeValue<'a>>)) -> Self {
        let (key_at, at) = (key.span().start, value.span().start);
        Self { key: key.get_ref(), key_at, value: value.get_ref(), at }
    }

    /// Returns the setting with an item of the list that is its value.
    pub(super) fn with_item(self, item: &'a Spanned<DeValue<'a>>) -> Self {
        Self { value: item.get_ref(), at: item.span().start, ..self }
    }

    /// Returns the tables of a list of tables, each with its offset.
    pub(super) fn tables(self, reader: &mut ConfigReader<'_>) -> Vec<(&'a DeTable<'a>, usize)> {
        let DeValue::Array(items) = self.value else {
            self.error(reader, "a list of tables");
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => tables.push((table, item.span().start)),
                _ => self.with_item(item).error(reader, "a list of tables"),
            }
        }
        tables
    }

    pub(super) fn unknown(self, reader: &mut ConfigReader<'_>, among: &[&'static str], of: &str) {
        let hint = match nearest(self.key, among) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Use one of `{}`.", among.join("`, `")),
        };
        let message = format!("unknown key `{}` in a {of}", self.key);
        reader.problem(self.key_at, message, Some(hint));
    }

    pub(super) fn error(self, reader: &mut ConfigReader<'_>, what: &str) {
        let message = format!("`{}` must be {what}, not {}", self.key, type_name(self.value));
        reader.problem(self.at, message, None);
    }

    /// Returns the text of a string.
    pub(super) fn string(self, reader: &mut ConfigReader<'_>) -> Option<&'a str> {
        let DeValue::String(text) = self.value else {
            self.error(reader, "a string");
            return None;
        };
        Some(text)
    }

    /// Returns the text of a string that is not blank.
    pub(super) fn text(self, reader: &mut ConfigReader<'_>) -> Option<String> {
        let text = self.string(reader)?;
        if text.trim().is_empty() {
            reader.problem(self.at, format!("`{}` is empty", self.key), None);
            return None;
        }
        Some(text.to_owned())
    }

    pub(super) fn yes_no(self, reader: &mut ConfigReader<'_>) -> Option<bool> {
        if let DeValue::Boolean(yes) = self.value {
            return Some(*yes);
        }
        self.error(reader, "`true` or `false`");
        None
    }

    pub(super) fn word(
        self,
        reader: &mut ConfigReader<'_>,
        words: &[&'static str],
    ) -> Option<String> {
        let text = self.string(reader)?;
        if words.contains(&text) {
            return Some(text.to_owned());
        }
        let hint = match nearest(text, words) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Use one of `{}`.", words.join("`, `")),
        };
        reader.problem(self.at, format!("`{}` cannot be `{text}`", self.key), Some(hint));
        None
    }

    pub(super) fn keyword<T: Keyword>(self, reader: &mut ConfigReader<'_>) -> Option<T> {
        T::from_keyword(&self.word(reader, &T::keywords())?)
    }

    /// Returns the strings of a string or a list, each with its offset.
    pub(super) fn list(self, reader: &mut ConfigReader<'_>) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        match self.value {
            DeValue::String(text) => found.push((text.to_string(), self.at)),
            DeValue::Array(items) => {
                for item in items {
                    match item.get_ref() {
                        DeValue::String(text) => found.push((text.to_string(), item.span().start)),
                        _ => self.with_item(item).error(reader, "a list of strings"),
                    }
                }
            }
            _ => self.error(reader, "a list of strings"),
        }
        found
    }

    pub(super) fn names(self, reader: &mut ConfigReader<'_>) -> Vec<Text> {
        self.list(reader).into_iter().map(|(it, _)| Text::Owned(it)).collect()
    }
}

/// Returns the valid variable names.
pub(super) fn variables(reader: &mut ConfigReader<'_>, found: Vec<(String, usize)>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, at) in found {
        let fits = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if name.is_empty() || !name.chars().all(fits) {
            // A pattern could expose keys and tokens.
            let hint = "Write each variable's full name, without `$` and `*`.".to_owned();
            reader.problem(at, format!("`{name}` is not a variable name"), Some(hint));
        } else {
            names.push(name);
        }
    }
    names
}

/// Returns the valid paths below a base.
pub(super) fn below(reader: &mut ConfigReader<'_>, found: Vec<(String, usize)>) -> Vec<String> {
    let mut paths = Vec::new();
    for (path, at) in found {
        let climbs = path.split('/').any(|it| it == "..");
        if path.is_empty() || path.starts_with(['/', '~']) || climbs {
            let hint = "Use a path below the base, without `..`.".to_owned();
            reader.problem(at, format!("`{path}` is not a path below the base"), Some(hint));
        } else {
            paths.push(path.trim_end_matches('/').trim_start_matches("./").to_owned());
        }
    }
    paths
}
