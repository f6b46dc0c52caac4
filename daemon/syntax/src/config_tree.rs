//! A configuration file of an agent as a tree in which every key and value has its place.
//!
//! JSON with and without comments, TOML and YAML all become the same [`Node`]s, so that whoever
//! reads a setting need not know how it was written. Nothing here knows a setting: what a key
//! means is for `skills_agents::profile` and `skills_discovery::discover`.

mod json;
mod toml;
mod yaml;

use crate::text::{LineColumn, LineIndex};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON as `JSON.parse` takes it.
    Json,
    /// JSON with comments.
    JsonWithComments,
    /// JSON with comments and commas behind the last item.
    JsonLoose,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Syntax {
    /// How many there are.
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

/// Why a text is not a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong, as a sentence fragment.
    pub message: String,
    /// Where.
    pub at: LineColumn,
}

/// One value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value begins.
    pub at: LineColumn,
    /// The value.
    pub value: Value,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number, or whatever else is neither text nor one of the others, as it is written.
    Other(Box<str>),
    /// A text.
    Text(Box<str>),
    /// A list.
    List(Vec<Node>),
    /// A map, its entries in the order of the file.
    Map(Vec<Entry>),
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Box<str>,
    /// Where the key begins.
    pub at: LineColumn,
    /// The value.
    pub node: Node,
}

impl Node {
    /// Returns the entry of that key; of several the last, as `JSON.parse` does.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().rev().find(|it| &*it.key == key)
    }

    /// Returns the value of that key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|it| &it.node)
    }

    /// Returns the value behind several keys, one below the other.
    pub fn at_path(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the entries of a map; nothing of what is no map.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Flag(_) | Value::Other(_) | Value::Text(_) | Value::List(_) => &[],
        }
    }

    /// Returns the items of a list; nothing of what is no list.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            Value::Null | Value::Flag(_) | Value::Other(_) | Value::Text(_) | Value::Map(_) => &[],
        }
    }

    /// Returns the text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Null | Value::Flag(_) | Value::Other(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns whether it is `true` or `false`.
    pub fn flag(&self) -> Option<bool> {
        match &self.value {
            Value::Flag(flag) => Some(*flag),
            Value::Null | Value::Other(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns a text, a number or a boolean as it is written; nothing of what has parts.
    pub fn plain(&self) -> Option<String> {
        match &self.value {
            Value::Flag(flag) => Some(flag.to_string()),
            Value::Other(text) | Value::Text(text) => Some(text.to_string()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns what it is, for a sentence.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Flag(_) => "a boolean",
            Value::Other(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a table",
        }
    }
}

/// Parses a text.
pub fn parse(text: &str, syntax: Syntax) -> Result<Node, SyntaxError> {
    let places = Places { text, lines: LineIndex::new(text) };
    match syntax {
        Syntax::Json | Syntax::JsonWithComments | Syntax::JsonLoose => json::parse(&places, syntax),
        Syntax::Toml => toml::parse(&places),
        Syntax::Yaml => yaml::parse(text),
    }
}

/// Counts places in one text.
struct Places<'a> {
    text: &'a str,
    lines: LineIndex,
}

impl Places<'_> {
    fn spot(&self, offset: usize) -> LineColumn {
        let (line, column) = self.lines.display(self.text, offset);
        LineColumn { line, column }
    }

    fn flaw(&self, offset: usize, message: String) -> SyntaxError {
        SyntaxError { message, at: self.spot(offset) }
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
    fn values_have_their_places_in_each_syntax() {
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
    fn a_broken_text_says_where() {
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
    fn the_last_of_two_keys_counts() {
        let node = parse("{\"a\": 1, \"a\": \"two\"}", Syntax::Json).unwrap();
        assert_eq!(node.get("a").and_then(Node::text), Some("two"));
    }

    #[test]
    fn deep_nesting_is_a_flaw_and_no_overflow() {
        assert!(parse(&"[".repeat(100_000), Syntax::Json).is_err());
        assert!(parse(&format!("a = {}", "[".repeat(100_000)), Syntax::Toml).is_err());
        assert!(parse(&"[".repeat(100_000), Syntax::Yaml).is_err());
    }
}
