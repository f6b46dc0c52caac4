//! Typed reading of frontmatter values: text, switches and lists of globs.
//!
//! Values are never coerced by the parser; here each reading that an agent makes of them has
//! one function. A function returns `None` when the value is of another shape.

use crate::parse::{Value, ValueKind};

/// Returns a value as one text: a scalar's text, empty for a null. Lists and maps are `None`.
pub fn text(value: &Value, source: &str) -> Option<String> {
    match &value.kind {
        ValueKind::Null => Some(String::new()),
        ValueKind::Scalar { text, .. } => Some(text.clone()),
        ValueKind::Alias { .. } => Some(value.span.slice(source).to_owned()),
        ValueKind::Sequence { .. } | ValueKind::Mapping { .. } => None,
    }
}

/// Returns a switch: `true`, `yes`, `on`, `1` and their opposites, in any case (Claude Code
/// documentation, "Frontmatter reference").
pub fn boolean(value: &Value, source: &str) -> Option<bool> {
    match text(value, source)?.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Returns the globs of a comma-separated string or of a list; commas inside braces belong to
/// their glob. Empty items are left out.
pub fn globs(value: &Value, source: &str) -> Vec<String> {
    match &value.kind {
        ValueKind::Sequence { items, .. } => {
            items.iter().filter_map(|it| text(it, source)).filter(|it| !it.is_empty()).collect()
        }
        _ => text(value, source).map(|it| split_globs(&it)).unwrap_or_default(),
    }
}

fn split_globs(list: &str) -> Vec<String> {
    let mut depth = 0_usize;
    list.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(|it| it.trim().to_owned())
    .filter(|it| !it.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_split_at_commas_outside_braces() {
        assert_eq!(split_globs("a/*.{rs,toml}, b , ,c"), ["a/*.{rs,toml}", "b", "c"]);
        assert_eq!(split_globs("a}, b"), ["a}", "b"]);
    }
}
