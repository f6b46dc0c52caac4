//! Parses agents' configuration files (JSON, TOML, YAML) into one tree of [`Node`]s with positions.
//!
//! The meaning of a key is defined in `skills_agents::profile` and `skills_discovery::discover`.

mod json;
mod node;
mod source;
mod toml;
mod yaml;

use crate::text::LineIndex;
use source::Locator;

pub use node::{Entry, Node, Value};
pub use source::{Syntax, SyntaxError};

/// Parses a configuration file.
pub fn parse(text: &str, syntax: Syntax) -> Result<Node, SyntaxError> {
    let locator = Locator { text, lines: LineIndex::new(text) };
    match syntax {
        Syntax::Json | Syntax::JsonWithComments | Syntax::JsonLoose => {
            json::parse(&locator, syntax)
        }
        Syntax::Toml => toml::parse(&locator),
        Syntax::Yaml => yaml::parse(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::LineColumn;

    fn line(text: &str, syntax: Syntax, keys: &[&str]) -> (u32, u32) {
        let node = parse(text, syntax).unwrap();
        let found = node.at_path(keys).unwrap();
        (found.at.line, found.at.column)
    }

    #[test]
    fn values_have_positions_in_each_syntax() {
        let json = "{\n  // why\n  \"skills\": {\"paths\": [\"a\",],},\n}";
        assert_eq!(line(json, Syntax::JsonLoose, &["skills", "paths"]), (3, 23));
        assert_eq!(line("[skills]\npaths = [\"é\"]\n", Syntax::Toml, &["skills", "paths"]), (2, 9));
        let yaml = "# why\npolicy:\n  allow: false\n";
        assert_eq!(line(yaml, Syntax::Yaml, &["policy", "allow"]), (3, 10));
        assert_eq!(
            parse(yaml, Syntax::Yaml).unwrap().at_path(&["policy", "allow"]).unwrap().flag(),
            Some(false)
        );
    }

    #[test]
    fn syntax_error_has_a_position() {
        let at = |text: &str, syntax| parse(text, syntax).unwrap_err().at;
        assert_eq!(at("{\n  \"a\": \n}", Syntax::Json).line, 3);
        assert_eq!(at("{\"a\": 1,}", Syntax::Json).line, 1);
        assert_eq!(at("{\n/* no */ \"a\": 1}", Syntax::Json).line, 2);
        assert!(parse("{/* yes */ \"a\": 1}", Syntax::JsonWithComments).is_ok());
        assert_eq!(at("a = 1\nb = \n", Syntax::Toml).line, 2);
        assert_eq!(at("", Syntax::Json), LineColumn { line: 1, column: 1 });
        assert!(parse("a: [1\nb: 2\n", Syntax::Yaml).is_err());
    }

    #[test]
    fn comma_without_a_value_is_an_error_beside_trailing_commas() {
        let read = |text: &str| parse(text, Syntax::JsonLoose);
        for text in ["{,}", "{\"a\":[,]}", "{\"a\":1,,}", "[1,/* c */,]", " ", "// c"] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["", "{\"a\":[1,],}", "{}", "{\"a\":\",,\"} // ,,"] {
            assert!(read(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn last_duplicate_key_wins() {
        let node = parse("{\"a\": 1, \"a\": \"two\"}", Syntax::Json).unwrap();
        assert_eq!(node.get("a").and_then(Node::text), Some("two"));
    }

    #[test]
    fn deep_nesting_is_an_error_without_stack_overflow() {
        assert!(parse(&"[".repeat(100_000), Syntax::Json).is_err());
        assert!(parse(&format!("a = {}", "[".repeat(100_000)), Syntax::Toml).is_err());
        assert!(parse(&"[".repeat(100_000), Syntax::Yaml).is_err());
    }
}
