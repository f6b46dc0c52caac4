//! Parses YAML with the frontmatter parser, by wrapping the file in `---` lines.

use super::{Entry, Node, SyntaxError, Value};
use crate::parse::{
    self, Entry as YamlEntry, Keys, ScalarStyle, Value as Yaml, ValueKind, parse_with,
};
use crate::text::{LineColumn, LineIndex};

/// Maximum nesting depth of maps and lists.
const MAX_DEPTH: usize = 64;

pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    let fenced = format!("---\n{text}\n---\n");
    let reader = YamlReader { lines: LineIndex::new(&fenced), text: &fenced };
    let document = parse_with(&fenced, Keys::NONE);
    let start = LineColumn { line: 1, column: 1 };
    let Some(frontmatter) = &document.frontmatter else {
        return Err(SyntaxError { message: "not YAML".to_owned(), at: start });
    };
    if let Err(error) = &frontmatter.strict {
        let message = format!("not YAML: {}", error.message);
        return Err(SyntaxError { message, at: reader.position(error.span.start) });
    }
    Ok(Node { at: start, value: reader.map(frontmatter, &frontmatter.entries, MAX_DEPTH) })
}

struct YamlReader<'a> {
    text: &'a str,
    lines: LineIndex,
}

impl YamlReader<'_> {
    /// Subtracts the added `---` line.
    fn position(&self, offset: usize) -> LineColumn {
        let (line, column) = self.lines.display(self.text, offset);
        LineColumn { line: line.saturating_sub(1).max(1), column }
    }

    fn map(&self, whole: &parse::Frontmatter, entries: &[YamlEntry], depth: usize) -> Value {
        let entry = |it: &YamlEntry| Entry {
            key: it.key.text.as_str().into(),
            at: self.position(it.key.span.start),
            node: self.node(whole, &it.value, depth),
        };
        Value::Map(entries.iter().map(entry).collect())
    }

    fn node(&self, whole: &parse::Frontmatter, value: &Yaml, depth: usize) -> Node {
        let at = self.position(value.span.start);
        let Some(depth) = depth.checked_sub(1) else { return Node { at, value: Value::Null } };
        let value = match &whole.resolve(value).kind {
            ValueKind::Null | ValueKind::Alias { .. } => Value::Null,
            ValueKind::Scalar { style: ScalarStyle::Plain, text } => plain(text),
            ValueKind::Scalar { text, .. } => Value::Text(text.as_str().into()),
            ValueKind::Sequence { items, .. } => {
                Value::List(items.iter().map(|it| self.node(whole, it, depth)).collect())
            }
            ValueKind::Mapping { entries, .. } => self.map(whole, entries, depth),
        };
        Node { at, value }
    }
}

fn plain(text: &str) -> Value {
    match text {
        "true" | "True" | "TRUE" => Value::Flag(true),
        "false" | "False" | "FALSE" => Value::Flag(false),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        _ if text.parse::<f64>().is_ok() => Value::Other(text.into()),
        _ => Value::Text(text.into()),
    }
}
