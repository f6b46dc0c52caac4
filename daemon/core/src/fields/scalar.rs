//! What a value is to a YAML library: a string, a number, a date.
//!
//! Our parser keeps every scalar as it is written. Agents that want a string refuse what their
//! library takes for something else; which library that is makes a difference ([`Schema`]).

use crate::catalog::Schema;
use crate::parse::{ScalarStyle, Value, ValueKind};

/// What stands where something else was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing, `~` or `null`.
    Null,
    /// A text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A date.
    Date,
    /// A list.
    List,
    /// A map.
    Map,
    /// A reference to an anchor that does not exist.
    Alias,
}

impl Found {
    /// Returns what a person would call it, with an article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Text => "a text",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::Date => "a date",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Alias => "an unknown alias",
        }
    }

    /// Returns what a value is to a library with that schema.
    pub fn new(value: &Value, schema: Schema) -> Self {
        match &value.kind {
            ValueKind::Null => Self::Null,
            ValueKind::Scalar { style: ScalarStyle::Plain, text } => plain(text, schema),
            ValueKind::Scalar { .. } => Self::Text,
            ValueKind::Sequence { .. } => Self::List,
            ValueKind::Mapping { .. } => Self::Map,
            ValueKind::Alias { .. } => Self::Alias,
        }
    }
}

fn plain(text: &str, schema: Schema) -> Found {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Found::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return Found::Boolean,
        _ => {}
    }
    let is_number = is_number(text)
        || match schema {
            Schema::Core => is_octal(text),
            Schema::JsYaml => is_js_number(text),
        };
    if is_number {
        Found::Number
    } else if schema == Schema::JsYaml && is_date(text) {
        Found::Date
    } else {
        Found::Text
    }
}

fn all(text: &str, is: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(is)
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn is_digits(text: &str) -> bool {
    all(text, |it| it.is_ascii_digit())
}

/// Integers, floats and hexadecimal integers, as both schemas have them.
fn is_number(text: &str) -> bool {
    if let Some(digits) = text.strip_prefix("0x") {
        return all(digits, |it| it.is_ascii_hexdigit());
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let text = unsigned(text);
    if matches!(text, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(unsigned(exponent))),
        None => (text, None),
    };
    let is_mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, "")) => is_digits(whole),
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    is_mantissa && exponent.is_none_or(is_digits)
}

fn is_octal(text: &str) -> bool {
    text.strip_prefix("0o").is_some_and(|it| all(it, |digit| (b'0'..=b'7').contains(&digit)))
}

/// What js-yaml has beside the common numbers: signs before `0x`, binary, underscores, base 60.
fn is_js_number(text: &str) -> bool {
    let text = unsigned(text);
    if text.starts_with('_') || text.ends_with('_') {
        return false;
    }
    let text = text.replace('_', "");
    let is_binary =
        text.strip_prefix("0b").is_some_and(|it| all(it, |digit| matches!(digit, b'0' | b'1')));
    let is_sexagesimal = || {
        let mut parts = text.split(':');
        let first = parts.next().is_some_and(is_digits);
        let mut others = parts.peekable();
        first
            && others.peek().is_some()
            && others.all(|it| is_digits(it) && (it.len() == 1 || it.len() == 2 && it < "6"))
    };
    is_number(&text) || is_binary || is_sexagesimal()
}

/// `2026-11-21`, or that with a time behind it.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let days = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (day, time) = rest.split_at(days);
    let is_day = (1..=2).contains(&month.len()) && is_digits(month) && (1..=2).contains(&days);
    let is_padded = month.len() == 2 && day.len() == 2;
    year.len() == 4
        && is_digits(year)
        && is_day
        && if time.is_empty() { is_padded } else { is_time(time) }
}

fn is_time(text: &str) -> bool {
    let Some(time) = text.strip_prefix(['T', 't', ' ', '\t']) else { return false };
    let time = time.trim_start_matches([' ', '\t']);
    let mut parts = time.splitn(3, ':');
    let is_part = |it: Option<&str>| it.is_some_and(|it| it.len() <= 2 && is_digits(it));
    is_part(parts.next())
        && is_part(parts.next())
        && parts.next().is_some_and(|it| {
            let zone = it.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let zone = zone.trim_start_matches([' ', '\t']);
            zone.is_empty() || zone == "Z" || zone.starts_with(['+', '-'])
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, core: Found, js: Found) {
        assert_eq!(plain(text, Schema::Core), core, "{text} to the core schema");
        assert_eq!(plain(text, Schema::JsYaml), js, "{text} to js-yaml");
    }

    #[test]
    fn libraries_agree_on_most_plain_scalars() {
        for text in ["~", "null", "NULL", ""] {
            check(text, Found::Null, Found::Null);
        }
        for text in ["true", "False", "TRUE"] {
            check(text, Found::Boolean, Found::Boolean);
        }
        for text in ["1", "-12", "+3", "1.0", "1.", ".5", "1e5", "-1.5E+3", "0x1F", ".inf", ".NaN"]
        {
            check(text, Found::Number, Found::Number);
        }
        for text in ["yes", "off", "y", "1.2.3", "v1", "-", "+", "e5", "1e", "0x", ".", "a b"] {
            check(text, Found::Text, Found::Text);
        }
    }

    #[test]
    fn js_yaml_takes_more_for_numbers_and_dates() {
        check("2026-11-21", Found::Text, Found::Date);
        check("2026-11-21T10:00:00Z", Found::Text, Found::Date);
        check("2026-1-2 3:04:05", Found::Text, Found::Date);
        check("2026-1-2", Found::Text, Found::Text);
        check("2026-11", Found::Text, Found::Text);
        check("1_000", Found::Text, Found::Number);
        check("0b101", Found::Text, Found::Number);
        check("12:30", Found::Text, Found::Number);
        check("12:75", Found::Text, Found::Text);
        check("0o17", Found::Number, Found::Text);
    }
}
