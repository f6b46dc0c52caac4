//! The `strict` strategy: parses the whole block as the agent's YAML library does.
//!
//! skillsd parses YAML 1.2 with its own parser. Rules in this module, each stated once, cover the
//! input on which another library differs: duplicate keys, tags, escapes, quoted text that
//! continues at column 0, tabs. They were found by comparing all libraries on 36,000 real
//! frontmatters; a corpus test checks them.

use skills_syntax::diagnostic::ProblemCode;
use skills_syntax::parse::{
    Closing, Entry, Frontmatter, MAX_DEPTH, ScalarStyle, Value, ValueKind, YamlErrorKind, find,
};
use skills_syntax::text::Span;

use super::bun;
use super::repair::{RepairEdit, line_spans};
use crate::scalar::{YamlType, plain_scalar_type};
use crate::skill::parse;
use crate::yaml_library::YamlLibrary;

/// Maximum length of a list or a map as JSON, in bytes; aliases can repeat a value without end.
const MOST_JSON_BYTES: usize = 64 * 1024;

/// The error with which a library refuses a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct YamlRefusal {
    /// The error, as a sentence fragment.
    pub message: String,
    /// The offset in the content.
    pub offset: usize,
}

/// The mapping that a library reads from a block.
#[derive(Clone, PartialEq, Debug)]
pub struct Mapping {
    library: YamlLibrary,
    /// The parsed text: the content between two `---` lines.
    text: String,
    frontmatter: Option<Frontmatter>,
    /// True if characters in the text stand for others, see [`bun::stand_in_edit`].
    has_stand_ins: bool,
}

/// A value with the type that a library gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TypedValue {
    pub(super) kind: YamlType,
    /// The text of a scalar, including a null as it is written; empty for a list or a map.
    pub(super) text: String,
}

/// The lines put around the content for parsing.
const OPENING: &str = "---\n";
const CLOSING: &str = "---\n";

/// Line separators of Unicode, which end a line for libyaml.
const LINE_SEPARATORS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Spaces inserted before a line that continues at column 0 and has to be deeper than its parent.
const DEEP_INDENT: usize = 64;

/// Limit on the edits in one block that adapt input to our parser.
const MAX_COMPATIBILITY_EDITS: usize = 64;

/// Parses a whole block as `library` does.
pub fn parse_strict(content: &str, library: YamlLibrary) -> Result<Mapping, YamlRefusal> {
    let first = match read(content, library) {
        Ok(mapping) => return Ok(mapping),
        Err(refused) => refused,
    };
    // Report the error in the original text, not in an edited one.
    let refusal = YamlRefusal { message: first.message, offset: first.offset };
    let is_stand_in = |it: &str| library == YamlLibrary::Bun && it.contains(bun::is_stand_in);
    let is_ambiguous = is_stand_in(content);
    let mut content = content.to_owned();
    let mut place = first.kind.map(|kind| (kind, first.offset));
    for _ in 0..MAX_COMPATIBILITY_EDITS {
        let Some((kind, offset)) = place else { break };
        let Some(change) = compatibility_edit(&content, library, kind, offset) else { break };
        if is_ambiguous && is_stand_in(&change.text) {
            break;
        }
        content.replace_range(change.span.range(), &change.text);
        match read(&content, library) {
            Ok(mapping) => {
                let has_stand_ins = !is_ambiguous && is_stand_in(&content);
                return Ok(Mapping { has_stand_ins, ..mapping });
            }
            Err(refused) => place = refused.kind.map(|kind| (kind, refused.offset)),
        }
    }
    Err(refusal)
}

/// A refusal, with our parser's error kind if our parser refused.
struct ParseFailure {
    kind: Option<YamlErrorKind>,
    message: String,
    offset: usize,
}

impl ParseFailure {
    fn new(message: impl Into<String>, offset: usize) -> Self {
        Self { kind: None, message: message.into(), offset }
    }
}

