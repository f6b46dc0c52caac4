//! Assesses whether a skill's frontmatter is harmless, by the field table.
//!
//! Only fields that the table marks as safe are harmless: not an unknown or misspelt key, and not
//! frontmatter without readable keys. Every duplicate of a key is checked,
//! because agents differ in which one they use.

use skills_agents::field_table::{self, Safety};
use skills_agents::fields::{FieldValue, Fields};
use skills_syntax::parse::{Document, Entry};

/// Assessment of a skill's frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Properties {
    /// All fields are safe.
    Safe,
    /// The first field, as written, that requires approval.
    Asks(Box<str>),
    /// The frontmatter cannot be parsed, so it requires approval.
    Unknown,
}

impl Properties {
    /// Assesses a parsed SKILL.md.
    pub fn of(document: &Document, text: &str) -> Self {
        let Some(frontmatter) = &document.frontmatter else { return Self::Safe };
        let fields = Fields::new(frontmatter, text);
        if let Some(entry) = frontmatter.entries.iter().find(|it| !is_safe(fields, it)) {
            return Self::Asks(entry.key.text.as_str().into());
        }
        let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
        let is_empty = frontmatter.content.slice(text).lines().map(str::trim).all(is_comment);
        if frontmatter.entries.is_empty() && !is_empty { Self::Unknown } else { Self::Safe }
    }
}

fn is_safe(fields: Fields<'_>, entry: &Entry) -> bool {
    let Some(field) = field_table::find(&entry.key.text) else { return false };
    match field.safety {
        Safety::Safe => true,
        Safety::Asks => false,
        Safety::AsksIfFilled => {
            let reading = fields.coerce(&entry.value, field.shape.coercion());
            let is_empty = match reading.value {
                None => true,
                Some(FieldValue::List(items)) => items.is_empty(),
                Some(_) => false,
            };
            is_empty && reading.faults.is_empty()
        }
        Safety::AsksFor(values) => {
            match fields.coerce(&entry.value, field.shape.coercion()).value {
                Some(FieldValue::Choice(item)) => !values.contains(&item.text.as_str()),
                _ => true,
            }
        }
    }
}
