//! [`slug`]: a name as lower-case words joined by hyphens.

/// Returns a name in lower case, with one hyphen for each run of characters other than `a` to `z` and
/// digits, and none at its ends. Empty if the name has no such character.
pub(super) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '0'..='9' => slug.push(letter),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}