fn read(content: &str, library: YamlLibrary) -> Result<Mapping, ParseFailure> {
    let newline = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    let text = format!("{OPENING}{content}{newline}{CLOSING}");
    let offset = |at: usize| at.saturating_sub(OPENING.len()).min(content.len());
    let document = parse(&text);
    let end = text.len() - CLOSING.len();
    let frontmatter = document.frontmatter.filter(|it| it.closing == Closing::Dashes);
    let Some(frontmatter) = frontmatter.filter(|it| it.content.end == end) else {
        // Only a `---` line inside the content ends it early.
        let dashes = line_spans(content).find(|it| it.slice(content).starts_with("---"));
        return Err(ParseFailure::new("a second YAML document", dashes.map_or(0, |it| it.start)));
    };
    if let Err(error) = &frontmatter.strict {
        return Err(ParseFailure {
            kind: Some(error.kind),
            message: error.message.clone(),
            offset: offset(error.span.start),
        });
    }
    let is_map = document.diagnostics.iter().all(|it| it.code != ProblemCode::NotAMapping);
    if !is_map
        && matches!(
            library,
            YamlLibrary::SerdeYaml
                | YamlLibrary::NpmYamlAsText
                | YamlLibrary::NpmYamlAsJson
                | YamlLibrary::PyYaml
        )
    {
        return Err(ParseFailure::new("it is not a map of keys to values", 0));
    }
    let frontmatter = Some(frontmatter).filter(|_| is_map);
    let mapping = Mapping { library, frontmatter, text, has_stand_ins: false };
    match mapping.library_error() {
        Some((message, span)) => Err(ParseFailure::new(message, offset(span.start))),
        None => Ok(mapping),
    }
}

/// Returns an edit after which our parser reads what `library` reads at `offset`.
fn compatibility_edit(
    content: &str,
    library: YamlLibrary,
    kind: YamlErrorKind,
    offset: usize,
) -> Option<RepairEdit> {
    let line = content[..offset].rfind('\n').map_or(0, |at| at + 1);
    let js = matches!(library, YamlLibrary::JsYaml3 | YamlLibrary::JsYaml4);
    let replace = |start: usize, length: usize, text: &str| {
        Some(RepairEdit { span: Span::new(start, start + length), text: text.to_owned() })
    };
    match kind {
        // libyaml and js-yaml let quoted text continue at column 0. Folding drops the inserted
        // spaces.
        YamlErrorKind::UnindentedContinuation if js || library.is_libyaml() => {
            replace(line, 0, &" ".repeat(DEEP_INDENT))
        }
        // js-yaml 3 ignores tabs in the indentation.
        YamlErrorKind::TabIndentation if library == YamlLibrary::JsYaml3 => {
            let blanks = content[line..].bytes().take_while(|it| matches!(it, b' ' | b'\t'));
            let n_blanks = blanks.count();
            let tab = content[line..line + n_blanks].find('\t')?;
            replace(line + tab, n_blanks - tab, "")
        }
        // In quoted text every library but ours accepts a tab as white space.
        YamlErrorKind::TabIndentation if is_in_quotes(content, line) => {
            replace(line, 0, &" ".repeat(DEEP_INDENT))
        }
        // js-yaml 3 reads `key: [a] other: b` and `key: "a" other: b` as two keys. js-yaml 4 does
        // so after quoted text whose last line is at column 0.
        YamlErrorKind::TextAfterBracket | YamlErrorKind::TextAfterQuote
            if library == YamlLibrary::JsYaml3
                || js && content[line..].starts_with(&" ".repeat(DEEP_INDENT)) =>
        {
            let indent = content[line..].bytes().take_while(|it| *it == b' ').count() % DEEP_INDENT;
            replace(offset, 0, &format!("\n{}", " ".repeat(indent)))
        }
        // These libraries treat a byte order mark inside the text as an ordinary character.
        YamlErrorKind::ByteOrderMark
            if js || library.is_libyaml() || library == YamlLibrary::Bun =>
        {
            let mark = offset + content[offset..].find('\u{FEFF}')?;
            replace(mark, '\u{FEFF}'.len_utf8(), "")
        }
        // libyaml ends the value at a line separator, so that a key may follow it.
        YamlErrorKind::UnquotedColon if library.is_libyaml() => {
            let at = line + content[line..offset].rfind(LINE_SEPARATORS)?;
            replace(at, content[at..].chars().next()?.len_utf8(), "\n")
        }
        YamlErrorKind::ControlCharacter(found)
            if matches!(
                library,
                YamlLibrary::NpmYaml | YamlLibrary::NpmYamlAsText | YamlLibrary::NpmYamlAsJson
            ) =>
        {
            let at = offset + content[offset..].find(found)?;
            replace(at, found.len_utf8(), "\u{FFFD}")
        }
        _ if library == YamlLibrary::Bun => bun::stand_in_edit(content, kind, offset),
        _ => None,
    }
}

