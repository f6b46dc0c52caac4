//! Determines the [`CursorContext`] of an offset in the frontmatter from the [`OpenState`] of the
//! lines before it.

use skills_agents::field_table::{self, Shape};
use skills_syntax::parse::{Frontmatter, Line, block_header, lines, split_key};
use skills_syntax::text::{Span, after_line_end, line_end};

use super::context::{CursorContext, InsertStyle};
use super::flow::{FeedResult, FlowState, FlowToken};
use super::item::{BracketPair, item};
use super::open_state::{OpenState, OpenValue, ValueForm};

/// Returns the context of `offset` in the `content` of a frontmatter.
pub(super) fn in_frontmatter<'t>(
    text: &'t str,
    frontmatter: &'t Frontmatter,
    content: Span,
    offset: usize,
) -> CursorContext<'t> {
    // Between `\r` and `\n` nothing can be written.
    let is_in_end = text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
    let offset = offset - usize::from(is_in_end);
    let mut open = OpenState { text, frontmatter, content, levels: Vec::new(), leaf: None };
    for line in lines(&text[..content.end], content.start) {
        let is_ended = text[..line.next].ends_with(['\n', '\r']);
        if offset < line.next || !is_ended {
            return open.at(line, offset);
        }
        open.take(line);
    }
    open.at(Line { first: offset, start: offset, end: offset, next: offset, indent: 0 }, offset)
}

