//! Which files everybody reads alike, so that nobody has to read them again.

use skills_syntax::parse::{Closing, Document, Entry, Opening, ValueKind};

/// Whether every library and every rule for the `---` lines sees the same in a text, so that
/// name and description can be judged from the record alone. In doubt it is not.
pub(crate) fn is_portable(text: &str, document: &Document) -> bool {
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
        && !frontmatter.entries.iter().any(|it| is_nameless(it) || goes_on_in_brackets(it, text))
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

/// Whether nothing stands before the colon: only some libraries take that for a key.
fn is_nameless(entry: &Entry) -> bool {
    entry.key.span.is_empty()
}

/// Whether a value in brackets has several lines: some libraries want them indented.
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
    fn a_healthy_file_is_read_alike_by_all() {
        check("name: a\ndescription: |\n  b\n\n  c\ntags: [a, b]\nx:\n  - {y: z}\n", true);
    }

    #[test]
    fn what_one_library_alone_refuses_is_not_alike() {
        check("name: a\n: null\n", false);
        check("name: a\ntags: [\na, b]\n", false);
        check("name: a\ntags: {\na: b}\n", false);
    }
}
