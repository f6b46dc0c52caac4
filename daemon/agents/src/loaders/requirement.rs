//! Checks the fields, besides name and description, that an agent requires ([`Requirement`]).

use super::dialect::{Mapping, TypedValue};
use super::outcome::Remark;
use crate::profile::Requirement;
use crate::scalar::YamlType;

impl Requirement {
    /// Returns the required field; `None` for the body.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Self::Body => None,
            Self::TextOnly(key)
            | Self::ListOfTexts(key)
            | Self::MapOfTexts(key)
            | Self::MapWith { key, .. } => Some(key),
        }
    }

    /// Returns a remark if the requirement is violated.
    pub(super) fn violation(&self, mapping: Option<&Mapping>, has_body: bool) -> Option<Remark> {
        let Some(key) = self.key() else {
            let next = "Write what the skill does below the frontmatter.";
            return (!has_body).then(|| remark("body/required", "the body is empty".into(), next));
        };
        let mapping = mapping?;
        let found = mapping.typed(key)?;
        let all_texts = |it: Option<Vec<TypedValue>>| {
            it.is_some_and(|it| it.iter().all(|it| it.kind == YamlType::Text))
        };
        let (fits, expected, next) = match self {
            Self::Body => return None,
            Self::TextOnly(_) => {
                (found.kind == YamlType::Text, "a text", "Put the value in quotes.")
            }
            Self::ListOfTexts(_) => (
                all_texts(mapping.items(key)),
                "a list of texts",
                "Write it as a list, one text in each line.",
            ),
            Self::MapOfTexts(_) => {
                (all_texts(mapping.values(key)), "a map of texts", "Put the values in quotes.")
            }
            Self::MapWith { scalar, .. } => {
                let inner = mapping.within(key, scalar).map(|it| it.kind);
                let is_scalar = !matches!(inner, Some(YamlType::List | YamlType::Map));
                let unwritten = found.kind == YamlType::Null && found.text.is_empty();
                let fits = unwritten || (found.kind == YamlType::Map && is_scalar);
                (fits, "a map or an empty value", "Write it as a map, or remove it.")
            }
        };
        if fits {
            return None;
        }
        let what = found.kind.name();
        let message = format!("`{key}` is {what}; this agent expects {expected}");
        Some(remark("field/type", message, next))
    }
}

fn remark(rule: &'static str, message: String, next: &str) -> Remark {
    Remark { rule, message, at: None, next: next.to_owned() }
}
