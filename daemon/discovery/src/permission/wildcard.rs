//! opencode's wildcards: `*` for any text, `?` for one character.
//!
//! Not compiled to a regular expression, because every text is a valid pattern and matching must
//! stay fast. As in opencode's source, a trailing space and star are optional (`deploy *` also
//! matches `deploy`), and a backslash equals a slash.

/// Returns true if a pattern matches the whole text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let slashed = |it: char| if it == '\\' { '/' } else { it };
    let pattern: Vec<char> = pattern.chars().map(slashed).collect();
    let text: Vec<char> = text.chars().map(slashed).collect();
    let shorter = pattern.strip_suffix(&[' ', '*']);
    whole(&pattern, &text) || shorter.is_some_and(|it| whole(it, &text))
}

/// Returns true if a Claude Code rule without parentheses names a tool: by its name, or by a
/// pattern with stars that matches the whole name. Measured with Claude Code 2.1.330; such patterns
/// count in rules that deny or ask.
pub(crate) fn names_tool(rule: &str, tool: &str) -> bool {
    let is_bare = !rule.contains(['(', '?', '\\']);
    rule == tool || (is_bare && rule.contains('*') && matches(rule, tool))
}

fn whole(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    // The last star, and the position in the text where it was met. Only the last star ever needs
    // to match more, so the time is at most the product of both lengths.
    let mut star = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(it) if *it == '?' || *it == text[read] => {
                at += 1;
                read += 1;
            }
            Some(_) | None => {
                let Some((before, taken)) = star else { return false };
                star = Some((before, taken + 1));
                at = before + 1;
                read = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|it| *it == '*')
}
