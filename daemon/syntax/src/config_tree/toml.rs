//! TOML, by the parser that reads our own configuration.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Entry, Node, Places, SyntaxError, Value};

/// Parses TOML.
pub(super) fn parse(places: &Places<'_>) -> Result<Node, SyntaxError> {
    let table = DeTable::parse(places.text).map_err(|error| {
        // One line, as other messages are.
        let words: Vec<_> = error.message().split_whitespace().collect();
        let at = error.span().map_or(0, |span| span.start);
        places.flaw(at, format!("not TOML: {}", words.join(" ")))
    })?;
    let at = places.spot(0);
    Ok(Node { at, value: map(places, table.get_ref()) })
}

fn map(places: &Places<'_>, table: &DeTable<'_>) -> Value {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().as_ref().into(),
            at: places.spot(key.span().start),
            node: node(places, value),
        })
        .collect();
    entries.sort_by_key(|it| it.at);
    Value::Map(entries)
}

fn node(places: &Places<'_>, value: &Spanned<DeValue<'_>>) -> Node {
    let at = places.spot(value.span().start);
    let kept = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.as_ref().into()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => {
            Value::Other(places.text.get(value.span()).unwrap_or_default().into())
        }
        DeValue::Array(items) => Value::List(items.iter().map(|it| node(places, it)).collect()),
        DeValue::Table(table) => map(places, table),
    };
    Node { at, value: kept }
}
