//! Bun's reading of YAML values, and their conversion to text in JavaScript (Claude Code).

use skills_syntax::edit::Edit;
use skills_syntax::parse::{Frontmatter, MAX_DEPTH, Value, YamlErrorKind};
use skills_syntax::text::Span;

use crate::scalar::YamlType;

/// The first of the private characters that stand for characters which our parser refuses.
const STAND_INS: char = '\u{F0000}';

/// Limit on the size of a list that is converted to text, in bytes; a list may contain an alias of
/// itself.
const MAX_LIST: usize = 64 * 1024;

/// The size that an item counts in addition to its text, in bytes.
const ITEM: usize = 64;

/// Returns an edit that replaces a character which only our parser refuses at `offset`.
pub(super) fn stand_in_edit(content: &str, kind: YamlErrorKind, offset: usize) -> Option<Edit> {
    match kind {
        // Bun refuses a null character too.
        YamlErrorKind::ControlCharacter(found) if found != '\0' => {
            let at = offset + content[offset..].find(found)?;
            let text = content[at..].replace(found, stand_in(found).encode_utf8(&mut [0; 4]));
            Some(Edit { span: Span::new(at, content.len()), text })
        }
        YamlErrorKind::ReservedStart(',') => {
            let at = offset + content[offset..].find(',')?;
            let is_value = content[..at].trim_end_matches(' ').ends_with(':');
            let edit = Edit { span: Span::new(at, at + 1), text: stand_in(',').to_string() };
            is_value.then_some(edit)
        }
        // Measured: Bun reads a tab in the indentation like a space, except in a block of text.
        YamlErrorKind::TabIndentation => {
            let start = content[..offset].rfind('\n').map_or(0, |it| it + 1);
            if content[..start].trim_end().trim_end_matches(['-', '+']).ends_with(['|', '>']) {
                return None;
            }
            let is_indented = |it: &&str| it.trim_start_matches(' ').starts_with('\t');
            let lines = content[start..].split_inclusive('\n').take_while(is_indented);
            let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
            // A line after an indented one is at least as deep as it.
            let before = content[..start].lines().rfind(|it| !it.trim().is_empty());
            let deeper = indent(before.unwrap_or_default())
                .saturating_sub(lines.clone().next().map_or(0, indent));
            let text = lines.clone().map(|it| " ".repeat(deeper + indent(it)) + &it[indent(it)..]);
            let text: String = text.collect();
            let span = Span::new(start, start + lines.map(str::len).sum::<usize>());
            (!text.is_empty()).then_some(Edit { span, text })
        }
        _ => None,
    }
}

/// Returns the private character that stands for an ASCII character.
fn stand_in(found: char) -> char {
    char::from_u32(STAND_INS as u32 + found as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the text to which JavaScript converts a value. `item` returns the type and the text of
/// an item in a list.
pub(super) fn converted(
    frontmatter: &Frontmatter,
    (kind, value): (YamlType, &Value),
    text: &str,
    item: &impl Fn(&Value) -> (YamlType, String),
) -> String {
    match kind {
        YamlType::List => {
            let (mut parts, mut left) = (Vec::new(), MAX_LIST);
            collect(frontmatter, value, item, MAX_DEPTH, &mut left, &mut parts);
            parts.join(",")
        }
        YamlType::Map => "[object Object]".to_owned(),
        _ => scalar_text(kind, text),
    }
}

/// Returns a text with the characters for which others stand.
pub(super) fn without_stand_ins(text: &str) -> String {
    text.chars().map(original).collect()
}

/// Returns whether a character stands for another one.
pub(super) fn is_stand_in(letter: char) -> bool {
    original(letter) != letter
}

/// Returns a scalar as JavaScript converts it to text.
pub(super) fn scalar_text(kind: YamlType, text: &str) -> String {
    match kind {
        YamlType::Number => number_text(text),
        YamlType::Boolean => text.to_ascii_lowercase(),
        _ => text.to_owned(),
    }
}

fn original(letter: char) -> char {
    let offset = (letter as u32).checked_sub(STAND_INS as u32);
    offset.filter(|it| *it < 0xA0).and_then(char::from_u32).unwrap_or(letter)
}

/// Collects the texts of the items in a list, and of those in its lists, as long as `left` bytes
/// last.
fn collect(
    frontmatter: &Frontmatter,
    value: &Value,
    typed: &impl Fn(&Value) -> (YamlType, String),
    depth: usize,
    left: &mut usize,
    parts: &mut Vec<String>,
) {
    for item in value.items().unwrap_or_default() {
        let item = frontmatter.resolve(item);
        *left = left.saturating_sub(ITEM);
        if *left == 0 || depth == 0 {
            return;
        }
        if item.items().is_some_and(|it| !it.is_empty()) {
            collect(frontmatter, item, typed, depth - 1, left, parts);
            continue;
        }
        let (kind, text) = typed(item);
        *left = left.saturating_sub(text.len());
        parts.push(if kind == YamlType::Null { String::new() } else { text });
    }
}

/// Returns a number of YAML's core schema as JavaScript writes it.
fn number_text(text: &str) -> String {
    let radix = |prefix, radix| {
        let digits = text.strip_prefix(prefix)?;
        let digit =
            |value: f64, it: char| Some(value * f64::from(radix) + f64::from(it.to_digit(radix)?));
        digits.chars().try_fold(0.0, digit)
    };
    let bare = text.trim_start_matches(['+', '-']);
    let number = match bare.to_ascii_lowercase().as_str() {
        ".inf" if text.starts_with('-') => f64::NEG_INFINITY,
        ".inf" => f64::INFINITY,
        ".nan" => f64::NAN,
        _ => radix("0x", 16).or_else(|| radix("0o", 8)).or(text.parse().ok()).unwrap_or(f64::NAN),
    };
    if number.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    if number.is_infinite() {
        return format!("{sign}Infinity");
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let short = format!("{:e}", number.abs());
    let (mantissa, exponent) = short.split_once('e').unwrap_or((&short, "0"));
    let (digits, exponent) = (mantissa.replace('.', ""), exponent.parse::<i32>().unwrap_or(0));
    if let Some(above) = usize::try_from(exponent).ok().filter(|it| *it < 21) {
        let (whole, fraction) = digits.split_at(digits.len().min(above + 1));
        let point = if fraction.is_empty() { "" } else { "." };
        return format!("{sign}{whole:0<width$}{point}{fraction}", width = above + 1);
    }
    if (-6..0).contains(&exponent) {
        return format!("{sign}{}", number.abs());
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let plus = if exponent < 0 { "" } else { "+" };
    format!("{sign}{first}{point}{rest}e{plus}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_javascript() {
        for (text, expected) in [
            ("007", "7"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("+1", "1"),
            ("1.50", "1.5"),
            (".5", "0.5"),
            ("1.", "1"),
            ("1E400", "Infinity"),
            ("-.INF", "-Infinity"),
            ("12345678901234567890", "12345678901234567000"),
            ("0.1e-7", "1e-8"),
            ("0.000001", "0.000001"),
            ("1e-7", "1e-7"),
            ("1.25e21", "1.25e+21"),
            ("1e20", "100000000000000000000"),
            ("-0.0", "0"),
            (".nan", "NaN"),
        ] {
            assert_eq!(number_text(text), expected, "{text}");
        }
    }
}
