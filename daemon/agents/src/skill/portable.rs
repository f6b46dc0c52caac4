//! Detects portable files: those that every agent reads alike, so that loading can skip the agent's
//! parser.

use skills_syntax::diagnostic::ProblemCode;
use skills_syntax::parse::{Closing, Document, Entry, OpeningKind, ValueKind};

/// Returns whether every library and every delimiter rule reads the same in a text, so that name
/// and description can be taken from the record. False in doubt.
pub(crate) fn is_portable(text: &str, document: &Document) -> bool {
    let Some(frontmatter) = &document.frontmatter else { return false };
    let content = frontmatter.content.slice(text);
    let plain_fences = frontmatter.opening == OpeningKind::FirstLine
        && frontmatter.closing == Closing::Dashes
        && text.starts_with("---\n")
        && text[frontmatter.content.end..].starts_with("---\n");
    // Tabs, carriage returns, control characters, other line ends, byte order marks.
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
        && !frontmatter.entries.iter().any(|it| is_odd_key(it, text) || goes_on_in_brackets(it, text))
        && frontmatter.anchors.is_empty()
        && frontmatter.get("<<").is_none()
        && !content.contains("---")
        && !content.starts_with("...")
        // The last line ends of a block scalar that keeps them differ.
        && !content.ends_with("\n\n")
        && !content.contains(odd)
        && !content.contains("\\u")
        && ![" ", "[", "{", ","].into_iter().any(tagged)
        && document.diagnostics.iter().all(|it| it.code != ProblemCode::DuplicateKey)
}

/// Returns whether the key is empty, a list or a map: only some libraries accept that.
fn is_odd_key(entry: &Entry, text: &str) -> bool {
    entry.key.span.is_empty() || entry.key.span.slice(text).starts_with(['[', '{'])
}

/// Returns whether a flow collection spans several lines: some libraries require indentation.
fn goes_on_in_brackets(entry: &Entry, text: &str) -> bool {
    match entry.value.kind {
        ValueKind::Sequence { flow, .. } | ValueKind::Mapping { flow, .. } => {
            flow && entry.value.span.slice(text).contains('\n')
        }
        ValueKind::Null | ValueKind::Scalar { .. } | ValueKind::Alias { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::parse;

    #[track_caller]
    fn check(content: &str, expected: bool) {
        let text = format!("---\n{content}---\nbody\n");
        assert_eq!(is_portable(&text, &parse(&text)), expected, "{content:?}");
    }

    #[test]
    fn plain_file_is_portable() {
        check("name: a\ndescription: |\n  b\n\n  c\ntags: [a, b]\nx:\n  - {y: z}\n", true);
    }

    #[test]
    fn file_refused_by_one_library_is_not_portable() {
        check("name: a\n: null\n", false);
        check("name: a\n{b: c}: d\n", false);
        check("...\nname: a\n", false);
        check("name: a\ndescription: |+\n  b\n\n", false);
        check("name: a\ntags: [\na, b]\n", false);
        check("name: a\ntags: {\na: b}\n", false);
    }
}
