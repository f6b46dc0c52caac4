//! Lenient frontmatter reader by lines, with a YAML library for the values.
//!
//! It reads the whole block first; if that fails, it cuts the block at lines that start with a key
//! and reads each piece. A piece that fails is read as plain text. Scalars keep their source text:
//! `1.0` is not a number here.

use serde_yaml::Value;

/// The top-level keys of a frontmatter block, in order.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Frontmatter {
    fields: Vec<(String, Field)>,
}

#[derive(Debug, PartialEq)]
enum Field {
    Text(String),
    List(Vec<String>),
    /// Null, or a map: neither a text nor a list.
    Other,
}

impl Frontmatter {
    /// Reads each key as far as possible; `None` if there is no block between two `---` lines.
    pub(super) fn per_key(text: &str) -> Option<Frontmatter> {
        let (block, _) = split(text)?;
        Some(whole(&block).unwrap_or_else(|| in_pieces(&block)))
    }

    /// Reads the block as YAML, or with one-line values quoted if that makes it valid.
    pub(super) fn strict_or_quoted(text: &str) -> Option<Frontmatter> {
        let (block, _) = split(text)?;
        whole(&block).or_else(|| whole(&quoted(&block)))
    }

    /// Returns the text of `key`; `None` if it is missing, empty or not a scalar.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match self.field(key)? {
            Field::Text(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
            Field::List(_) | Field::Other => None,
        }
    }

    /// Returns whether `key` is true in one of YAML's spellings.
    pub(super) fn is_true(&self, key: &str) -> bool {
        let text = self.text(key).unwrap_or_default().trim().to_lowercase();
        ["true", "yes", "on", "1"].contains(&text.as_str())
    }

    /// Returns the entries of `key`, a list or a comma string, without the empty ones.
    pub(super) fn items(&self, key: &str) -> Vec<String> {
        let items = match self.field(key) {
            Some(Field::Text(text)) => text.split(',').map(str::to_owned).collect(),
            Some(Field::List(items)) => items.clone(),
            Some(Field::Other) | None => Vec::new(),
        };
        items.into_iter().filter(|item: &String| !item.trim().is_empty()).collect()
    }

    fn field(&self, key: &str) -> Option<&Field> {
        // The last of two equal keys is read.
        self.fields.iter().rev().find(|(name, _)| name == key).map(|(_, field)| field)
    }
}

/// Returns the text after the frontmatter, or the whole text if it has none.
pub(super) fn body_of(text: &str) -> &str {
    split(text).map_or(text, |(_, body)| body)
}

