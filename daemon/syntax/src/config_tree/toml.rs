//! Parses TOML with the parser that also reads skillsd's own configuration.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::node::{Entry, Node, Value};
use super::source::{Locator, SyntaxError};

pub(super) fn parse(locator: &Locator<'_>) -> Result<Node, SyntaxError> {
    let table = DeTable::parse(locator.text).map_err(|error| {
        // Messages are a single line.
        let words: Vec<_> = error.message().split_whitespace().collect();
        let at = error.span().map_or(0, |span| span.start);
        locator.error(at, format!("not TOML: {}", words.join(" ")))
    })?;
    let at = locator.position(0);
    Ok(Node { at, value: map(locator, table.get_ref()) })
}

fn map(locator: &Locator<'_>, table: &DeTable<'_>) -> Value {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().as_ref().into(),
            at: locator.position(key.span().start),
            node: node(locator, value),
        })
        .collect();
    entries.sort_by_key(|it| it.at);
    Value::Map(entries)
}

fn node(locator: &Locator<'_>, value: &Spanned<DeValue<'_>>) -> Node {
    let at = locator.position(value.span().start);
    let kept = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.as_ref().into()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => {
            Value::Other(locator.text.get(value.span()).unwrap_or_default().into())
        }
        DeValue::Array(items) => Value::List(items.iter().map(|it| node(locator, it)).collect()),
        DeValue::Table(table) => map(locator, table),
    };
    Node { at, value: kept }
}
