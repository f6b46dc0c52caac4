//! Types of YAML values ([`YamlType`]), and how each YAML library types a plain scalar.
//!
//! An agent that requires a string refuses a scalar that its library reads as another type. The
//! libraries differ only in numbers and dates. js-yaml 3 has octal with a bare leading zero, base
//! 60 and underscores; js-yaml 4 does not; both have dates. The Rust and npm `yaml` libraries use
//! the core schema of YAML 1.2.

use skills_syntax::parse::{ScalarStyle, Value, ValueKind};

use crate::yaml_library::YamlLibrary;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum YamlType {
    /// Empty, `~` or `null`.
    Null,
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    Number,
    Date,
    List,
    Map,
    /// A reference to an anchor that does not exist.
    Alias,
}

impl YamlType {
    /// Returns the type's name for messages, with an article.
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

    /// Returns the type that `library` gives to a value.
    pub fn of(value: &Value, library: YamlLibrary) -> Self {
        match &value.kind {
            ValueKind::Null => Self::Null,
            ValueKind::Scalar { style: ScalarStyle::Plain, text } => {
                plain_scalar_type(text, library)
            }
            ValueKind::Scalar { .. } => Self::Text,
            ValueKind::Sequence { .. } => Self::List,
            ValueKind::Mapping { .. } => Self::Map,
            ValueKind::Alias { .. } => Self::Alias,
        }
    }
}

