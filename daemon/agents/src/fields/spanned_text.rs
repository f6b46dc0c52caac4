//! [`SpannedText`]: the text of a scalar, and its reading as a boolean.

use skills_syntax::parse::{Frontmatter, Value};
use skills_syntax::text::Span;

use crate::scalar::YamlType;
use crate::yaml_library::YamlLibrary;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpannedText {
    pub text: String,
    /// The span, including quotes; inside text that is split, the span of the item alone.
    pub span: Span,
}

/// Returns a scalar's text, or the type of another value.
pub(super) fn read_text(
    frontmatter: &Frontmatter,
    written: &Value,
) -> Result<SpannedText, YamlType> {
    let value = frontmatter.resolve(written);
    match value.as_str() {
        Some(text) => Ok(SpannedText { text: text.to_owned(), span: written.span }),
        None => Err(YamlType::of(value, YamlLibrary::Ours)),
    }
}

/// Reads a switch: `true`, `yes`, `on`, `1` and their opposites, in any case.
pub(super) fn read_switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}
