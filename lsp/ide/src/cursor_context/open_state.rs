//! Tracks the keys and the value that a frontmatter line leaves open ([`OpenState`]).
//!
//! One pass over the lines up to the cursor; tolerates malformed YAML. A value continues as long as
//! YAML allows by its columns, quotes and brackets. An unclosed value ends at the next key, unless
//! the parser has read it further.

use skills_syntax::parse::{
    Entry, Frontmatter, KeyHead, Line, Value, ValueKind, block_header, rest_of, split_key,
};
use skills_syntax::text::{Span, line_end};

use super::flow::{FeedResult, FlowState, closing, is_blank};

/// The keys and the value that are open at the start of a line.
pub(super) struct OpenState<'t> {
    pub(super) text: &'t str,
    pub(super) frontmatter: &'t Frontmatter,
    /// The span in which keys and values may be written.
    pub(super) content: Span,
    /// The keys and items that the line may belong to, outermost first.
    pub(super) levels: Vec<OpenEntry<'t>>,
    /// The value that the line may continue.
    pub(super) leaf: Option<OpenValue<'t>>,
}

/// A key, or the dash of an item.
pub(super) struct OpenEntry<'t> {
    pub(super) column: usize,
    /// The key; `None` for a dash.
    pub(super) key: Option<&'t str>,
    /// True if a value follows, on the same line or below.
    pub(super) has_value: bool,
}

/// A scalar or flow collection.
pub(super) struct OpenValue<'t> {
    /// Offset of its start, including a quote, bracket or block header.
    pub(super) start: usize,
    /// The minimum column of its continuation lines.
    pub(super) least: usize,
    pub(super) form: ValueForm<'t>,
}

/// The syntax of an open value.
pub(super) enum ValueForm<'t> {
    Plain,
    Quoted(char),
    FlowState(FlowState<'t>),
    /// A block scalar; the column of its first line, once known.
    Block(Option<usize>),
    /// Closed; nothing can continue it.
    Closed,
}

impl<'t> OpenState<'t> {
    /// Consumes a line.
    pub(super) fn take(&mut self, line: Line) {
        if line.is_blank() {
            return;
        }
        if self.goes_on(line) {
            self.feed(line.start, line.end);
            if let Some(OpenValue { form: ValueForm::Block(column), .. }) = &mut self.leaf {
                column.get_or_insert(line.indent);
            }
            return;
        }
        self.leaf = None;
        if line.is_comment(self.text) {
            return;
        }
        let (rest, is_item) = self.items(line);
        if let Some(head) = split_key(self.text, rest) {
            self.enter(rest.indent, head);
            self.begin(head.after, rest.end, line.next, rest.indent + 1);
        } else {
            self.leave(rest.indent, is_item);
            self.begin(rest.start, rest.end, line.next, self.least());
        }
    }

    /// Returns whether a non-blank line continues the open value.
    pub(super) fn goes_on(&self, line: Line) -> bool {
        let Some(leaf) = &self.leaf else { return false };
        let is_deep = line.indent >= leaf.least;
        match &leaf.form {
            ValueForm::Block(_) => is_deep,
            ValueForm::Plain => is_deep && !self.is_key_to_parser(line.start),
            ValueForm::Quoted(_) => is_deep || self.reaches(leaf, line.start),
            ValueForm::FlowState(_) => {
                let content = line.content(self.text);
                is_deep
                    || content.starts_with([']', '}', '[', '{', '"', '\'', ',', '#'])
                    || self.reaches(leaf, line.start)
            }
            ValueForm::Closed => false,
        }
    }

    /// Returns whether the parser has read a top-level key at `offset`, such as one indented by
    /// mistake.
    fn is_key_to_parser(&self, offset: usize) -> bool {
        self.frontmatter.entries.binary_search_by_key(&offset, |it| it.key.span.start).is_ok()
    }

    /// Returns whether the parser's span of the value extends past `offset`.
    pub(super) fn reaches(&self, leaf: &OpenValue<'_>, offset: usize) -> bool {
        let value = value_at(&self.frontmatter.entries, leaf.start);
        value.is_some_and(|it| it.span.start == leaf.start && offset < it.span.end)
    }

    /// Enters the items whose dashes start the line. Returns the rest of the line, and whether it
    /// has a dash.
    pub(super) fn items(&mut self, line: Line) -> (Line, bool) {
        let mut rest = line;
        while rest.is_item(self.text) {
            // A list may have the same indentation as its key.
            self.drop_levels(|it| {
                it.column > rest.indent || it.column == rest.indent && it.key.is_none()
            });
            self.push(rest.indent, None);
            rest = rest_of(self.text, rest, rest.start + 1);
        }
        (rest, rest.start > line.start)
    }