/// Returns whether a line is inside a quoted value that starts on the line of a key at column 0.
fn is_in_quotes(content: &str, line: usize) -> bool {
    let before = &content[..line];
    let at_start = |it: &Span| !it.slice(before).starts_with([' ', '\t']) && !it.is_empty();
    let Some(key) = line_spans(before).filter(at_start).last() else { return false };
    let Some((_, value)) = before[key.start..].split_once(": ") else { return false };
    let value = value.trim_start();
    let Some(quote @ ('"' | '\'')) = value.chars().next() else { return false };
    let mut escaped = false;
    let mut open = true;
    for found in value[1..].chars() {
        match found {
            '\\' if quote == '"' && !escaped => {
                escaped = true;
                continue;
            }
            _ if found == quote && !escaped => open = !open,
            _ => {}
        }
        escaped = false;
    }
    open
}

impl Mapping {
    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Returns the type that the library gives to the value of `key`, or `None` if the key is
    /// missing.
    pub fn kind(&self, key: &str) -> Option<YamlType> {
        Some(self.typed(key)?.kind)
    }

    fn entries(&self) -> &[Entry] {
        self.frontmatter.as_ref().map_or(&[], |it| &it.entries)
    }

    /// Returns the value of a key at the top level.
    pub(super) fn typed(&self, key: &str) -> Option<TypedValue> {
        let entry = match find(self.entries(), key) {
            Some(entry) => entry,
            None => self.merged(key)?,
        };
        let mut typed = self.typed_value(entry);
        if self.library.is_libyaml() && !is_quoted(entry) {
            typed.text.truncate(end_at_break(&typed.text));
        }
        Some(typed)
    }

    /// Returns the items of the list at `key`, or `None` if the value is not a list.
    pub(super) fn items(&self, key: &str) -> Option<Vec<TypedValue>> {
        let frontmatter = self.frontmatter.as_ref()?;
        let value = frontmatter.resolve(&find(self.entries(), key)?.value);
        Some(value.items()?.iter().map(|it| self.resolved(it, "")).collect())
    }

    /// Returns the keys and values of the map at `key`, or `None` if the value is not a map.
    pub(super) fn values(&self, key: &str) -> Option<Vec<(String, TypedValue)>> {
        let frontmatter = self.frontmatter.as_ref()?;
        let value = frontmatter.resolve(&find(self.entries(), key)?.value);
        let typed = |it: &Entry| (it.key.text.clone(), self.typed_value(it));
        Some(value.entries()?.iter().map(typed).collect())
    }

    /// Returns the value of `inner` in the map at `key`.
    pub(super) fn within(&self, key: &str, inner: &str) -> Option<TypedValue> {
        let frontmatter = self.frontmatter.as_ref()?;
        let value = frontmatter.resolve(&find(self.entries(), key)?.value);
        Some(self.typed_value(find(value.entries()?, inner)?))
    }

    /// Looks a key up in the mapping merged by `<<: *anchor`, which js-yaml, PyYAML and Bun support.
    fn merged(&self, key: &str) -> Option<&Entry> {
        use YamlLibrary::{Bun, JsYaml3, JsYaml4, PyYaml};
        if !matches!(self.library, JsYaml3 | JsYaml4 | PyYaml | Bun) {
            return None;
        }
        let merge = find(self.entries(), "<<")?;
        find(self.frontmatter.as_ref()?.resolve(&merge.value).entries()?, key)
    }

    fn typed_value(&self, entry: &Entry) -> TypedValue {
        let gap = Span::new(entry.key.span.end, entry.value.span.start.max(entry.key.span.end));
        self.resolved(&entry.value, gap.slice(&self.text))
    }

