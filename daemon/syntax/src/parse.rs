//! Parses a SKILL.md into a [`Document`]: the `---` lines, a spanned tree of the YAML between them,
//! the body, and diagnostics.
//!
//! Parsing never fails and never panics. Valid YAML is read as YAML. Other frontmatter is read key
//! by key, so that a broken value never hides another key. Values are text with spans; nothing is
//! coerced, and no agent's rules apply here. Every span lies on character boundaries and slices to
//! the item it names.

mod alias_expansion;
mod annotations;
mod builder;
mod check;
mod delimiters;
mod error;
mod events;
#[cfg(any(test, feature = "invariants"))]
pub mod invariants;
mod keys;
mod line;
mod missing_frontmatter;
mod piece;
mod plain_text;
mod recover;
mod segment;
mod tree;
mod yaml_diagnostics;

use crate::diagnostic::Diagnostic;
use crate::text::Span;

pub use builder::MAX_DEPTH;
pub use delimiters::{Closing, OpeningKind};
pub use error::{YamlError, YamlErrorKind};
pub use keys::Keys;
pub use line::{KeyHead, Line, lines, split_key};
pub use plain_text::block_header;
pub use segment::rest_of;
pub use tree::{Anchor, Entry, Key, ScalarStyle, Value, ValueKind, find};

#[cfg(test)]
pub(crate) use tests::keys::parse;

/// Maximum number of bytes read of a frontmatter. The longest of 126,617 real ones has a tenth of
/// it.
pub const MAX_FRONTMATTER: usize = 256 * 1024;

/// Maximum number of diagnostics kept per file.
pub const MAX_DIAGNOSTICS: usize = 256;

/// Maximum length of an alias chain that is followed.
const MAX_ALIASES_FOLLOWED: usize = 8;

/// A parsed SKILL.md.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    /// The frontmatter, if the file has one.
    pub frontmatter: Option<Frontmatter>,
    /// The text after the closing line; the whole text without frontmatter.
    pub body: Span,
    /// The diagnostics, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of diagnostics dropped over the limit.
    pub n_left_out: usize,
}

/// The part of a SKILL.md between the `---` lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frontmatter {
    /// The form of the opening line.
    pub opening: OpeningKind,
    /// The form of the closing line.
    pub closing: Closing,
    /// The opening line without its line end; empty if missing.
    pub open: Span,
    /// The text between the two lines, with its final line end.
    pub content: Span,
    /// The closing line without its line end, if present.
    pub close: Option<Span>,
    /// The top-level entries in order, including duplicates.
    pub entries: Vec<Entry>,
    /// The comments, each from its `#` to the end of the line.
    pub comments: Vec<Span>,
    /// The anchors, sorted by position.
    pub anchors: Vec<Anchor>,
    /// The aliases that refer to an anchor; none is expanded.
    pub aliases: Vec<Span>,
    /// True if expanding the aliases exceeds the size limit; then none is followed.
    pub exceeds_alias_limit: bool,
    /// Ok if the content is one YAML document; else the first error.
    pub strict: Result<(), YamlError>,
}

impl Frontmatter {
    /// Returns the entry of `key`; the last one of duplicates, see [`find`].
    pub fn get(&self, key: &str) -> Option<&Entry> {
        find(&self.entries, key)
    }

    /// Returns the value, or for an alias the value it refers to.
    ///
    /// Follows a bounded number of aliases and returns an unresolvable one unchanged. The result
    /// may contain further aliases, even of itself.
    pub fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        let mut value = value;
        for _ in 0..MAX_ALIASES_FOLLOWED {
            let ValueKind::Alias { target: Some(target) } = &value.kind else { break };
            let anchor = self.anchor_at(*target).filter(|_| !self.exceeds_alias_limit);
            let Some(found) = anchor.and_then(|anchor| self.value_at(anchor.value)) else { break };
            value = found;
        }
        value
    }

    fn anchor_at(&self, span: Span) -> Option<&Anchor> {
        let at = self.anchors.binary_search_by_key(&span, |it| it.span).ok()?;
        self.anchors.get(at)
    }

    fn value_at(&self, span: Span) -> Option<&Value> {
        let mut entries = self.entries.as_slice();
        loop {
            let mut value = &covering(entries, span, |entry| entry.value.span)?.value;
            loop {
                if value.span == span {
                    return Some(value);
                }
                match &value.kind {
                    ValueKind::Sequence { items, .. } => {
                        value = covering(items, span, |item| item.span)?;
                    }
                    ValueKind::Mapping { entries: nested, .. } => {
                        entries = nested;
                        break;
                    }
                    ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => {
                        return None;
                    }
                }
            }
        }
    }
}

/// Returns the item of a sorted, disjoint list that covers `span`.
fn covering<T>(all: &[T], span: Span, place: impl Fn(&T) -> Span) -> Option<&T> {
    let at = all.partition_point(|it| place(it).end < span.end);
    all.get(at).filter(|it| place(it).covers(span))
}

/// Parses the text of a SKILL.md; `keys` are the known keys, which guide error recovery.
pub fn parse_with(text: &str, keys: Keys) -> Document {
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let mut diagnostics = Vec::new();
    let Some(delims) = delimiters::find(text, start, keys) else {
        diagnostics.push(missing_frontmatter::diagnose(text, start));
        let body = Span::new(start, text.len());
        return Document { frontmatter: None, body, diagnostics, n_left_out: 0 };
    };
    delimiters::diagnose(text, &delims, &mut diagnostics);
    document(text, &delims, keys, diagnostics)
}

