//! [`slug`]: a name as lower-case words joined by hyphens.

/// Returns a name in lower case, with one hyphen for each run of characters other than `a` to `z`
/// and digits, and none at its ends. Empty if the name has no such character.
pub(super) fn slug(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    words.collect::<Vec<_>>().join("-")
}
