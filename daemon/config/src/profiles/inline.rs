//! Formatting of a TOML table on one line.

use std::fmt::Write as _;

use toml::de::{DeTable, DeValue};

/// Returns a table as TOML on one line.
pub(super) fn table(table: &DeTable<'_>) -> String {
    let entry = |(key, of): (&_, &toml::Spanned<DeValue<'_>>)| {
        let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
        format!("{} = {}", quoted(key.get_ref()), value(of.get_ref()))
    };
    let entries: Vec<String> = table.iter().map(entry).collect();
    format!("{{ {} }}", entries.join(", "))
}

fn value(of: &DeValue<'_>) -> String {
    match of {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(yes) => yes.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|it| value(it.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(inner) => table(inner),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
