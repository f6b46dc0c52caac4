//! Parses agents' configuration files (JSON, TOML, YAML) into one tree of [`Node`]s with positions.
//!
//! The meaning of a key is defined in `skills_agents::profile` and `skills_discovery::discover`.

mod json;
mod toml;
mod yaml;

use crate::text::{LineColumn, LineIndex};

/// The syntax of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON as `JSON.parse` accepts it.
    Json,
    /// JSON with comments.
    JsonWithComments,
    /// JSON with comments and trailing commas.
    JsonLoose,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Syntax {
    /// The number of variants.
    pub const COUNT: usize = Self::Yaml as usize + 1;

    /// Returns the name of the language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json | Self::JsonWithComments | Self::JsonLoose => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }
}

/// A syntax error and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The error, as a sentence fragment.
    pub message: String,
    /// The position of the error.
    pub at: LineColumn,
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The start of the value.
    pub at: LineColumn,
    /// The value.
    pub value: Value,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A null.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number, date or other scalar, in its source form.
    Other(Box<str>),
    /// A string.
    Text(Box<str>),
    /// A list.
    List(Vec<Node>),
    /// A map, with its entries in file order.
    Map(Vec<Entry>),
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Box<str>,
    /// The start of the key.
    pub at: LineColumn,
    /// The value.
    pub node: Node,
}

impl Node {
    /// Returns the entry of a key; the last one of duplicates, as `JSON.parse` does.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().rev().find(|it| &*it.key == key)
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|it| &it.node)
    }

    /// Returns the value at a path of keys.
    pub fn at_path(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the entries of a map; empty for other values.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Flag(_) | Value::Other(_) | Value::Text(_) | Value::List(_) => &[],
        }
    }

    /// Returns the items of a list; empty for other values.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            Value::Null | Value::Flag(_) | Value::Other(_) | Value::Text(_) | Value::Map(_) => &[],
        }
    }

    /// Returns the value of a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Null | Value::Flag(_) | Value::Other(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the value of a boolean.
    pub fn flag(&self) -> Option<bool> {
        match &self.value {
            Value::Flag(flag) => Some(*flag),
            Value::Null | Value::Other(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns a string, number or boolean as text; `None` for null, lists and maps.
    pub fn plain(&self) -> Option<String> {
        match &self.value {
            Value::Flag(flag) => Some(flag.to_string()),
            Value::Other(text) | Value::Text(text) => Some(text.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the kind of the value with its article, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Flag(_) => "a boolean",
            Value::Other(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a table",
        }
    }
}

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

/// Converts offsets of one text to positions.
struct Locator<'a> {
    text: &'a str,
    lines: LineIndex,
}

impl Locator<'_> {
    fn position(&self, offset: usize) -> LineColumn {
        let (line, column) = self.lines.display(self.text, offset);
        LineColumn { line, column }
    }

    fn error(&self, offset: usize, message: String) -> SyntaxError {
        SyntaxError { message, at: self.position(offset) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
