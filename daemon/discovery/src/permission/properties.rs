//! Whether what stands in a SKILL.md's frontmatter can do harm, by the catalog's column.
//!
//! Nothing is safe that the catalog does not call safe: not an unknown key, not a misspelt one,
//! not one without a value, and not a frontmatter that has no keys to judge by. Of duplicates
//! each one counts, because agents differ in which they take.

use skills_agents::field_table::{self, Safety};
use skills_agents::fields::{FieldValue, Fields};
use skills_syntax::parse::{Document, Entry};

/// What the frontmatter of a skill amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Properties {
    /// Nothing but what is safe.
    Safe,
    /// Something to ask about: the first such key, as it is written.
    Asks(Box<str>),
    /// It could not be judged; it asks.
    Unknown,
}

impl Properties {
    /// Judges a SKILL.md by its parsed text.
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
        Safety::AsksUnless(values) => {
            match fields.coerce(&entry.value, field.shape.coercion()).value {
                Some(FieldValue::Choice(item)) => values.contains(&item.text.as_str()),
                _ => false,
            }
        }
    }
}
