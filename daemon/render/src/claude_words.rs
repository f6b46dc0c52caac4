//! Splits the argument text of Claude Code's skills into words.
//!
//! The agent parses the text as a shell command and takes the words of the first simple command:
//! an operator or a comment ends them, and an expansion by itself is a word only in the first
//! place. Nothing is expanded. Text without such a word is split at white space. Measured on
//! version 2.1.330 (`tests/golden/agents/claude-code/arguments.jsonl`).

/// Words before a command that are not part of it.
const SKIPPED: [&str; 10] = ["!", "{", "}", "if", "while", "until", "do", "else", "fi", "elif"];

/// Commands whose own arguments are not words.
const DECLARING: [&str; 5] = ["declare", "typeset", "export", "readonly", "local"];

/// Characters that end a word.
const ENDS: [char; 12] = [' ', '\t', '\r', '\n', ';', '&', '|', '<', '>', '(', ')', '`'];

/// Returns an argument as it is inserted: a `!` that could start a shell command is escaped.
pub(super) fn without_commands(argument: &str) -> String {
    let mut text = String::with_capacity(argument.len());
    let mut may_start = true;
    for c in argument.chars() {
        if c == '!' && may_start {
            text.push('\\');
        }
        may_start = c.is_whitespace();
        text.push(c);
    }
    text
}

/// Maximum length of a text that is parsed, in bytes; a longer one is split at white space. Parsing
/// takes quadratic time for brackets that are not closed.
const MAX_PARSED: usize = 16 * 1024;

pub(super) fn claude_words(text: &str) -> Vec<String> {
    let words = if text.len() > MAX_PARSED { Vec::new() } else { simple_command(text) };
    if words.is_empty() { text.split_whitespace().map(str::to_owned).collect() } else { words }
}

fn simple_command(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r']);
        let is_start = words.is_empty();
        if let Some(after) = rest.strip_prefix("\\\n") {
            rest = after;
            continue;
        }
        let Some(first) = rest.chars().next() else { return words };
        match first {
            '[' if is_start && let Some(length) = test_command(rest) => rest = &rest[length..],
            '(' if is_start && rest.starts_with("((") && rest.contains("))") => {
                rest = rest.split_once("))").map_or("", |it| it.1);
            }
            '\n' | ';' | '&' | '|' | '(' | ')' | '`' if is_start => rest = &rest[1..],
            '(' => match rest.find(')') {
                Some(end) => rest = &rest[end + 1..],
                None => return words,
            },
            '#' if is_start => rest = rest.find('\n').map_or("", |end| &rest[end..]),
            '\n' | ';' | '&' | '|' | ')' | '`' | '#' => return words,
            _ => {
                let after = rest.trim_start_matches(|it: char| it.is_ascii_digit());
                if after.starts_with(['<', '>']) {
                    if !is_start {
                        return words;
                    }
                    let target = after.trim_start_matches(['<', '>', '&', ' ', '\t']);
                    rest = &target[word(target).length..];
                    continue;
                }
                let Word { length, text, kind } = word(rest);
                let raw = &rest[..length];
                rest = &rest[length..];
                match kind {
                    WordKind::Substitution if !is_start => return words,
                    WordKind::Expansion if !is_start => {}
                    // A backslash at the end of the text is no word.
                    _ if raw == "\\" => {}
                    _ if !is_start && rest.starts_with('(') => {}
                    _ if is_start && has_function_body(rest) => rest = &rest[2..],
                    _ if is_start && (SKIPPED.contains(&raw) || is_assignment(raw)) => {}
                    _ if is_start && matches!(raw, "for" | "select") => {
                        let name = rest.trim_start_matches([' ', '\t']);
                        let after = &name[word(name).length..];
                        if after.trim_start().starts_with("in ") {
                            return words;
                        }
                        rest = after;
                    }
                    _ if is_start && DECLARING.contains(&raw) => return vec![text],
                    _ => words.push(text),
                }
            }
        }
    }
}

/// Returns the length of a test in brackets at the start of a text.
fn test_command(text: &str) -> Option<usize> {
    let end = if text.starts_with("[[") { "]]" } else { "]" };
    text.find(end).map(|at| at + end.len())
}

fn has_function_body(after_name: &str) -> bool {
    after_name.strip_prefix("()").is_some_and(|it| !it.trim().is_empty())
}

fn is_assignment(raw: &str) -> bool {
    let name = raw.split_once('=').map_or("", |it| it.0);
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').filter(|it| it.1.ends_with(']')).map_or(name, |it| it.0);
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !name.is_empty()
        && name.chars().all(is_name)
        && !name.starts_with(|it: char| it.is_ascii_digit())
}

struct Word {
    /// Its length in the text.
    length: usize,
    text: String,
    kind: WordKind,
}

#[derive(PartialEq)]
enum WordKind {
    Text,
    /// A variable, or `$'…'`, and nothing else.
    Expansion,
    /// `$(…)` and nothing else.
    Substitution,
}

/// Reads the word at the start of a text. With an unclosed quote the rest of the text is one word.
fn word(text: &str) -> Word {
    let whole = || {
        let inside = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(text);
        Word { length: text.len(), text: inside.to_owned(), kind: WordKind::Text }
    };
    let mut read = String::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match c {
            '\\' if rest.starts_with("\\\n") => break,
            '\\' => {
                let next = rest[1..].chars().next();
                read.extend(next);
                1 + next.map_or(0, char::len_utf8)
            }
            '\'' => match rest[1..].find('\'') {
                Some(end) => {
                    read.push_str(&rest[1..=end]);
                    end + 2
                }
                None => return whole(),
            },
            '"' => match closing_quote(&rest[1..]) {
                // Escapes stay as they are.
                Some(end) => {
                    read.push_str(&rest[1..=end]);
                    end + 2
                }
                None => return whole(),
            },
            '$' => {
                let length = expansion(rest);
                read.push_str(&rest[..length]);
                length
            }
            // A backquote before a word is skipped; one inside a word makes the rest one word.
            '`' => return whole(),
            c if ENDS.contains(&c) => break,
            c => {
                read.push(c);
                c.len_utf8()
            }
        };
        if at == 0
            && c == '$'
            && length > 1
            && text[length..].chars().next().is_none_or(|it| ENDS.contains(&it))
        {
            let kind =
                if text.starts_with("$(") { WordKind::Substitution } else { WordKind::Expansion };
            return Word { length, text: read, kind };
        }
        at += length;
    }
    Word { length: at, text: read, kind: WordKind::Text }
}

/// Returns the position of the quote that closes a text in double quotes.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

/// Returns the length of the expansion at the start of a text; 1 if the `$` is literal.
fn expansion(text: &str) -> usize {
    let behind = &text[1..];
    let closed = |open: char, close: char| {
        let mut depth = 0_usize;
        behind.char_indices().find_map(|(at, c)| {
            depth += usize::from(c == open);
            depth = depth.saturating_sub(usize::from(c == close));
            (depth == 0).then_some(at + 2)
        })
    };
    match behind.chars().next() {
        Some('(') => closed('(', ')').unwrap_or(1),
        Some('{') => closed('{', '}').unwrap_or(1),
        Some('\'') => behind[1..].find('\'').map_or(1, |end| end + 3),
        Some('$' | '?' | '!' | '#' | '@' | '*' | '-') => 2,
        Some(c) if c.is_ascii_digit() => 2,
        _ => {
            let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
            1 + behind.find(|it| !is_name(it)).unwrap_or(behind.len())
        }
    }
}