    /// Enters a key.
    pub(super) fn enter(&mut self, column: usize, head: KeyHead) {
        self.drop_levels(|it| it.column >= column);
        // The key may be indented by mistake.
        if self.is_key_to_parser(head.key.start) {
            self.levels.clear();
        }
        self.push(column, Some(head.key.slice(self.text).trim_matches(['"', '\''])));
    }

    /// Leaves the keys and items that a line without a key does not belong to. Returns the last one
    /// left, which is a sibling of the line. A line with its own dash belongs to that dash.
    pub(super) fn leave(&mut self, column: usize, is_item: bool) -> Option<OpenEntry<'t>> {
        let mut left = None;
        while !is_item && let Some(level) = self.levels.pop_if(|it| it.column >= column) {
            left = Some(level);
        }
        left
    }

    fn drop_levels(&mut self, is_left: impl Fn(&OpenEntry<'_>) -> bool) {
        while self.levels.pop_if(|it| is_left(it)).is_some() {}
    }

    fn push(&mut self, column: usize, key: Option<&'t str>) {
        if let Some(parent) = self.levels.last_mut() {
            parent.has_value = true;
        }
        self.levels.push(OpenEntry { column, key, has_value: false });
    }

    /// Returns the minimum column of a value's continuation lines.
    pub(super) fn least(&self) -> usize {
        self.levels.last().map_or(0, |it| it.column + 1)
    }

    /// Starts the value between `after` and `to`, if there is one. Returns whether a comment starts
    /// there. `below` is the start of the next line.
    pub(super) fn begin(&mut self, after: usize, to: usize, below: usize, least: usize) -> bool {
        let mut at = self.skip_blanks(after, to);
        // Anchors and tags are not part of the value.
        while self.text[at..to].starts_with(['&', '!']) {
            let written = &self.text[at..to];
            let Some(length) = written.find([' ', '\t']) else { break };
            at = self.skip_blanks(at + length, to);
        }
        let written = &self.text[at..to];
        let Some(first) = written.chars().next() else { return false };
        if first == '#' {
            return true;
        }
        if let Some(level) = self.levels.last_mut() {
            level.has_value = true;
        }
        let line = &self.text[at..line_end(self.text, at).unwrap_or(self.text.len())];
        let (form, from) = match first {
            '"' | '\'' => (ValueForm::Quoted(first), at + 1),
            '[' | '{' => (ValueForm::FlowState(FlowState::default()), at),
            '|' | '>' if block_header(line.trim_end()).is_some() => {
                (ValueForm::Block(None), below.max(to))
            }
            _ => (ValueForm::Plain, at),
        };
        self.leaf = Some(OpenValue { start: at, least, form });
        self.feed(from.min(to), to) == FeedResult::Comment
    }

    fn skip_blanks(&self, from: usize, to: usize) -> usize {
        let written = &self.text[from.min(to)..to];
        from.min(to) + written.len() - written.trim_start_matches([' ', '\t']).len()
    }

    /// Continues the open value with the text from `from` to `to`.
    pub(super) fn feed(&mut self, from: usize, to: usize) -> FeedResult {
        let text = self.text;
        let Some(leaf) = &mut self.leaf else { return FeedResult::Open };
        let fed = match &mut leaf.form {
            ValueForm::FlowState(flow) => flow.feed(text, from, to),
            ValueForm::Quoted(quote) => closing(text, *quote, from, to)
                .map_or(FeedResult::Open, |it| FeedResult::Closed(it + 1)),
            ValueForm::Plain | ValueForm::Closed if has_comment(text, from, to) => {
                FeedResult::Comment
            }
            ValueForm::Plain | ValueForm::Closed | ValueForm::Block(_) => FeedResult::Open,
        };
        if let FeedResult::Closed(end) = fed {
            leaf.form = ValueForm::Closed;
            return if has_comment(text, end, to) { FeedResult::Comment } else { fed };
        }
        fed
    }
}

/// Returns whether part of a line contains ` #`, the start of a comment.
fn has_comment(text: &str, from: usize, to: usize) -> bool {
    let bytes = text.as_bytes();
    (from..to).any(|at| bytes[at] == b'#' && at > 0 && is_blank(bytes[at - 1]))
}

/// Returns the innermost scalar or flow value at an offset.
fn value_at(entries: &[Entry], offset: usize) -> Option<&Value> {
    let mut entries = entries;
    loop {
        let after = entries.partition_point(|it| it.value.span.start <= offset);
        let mut value = &entries.get(after.checked_sub(1)?)?.value;
        loop {
            match &value.kind {
                ValueKind::Mapping { flow: false, entries: inner } => {
                    entries = inner;
                    break;
                }
                ValueKind::Sequence { flow: false, items } => {
                    let after = items.partition_point(|it| it.span.start <= offset);
                    value = items.get(after.checked_sub(1)?)?;
                }
                _ => return Some(value),
            }
        }
    }
}