    /// Resolves and types a value. `before` is the text between key and value, which may contain a
    /// tag.
    fn resolved(&self, value: &Value, before: &str) -> TypedValue {
        let value = self.frontmatter.as_ref().map_or(value, |it| it.resolve(value));
        let (found, text) = match &value.kind {
            ValueKind::Null => (YamlType::Null, value.span.slice(&self.text)),
            ValueKind::Scalar { style: ScalarStyle::Plain, text } => {
                let untagged = text.strip_prefix('!').map_or(text.as_str(), |it| {
                    it.split_once([' ', '\t', '\n']).map_or("", |it| it.1.trim_start())
                });
                let tagged = untagged.len() < text.len() || is_text_tag(before);
                (
                    if tagged { YamlType::Text } else { plain_scalar_type(text, self.library) },
                    untagged,
                )
            }
            ValueKind::Scalar { text, .. } => (YamlType::Text, text.as_str()),
            ValueKind::Sequence { .. } => (YamlType::List, ""),
            ValueKind::Mapping { .. } => (YamlType::Map, ""),
            ValueKind::Alias { .. } => (YamlType::Text, value.span.slice(&self.text)),
        };
        let text = match &self.frontmatter {
            Some(frontmatter)
                if matches!(self.library, YamlLibrary::Bun | YamlLibrary::NpmYamlAsText) =>
            {
                let item = |it: &Value| {
                    let typed = self.resolved(it, "");
                    (typed.kind, typed.text)
                };
                let text = bun::converted(frontmatter, (found, value), text, &item);
                if self.has_stand_ins { bun::without_stand_ins(&text) } else { text }
            }
            Some(_) if self.library == YamlLibrary::NpmYamlAsJson => self.as_json(value, text),
            _ => text.to_owned(),
        };
        TypedValue { kind: found, text }
    }

    /// Returns a list or a map as JSON, and any other value as its text.
    fn as_json(&self, value: &Value, text: &str) -> String {
        if !matches!(value.kind, ValueKind::Sequence { .. } | ValueKind::Mapping { .. }) {
            return text.to_owned();
        }
        let mut json = String::new();
        self.push_json(value, MAX_DEPTH, &mut json);
        json
    }

    /// Adds a value as JSON. A list may contain an alias of itself, so values below `depth` levels and
    /// after the maximum length are `null`.
    fn push_json(&self, value: &Value, depth: usize, json: &mut String) {
        let value = self.frontmatter.as_ref().map_or(value, |it| it.resolve(value));
        let is_too_much = depth == 0 || json.len() > MOST_JSON_BYTES;
        match &value.kind {
            _ if is_too_much => json.push_str("null"),
            ValueKind::Sequence { items, .. } => {
                json.push('[');
                for (index, item) in items.iter().enumerate() {
                    json.push_str(if index > 0 { "," } else { "" });
                    self.push_json(item, depth - 1, json);
                }
                json.push(']');
            }
            ValueKind::Mapping { entries, .. } => {
                json.push('{');
                for (index, entry) in entries.iter().enumerate() {
                    json.push_str(if index > 0 { "," } else { "" });
                    json.push_str(&serde_json::Value::from(entry.key.text.as_str()).to_string());
                    json.push(':');
                    self.push_json(&entry.value, depth - 1, json);
                }
                json.push('}');
            }
            ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {
                let TypedValue { kind, text } = self.resolved(value, "");
                match kind {
                    YamlType::Null => json.push_str("null"),
                    YamlType::Boolean | YamlType::Number => json.push_str(&text),
                    YamlType::Text
                    | YamlType::Date
                    | YamlType::Alias
                    | YamlType::List
                    | YamlType::Map => json.push_str(&serde_json::Value::from(text).to_string()),
                }
            }
        }
    }