/// Returns the type that `library` gives to a scalar without quotes.
pub fn plain_scalar_type(plain: &str, library: YamlLibrary) -> YamlType {
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => return YamlType::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return YamlType::Boolean,
        _ => {}
    }
    // YAML 1.1, in lower case, in upper case, or with a capital.
    let is_word = |it: &&str| {
        let is_upper = plain.bytes().all(|it| it.is_ascii_uppercase());
        plain.eq_ignore_ascii_case(it) && (is_upper || plain[1..] == it[1..])
    };
    if library == YamlLibrary::PyYaml && ["yes", "no", "on", "off"].iter().any(is_word) {
        return YamlType::Boolean;
    }
    let number = match library {
        YamlLibrary::JsYaml3 => js3_integer(plain) || js3_float(plain),
        YamlLibrary::PyYaml => js3_integer(plain) || plain.contains('.') && js3_float(plain),
        YamlLibrary::JsYaml4 => js4_integer(plain) || js4_float(plain),
        YamlLibrary::SerdeYamlValue => serde_number(plain),
        YamlLibrary::SerdeYaml
        | YamlLibrary::NpmYaml
        | YamlLibrary::NpmYamlAsText
        | YamlLibrary::NpmYamlAsJson
        | YamlLibrary::Bun
        | YamlLibrary::Ours => core_integer(plain) || core_float(plain),
    };
    let dates =
        matches!(library, YamlLibrary::JsYaml3 | YamlLibrary::JsYaml4 | YamlLibrary::PyYaml);
    if number {
        YamlType::Number
    } else if dates && (is_date(plain) || is_timestamp(plain)) {
        YamlType::Date
    } else {
        YamlType::Text
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn all(text: &str, wanted: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(wanted)
}

fn digits(text: &str) -> bool {
    all(text, |it| it.is_ascii_digit())
}

fn octal(text: &str) -> bool {
    all(text, |it| (b'0'..=b'7').contains(&it))
}

fn hex(text: &str) -> bool {
    all(text, |it| it.is_ascii_hexdigit())
}

fn binary(text: &str) -> bool {
    all(text, |it| matches!(it, b'0' | b'1'))
}

/// `12`, `0o17`, `0x1f`.
fn core_integer(text: &str) -> bool {
    let prefixed = |prefix| text.strip_prefix(prefix);
    digits(unsigned(text)) || prefixed("0o").is_some_and(octal) || prefixed("0x").is_some_and(hex)
}

/// As [`js4_integer`] and [`core_float`], but text if it begins with a zero before a digit, or if
/// it is too large for a number.
fn serde_number(text: &str) -> bool {
    let bare = unsigned(text).as_bytes();
    let is_padded = bare.len() > 1 && bare[0] == b'0' && bare[1..].iter().all(u8::is_ascii_digit);
    let is_finite = || match text.parse::<f64>() {
        Ok(number) => number.is_finite(),
        Err(_) => true,
    };
    !is_padded && (js4_integer(text) || core_float(text) && is_finite())
}

/// As [`core_integer`], with a sign before each form, and `0b11`.
fn js4_integer(text: &str) -> bool {
    let text = unsigned(text);
    let prefixed = |prefix| text.strip_prefix(prefix);
    digits(text)
        || prefixed("0b").is_some_and(binary)
        || prefixed("0o").is_some_and(octal)
        || prefixed("0x").is_some_and(hex)
}

/// `1.5`, `1.`, `.5`, each with an optional exponent, infinity and NaN.
fn core_float(text: &str) -> bool {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let bare = unsigned(text);
    if matches!(bare, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let (mantissa, exponent) = split_exponent(bare);
    let mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    mantissa && exponent.is_none_or(|it| digits(unsigned(it)))
}

/// As [`core_float`], but without a sign before a leading point.
fn js4_float(text: &str) -> bool {
    let signed = text.len() > unsigned(text).len();
    let infinite = matches!(unsigned(text), ".inf" | ".Inf" | ".INF");
    core_float(text) && (!signed || infinite || !unsigned(text).starts_with('.'))
}

fn split_exponent(text: &str) -> (&str, Option<&str>) {
    match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    }
}

/// `1_000`, `0b11`, `0x1f`, `017`, `1:30`, with an optional sign.
fn js3_integer(text: &str) -> bool {
    let text = unsigned(text);
    if text.starts_with('_') || text.ends_with('_') {
        return false;
    }
    let bare = text.replace('_', "");
    let Some(rest) = text.strip_prefix('0') else {
        let (first, parts) = bare.split_once(':').map_or((&*bare, None), |it| (it.0, Some(it.1)));
        // Underscores are allowed before the first colon only.
        let sixty = |it: &str| text.ends_with(it) && it.split(':').all(below_sixty);
        return digits(first) && parts.is_none_or(sixty);
    };
    let bare = rest.replace('_', "");
    if let Some(rest) = rest.strip_prefix(['b', 'x']) {
        let bare = rest.replace('_', "");
        return if text.starts_with("0b") { binary(&bare) } else { hex(&bare) };
    }
    rest.is_empty() || octal(&bare)
}

fn below_sixty(text: &str) -> bool {
    digits(text) && (text.len() == 1 || text.len() == 2 && text < "6")
}

/// `1_0.5_0e+3`, `.5`, `1:30.5`, infinity and NaN.
fn js3_float(text: &str) -> bool {
    if text.ends_with('_') {
        return false;
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN")
        || matches!(unsigned(text), ".inf" | ".Inf" | ".INF")
    {
        return true;
    }
    let wide = |it: &str| it.bytes().all(|it| it.is_ascii_digit() || it == b'_');
    let exponent_fits = |it: Option<&str>| it.is_none_or(|it| digits(unsigned(it)));
    if let Some(rest) = text.strip_prefix('.') {
        let (fraction, exponent) = split_exponent(rest);
        return !fraction.is_empty() && wide(fraction) && exponent_fits(exponent);
    }
    let bare = unsigned(text);
    if let Some((sixty, fraction)) = bare.split_once('.').filter(|it| it.0.contains(':')) {
        let mut parts = sixty.split(':');
        let first = parts.next().unwrap_or_default();
        return first.starts_with(|it: char| it.is_ascii_digit())
            && wide(first)
            && parts.all(below_sixty)
            && wide(fraction);
    }
    let (mantissa, exponent) = split_exponent(bare);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole_fits = whole == "0" || whole.starts_with(|it| matches!(it, '1'..='9')) && wide(whole);
    whole_fits && wide(fraction) && exponent_fits(exponent)
}

/// `2026-11-21`.
fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    matches!(parts[..], [year, month, day]
        if digits(year) && year.len() == 4 && two(month) && two(day))
}

fn two(text: &str) -> bool {
    digits(text) && text.len() == 2
}

fn one_or_two(text: &str) -> bool {
    digits(text) && text.len() <= 2
}

/// `2026-11-21T10:00:00Z` and its looser forms.
fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ', '\t']) else { return false };
    let separated = !text[date.len()..].starts_with(['T', 't']);
    let time = if separated { time.trim_start_matches([' ', '\t']) } else { time };
    let date: Vec<_> = date.split('-').collect();
    let is_day = matches!(date[..], [year, month, day]
        if digits(year) && year.len() == 4 && one_or_two(month) && one_or_two(day));
    let seconds_end = time
        .match_indices(':')
        .nth(1)
        .map(|(at, _)| at + 3)
        .filter(|it| time.is_char_boundary(*it) && *it <= time.len());
    let (Some(end), true) = (seconds_end, is_day) else { return false };
    let clock: Vec<_> = time[..end].split(':').collect();
    let is_clock = matches!(clock[..], [hour, minute, second]
        if one_or_two(hour) && two(minute) && two(second));
    let rest = time[end..]
        .strip_prefix('.')
        .map_or(&time[end..], |it| it.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    is_clock && (rest.is_empty() || is_zone(rest.trim_start_matches([' ', '\t'])))
}

fn is_zone(text: &str) -> bool {
    let Some(offset) = text.strip_prefix(['+', '-']) else { return text == "Z" };
    match offset.split_once(':') {
        Some((hours, minutes)) => one_or_two(hours) && two(minutes),
        None => one_or_two(offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use YamlType::{Boolean, Date, Null, Number, Text};

    /// Checks js-yaml 3, js-yaml 4 and the core schema, in this order.
    #[track_caller]
    fn check(plain: &str, expected: [YamlType; 3]) {
        let libraries = [YamlLibrary::JsYaml3, YamlLibrary::JsYaml4, YamlLibrary::SerdeYaml];
        assert_eq!(libraries.map(|it| plain_scalar_type(plain, it)), expected, "{plain}");
    }

    #[test]
    fn py_yaml_types_words_and_numbers_of_yaml_1_1() {
        for (plain, expected) in [
            ("Yes", Boolean),
            ("NO", Boolean),
            ("off", Boolean),
            ("yEs", Text),
            ("y", Text),
            ("1e3", Text),
            ("1.5e+3", Number),
            ("1:30", Number),
            ("2026-11-23", Date),
        ] {
            assert_eq!(plain_scalar_type(plain, YamlLibrary::PyYaml), expected, "{plain}");
        }
    }

    #[test]
    fn libraries_agree_on_common_scalars() {
        for plain in ["~", "null", "NULL", ""] {
            check(plain, [Null; 3]);
        }
        for plain in ["true", "False", "TRUE"] {
            check(plain, [Boolean; 3]);
        }
        for plain in ["0", "12", "+3", "1.0", "1.", ".5", "1e5", "-1.5E+3", "0x1F", ".inf", ".NaN"]
        {
            check(plain, [Number; 3]);
        }
        for plain in
            ["yes", "y", "1.2.3", "v1", "-", "+", "e5", "1e", "0x", ".", "a b", "0xg", "_1"]
        {
            check(plain, [Text; 3]);
        }
    }

    // Each case was verified with Copilot CLI 1.0.102.
    #[test]
    fn serde_yaml_value_types_padded_and_infinite_numbers_as_text() {
        for plain in ["0b11", "-0x1f", "0o17", "1e3", ".5", "0", "12"] {
            assert_eq!(plain_scalar_type(plain, YamlLibrary::SerdeYamlValue), Number, "{plain}");
        }
        for plain in ["007", "1e400", "1_000", "190:20:30"] {
            assert_eq!(plain_scalar_type(plain, YamlLibrary::SerdeYamlValue), Text, "{plain}");
        }
    }

    // Each case was verified with js-yaml 3.15.2 and 4.3.2.
    #[test]
    fn libraries_differ_in_numbers_and_dates() {
        check("2026-11-21", [Date, Date, Text]);
        check("2026-1-2", [Text, Text, Text]);
        check("2026-11-21T10:00:00Z", [Date, Date, Text]);
        check("2026-1-2 3:04:05.5 +01:00", [Date, Date, Text]);
        check("2026-1-2 3:04", [Text, Text, Text]);
        check("1_000", [Number, Text, Text]);
        check("1_000_", [Text, Text, Text]);
        check("0b11", [Number, Number, Text]);
        check("0o17", [Text, Number, Number]);
        check("-0x1f", [Number, Number, Text]);
        check("017", [Number, Number, Number]);
        check("018", [Text, Number, Number]);
        check("01789692905", [Text, Number, Number]);
        check("12:30", [Number, Text, Text]);
        check("12:75", [Text, Text, Text]);
        check("12:30.5", [Number, Text, Text]);
        check("-.5", [Text, Text, Number]);
        check("0_1", [Number, Text, Text]);
    }
}
