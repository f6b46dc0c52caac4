//! opencode's wildcards: `*` for any run of characters, `?` for one, nothing else.
//!
//! Written out and not made into a regular expression, because any text is a pattern here and
//! none may fail or take long. Source: a blank and a star at the end may both be missing
//! (`deploy *` is also `deploy`), and a backslash is a slash.

/// Returns whether a pattern matches all of a text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let slashed = |it: char| if it == '\\' { '/' } else { it };
    let pattern: Vec<char> = pattern.chars().map(slashed).collect();
    let text: Vec<char> = text.chars().map(slashed).collect();
    let shorter = pattern.strip_suffix(&[' ', '*']);
    whole(&pattern, &text) || shorter.is_some_and(|it| whole(it, &text))
}

fn whole(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    // The last star, and how far the text was read when it was met: only that one ever has to
    // take more, so that the time is at most the product of the lengths.
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
