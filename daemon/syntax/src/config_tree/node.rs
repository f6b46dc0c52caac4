//! [`Node`]: a value of a configuration file with its position.

use crate::text::LineColumn;

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The start of the value.
    pub at: LineColumn,
    pub value: Value,
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number, date or other scalar, in its source form.
    Other(Box<str>),
    /// A string.
    Text(Box<str>),
    List(Vec<Node>),
    /// A map, with its entries in file order.
    Map(Vec<Entry>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: Box<str>,
    /// The start of the key.
    pub at: LineColumn,
    pub node: Node,
}

impl Node {
    /// Returns the entry of a key; the last one of duplicates, as `JSON.parse` does.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().rev().find(|it| &*it.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|it| &it.node)
    }

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
