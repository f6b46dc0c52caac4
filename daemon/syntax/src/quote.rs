//! Quotes YAML scalars so that every YAML library reads the same text, and words of a shell command.

use std::fmt::Write as _;

/// Returns the text in double quotes, or in single quotes if that avoids escapes.
pub fn quote_scalar(text: &str) -> String {
    let plain = !text.contains(['\\', '"']) && !text.chars().any(char::is_control);
    if plain || text.contains('\'') || text.chars().any(char::is_control) {
        return double_quote_scalar(text);
    }
    format!("'{text}'")
}

/// Returns the text in double quotes.
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
            it if it.is_control() => {
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
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+@:,".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quote_style_minimizes_escapes() {
        assert_eq!(quote_scalar("a: b"), "\"a: b\"");
        assert_eq!(quote_scalar("say \"x\""), "'say \"x\"'");
        assert_eq!(quote_scalar("it's \"x\""), "\"it's \\\"x\\\"\"");
        assert_eq!(quote_scalar("a\\b"), "'a\\b'");
        assert_eq!(double_quote_scalar("a\nb\u{1}"), "\"a\\nb\\u0001\"");
    }
}
