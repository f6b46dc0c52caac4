//! Finds placeholders in a body: `$1`, `$name`, `$ARGUMENTS[0]`, `${CLAUDE_SKILL_DIR}`.
//!
//! This module only parses; [`super::substitute`] provides the values. The language server uses the
//! same parser, so that it explains only placeholders that an agent recognises.

use skills_syntax::text::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceholderSyntax {
    /// Claude Code's; with `braced`, also `${ARG1}` and `${name}`.
    Claude {
        /// True if arguments may be written in braces.
        braced: bool,
    },
    /// Syntax of opencode's slash commands.
    Slash,
}

/// The value that a placeholder requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceholderKind<'t> {
    /// The whole argument text.
    All,
    /// The word with this index: `$ARGUMENTS[0]`.
    Indexed(usize),
    /// The word with this number: `$1`. Agents count from different starts.
    Numbered(usize),
    /// The argument whose name has this index.
    Named(usize),
    /// The text in braces.
    Braced(&'t str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder<'t> {
    pub span: Span,
    pub kind: PlaceholderKind<'t>,
    /// True if a backslash escapes it.
    pub is_escaped: bool,
}

impl PlaceholderSyntax {
    /// Returns the first placeholder at or after an offset. `names` are the names of arguments.
    pub fn next<'t>(self, text: &'t str, from: usize, names: &[String]) -> Option<Placeholder<'t>> {
        text[from..].match_indices('$').find_map(|(at, _)| {
            let start = from + at;
            let (length, kind) = self.read(&text[start..], names)?;
            let before = text[..start].strip_suffix('\\');
            let is_escaped = match self {
                Self::Claude { braced: true } => before.is_some(),
                // Two backslashes before it stay, and escape nothing.
                Self::Claude { braced: false } => before.is_some_and(|it| !it.ends_with('\\')),
                Self::Slash => false,
            } && !text[start..].starts_with("${");
            Some(Placeholder { span: Span::new(start, start + length), kind, is_escaped })
        })
    }

    /// Returns the argument placeholders of a text, in order.
    pub fn arguments<'t>(self, text: &'t str, names: &[String]) -> Vec<Placeholder<'t>> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(next) = self.next(text, from, names) {
            // Text in braces may contain other placeholders.
            let is_argument = !matches!(next.kind, PlaceholderKind::Braced(_));
            from = if is_argument { next.span.end } else { next.span.start + 1 };
            found.extend(Some(next).filter(|it| is_argument && !it.is_escaped));
        }
        found
    }

    /// Parses the placeholder at the start of a text. Returns its length and kind.
    fn read<'t>(self, text: &'t str, names: &[String]) -> Option<(usize, PlaceholderKind<'t>)> {
        match self {
            Self::Slash if text.starts_with("$ARGUMENTS") => {
                Some(("$ARGUMENTS".len(), PlaceholderKind::All))
            }
            Self::Slash => {
                let (number, after) = leading_number(&text[1..])?;
                Some((text.len() - after.len(), PlaceholderKind::Numbered(number)))
            }
            Self::Claude { .. } => match text.strip_prefix("${") {
                Some(inside) => {
                    // Stop at characters that no name contains; otherwise many unclosed braces
                    // would take quadratic time.
                    let end = inside.find(['}', '$', '\n'])?;
                    let is_closed = inside[end..].starts_with('}');
                    is_closed.then(|| (end + 3, PlaceholderKind::Braced(&inside[..end])))
                }
                None => claude(text, names),
            },
        }
    }
}

fn claude<'t>(text: &'t str, names: &[String]) -> Option<(usize, PlaceholderKind<'t>)> {
    let behind = &text[1..];
    if let Some(index) = longest_name(behind, names) {
        return Some((1 + names[index].len(), PlaceholderKind::Named(index)));
    }
    if let Some(indexed) = behind.strip_prefix("ARGUMENTS") {
        let index = indexed.strip_prefix('[').and_then(leading_number);
        if let Some((index, after)) = index
            && after.starts_with(']')
        {
            return Some((text.len() - after.len() + 1, PlaceholderKind::Indexed(index)));
        }
        return Some(("$ARGUMENTS".len(), PlaceholderKind::All));
    }
    let (index, after) = leading_number(behind)?;
    let is_whole = !after.starts_with(is_word);
    is_whole.then(|| (text.len() - after.len(), PlaceholderKind::Numbered(index)))
}

/// Returns the index of the longest argument name that starts the text as a whole word.
fn longest_name(text: &str, names: &[String]) -> Option<usize> {
    let fits = |name: &str| {
        let after = text.strip_prefix(name);
        after.is_some_and(|it| !it.starts_with(|c: char| is_word(c) || c == '['))
    };
    let fitting = names.iter().filter(|it| !it.is_empty() && fits(it));
    let longest = fitting.max_by_key(|it| it.len())?;
    // Equal names: the first counts.
    names.iter().position(|it| it == longest)
}

/// Returns the highest argument number in a text; in opencode it takes the rest.
pub fn highest_number(text: &str) -> usize {
    let numbers = text.match_indices('$').filter_map(|(at, _)| leading_number(&text[at + 1..]));
    numbers.map(|(number, _)| number).max().unwrap_or(0)
}

/// Parses the number at the start of a text.
pub(super) fn leading_number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Returns whether a character continues a word, like `\w` in Claude Code's expressions: ASCII
/// only.
fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