    /// Returns an error for input that the library refuses and our parser accepts.
    fn library_error(&self) -> Option<(String, Span)> {
        match self.library {
            YamlLibrary::JsYaml3 | YamlLibrary::JsYaml4 => {
                let found = duplicate_key(self.entries()).or_else(|| self.empty_key());
                found.or_else(|| self.unknown_tag(self.entries()))
            }
            YamlLibrary::NpmYaml | YamlLibrary::NpmYamlAsText | YamlLibrary::NpmYamlAsJson => {
                duplicate_key(self.entries()).or_else(|| self.unindented_flow())
            }
            YamlLibrary::Bun | YamlLibrary::Ours => None,
            YamlLibrary::SerdeYaml => self
                .serde_mismatch()
                .or_else(|| self.empty_key())
                .or_else(|| self.surrogate_escape())
                .or_else(|| self.unindented_break()),
            YamlLibrary::PyYaml => {
                self.unknown_tag(self.entries()).or_else(|| self.unindented_break())
            }
            YamlLibrary::SerdeYamlValue => duplicate_key(self.entries())
                .or_else(|| self.surrogate_escape())
                .or_else(|| self.unindented_break()),
        }
    }

    /// Finds a line that begins with a colon. Only our parser reads it as an empty key.
    fn empty_key(&self) -> Option<(String, Span)> {
        let entry = self.entries().iter().find(|it| it.key.span.is_empty())?;
        Some(("there is no key before the colon".to_owned(), entry.key.span))
    }

    fn unknown_tag(&self, entries: &[Entry]) -> Option<(String, Span)> {
        entries.iter().find_map(|entry| {
            let gap = Span::new(entry.key.span.end, entry.value.span.start);
            let before = gap.slice(&self.text).split_whitespace().find(|it| it.starts_with('!'));
            let written = entry.value.span.slice(&self.text);
            let inside = written.starts_with('!').then(|| written.split_whitespace().next());
            match before.or(inside.flatten()).filter(|it| !is_known_tag(it)) {
                Some(tag) => Some((format!("the tag `{tag}` is unknown"), entry.value.span)),
                None => nested(&entry.value).find_map(|it| self.unknown_tag(it)),
            }
        })
    }

    /// Finds an unindented line in a flow collection. npm `yaml` accepts it only if it begins with
    /// the closing bracket.
    fn unindented_flow(&self) -> Option<(String, Span)> {
        let values = self.entries().iter().map(|it| &it.value);
        let in_brackets = values.filter(|it| {
            matches!(
                it.kind,
                ValueKind::Sequence { flow: true, .. } | ValueKind::Mapping { flow: true, .. }
            )
        });
        let at = in_brackets.flat_map(|it| {
            let breaks = it.span.slice(&self.text).match_indices('\n');
            breaks.map(|(at, _)| it.span.start + at + 1)
        });
        let is_text =
            |it: &usize| !self.text[*it..].starts_with([' ', '\t', '\r', '\n', ']', '}', '#']);
        let at = at.into_iter().find(is_text)?;
        Some(("the value in brackets continues on an unindented line".into(), Span::empty(at)))
    }

    /// Finds a `name` or `description` that is duplicated, a list or a map: serde refuses these.
    fn serde_mismatch(&self) -> Option<(String, Span)> {
        let known = |it: &&Entry| matches!(it.key.text.as_str(), "name" | "description");
        self.entries().iter().filter(known).find_map(|entry| {
            let key = &entry.key.text;
            if entry.duplicate_of.is_some() {
                return Some((format!("`{key}` is a duplicate key"), entry.key.span));
            }
            let found = self.typed_value(entry).kind;
            matches!(found, YamlType::List | YamlType::Map)
                .then(|| (format!("`{key}` is {}, not text", found.name()), entry.value.span))
        })
    }

