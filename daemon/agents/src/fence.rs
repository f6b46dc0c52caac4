//! The `---` lines as each agent looks for them.
//!
//! Our own parser takes what was evidently meant. Agents are stricter, each in its own way, and
//! two of them end the frontmatter at any line that begins with `---`.

use skills_syntax::text::Span;

/// How an agent finds the frontmatter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fence {
    /// As our parser does, from the first line on.
    FirstLine,
    /// A first line and another that are `---` with any blanks around it, and at least one line
    /// between them (Codex, read in its source).
    TrimmedLines,
    /// gray-matter 4: `---` opens, perhaps with the name of a language behind it; the next line
    /// that begins with `---` closes, else the end of the file (opencode).
    GrayMatter,
    /// A first line of exactly `---`; the next line that begins with `---` closes (Gemini CLI,
    /// read in its source).
    Prefix,
    /// `---` and a line feed, twice, with something between them (the plugin, read in its
    /// source).
    Exact,
}

/// Where an agent sees the frontmatter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrontmatterRange {
    /// The text between the lines, with its last line end.
    pub content: Span,
    /// Where the body starts.
    pub body: usize,
}

/// Why an agent sees no frontmatter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FenceError {
    /// What is missing or in the way, as a sentence fragment.
    pub message: &'static str,
    /// Where.
    pub offset: usize,
}

impl FenceError {
    const NOT_OPENED: Self =
        Self { message: "the first line is not `---`, as this agent wants it", offset: 0 };
    const NOT_CLOSED: Self = Self {
        message: "the frontmatter is not closed by a line `---`, as this agent wants it",
        offset: 0,
    };
    const EMPTY: Self = Self { message: "the frontmatter is empty", offset: 0 };
    const LANGUAGE: Self =
        Self { message: "the frontmatter is written in a language that is not YAML", offset: 3 };
}

impl Fence {
    /// Finds the frontmatter of a text without byte order mark. Nothing is found by
    /// [`Fence::FirstLine`], which is our parser's affair.
    pub fn find(self, text: &str) -> Result<FrontmatterRange, FenceError> {
        match self {
            Self::FirstLine => Err(FenceError::NOT_OPENED),
            Self::TrimmedLines => trimmed_lines(text),
            Self::GrayMatter => gray_matter(text),
            Self::Prefix => prefix(text),
            Self::Exact => exact(text),
        }
    }
}

/// Returns how much of a text the agents' frontmatter takes up, whichever takes most.
pub(crate) fn longest_head(text: &str) -> usize {
    let rules = [Fence::TrimmedLines, Fence::GrayMatter, Fence::Prefix, Fence::Exact];
    rules.iter().filter_map(|it| it.find(text).ok()).map(|it| it.body).max().unwrap_or(0)
}

/// Returns the lines of a text from `\n` to `\n`, without it and a `\r` before it.
pub(crate) fn line_spans(text: &str) -> impl Iterator<Item = Span> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|it| !it.is_empty())?;
        let stop = rest.find('\n').unwrap_or(rest.len());
        let line = rest[..stop].strip_suffix('\r').unwrap_or(&rest[..stop]);
        let span = Span::new(at, at + line.len());
        at += stop + 1;
        Some(span)
    })
}

fn trimmed_lines(text: &str) -> Result<FrontmatterRange, FenceError> {
    let mut lines = line_spans(text);
    let opening = lines.next().filter(|it| it.slice(text).trim() == "---");
    let start = next_line(text, opening.ok_or(FenceError::NOT_OPENED)?.end);
    let closing = lines.find(|it| it.slice(text).trim() == "---").ok_or(FenceError::NOT_CLOSED)?;
    let content = Span::new(start, closing.start);
    if content.is_empty() {
        return Err(FenceError { offset: closing.start, ..FenceError::EMPTY });
    }
    Ok(FrontmatterRange { content, body: next_line(text, closing.end) })
}

fn gray_matter(text: &str) -> Result<FrontmatterRange, FenceError> {
    let rest = text.strip_prefix("---").filter(|it| !it.starts_with('-'));
    let rest = rest.ok_or(FenceError::NOT_OPENED)?;
    let line = rest.find('\n').unwrap_or(rest.len());
    let language = rest[..line].trim();
    if !["", "yaml", "yml"].iter().any(|it| language.eq_ignore_ascii_case(it)) {
        return Err(FenceError::LANGUAGE);
    }
    let start = (3 + line + 1).min(text.len());
    Ok(match text[3 + line..].find("\n---") {
        None => FrontmatterRange { content: Span::new(start, text.len()), body: text.len() },
        Some(at) => {
            let closing = 3 + line + at;
            let behind = closing + "\n---".len();
            let after = &text[behind..];
            let body = text.len() - after.strip_prefix('\r').unwrap_or(after).len();
            let body = if text[body..].starts_with('\n') { body + 1 } else { body };
            FrontmatterRange { content: Span::new(start, closing + 1), body }
        }
    })
}