/// Parses a text whose frontmatter is the content between its first and its last line, whatever
/// the lines between them are.
pub fn parse_block_with(text: &str, content: Span, keys: Keys) -> Document {
    let delims = delimiters::around(text, content);
    document(text, &delims, keys, Vec::new())
}

fn document(
    text: &str,
    delims: &delimiters::Delimiters,
    keys: Keys,
    mut diagnostics: Vec<Diagnostic>,
) -> Document {
    let frontmatter = read(text, delims, keys, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    let n_left_out = truncate_diagnostics(&mut diagnostics);
    Document { frontmatter: Some(frontmatter), body: delims.body, diagnostics, n_left_out }
}

/// Returns the content of the frontmatter, without reading it, and the body, as [`parse_with`]
/// does.
pub fn split_with(text: &str, keys: Keys) -> (Option<Span>, Span) {
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    match delimiters::find(text, start, keys) {
        Some(delims) => (Some(delims.content), delims.body),
        None => (None, Span::new(start, text.len())),
    }
}

fn read(
    text: &str,
    delims: &delimiters::Delimiters,
    keys: Keys,
    diagnostics: &mut Vec<Diagnostic>,
) -> Frontmatter {
    let content = truncate_content(text, delims.content, diagnostics);
    let content = delimiters::without_end_mark(text, content);
    let mut notes = annotations::Annotations::default();
    let (mut entries, strict) = match events::read(text, content, &mut notes) {
        Ok(root) => entries_of(root, diagnostics),
        Err(error) => {
            let before = diagnostics.len();
            let entries = recover::recover(text, content, keys, &mut notes, diagnostics);
            if diagnostics.len() == before && notes.unknown_aliases.is_empty() {
                let uneven =
                    segment::indented_first(text, content).map(yaml_diagnostics::indented_first);
                diagnostics.push(uneven.unwrap_or_else(|| yaml_diagnostics::syntax_error(&error)));
            }
            (entries, Err(error))
        }
    };
    let unknown = notes.unknown_aliases.first();
    let strict = strict.and(
        unknown.map_or(Ok(()), |span| Err(YamlError::new(YamlErrorKind::UnknownAlias, *span))),
    );
    let aliases = notes.unknown_aliases.iter();
    diagnostics.extend(
        aliases.map(|it| yaml_diagnostics::unquoted_start(Span::new(it.start, it.start + 1), "*")),
    );
    diagnostics.extend(
        notes.recursive_aliases.iter().map(|span| yaml_diagnostics::recursive_alias(*span)),
    );
    // The anchor of a list precedes those inside it, and pieces are read in order.
    notes.anchors.sort_by_key(|it| it.span);
    let first_alias_over_limit = alias_expansion::first_alias_over_limit(&entries, &notes.anchors);
    diagnostics.extend(first_alias_over_limit.map(yaml_diagnostics::aliases_too_large));
    check::duplicates(&mut entries, diagnostics);
    check::plain_values(text, &entries, keys, diagnostics);
    check::unused_anchors(text, &notes.anchors, &notes.aliases, diagnostics);
    Frontmatter {
        opening: delims.opening,
        closing: delims.closing,
        open: delims.open,
        content: delims.content,
        close: delims.close,
        entries,
        comments: notes.comments,
        anchors: notes.anchors,
        aliases: notes.aliases,
        exceeds_alias_limit: first_alias_over_limit.is_some(),
        strict,
    }
}

fn entries_of(
    root: Option<Value>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Entry>, Result<(), YamlError>) {
    match root {
        Some(Value { kind: ValueKind::Mapping { entries, .. }, .. }) => (entries, Ok(())),
        Some(value) => {
            diagnostics.push(yaml_diagnostics::not_a_mapping(value.span));
            (Vec::new(), Ok(()))
        }
        None => (Vec::new(), Ok(())),
    }
}

/// Truncates overlong content at a line start.
fn truncate_content(text: &str, content: Span, diagnostics: &mut Vec<Diagnostic>) -> Span {
    if content.len() <= MAX_FRONTMATTER {
        return content;
    }
    let limit = text.floor_char_boundary(content.start + MAX_FRONTMATTER);
    let kept = &text[content.start..limit];
    let end = kept.rfind('\n').map_or(limit, |at| content.start + at + 1);
    let rest = Span::new(end, content.end);
    diagnostics.push(yaml_diagnostics::too_large(
        Span::new(end, end + first_line_len(rest.slice(text))),
        MAX_FRONTMATTER,
    ));
    Span::new(content.start, end)
}

/// Truncates the diagnostics to the limit, reports and returns the number dropped.
fn truncate_diagnostics(diagnostics: &mut Vec<Diagnostic>) -> usize {
    let more = diagnostics.len().saturating_sub(MAX_DIAGNOSTICS - 1);
    if more <= 1 {
        return 0;
    }
    diagnostics.truncate(MAX_DIAGNOSTICS - 1);
    let at = diagnostics.last().map_or(Span::default(), |last| last.span);
    diagnostics.push(yaml_diagnostics::too_many(at, more));
    more
}

fn first_line_len(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