    /// Finds a surrogate escape. libyaml refuses each half, even next to the other half.
    fn surrogate_escape(&self) -> Option<(String, Span)> {
        let is_half = |at: &usize| {
            let digits = self.text.as_bytes().get(at + 2..at + 4).unwrap_or_default();
            let escaped = self.text[..*at].bytes().rev().take_while(|it| *it == b'\\').count();
            let surrogate =
                matches!(digits, [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F']);
            surrogate && escaped.is_multiple_of(2)
        };
        let halves = self.text.match_indices("\\u").map(|(at, _)| at).filter(is_half);
        let at = halves.into_iter().find(|at| self.double_quoted(self.entries(), *at))?;
        Some(("half of a surrogate pair in an escape".to_owned(), Span::empty(at)))
    }

    /// Finds unquoted text after a line separator of Unicode. libyaml ends the value there, because
    /// the text is not indented, and then misses the colon of a key.
    fn unindented_break(&self) -> Option<(String, Span)> {
        let plain = self.entries().iter().filter(|it| !is_quoted(it));
        plain.map(|it| it.value.span).find_map(|span| {
            let mut lines = span.slice(&self.text).split(LINE_SEPARATORS);
            let first = lines.next()?.len();
            let is_key = |it: &str| {
                let line = it.lines().next().unwrap_or_default();
                line.contains(": ") || line.ends_with(':')
            };
            let is_lost = lines.any(|it| is_unindented(it) && !is_key(it));
            let message = "a line separator of Unicode ends the value";
            is_lost.then(|| (message.to_owned(), Span::empty(span.start + first)))
        })
    }

    /// Returns whether double-quoted text covers the byte at `at`.
    fn double_quoted(&self, entries: &[Entry], at: usize) -> bool {
        let is = |style, span: Span| style == ScalarStyle::DoubleQuoted && span.contains(at);
        entries.iter().any(|entry| {
            is(entry.key.style, entry.key.span) || self.in_double_quotes(&entry.value, at)
        })
    }

    fn in_double_quotes(&self, value: &Value, at: usize) -> bool {
        match &value.kind {
            ValueKind::Scalar { style, .. } => {
                *style == ScalarStyle::DoubleQuoted && value.span.contains(at)
            }
            ValueKind::Sequence { items, .. } => {
                items.iter().any(|it| self.in_double_quotes(it, at))
            }
            ValueKind::Mapping { entries, .. } => self.double_quoted(entries, at),
            ValueKind::Null | ValueKind::Alias { .. } => false,
        }
    }
}

/// Returns true unless the value of an entry is text without quotes.
fn is_quoted(entry: &Entry) -> bool {
    match entry.value.kind {
        ValueKind::Scalar { style, .. } => {
            matches!(style, ScalarStyle::DoubleQuoted | ScalarStyle::SingleQuoted)
        }
        _ => true,
    }
}

/// Returns true if a line is text that is not indented.
fn is_unindented(line: &str) -> bool {
    !line.is_empty() && !line.starts_with([' ', '\n', '#'])
}

/// Returns the length of unquoted text as libyaml reads it: it ends at a line separator of Unicode
/// before a key.
fn end_at_break(text: &str) -> usize {
    let mut breaks = text.match_indices(LINE_SEPARATORS);
    breaks.find(|(at, it)| is_unindented(&text[at + it.len()..])).map_or(text.len(), |it| it.0)
}

/// Finds a duplicate key in any map.
fn duplicate_key(entries: &[Entry]) -> Option<(String, Span)> {
    // Recursion is safe: the parser limits the depth.
    entries.iter().find_map(|entry| {
        if entry.duplicate_of.is_some() {
            let message = format!("`{}` is a duplicate key", entry.key.text);
            return Some((message, entry.key.span));
        }
        nested(&entry.value).find_map(duplicate_key)
    })
}

/// Returns the value itself if it is a map, or the maps in its lists.
fn nested(value: &Value) -> Box<dyn Iterator<Item = &[Entry]> + '_> {
    match &value.kind {
        ValueKind::Mapping { entries, .. } => Box::new(std::iter::once(entries.as_slice())),
        ValueKind::Sequence { items, .. } => Box::new(items.iter().flat_map(nested)),
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {
            Box::new(std::iter::empty())
        }
    }
}

/// Returns whether a tag before a scalar forces it to be a string.
fn is_text_tag(before: &str) -> bool {
    before.split_whitespace().any(|it| matches!(it, "!!str" | "!" | "!<tag:yaml.org,2002:str>"))
}

/// Returns whether js-yaml's safe schema knows a tag.
fn is_known_tag(tag: &str) -> bool {
    let name = tag
        .strip_prefix("!!")
        .or_else(|| tag.strip_prefix("!<tag:yaml.org,2002:")?.strip_suffix('>'));
    match name {
        None => tag == "!",
        Some(name) => matches!(
            name,
            "str"
                | "seq"
                | "map"
                | "null"
                | "bool"
                | "int"
                | "float"
                | "timestamp"
                | "merge"
                | "binary"
                | "omap"
                | "pairs"
                | "set"
        ),
    }
}
