//! A SKILL.md into values: the `---` lines, a spanned tree of the YAML between them, the body,
//! and what is wrong with it.
//!
//! Parsing never fails and never panics. A frontmatter that is YAML is read as YAML; one that is
//! not is read key by key, so that a broken value never hides another key. Values
//! are text with their places; nothing is coerced and no agent's rules are known here. Every
//! span is on a character boundary and slices to what it names.

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
#[cfg(test)]
mod test_keys;
#[cfg(test)]
mod test_models;
#[cfg(test)]
mod test_render;
mod tree;
mod yaml_diagnostics;

use crate::diagnostic::Diagnostic;
use crate::text::Span;

pub use builder::MAX_DEPTH;
pub use delimiters::{Closing, Opening};
pub use error::{YamlError, YamlErrorKind};
pub use keys::Keys;
pub use line::{KeyHead, Line, lines, split_key};
pub use plain_text::block_header;
pub use segment::rest_of;
pub use tree::{Anchor, Entry, Key, ScalarStyle, Value, ValueKind, find};

#[cfg(test)]
pub(crate) use test_keys::parse;

/// How many bytes of a frontmatter are read. The longest of 126,617 real ones has a tenth.
pub const MAX_FRONTMATTER: usize = 256 * 1024;

/// How many findings are kept. A file with more of them is no skill, and says so often enough.
pub const MAX_DIAGNOSTICS: usize = 256;

/// How many aliases are followed from one to the next.
const MAX_ALIASES_FOLLOWED: usize = 8;

/// A parsed SKILL.md.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Document {
    /// The frontmatter; nothing when the file has none.
    pub frontmatter: Option<Frontmatter>,
    /// Everything after the closing line; the whole text when there is no frontmatter.
    pub body: Span,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// How much more is wrong than is kept of it.
    pub n_left_out: usize,
}

/// The part of a SKILL.md between the `---` lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frontmatter {
    /// How it starts.
    pub opening: Opening,
    /// How it ends.
    pub closing: Closing,
    /// The opening line without its line end; empty when it is missing.
    pub open: Span,
    /// The text between the two lines, with its final line end.
    pub content: Span,
    /// The closing line without its line end; nothing when it is missing.
    pub close: Option<Span>,
    /// The entries of the top level, in order, duplicates among them.
    pub entries: Vec<Entry>,
    /// The comments, each from its `#` to the end of the line.
    pub comments: Vec<Span>,
    /// The anchors, in the order of the text.
    pub anchors: Vec<Anchor>,
    /// The aliases that refer to one of them; none is expanded.
    pub aliases: Vec<Span>,
    /// Whether the aliases stand for more than anybody wants to read: then none is followed.
    pub exceeds_alias_limit: bool,
    /// Whether the content is one YAML document, and if not, the first thing that is in the way.
    pub strict: Result<(), YamlError>,
}

impl Frontmatter {
    /// Returns the entry of `key`: of duplicates the last one, see [`find`].
    pub fn get(&self, key: &str) -> Option<&Entry> {
        find(&self.entries, key)
    }

    /// Returns the value itself or, for an alias, the value it stands for.
    ///
    /// Follows a bounded number of aliases; one that leads nowhere is returned as it is. The
    /// value may hold further aliases, even of itself.
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

/// Returns the first of those that stand one behind the other which covers a span.
fn covering<T>(all: &[T], span: Span, place: impl Fn(&T) -> Span) -> Option<&T> {
    let at = all.partition_point(|it| place(it).end < span.end);
    all.get(at).filter(|it| place(it).covers(span))
}

/// Parses the text of a SKILL.md, in which some keys are known.
pub fn parse_with(text: &str, keys: Keys) -> Document {
    let start = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let mut diagnostics = Vec::new();
    let Some(fence) = delimiters::find(text, start, keys) else {
        diagnostics.push(missing_frontmatter::diagnose(text, start));
        let body = Span::new(start, text.len());
        return Document { frontmatter: None, body, diagnostics, n_left_out: 0 };
    };
    delimiters::diagnose(text, &fence, &mut diagnostics);
    let frontmatter = read(text, &fence, keys, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    let n_left_out = bound(&mut diagnostics);
    Document { frontmatter: Some(frontmatter), body: fence.body, diagnostics, n_left_out }
}

fn read(
    text: &str,
    fence: &delimiters::Delimiters,
    keys: Keys,
    diagnostics: &mut Vec<Diagnostic>,
) -> Frontmatter {
    let content = bounded(text, fence.content, diagnostics);
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
                diagnostics.push(uneven.unwrap_or_else(|| yaml_diagnostics::refused(&error)));
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
    // An anchor of a list stands before those in it; pieces are read in their order.
    notes.anchors.sort_by_key(|it| it.span);
    let first_alias_over_limit = alias_expansion::first_alias_over_limit(&entries, &notes.anchors);
    diagnostics.extend(first_alias_over_limit.map(yaml_diagnostics::first_alias_over_limit));
    check::duplicates(&mut entries, diagnostics);
    check::plain_values(text, &entries, keys, diagnostics);
    check::unused_anchors(text, &notes.anchors, &notes.aliases, diagnostics);
    Frontmatter {
        opening: fence.opening,
        closing: fence.closing,
        open: fence.open,
        content: fence.content,
        close: fence.close,
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

/// Cuts a content that is too long at the start of a line.
fn bounded(text: &str, content: Span, diagnostics: &mut Vec<Diagnostic>) -> Span {
    if content.len() <= MAX_FRONTMATTER {
        return content;
    }
    let limit = text.floor_char_boundary(content.start + MAX_FRONTMATTER);
    let kept = &text[content.start..limit];
    let end = kept.rfind('\n').map_or(limit, |at| content.start + at + 1);
    let rest = Span::new(end, content.end);
    diagnostics.push(yaml_diagnostics::too_large(
        Span::new(end, end + first_line(rest.slice(text))),
        MAX_FRONTMATTER,
    ));
    Span::new(content.start, end)
}

/// Keeps the first findings, says how many more there are, and returns that.
fn bound(diagnostics: &mut Vec<Diagnostic>) -> usize {
    let more = diagnostics.len().saturating_sub(MAX_DIAGNOSTICS - 1);
    if more <= 1 {
        return 0;
    }
    diagnostics.truncate(MAX_DIAGNOSTICS - 1);
    let at = diagnostics.last().map_or(Span::default(), |last| last.span);
    diagnostics.push(yaml_diagnostics::too_many(at, more));
    more
}

fn first_line(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