fn prefix(text: &str) -> Result<FrontmatterRange, FenceError> {
    let opening = ["---\n", "---\r\n"].into_iter().find(|it| text.starts_with(it));
    let start = opening.ok_or(FenceError::NOT_OPENED)?.len();
    let closing = start + text[start..].find("\n---").ok_or(FenceError::NOT_CLOSED)?;
    let behind = closing + "\n---".len();
    let line_end = ["\n", "\r\n"].into_iter().find(|it| text[behind..].starts_with(it));
    // Words behind the dashes are lost: the body is empty then.
    let body = line_end.map_or(text.len(), |it| behind + it.len());
    Ok(FrontmatterRange { content: Span::new(start, closing + 1), body })
}

fn exact(text: &str) -> Result<FrontmatterRange, FenceError> {
    let rest = text.strip_prefix("---\n").ok_or(FenceError::NOT_OPENED)?;
    let start = text.len() - rest.len();
    let closing = start + rest.find("\n---\n").ok_or(FenceError::NOT_CLOSED)?;
    if closing == start {
        return Err(FenceError { offset: start, ..FenceError::EMPTY });
    }
    Ok(FrontmatterRange { content: Span::new(start, closing + 1), body: closing + "\n---\n".len() })
}

fn next_line(text: &str, line_end: usize) -> usize {
    text[line_end..].find('\n').map_or(text.len(), |at| line_end + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [Fence; 4] = [Fence::GrayMatter, Fence::TrimmedLines, Fence::Prefix, Fence::Exact];

    /// Checks content and body as gray-matter, Codex, Gemini CLI and the plugin see them.
    #[track_caller]
    fn check(text: &str, expected: [Option<(&str, &str)>; 4]) {
        let found = RULES.map(|it| {
            let fenced = it.find(text).ok()?;
            Some((fenced.content.slice(text), &text[fenced.body..]))
        });
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn plain_lines_are_seen_by_all() {
        check("---\na: b\n---\nx\n", [Some(("a: b\n", "x\n")); 4]);
        check("---\na: b\n---\nx\n---\ny\n", [Some(("a: b\n", "x\n---\ny\n")); 4]);
    }

    #[test]
    fn blanks_carriage_returns_and_a_missing_line_end() {
        let found = Some(("a: b\n", "x\n"));
        check("--- \na: b\n---  \nx\n", [Some(("a: b\n", "  \nx\n")), found, None, None]);
        let found = Some(("a: b\r\n", "x\r\n"));
        check("---\r\na: b\r\n---\r\nx\r\n", [found, found, found, None]);
        let found = Some(("a: b\n", ""));
        check("---\na: b\n---", [found, found, found, None]);
        check("---\ra: b\r---\rx", [None, None, None, None]);
    }

    #[test]
    fn a_line_that_begins_with_dashes_closes_for_some() {
        let text = "---\na: b\n---- x\nc: d\n---\ny\n";
        let codex = Some(("a: b\n---- x\nc: d\n", "y\n"));
        check(text, [Some(("a: b\n", "- x\nc: d\n---\ny\n")), codex, Some(("a: b\n", "")), codex]);
        let text = "---\na: b\n ---\nc: d\n---\ny\n";
        let others = Some(("a: b\n ---\nc: d\n", "y\n"));
        check(text, [others, Some(("a: b\n", "c: d\n---\ny\n")), others, others]);
    }

    #[test]
    fn what_is_never_closed_goes_on_for_gray_matter_alone() {
        check("---\na: b\nx\n", [Some(("a: b\nx\n", "")), None, None, None]);
        assert_eq!(longest_head("---\na: b\nx\n"), 11);
        assert_eq!(longest_head("# x\n"), 0);
    }

    #[test]
    fn languages_other_than_yaml_are_refused_and_never_run() {
        check("---yaml\na: b\n---\n", [Some(("a: b\n", "")), None, None, None]);
        check("---js\n{}\n---\n", [None; 4]);
        check("----\na: b\n----\n", [None; 4]);
    }

    #[test]
    fn nothing_between_the_lines() {
        check("---\n---\nx\n", [Some(("", "x\n")), None, None, None]);
        check(
            "---\n\n---\nx\n",
            [Some(("\n", "x\n")), Some(("\n", "x\n")), Some(("\n", "x\n")), None],
        );
    }
}
