//! Which files everybody reads alike, so that nobody has to read them again.

use crate::parse::{Closing, Document, Opening};

/// Whether every library and every rule for the `---` lines sees the same in a text, so that
/// name and description can be judged from the record alone. In doubt it is not.
pub(crate) fn is_uniform(text: &str, document: &Document) -> bool {
    let Some(frontmatter) = &document.frontmatter else { return false };
    let content = frontmatter.content.slice(text);
    let plain_fences = frontmatter.opening == Opening::FirstLine
        && frontmatter.closing == Closing::Dashes
        && text.starts_with("---\n")
        && text[frontmatter.content.end..].starts_with("---\n");
    // Tabs, carriage returns, controls, other line ends, byte order marks.
    let odd = |it: char| match it {
        '\n' => false,
        '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => true,
        _ => it.is_control(),
    };
    let tagged =
        |before: &str| content.match_indices('!').any(|(at, _)| content[..at].ends_with(before));
    plain_fences
        && frontmatter.strict.is_ok()
        && !frontmatter.entries.is_empty()
        && frontmatter.anchors.is_empty()
        && frontmatter.get("<<").is_none()
        && !content.contains("\n---")
        && !content.starts_with("---")
        && !content.lines().any(|it| it.trim() == "---")
        && !content.contains(odd)
        && !content.contains("\\u")
        && ![" ", "[", "{", ","].into_iter().any(tagged)
        && document.diagnostics.iter().all(|it| it.code != "yaml/duplicate-key")
}
