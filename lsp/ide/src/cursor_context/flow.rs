//! Incremental scanner for flow collections and quoted scalars.

use skills_syntax::text::Span;

/// The open brackets, and the token being written in the innermost one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FlowState<'t> {
    brackets: Vec<Bracket<'t>>,
    /// The current token; cleared at each separator.
    pub(super) token: Option<FlowToken>,
}

/// An open bracket.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Bracket<'t> {
    is_map: bool,
    /// The key of the value being written.
    key: Option<&'t str>,
}

/// The text between two separators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FlowToken {
    /// Offset of its first character, after an opening quote.
    pub(super) start: usize,
    /// The opening quote.
    pub(super) quote: Option<char>,
    /// Offset of the closing quote.
    pub(super) closed: Option<usize>,
}

impl FlowToken {
    /// Returns whether its quote is still open.
    pub(super) const fn is_quoted(self) -> bool {
        self.quote.is_some() && self.closed.is_none()
    }
}

/// Outcome of feeding part of a line to an open value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FeedResult {
    /// The value is still open.
    Open,
    /// The value ended at this offset.
    Closed(usize),
    /// A comment started; it extends to the end of the line.
    Comment,
}

impl<'t> FlowState<'t> {
    /// Consumes the part of a line from `from` to `to`.
    pub(super) fn feed(&mut self, text: &'t str, from: usize, to: usize) -> FeedResult {
        let mut at = from;
        while at < to {
            if let Some(FlowToken { quote: Some(quote), closed: None, .. }) = self.token {
                match closing(text, quote, at, to) {
                    Some(end) => {
                        self.token = self.token.map(|it| FlowToken { closed: Some(end), ..it });
                        at = end + 1;
                    }
                    None => return FeedResult::Open,
                }
                continue;
            }
            let byte = text.as_bytes()[at];
            match byte {
                b'#' if at == from || is_blank(text.as_bytes()[at - 1]) => {
                    return FeedResult::Comment;
                }
                b'[' | b'{' => {
                    self.brackets.push(Bracket { is_map: byte == b'{', key: None });
                    self.token = None;
                }
                b']' | b'}' => {
                    self.brackets.pop();
                    // The closed collection is the value of the outer bracket, so the next token
                    // starts after it.
                    self.token =
                        Some(FlowToken { start: at + 1, quote: Some(' '), closed: Some(at) });
                    if self.brackets.is_empty() {
                        return FeedResult::Closed(at + 1);
                    }
                }
                b',' => {
                    self.token = None;
                    if let Some(bracket) = self.brackets.last_mut() {
                        bracket.key = None;
                    }
                }
                b':' if self.ends_key(text, at) => {
                    let key = self.token_text(text, at);
                    if let Some(bracket) = self.brackets.last_mut() {
                        bracket.key = Some(key);
                    }
                    self.token = None;
                }
                b'"' | b'\'' if self.token.is_none() => {
                    let token =
                        FlowToken { start: at + 1, quote: Some(char::from(byte)), closed: None };
                    self.token = Some(token);
                }
                it if is_blank(it) => {}
                _ if self.token.is_none() => {
                    self.token = Some(FlowToken { start: at, quote: None, closed: None });
                }
                _ => {}
            }
            at += 1;
        }
        FeedResult::Open
    }

    /// Returns whether the colon at `at` ends a key.
    fn ends_key(&self, text: &str, at: usize) -> bool {
        let is_first = self.brackets.last().is_some_and(|it| it.key.is_none());
        let follows = text.as_bytes().get(at + 1).copied();
        let is_apart = follows.is_none_or(|it| it.is_ascii_whitespace() || b",[]{}".contains(&it));
        is_first && (is_apart || self.token.is_some_and(|it| it.closed.is_some()))
    }

    fn token_text(&self, text: &'t str, end: usize) -> &'t str {
        self.token
            .map_or("", |it| text[it.start..it.closed.unwrap_or(end).max(it.start)].trim_end())
    }

    /// Returns the keys of the open brackets, outermost first.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'t str> {
        self.brackets.iter().filter_map(|it| it.key)
    }

    /// Returns whether a key may be written next: braces are open and no colon has been read.
    pub(super) fn wants_key(&self) -> bool {
        self.brackets.last().is_some_and(|it| it.is_map && it.key.is_none())
    }
}

/// Returns the offset of the closing quote between `from` and `to`.
pub(super) fn closing(text: &str, quote: char, from: usize, to: usize) -> Option<usize> {
    let mut letters = Span::new(from, to).slice(text).char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => drop(letters.next()),
            '\'' if quote == '\'' && letters.next_if(|(_, it)| *it == '\'').is_some() => {}
            it if it == quote => return Some(from + at),
            _ => {}
        }
    }
    None
}

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
