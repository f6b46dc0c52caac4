//! Converts YAML values to JSON: for keys outside the field table, and for the whole frontmatter.

use serde_json::{Map, Number, Value as Json};
use skills_syntax::parse::{Entry, Frontmatter, ScalarStyle, Value, ValueKind};

/// Nesting limit; deeper values become their source text. Aliases may contain themselves.
const DEEPEST: usize = 32;

/// Limit on converted values. A few nested aliases can expand to millions.
const MAX_VALUES: usize = 10_000;

/// Converts entries. The last of duplicate keys wins, at the position of the first.
///
/// Aliases are expanded within the limits. Beyond them, values become their source text.
pub fn json<'e>(
    frontmatter: &Frontmatter,
    source: &str,
    entries: impl IntoIterator<Item = &'e Entry>,
) -> Map<String, Json> {
    let mut conversion = JsonConversion { frontmatter, source, left: MAX_VALUES };
    entries
        .into_iter()
        .map(|it| (it.key.text.clone(), conversion.value(&it.value, DEEPEST)))
        .collect()
}

struct JsonConversion<'a> {
    frontmatter: &'a Frontmatter,
    source: &'a str,
    /// The number of values that may still be converted.
    left: usize,
}

impl JsonConversion<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Json {
        let (Some(left), Some(below)) = (self.left.checked_sub(1), depth.checked_sub(1)) else {
            return Json::String(value.span.slice(self.source).to_owned());
        };
        self.left = left;
        let value = self.frontmatter.resolve(value);
        match &value.kind {
            ValueKind::Null => Json::Null,
            ValueKind::Scalar { style: ScalarStyle::Plain, text } => plain_scalar(text),
            ValueKind::Scalar { text, .. } => Json::String(text.clone()),
            ValueKind::Sequence { items, .. } => {
                items.iter().map(|it| self.value(it, below)).collect()
            }
            ValueKind::Mapping { entries, .. } => entries
                .iter()
                .map(|it| (it.key.text.clone(), self.value(&it.value, below)))
                .collect::<Map<_, _>>()
                .into(),
            ValueKind::Alias { .. } => Json::String(value.span.slice(self.source).to_owned()),
        }
    }
}

/// Converts a plain scalar by YAML's core schema, unless that would change its spelling: `1.10` is
/// more often a version than a number.
fn plain_scalar(text: &str) -> Json {
    match text {
        "true" | "True" | "TRUE" => return Json::Bool(true),
        "false" | "False" | "FALSE" => return Json::Bool(false),
        _ => {}
    }
    let number = text
        .parse()
        .map(|it: i64| Number::from(it))
        .ok()
        .or_else(|| Number::from_f64(text.parse().ok()?));
    match number.filter(|it| it.to_string() == text) {
        Some(number) => Json::Number(number),
        None => Json::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;
    use crate::skill::parse;

    fn convert(yaml: &str) -> Json {
        let text = format!("---\n{yaml}---\nbody\n");
        let frontmatter = parse(&text).frontmatter.unwrap();
        super::json(&frontmatter, &text, &frontmatter.entries).into()
    }

    #[test]
    fn scalars_keep_their_spelling() {
        assert_eq!(
            convert(
                "a: true\nb: 'true'\nc: 12\nd: 1.10\ne: 1.5\nf: 012\ng: ~\nh: text here\ni: -3\nj: .inf\n",
            ),
            json!({
                "a": true, "b": "true", "c": 12, "d": "1.10", "e": 1.5, "f": "012",
                "g": null, "h": "text here", "i": -3, "j": ".inf",
            }),
        );
    }

    #[test]
    fn lists_maps_aliases_and_duplicates_convert() {
        assert_eq!(
            convert("a: &x [1, b]\nm:\n  k: v\n  l: *x\na2: *x\nd: 1\nd: 2\n"),
            json!({"a": [1, "b"], "m": {"k": "v", "l": [1, "b"]}, "a2": [1, "b"], "d": 2}),
        );
    }

    #[test]
    fn self_referential_alias_terminates() {
        assert!(convert("a: &x [*x]\n")["a"].is_array());
    }

    #[test]
    fn aliases_of_aliases_are_expanded_up_to_a_bound() {
        let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            let items = below.trim_end_matches(", ");
            let _ = writeln!(yaml, "a{level}: &a{level} [{items}]");
        }
        let text = convert(&yaml).to_string();
        assert!(text.len() < 40 * MAX_VALUES, "{} bytes", text.len());
    }
}
