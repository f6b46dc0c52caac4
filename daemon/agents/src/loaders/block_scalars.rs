//! The `block` strategy: one-line values with a colon become block scalars (opencode, read in its
//! source).

use skills_syntax::edit::{Edit, apply};
use skills_syntax::text::Span;

use crate::fence::line_spans;

/// Rewrites top-level values that contain a colon as block scalars. Returns `None` if there are
/// none.
///
/// Keys with a hyphen, quoted values, comments and indented lines are unchanged.
pub fn rewrite_as_blocks(content: &str) -> Option<String> {
    let edits = block_edits(content);
    (!edits.is_empty()).then(|| apply(content, &edits))
}

/// Returns true if a file's first line is `---` and nothing else. The agents rewrite no other file
/// (opencode 1.18.33, measured; Kilo, read in its source).
pub fn has_plain_opening(text: &str) -> bool {
    text.strip_prefix("---").is_some_and(|it| it.starts_with('\n') || it.starts_with("\r\n"))
}

/// Returns the edits of [`rewrite_as_blocks`], in text order.
pub(super) fn block_edits(content: &str) -> Vec<Edit> {
    let edits = line_spans(content).filter_map(|line| {
        let text = line.slice(content);
        let key = text.find(|it: char| !it.is_ascii_alphanumeric() && it != '_')?;
        if key == 0 || text.starts_with(|it: char| it.is_ascii_digit()) {
            return None;
        }
        let value = text[key..].trim_start().strip_prefix(':')?.trim();
        if matches!(value, "" | ">" | "|") || value.starts_with(['"', '\'']) || !value.contains(':')
        {
            return None;
        }
        let span = Span::new(line.start + key, line.end);
        Some(Edit { span, text: format!(": |-\n  {value}") })
    });
    edits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loaders::load_as;
    use crate::profile;
    use crate::skill::{FileFacts, SkillRecord};

    #[track_caller]
    fn check(content: &str, expected: Option<&str>) {
        assert_eq!(rewrite_as_blocks(content).as_deref(), expected, "{content:?}");
    }

    #[test]
    fn value_with_colon_becomes_block_scalar() {
        check(
            "name: a\ndescription: Use when: asked\nurl : http://x \n",
            Some("name: a\ndescription: |-\n  Use when: asked\nurl: |-\n  http://x\n"),
        );
        check("description: {not: closed\r\n", Some("description: |-\n  {not: closed\r\n"));
    }

    #[test]
    fn quoted_indented_and_hyphenated_lines_are_unchanged() {
        check(
            "# a: b: c\n  a: b: c\nd: \"e: f\"\ng: >\n  h: i\nallowed-tools: a: b\n1a: b:c\n",
            None,
        );
        check("description: @x\nname\n", None);
    }

    #[test]
    fn file_with_another_opening_line_is_not_repaired() {
        for (opening, is_repaired) in [
            ("---\n", true),
            ("---\r\n", true),
            ("\u{FEFF}---\n", false),
            ("--- \n", false),
            ("---\t\n", false),
            ("---yaml\n", false),
        ] {
            let text = format!("{opening}name: n\ndescription: a: b\n---\nBody.\n");
            let size = text.len() as u64;
            let facts = FileFacts { size, truncated: false, hash: [0; 32] };
            let record = SkillRecord::read(text.as_bytes(), facts);
            for agent in ["opencode", "kilo"] {
                let outcome = load_as(profile::find(agent).unwrap(), &record, "n");
                assert_eq!(outcome.dropped.is_none(), is_repaired, "{agent} {opening:?}");
            }
        }
    }
}