impl<'t> OpenState<'t> {
    /// Returns the context of `offset` in `line`, after all lines before it have been taken.
    fn at(mut self, line: Line, offset: usize) -> CursorContext<'t> {
        if line.is_blank() {
            return self.at_blank(line, offset);
        }
        if self.goes_on(line) {
            if offset < line.start || self.feed(line.start, offset) == FeedResult::Comment {
                return CursorContext::Other;
            }
            return self.inside(Span::new(line.start, line.end.max(offset)), offset);
        }
        self.leaf = None;
        if offset < line.start || line.is_comment(self.text) {
            return CursorContext::Other;
        }
        let (rest, is_item) = self.items(line);
        if offset < rest.start {
            return CursorContext::Other;
        }
        // After a lone dash the item begins at the cursor.
        let at = if rest.is_blank() { offset } else { rest.start };
        self.at_content(Line { start: at, end: rest.end.max(at), ..rest }, is_item, offset)
    }

    /// Handles [`Self::at`] for a blank line.
    fn at_blank(mut self, line: Line, offset: usize) -> CursorContext<'t> {
        let column = offset - line.first;
        if let Some(leaf) = &self.leaf {
            let is_deep = column >= leaf.least;
            let is_inside = match &leaf.form {
                ValueForm::Plain => is_deep,
                // At the column of its text, or to the right of it.
                ValueForm::Block(first) => is_deep && first.is_none_or(|it| column >= it),
                ValueForm::Quoted(_) | ValueForm::FlowState(_) => {
                    is_deep || self.reaches(leaf, offset)
                }
                ValueForm::Closed => false,
            };
            if is_inside {
                return self.inside(Span::empty(offset), offset);
            }
            let least = leaf.least;
            let is_split = matches!(leaf.form, ValueForm::Plain | ValueForm::Block(_)) && {
                let below = &self.text[..self.content.end];
                let next = lines(below, line.next).find(|it| !it.is_blank());
                next.is_some_and(|it| it.indent >= least && self.goes_on(it))
            };
            if is_split || (is_deep && !matches!(leaf.form, ValueForm::Closed)) {
                return CursorContext::Other;
            }
        }
        self.leaf = None;
        let line = Line { start: offset, end: offset, indent: column, ..line };
        self.at_content(line, false, offset)
    }

    /// Returns the context in a line that continues no value, past its dashes.
    fn at_content(mut self, line: Line, is_item: bool, offset: usize) -> CursorContext<'t> {
        let head = split_key(self.text, line);
        if let Some(head) = head.filter(|it| it.after <= offset) {
            self.enter(line.indent, head);
            return self.at_value(head.after, line, line.indent + 1, offset);
        }
        let beside = self.leave(line.indent, is_item).filter(|it| it.column == line.indent);
        let path = self.path(None);
        let is_value = match self.levels.last() {
            _ if line.content(self.text).starts_with(['[', '{']) => true,
            None => false,
            // In hooks, a key may follow the dash or stand below it.
            Some(parent) if is_item || parent.key.is_none() && !parent.has_value => {
                path.first() != Some(&"hooks") || !holds_keys(&path)
            }
            Some(parent) => !parent.has_value && beside.is_none() && !holds_keys(&path),
        };
        if head.is_none() && is_value {
            let least = self.least();
            return self.at_value(line.start, line, least, offset);
        }
        let is_key = match beside {
            _ if is_item => true,
            Some(beside) => beside.key.is_some(),
            None => line.indent == 0 || !path.is_empty() && (head.is_some() || holds_keys(&path)),
        };
        if !is_key {
            return CursorContext::Other;
        }
        key(self.text, path, Span::new(line.start, line.end.max(offset)), offset, head.is_some())
    }

    /// Returns the context of `offset` past `after`, the earliest start of a value.
    fn at_value(
        mut self,
        after: usize,
        line: Line,
        least: usize,
        offset: usize,
    ) -> CursorContext<'t> {
        self.leaf = None;
        if self.begin(after, offset, line.next, least) {
            return CursorContext::Other;
        }
        let end = line.end.max(offset);
        if self.leaf.is_some() {
            return self.inside(Span::new(after, end), offset);
        }
        // No value starts before the cursor; one may start after it.
        let behind = self.text[offset..end].trim_start();
        let begins =
            behind.starts_with(['"', '\'', '[', '{', '&', '!']) || block_header(behind).is_some();
        let style =
            if begins { InsertStyle::Outside } else { InsertStyle::Start { in_flow: false } };
        self.value(Span::new(offset, end), offset, style, offset)
    }

    /// Returns the context inside the open value; `part` is its span on this line.
    fn inside(self, part: Span, offset: usize) -> CursorContext<'t> {
        let Some(leaf) = &self.leaf else { return CursorContext::Other };
        let from = |start: usize| start.clamp(part.start, offset);
        let start = leaf.start;
        match &leaf.form {
            ValueForm::Plain => {
                let style = InsertStyle::Continuation { in_flow: false };
                self.value(Span::new(from(start), part.end), offset, style, start)
            }
            ValueForm::Quoted(quote) => {
                let style = InsertStyle::Quoted(*quote);
                self.value(Span::new(from(start + 1), part.end), offset, style, start + 1)
            }
            ValueForm::Block(_) => match self.below(start).filter(|it| *it <= offset) {
                Some(below) => {
                    self.value(Span::new(from(below), part.end), offset, InsertStyle::Block, below)
                }
                None => self.value(Span::empty(offset), offset, InsertStyle::Outside, start),
            },
            ValueForm::Closed => {
                self.value(Span::empty(offset), offset, InsertStyle::Outside, start)
            }
            ValueForm::FlowState(flow) => self.in_flow(flow, part, offset),
        }
    }

    /// Returns the start of the line below an offset.
    fn below(&self, offset: usize) -> Option<usize> {
        line_end(self.text, offset).map(|it| after_line_end(self.text, it))
    }

    fn in_flow(&self, flow: &FlowState<'t>, part: Span, offset: usize) -> CursorContext<'t> {
        let token = flow.token;
        let start = token.map_or(offset, |it| it.start);
        let within = Span::new(start.clamp(part.start, offset), part.end);
        let is_quoted = token.is_some_and(FlowToken::is_quoted);
        if flow.wants_key() && token.is_none_or(|it| it.closed.is_none()) {
            let place = key(self.text, self.path(Some(flow)), within, offset, is_quoted);
            return match place {
                CursorContext::Key { path, word, has_colon, .. } => {
                    let behind = self.text[word.end..part.end].trim_start();
                    let has_colon = has_colon || behind.starts_with(':');
                    CursorContext::Key { path, word, has_colon, in_flow: true }
                }
                other => other,
            };
        }
        let style = match token {
            None => {
                let behind = self.text[offset..part.end].trim_start();
                let begins = behind.starts_with(['"', '\'', '[', '{']);
                if begins { InsertStyle::Outside } else { InsertStyle::Start { in_flow: true } }
            }
            Some(it) if it.closed.is_some() => InsertStyle::Outside,
            Some(it) => match it.quote {
                Some(quote) => InsertStyle::Quoted(quote),
                None => InsertStyle::Continuation { in_flow: true },
            },
        };
        self.value(within, offset, style, start)
    }

    /// Returns the context for the item of `within` at `offset`; `start` is the start of the
    /// value's text.
    fn value(
        &self,
        within: Span,
        offset: usize,
        style: InsertStyle,
        start: usize,
    ) -> CursorContext<'t> {
        let text = self.text;
        let flow = match &self.leaf {
            Some(OpenValue { form: ValueForm::FlowState(flow), .. }) => Some(flow),
            Some(_) | None => None,
        };
        let path = self.path(flow);
        let word = match style {
            InsertStyle::Outside => Span::empty(offset),
            _ => item(text, within, offset, BracketPair::of(&path)),
        };
        let before = Span::new(start.min(word.start), word.start).slice(text);
        let style = match style {
            InsertStyle::Continuation { in_flow } if before.trim().is_empty() => {
                InsertStyle::Start { in_flow }
            }
            style => style,
        };
        let behind = Span::new(word.end, within.end.max(word.end)).slice(text).trim_start();
        let ends = behind.is_empty() || behind.starts_with(['#', '"', '\'', ',', ']', '}']);
        let is_alone = ends && before.trim().is_empty() && style != InsertStyle::Outside;
        CursorContext::Value { path, word, style, is_alone }
    }

    fn path(&self, flow: Option<&FlowState<'t>>) -> Vec<&'t str> {
        let keys = self.levels.iter().filter_map(|it| it.key);
        keys.chain(flow.into_iter().flat_map(FlowState::keys)).collect()
    }
}

/// Returns the context on a key, or `Other` if the text before the cursor is not a single word.
fn key<'t>(
    text: &'t str,
    path: Vec<&'t str>,
    within: Span,
    offset: usize,
    has_colon: bool,
) -> CursorContext<'t> {
    let is_key = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '$');
    if !text[within.start..offset].chars().all(is_key) {
        return CursorContext::Other;
    }
    let behind = &text[offset..within.end];
    let end = behind.find(|it| !is_key(it)).map_or(within.end, |it| offset + it);
    let word = Span::new(within.start, end);
    CursorContext::Key { path, word, has_colon, in_flow: false }
}

/// Returns whether the children of `path` are keys rather than a value.
fn holds_keys(path: &[&str]) -> bool {
    match path {
        [] | ["hooks"] | ["hooks", _] | ["hooks", _, "hooks"] => true,
        [key] => {
            field_table::find(key).is_none_or(|it| matches!(it.shape, Shape::TextMap | Shape::Any))
        }
        _ => false,
    }
}