/// Splits at the first two `---` lines; the first must begin the text. A byte order mark may
/// precede it.
fn split(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let opening = lines.next()?;
    let mut at = opening.len();
    if opening.trim_end() != "---" {
        return None;
    }
    let start = at;
    for line in lines {
        if line.trim_end() == "---" {
            let block = text[start..at].replace("\r\n", "\n");
            return Some((block, &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn whole(block: &str) -> Option<Frontmatter> {
    let value: Value = serde_yaml::from_str(block).ok()?;
    let mut frontmatter = Frontmatter::default();
    match value {
        Value::Null => {}
        Value::Mapping(map) => {
            for (key, value) in map {
                let key = key.as_str()?.to_owned();
                let field = field(block, &key, &value);
                frontmatter.fields.push((key, field));
            }
        }
        _ => return None,
    }
    Some(frontmatter)
}

fn field(block: &str, key: &str, value: &Value) -> Field {
    match value {
        Value::String(text) => Field::Text(text.clone()),
        // The source text, not the value.
        Value::Bool(_) | Value::Number(_) | Value::Tagged(_) => Field::Text(source(block, key)),
        Value::Sequence(items) => {
            Field::List(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect())
        }
        Value::Null | Value::Mapping(_) => Field::Other,
    }
}

/// Returns the text after `key:` on its line, without a comment.
fn source(block: &str, key: &str) -> String {
    let value =
        block.lines().find_map(|line| line.trim_start().strip_prefix(key)?.strip_prefix(':'));
    let value = value.unwrap_or_default();
    value.split(" #").next().unwrap_or_default().trim().to_owned()
}

fn in_pieces(block: &str) -> Frontmatter {
    let mut pieces: Vec<String> = Vec::new();
    for line in block.lines() {
        match pieces.last_mut() {
            Some(piece) if key_of(line).is_none() => {
                piece.push('\n');
                piece.push_str(line);
            }
            _ => pieces.push(line.to_owned()),
        }
    }
    let mut frontmatter = Frontmatter::default();
    for piece in pieces {
        let Some(key) = key_of(&piece) else { continue };
        match whole(&format!("{piece}\n")) {
            Some(one) => frontmatter.fields.extend(one.fields),
            None => frontmatter.fields.push((key.to_owned(), Field::Text(as_text(&piece, key)))),
        }
    }
    frontmatter
}

/// Returns the key that a line starts with at column 0.
fn key_of(line: &str) -> Option<&str> {
    let line = line.lines().next()?;
    let (key, rest) = line.split_once(':')?;
    let is_word = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
    let fits = key.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && key.chars().all(is_word)
        && (rest.is_empty() || rest.starts_with(char::is_whitespace));
    fits.then_some(key.trim_end())
}

/// Returns a piece's text after `key:`, lines joined by spaces, without a surrounding or opening
/// quote.
fn as_text(piece: &str, key: &str) -> String {
    let value = piece.strip_prefix(key).and_then(|rest| rest.trim_start().strip_prefix(':'));
    let lines = value.unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join(" ");
    let mark = text.chars().next().filter(|mark| ['"', '\''].contains(mark));
    match mark {
        Some(mark) if text.len() > 1 && text.ends_with(mark) => text[1..text.len() - 1].to_owned(),
        Some(mark) if text.matches(mark).count() == 1 => text[1..].to_owned(),
        _ => text,
    }
}

/// Adds double quotes to each unquoted one-line value that may be invalid YAML.
fn quoted(block: &str) -> String {
    let mut text = String::new();
    for line in block.lines() {
        match line.split_once(": ").filter(|_| key_of(line).is_some()) {
            Some((key, value)) if is_trouble(value.trim()) => {
                let value = value.trim().replace('\\', "\\\\").replace('"', "\\\"");
                text.extend([key, ": \"", &value, "\"\n"]);
            }
            _ => {
                text.extend([line, "\n"]);
            }
        }
    }
    text
}

fn is_trouble(value: &str) -> bool {
    let is_quoted = value.starts_with(['"', '\'']);
    !is_quoted
        && (value.starts_with(['{', '[', '*', '&', '!', '|', '>', '%', '@', '`'])
            || value.contains(": ")
            || value.contains(" #"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: Option<&str>, description: Option<&str>) {
        let read = Frontmatter::per_key(text).unwrap_or_default();
        assert_eq!(read.text("name").as_deref(), name, "{read:?}");
        assert_eq!(read.text("description").as_deref(), description, "{read:?}");
    }

    #[test]
    fn valid_block_is_read_as_yaml() {
        check("---\nname: a\ndescription: >\n  b\n  c\n---\nbody", Some("a"), Some("b c\n"));
        check("\u{feff}---\r\nname: a\r\ndescription: 'b'\r\n---\r\n", Some("a"), Some("b"));
        check("---\nname: a\n---\n---\ndescription: b\n---\n", Some("a"), None);
    }

    #[test]
    fn scalars_keep_their_source_text() {
        check("---\nname: 1.0 # one\ndescription: 007\n---\n", Some("1.0"), Some("007"));
        check("---\nname: true\ndescription: null\n---\n", Some("true"), None);
        check("---\nname: [a]\ndescription: {a: b}\n---\n", None, None);
    }

    #[test]
    fn invalid_value_does_not_affect_other_keys() {
        check("---\nname: a\ndescription: Usage: b\n---\n", Some("a"), Some("Usage: b"));
        check("---\ndescription: \"open\nname: a\n---\n", Some("a"), Some("open"));
        check("---\nname: a\ndescription: x: y\n  z\n---\n", Some("a"), Some("x: y z"));
        check("---\nname: a\nmeta:\n\tb: c\ndescription: d\n---\n", Some("a"), Some("d"));
    }

    #[test]
    fn text_without_a_block_has_no_frontmatter() {
        assert_eq!(Frontmatter::per_key("name: a\n"), None);
        assert_eq!(Frontmatter::per_key("---\nname: a\n"), None);
        assert_eq!(Frontmatter::per_key("\n---\nname: a\n---\n"), None);
        assert_eq!(body_of("---\nname: a\n---\nb\n"), "b\n");
        assert_eq!(body_of("b\n"), "b\n");
    }

    #[test]
    fn quoting_repairs_a_colon_but_not_an_open_quote() {
        let mended = Frontmatter::strict_or_quoted("---\ndescription: a: b\npaths: x\n---\n");
        assert_eq!(mended.expect("it is mended").items("paths"), ["x"]);
        assert_eq!(
            Frontmatter::strict_or_quoted("---\ndescription: \"open\npaths: x\n---\n"),
            None
        );
    }

    #[test]
    fn lists_may_be_comma_strings() {
        let read = Frontmatter::per_key("---\na: x, ,y\nb: [x, '']\nc:\n---\n").expect("a block");
        assert_eq!(read.items("a"), ["x", "y"]);
        assert_eq!(read.items("b"), ["x"]);
        assert!(read.items("c").is_empty());
    }
}
