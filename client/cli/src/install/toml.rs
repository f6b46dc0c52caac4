//! Edits TOML files and keeps comments, order and layout. Only supports properties: no agent has a
//! list in TOML that we add to.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item as Node, Table, TableLike, value};

use crate::install::item::{ConfigEntry, EditError, Presence};

/// A TOML file.
pub(super) struct Toml(DocumentMut);

impl Toml {
    pub(super) fn parse(text: &str) -> Result<Self, EditError> {
        text.parse().map(Self).map_err(|error: toml_edit::TomlError| {
            let place = error.span().map(|span| {
                let before = &text[..span.start];
                let line = before.rsplit('\n').next().unwrap_or_default();
                (before.matches('\n').count() + 1, line.chars().count() + 1)
            });
            EditError { message: error.message().trim().replace('\n', ", "), place }
        })
    }

    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn presence(&self, item: &ConfigEntry) -> Presence {
        let found = item.key.as_ref().and_then(|key| self.table(&item.at)?.get(key));
        match found {
            None => Presence::Absent,
            Some(found) if json(found) == item.value => Presence::Same,
            Some(_) => Presence::Other,
        }
    }

    /// Adds an item, and returns the paths of the tables created for it.
    pub(super) fn add(&mut self, item: &ConfigEntry) -> Result<Vec<Vec<String>>, EditError> {
        let mut made = Vec::new();
        let mut table: &mut dyn TableLike = self.0.as_table_mut();
        for (nth, key) in item.at.iter().enumerate() {
            let at = &item.at[..=nth];
            if !table.contains_key(key) {
                made.push(at.to_vec());
                let mut new = Table::new();
                // `[a.b]` implies `[a]`.
                new.set_implicit(true);
                table.insert(key, Node::Table(new));
            }
            let next = table.get_mut(key).and_then(Node::as_table_like_mut);
            table = next.ok_or_else(|| EditError::kind(at, "table"))?;
        }
        let key = item.key.as_ref().ok_or_else(|| EditError::kind(&item.at, "table"))?;
        table.insert(key, node(&item.value));
        Ok(made)
    }

    /// Removes an item if it is present unchanged; returns whether it was.
    pub(super) fn remove(&mut self, item: &ConfigEntry) -> bool {
        if self.presence(item) != Presence::Same {
            return false;
        }
        let table = self.table_mut(&item.at);
        let removed = table.zip(item.key.as_ref()).and_then(|(table, key)| table.remove(key));
        removed.is_some()
    }

    /// Removes an empty table.
    pub(super) fn prune(&mut self, at: &[String]) {
        let Some((key, above)) = at.split_last() else { return };
        let Some(table) = self.table_mut(above) else { return };
        if table.get(key).and_then(Node::as_table_like).is_some_and(TableLike::is_empty) {
            table.remove(key);
        }
    }

    fn table(&self, at: &[String]) -> Option<&dyn TableLike> {
        let top: &dyn TableLike = self.0.as_table();
        at.iter().try_fold(top, |table, key| table.get(key)?.as_table_like())
    }

    fn table_mut(&mut self, at: &[String]) -> Option<&mut dyn TableLike> {
        let top: &mut dyn TableLike = self.0.as_table_mut();
        at.iter().try_fold(top, |table, key| table.get_mut(key)?.as_table_like_mut())
    }
}

// Supports the values that we install: tables of strings, booleans and lists of strings.
fn node(from: &Value) -> Node {
    match from {
        Value::Object(all) => {
            let mut table = Table::new();
            for (key, it) in all {
                table.insert(key, node(it));
            }
            Node::Table(table)
        }
        Value::Array(all) => value(all.iter().filter_map(Value::as_str).collect::<Array>()),
        Value::Bool(it) => value(*it),
        Value::String(it) => value(it),
        Value::Null | Value::Number(_) => Node::None,
    }
}

fn json(from: &Node) -> Value {
    if let Some(table) = from.as_table_like() {
        let pairs = table.iter().map(|(key, it)| (key.to_owned(), json(it)));
        return Value::Object(pairs.collect::<Map<_, _>>());
    }
    if let Some(list) = from.as_array() {
        return list.iter().map(|it| json(&Node::Value(it.clone()))).collect();
    }
    if let Some(text) = from.as_str() {
        return text.into();
    }
    // Other kinds are never equal to an item.
    from.as_bool().map_or(Value::Null, Value::Bool)
}
