//! Targets of links in a skill's texts: normalised paths, and targets that are no file of the
//! skill.

use std::sync::LazyLock;

use regex::Regex;
use skills_syntax::text::Span;

use super::expression::expression;

/// Number of bytes before a link that are searched for words.
pub(super) const CONTEXT_BYTES: usize = 200;

/// Returns the path without `.` and `..`, and whether it leaves the directory.
pub(super) fn normalise(path: &str) -> (String, bool) {
    let mut parts: Vec<&str> = Vec::new();
    let mut leaves = false;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => {
                parts.pop();
            }
            ".." => {
                leaves = true;
                parts.push("..");
            }
            part => parts.push(part),
        }
    }
    (parts.join("/"), leaves)
}

/// Returns whether a path is that of a Markdown file, whose links are followed.
pub(super) fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "md")
}

/// Returns whether the parentheses at a position follow brackets after a word, which is code:
/// `items[i](value)`.
pub(super) fn is_call(text: &str, parenthesis: usize) -> bool {
    let from = text.ceil_char_boundary(parenthesis.saturating_sub(CONTEXT_BYTES));
    let before = text[from..parenthesis].rsplit('\n').next().unwrap_or_default();
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | ')' | ']');
    before.rfind('[').is_some_and(|at| before[..at].ends_with(is_word))
}

/// Returns whether a path begins with a host, such as `www.example.com`.
fn is_host(path: &str) -> bool {
    const DOMAINS: [&str; 5] = ["com", "org", "net", "io", "dev"];
    let host = path.split('/').next().unwrap_or_default();
    let domain = host.rsplit_once('.').filter(|(name, _)| !name.is_empty());
    host.starts_with("www.") || domain.is_some_and(|(_, it)| DOMAINS.contains(&it))
}

/// Returns whether a normal path leads to a page of the repository's host, such as
/// `../../wiki/Home`.
pub(super) fn is_page_of_host(path: &str) -> bool {
    const PAGES: [&str; 6] = ["wiki", "issues", "pulls", "releases", "discussions", "actions"];
    let below = path.trim_start_matches("../");
    let last = path.rsplit('/').next().unwrap_or_default();
    // A version is no file name extension.
    let has_extension =
        last.rsplit_once('.').is_some_and(|(_, it)| it.starts_with(|it: char| it.is_alphabetic()));
    below.len() < path.len()
        && !has_extension
        && below.split('/').next().is_some_and(|it| PAGES.contains(&it))
}

/// Returns whether a link's target is code, a host or a placeholder, or a file that the text tells
/// to write.
pub(super) fn is_illustration(text: &str, target: Span, path: &str) -> bool {
    let from = text.ceil_char_boundary(target.start.saturating_sub(CONTEXT_BYTES));
    let before = text[from..target.start].rsplit('\n').next().unwrap_or_default();
    let label = before.rfind("](").and_then(|at| before[..at].rfind('['));
    let is_file_name = ["filename", "file-name", "file_name"].contains(&&*file_stem(path));
    path.contains("path/to/")
        || is_file_name
        || file_stem(path).starts_with("your")
        || is_host(path)
        || !path.contains('/') && !is_markdown(path) && is_call(text, target.start - 1)
        || label.is_some_and(|at| TELLS_TO_WRITE.is_match(&before[..at]))
}

/// Returns whether the file name is a placeholder.
pub(super) fn is_placeholder(path: &str) -> bool {
    const NAMES: [&str; 19] = [
        "example", "filename", "file-name", "file_name", "file", "name", "script", "script_name",
        "script-name", "my-script", "my_script", "your-script", "your_script", "foo", "bar", "xxx",
        "guide", "something", "whatever",
    ];
    let stem = file_stem(path);
    NAMES.contains(&&*stem)
        || stem.starts_with("your")
        || stem.starts_with("todo")
        || path.contains("path/to/")
        || DATE.is_match(path)
}

/// Returns the name of a path's file up to its first dot, in lower case.
fn file_stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.split('.').next().unwrap_or_default().to_ascii_lowercase()
}

/// A date in a file name, or a pattern for one, for a number, or for a name: `TASK-ID.md`.
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"\b\d{4}-\d{2}-\d{2}|YYYY|MM-DD";
    let number = r"(?:^|[/_.-])(?:N{2,}|X{2,})(?:[/_.-]|$)|xxx[^/]*\.";
    let name = r"(?:^|/)[A-Z][A-Z0-9_-]*[_-](?:ID|NAME|SLUG|TITLE)\.";
    expression(&format!("{date}|{number}|{name}"))
});

/// Words directly before a link to a file that the text tells to write.
static TELLS_TO_WRITE: LazyLock<Regex> = LazyLock::new(|| {
    let results = "results?|outputs?|reports?|findings|summary|plan|answer|notes?|it|them|data";
    let writes = format!(
        r"(?:write|save|store|put)\s+(?:(?:the|your|all|a)\s+)?(?:\w+\s+)?(?:{results})\s+(?:to|into|in|as|at|under)"
    );
    let creates = r"create(?:\s+(?:a|an|the))?(?:\s+new)?(?:\s+file)?";
    expression(&format!(r"(?i)\b(?:{writes}|{creates})\s+(?:(?:a|an|the)\s+)?[*_`]*$"))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_normalised() {
        assert_eq!(normalise("./a/../b//c.md"), ("b/c.md".to_owned(), false));
        assert_eq!(normalise("a/../../b"), ("../b".to_owned(), true));
    }
}
