//! Readers for the values of a profile's keys, each with its error message.

use skills_agents::profile::{Keyword, Text};
use toml::Spanned;
use toml::de::DeValue;

use super::super::reader::ConfigReader;
use super::super::value::{nearest, type_name};

pub(super) type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

pub(super) fn unknown(
    reader: &mut ConfigReader<'_>,
    key: &Key<'_>,
    among: &[&'static str],
    of: &str,
) {
    let name = key.get_ref();
    let hint = match nearest(name, among) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("Use one of `{}`.", among.join("`, `")),
    };
    reader.problem(key.span().start, format!("unknown key `{name}` in a {of}"), Some(hint));
}

pub(super) fn error(
    reader: &mut ConfigReader<'_>,
    key: &str,
    what: &str,
    value: &Spanned<DeValue<'_>>,
) {
    let message = format!("`{key}` must be {what}, not {}", type_name(value.get_ref()));
    reader.problem(value.span().start, message, None);
}

pub(super) fn text(
    reader: &mut ConfigReader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) if !text.trim().is_empty() => Some(text.to_string()),
        DeValue::String(_) => {
            reader.problem(value.span().start, format!("`{}` is empty", key.get_ref()), None);
            None
        }
        _ => {
            error(reader, key.get_ref(), "a string", value);
            None
        }
    }
}

pub(super) fn yes_no(
    reader: &mut ConfigReader<'_>,
    key: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<bool> {
    if let DeValue::Boolean(yes) = value.get_ref() {
        return Some(*yes);
    }
    error(reader, key, "`true` or `false`", value);
    None
}

pub(super) fn word(
    reader: &mut ConfigReader<'_>,
    key: &str,
    words: &[&'static str],
    value: &Spanned<DeValue<'_>>,
) -> Option<String> {
    let DeValue::String(text) = value.get_ref() else {
        error(reader, key, "a string", value);
        return None;
    };
    if words.contains(&&**text) {
        return Some(text.to_string());
    }
    let hint = match nearest(text, words) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("Use one of `{}`.", words.join("`, `")),
    };
    reader.problem(value.span().start, format!("`{key}` cannot be `{text}`"), Some(hint));
    None
}

pub(super) fn keyword<T: Keyword>(
    reader: &mut ConfigReader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Option<T> {
    T::from_keyword(&word(reader, key.get_ref(), &T::keywords(), value)?)
}

/// Returns the strings of a string or a list, each with its offset.
pub(super) fn list(
    reader: &mut ConfigReader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    match value.get_ref() {
        DeValue::String(text) => found.push((text.to_string(), value.span().start)),
        DeValue::Array(items) => {
            for item in items {
                match item.get_ref() {
                    DeValue::String(text) => found.push((text.to_string(), item.span().start)),
                    _ => error(reader, key.get_ref(), "a list of strings", item),
                }
            }
        }
        _ => error(reader, key.get_ref(), "a list of strings", value),
    }
    found
}

pub(super) fn names(
    reader: &mut ConfigReader<'_>,
    key: &Key<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Vec<Text> {
    list(reader, key, value).into_iter().map(|(it, _)| Text::Owned(it)).collect()
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
