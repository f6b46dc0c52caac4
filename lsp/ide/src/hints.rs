//! Inlay hints: token counts of the description and the body, and the number of files a glob
//! matches.

use skills_agents::field_table::PATHS;
use skills_agents::fields::Fields;
use skills_lint::{FsContext, Subject};

/// An inlay hint, shown after an offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hint {
    /// The offset after which the hint is shown.
    pub offset: usize,
    /// The text.
    pub text: String,
    /// The tooltip.
    pub tooltip: String,
}

/// Approximate number of bytes in a token of English text.
const BYTES_PER_TOKEN: usize = 4;

/// Returns the hints of a text, sorted by offset.
pub fn hints(subject: &Subject<'_>, fs: &dyn FsContext) -> Vec<Hint> {
    let Some(frontmatter) = &subject.document.frontmatter else { return Vec::new() };
    let mut hints = Vec::new();
    if let Some(entry) = frontmatter.get("description")
        && let Some(text) = entry.value.as_str().filter(|it| !it.trim().is_empty())
    {
        let first = entry.value.span.slice(subject.text).trim_end();
        let tokens = tokens(text.trim());
        hints.push(Hint {
            offset: entry.value.span.start + first.len(),
            text: format!("{tokens} tokens"),
            tooltip: format!("About {tokens} tokens in every skill listing that a model sees."),
        });
    }
    if let Some(close) = frontmatter.close {
        let body = subject.document.body.slice(subject.text).trim();
        let tokens = tokens(body);
        hints.push(Hint {
            offset: close.end,
            text: format!("{tokens} tokens"),
            tooltip: format!("About {tokens} tokens when a model loads the skill."),
        });
    }
    for item in Fields::new(frontmatter, subject.text).list(&PATHS) {
        let glob = item.text.trim();
        if glob.starts_with('!') {
            continue;
        }
        if let Some(count) = fs.matches(glob) {
            hints.push(Hint {
                offset: item.span.end,
                text: files(count),
                tooltip: format!("`{glob}` matches {} in this worktree.", files(count)),
            });
        }
    }
    hints.sort_by_key(|it| it.offset);
    hints
}

fn tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// Returns a file count with its unit.
pub(super) fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

#[cfg(test)]
mod tests {
    use skills_syntax::text::Span;

    use super::*;
    use crate::tests::with_subject;

    struct Counted;

    impl FsContext for Counted {
        fn matches(&self, glob: &str) -> Option<usize> {
            Some(if glob == "*.rs" { 1 } else { 12 })
        }
    }

    #[test]
    fn token_counts_and_glob_counts_are_shown_after_their_text() {
        let text = "---\nname: a\ndescription: Reads PDFs.\npaths: ['*.rs', 'docs/**', '!x']\n---\nDo it.\n";
        let shown = with_subject(text, |subject| {
            let hints = hints(subject, &Counted);
            let shown = hints.iter().map(|it| {
                let line =
                    Span::new(text[..it.offset].rfind('\n').map_or(0, |it| it + 1), it.offset);
                format!("{} <- {}", line.slice(text), it.text)
            });
            shown.collect::<Vec<_>>()
        });
        assert_eq!(
            shown,
            [
                "description: Reads PDFs. <- 3 tokens",
                "paths: ['*.rs' <- 1 file",
                "paths: ['*.rs', 'docs/**' <- 12 files",
                "--- <- 2 tokens",
            ]
        );
    }
}
