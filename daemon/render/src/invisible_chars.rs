//! Warns about characters that are invisible to people but visible to a model.

use skills_syntax::invisible_chars::runs;

/// Returns a warning about invisible characters in a text, if there are any.
pub(super) fn warning(text: &str) -> Option<String> {
    // Most texts are ASCII, and this check is fast.
    if text.is_ascii() {
        return None;
    }
    let found = runs(text);
    let line = text[..found.first()?.bytes.start].matches('\n').count() + 1;
    let n_found: usize = found.iter().map(|it| it.count).sum();
    let noun = if n_found == 1 { "character" } else { "characters" };
    Some(format!("The body contains {n_found} invisible {noun}, the first on its line {line}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_counted_and_located() {
        assert_eq!(warning("plain \u{1f468}\u{200d}\u{1f469} \u{e4}"), None);
        let told = warning("a\nb\u{e0041}\u{e0042}").unwrap();
        assert_eq!(told, "The body contains 2 invisible characters, the first on its line 2.");
        assert!(warning("\u{202e}x").unwrap().contains("1 invisible character,"));
    }
}
