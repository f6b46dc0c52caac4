//! Quotes YAML scalars so that every YAML library reads the same text, and words of shell commands.

use std::fmt::Write as _;

/// Returns the text in double quotes, or in single quotes if that avoids escapes.
pub fn quote_scalar(text: &str) -> String {
    let plain = !text.contains(['\\', '"']) && !text.chars().any(char::is_control);
    if plain || text.contains('\'') || text.chars().any(char::is_control) {
        return double_quote_scalar(text);
    }
    format!("'{text}'")
}

/// Quotes a text unless every YAML library reads it as this text without quotes.
pub fn quote_unless_text(text: &str) -> String {
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    // No number has one of these letters.
    let has_letter = text.contains(|it: char| matches!(it, 'g'..='n' | 'p'..='w' | 'y' | 'z'));
    let starts = text.starts_with(|it: char| it.is_ascii_alphabetic())
        || text.starts_with(|it: char| it.is_ascii_digit()) && has_letter;
    let lower = text.to_ascii_lowercase();
    let is_keyword =
        matches!(&*lower, "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null");
    if starts && !is_keyword && text.chars().all(is_word) {
        return text.to_owned();
    }
    quote_scalar(text)
}

/// Returns the text in double quotes, with special characters escaped: also the line separators of
/// YAML 1.1, and byte order marks.
pub fn double_quote_scalar(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            it if it.is_control() || matches!(it, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                for unit in it.to_string().encode_utf16() {
                    let _ = write!(quoted, "\\u{unit:04X}");
                }
            }
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the text as one word of a shell command.
pub fn quote_word(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-+@:,".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns a command of `skillsd` for a skill's name. A name that begins with a hyphen follows the
/// options and `--`, so that it is not read as an option.
pub fn skill_command(verb: &str, name: &str, options: &str) -> String {
    let gap = if options.is_empty() { "" } else { " " };
    let word = quote_word(name);
    if name.starts_with('-') {
        return format!("skillsd {verb}{gap}{options} -- {word}");
    }
    format!("skillsd {verb} {word}{gap}{options}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_in_a_command_is_one_word_and_no_option() {
        let command = |name: &str| skill_command("enable", name, "--profile codex");
        assert_eq!(command("pdf"), "skillsd enable pdf --profile codex");
        assert_eq!(command("--yes"), "skillsd enable --profile codex -- --yes");
        assert_eq!(command("a; b's"), "skillsd enable 'a; b'\\''s' --profile codex");
        assert_eq!(skill_command("explain", "pdf", ""), "skillsd explain pdf");
        assert_eq!(skill_command("explain", "-x", ""), "skillsd explain -- -x");
    }

    #[test]
    fn text_that_reads_as_another_type_is_quoted() {
        for plain in ["pdf", "3d-models", "nullable", "e-2", "x1", "on-call", "a_b"] {
            assert_eq!(quote_unless_text(plain), plain);
        }
        for other in ["123", "true", "0x1f", "0o17", "1e5", "2026-01-01", "null", "no", "y", "a b"]
        {
            assert_eq!(quote_unless_text(other), format!("\"{other}\""));
        }
    }

    #[test]
    fn quote_style_minimizes_escapes() {
        assert_eq!(quote_scalar("a: b"), "\"a: b\"");
        assert_eq!(quote_scalar("say \"x\""), "'say \"x\"'");
        assert_eq!(quote_scalar("it's \"x\""), "\"it's \\\"x\\\"\"");
        assert_eq!(quote_scalar("a\\b"), "'a\\b'");
        assert_eq!(double_quote_scalar("a\nb\u{1}"), "\"a\\nb\\u0001\"");
        assert_eq!(double_quote_scalar("\u{2028}\u{feff}"), "\"\\u2028\\uFEFF\"");
    }
}
