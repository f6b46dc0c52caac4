//! Warnings of characters that a person does not see and a model reads.

use skills_syntax::invisible_chars::runs;

/// Returns what a text holds of them, as a sentence; nothing for most texts.
pub(super) fn warning(text: &str) -> Option<String> {
    // Most texts are, and that is seen many bytes at a time.
    if text.is_ascii() {
        return None;
    }
    let found = runs(text);
    let line = text[..found.first()?.bytes.start].matches('\n').count() + 1;
    let n_found: usize = found.iter().map(|it| it.count).sum();
    let (verb, noun) = if n_found == 1 { ("is", "character") } else { ("are", "characters") };
    Some(format!(
        "There {verb} {n_found} {noun} in the body that a person does not see, the first on its line {line}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_told() {
        assert_eq!(warning("plain \u{1f468}\u{200d}\u{1f469} \u{e4}"), None);
        let told = warning("a\nb\u{e0041}\u{e0042}").unwrap();
        assert_eq!(
            told,
            "There are 2 characters in the body that a person does not see, the first on its line 2."
        );
        assert!(warning("\u{202e}x").unwrap().contains("is 1 character "));
    }
}
