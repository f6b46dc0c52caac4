//! What a body asks for: `$1`, `$name`, `$ARGUMENTS[0]`, `${CLAUDE_SKILL_DIR}`.
//!
//! How it is written alone; what is put in is for [`super::substitute`] to say. Whoever explains a
//! body asks here too, so that nothing is explained that no agent takes so.

use skills_syntax::text::Span;

/// Whose placeholders mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceholderSyntax {
    /// Claude Code's; `braced` for `${ARG1}` and `${name}` as well.
    Claude {
        /// Whether arguments may stand in braces.
        braced: bool,
    },
    /// Those of opencode's slash commands.
    Slash,
}

/// What a placeholder asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceholderKind<'t> {
    /// All that was typed.
    All,
    /// The word of this index, `$ARGUMENTS[0]`.
    Indexed(usize),
    /// The word of this number, `$1`, which each agent counts in its own way.
    Numbered(usize),
    /// The argument whose name is the one of this index.
    Named(usize),
    /// What stands in braces.
    Braced(&'t str),
}

/// A placeholder in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder<'t> {
    pub span: Span,
    pub kind: PlaceholderKind<'t>,
    /// Whether a backslash takes its meaning away.
    pub is_escaped: bool,
}

impl PlaceholderSyntax {
    /// Returns the first placeholder of a text from an offset on; `names` are those of arguments.
    pub fn next<'t>(self, text: &'t str, from: usize, names: &[String]) -> Option<Placeholder<'t>> {
        text[from..].match_indices('$').find_map(|(at, _)| {
            let start = from + at;
            let (length, kind) = self.read(&text[start..], names)?;
            let is_claude = matches!(self, Self::Claude { .. });
            let is_escaped =
                is_claude && text[..start].ends_with('\\') && !text[start..].starts_with("${");
            Some(Placeholder { span: Span::new(start, start + length), kind, is_escaped })
        })
    }

    /// Returns the arguments that a text asks for, in their order.
    pub fn arguments<'t>(self, text: &'t str, names: &[String]) -> Vec<Placeholder<'t>> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(next) = self.next(text, from, names) {
            // What is in braces may hold others.
            let is_argument = !matches!(next.kind, PlaceholderKind::Braced(_));
            from = if is_argument { next.span.end } else { next.span.start + 1 };
            found.extend(Some(next).filter(|it| is_argument && !it.is_escaped));
        }
        found
    }

    /// Reads the placeholder that a text begins with, and how long it is.
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
                    // What no name has in it ends the search: there may be many braces, and none closed.
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

/// Returns the index of the longest name of an argument that a text begins with as a whole word.
fn longest_name(text: &str, names: &[String]) -> Option<usize> {
    let fits = |name: &str| {
        let after = text.strip_prefix(name);
        after.is_some_and(|it| !it.starts_with(|c: char| is_word(c) || c == '['))
    };
    let fitting = names.iter().filter(|it| !it.is_empty() && fits(it));
    let longest = fitting.max_by_key(|it| it.len())?;
    // Of those that share a name, the first.
    names.iter().position(|it| it == longest)
}

/// Returns the highest number that a text asks for; for opencode it takes the rest.
pub fn highest_number(text: &str) -> usize {
    let numbers = text.match_indices('$').filter_map(|(at, _)| leading_number(&text[at + 1..]));
    numbers.map(|(number, _)| number).max().unwrap_or(0)
}

/// Reads the number that a text begins with.
pub(super) fn leading_number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Whether a letter goes on with a word, as `\w` of Claude Code's expressions has it: one of another
/// alphabet does not.
fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
