//! Characters that a person does not see and a model reads.

/// Returns what a text holds of them, as a sentence; nothing for most texts.
pub(super) fn warning(text: &str) -> Option<String> {
    // Most texts are, and that is seen many bytes at a time.
    if text.is_ascii() {
        return None;
    }
    let mut found = text.char_indices().filter(|(_, it)| is_unseen(*it)).peekable();
    let (first, _) = *found.peek()?;
    let line = text[..first].matches('\n').count() + 1;
    let n_found = found.count();
    let (verb, noun) = if n_found == 1 { ("is", "character") } else { ("are", "characters") };
    Some(format!(
        "There {verb} {n_found} {noun} in the body that a person does not see, the first on its line {line}."
    ))
}

/// Tags, directions and widths of nothing. A joiner between two emoji is seen.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_told() {
        assert_eq!(warning("plain \u{1f468}\u{200d}\u{1f469} ä"), None);
        let told = warning("a\nb\u{e0041}\u{e0042}").unwrap();
        assert_eq!(
            told,
            "There are 2 characters in the body that a person does not see, the first on its line 2."
        );
        assert!(warning("\u{202e}x").unwrap().contains("is 1 character "));
    }
}
