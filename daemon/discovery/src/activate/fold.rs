//! Case folding as regular expressions of JavaScript do it: character by character, and never from
//! outside of ASCII into it.

use std::borrow::Cow;

/// Returns a name in the case in which all names are compared.
pub(super) fn fold(name: &[u8]) -> Cow<'_, [u8]> {
    if name.is_ascii() {
        if !name.iter().any(u8::is_ascii_uppercase) {
            return Cow::Borrowed(name);
        }
        return Cow::Owned(name.to_ascii_lowercase());
    }
    let mut folded = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let text: String = chunk.valid().chars().map(|it| lower(upper(it))).collect();
        folded.extend_from_slice(text.as_bytes());
        folded.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(folded)
}

/// Returns the upper case of a character if it is one character.
pub(super) fn upper(c: char) -> char {
    only(c, c.to_uppercase())
}

fn lower(c: char) -> char {
    only(c, c.to_lowercase())
}

fn only(c: char, mut other: impl Iterator<Item = char>) -> char {
    match (other.next(), other.next()) {
        // A character beyond the Basic Multilingual Plane is two units, which have no case.
        (Some(it), None) if c.is_ascii() == it.is_ascii() && c.len_utf16() == 1 => it,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_like_javascript() {
        let fold = |it: &str| String::from_utf8(fold(it.as_bytes()).into_owned()).unwrap();
        assert_eq!(fold("SRC/a.TS"), "src/a.ts");
        assert_eq!(fold("\u{c9}"), "\u{e9}");
        assert_eq!(fold("\u{df}"), "\u{df}");
        assert_eq!(fold("\u{17f}\u{212a}"), "\u{17f}k".replace('k', "\u{212a}"));
        assert_eq!(fold("\u{b5}"), fold("\u{3bc}"));
    }
}
