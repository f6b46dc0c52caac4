//! Finds the frontmatter between `---` lines by each agent's rule ([`Fence`]).
//!
//! skillsd's own parser recovers the author's evident intention. Agents are stricter, each in its
//! own way; two of them end the frontmatter at any line that begins with `---`, and Claude Code at
//! any `---`.

use skills_syntax::text::Span;

use crate::keyword::{Keyword as _, keyword_enum};

use crate::claude_text::trim_start;

keyword_enum! {
    /// An agent's rule for finding the frontmatter.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    Fence {
        /// skillsd's own parser, from the first line on.
        FirstLine = "first-line",
        /// The first line and a later one are `---` with optional white space around it, with at
        /// least one line between them (Codex, read in its source).
        TrimmedLines = "trimmed-lines",
        /// Claude Code 2.1.330: `---` with only white space up to the line end opens; the next
        /// `---`, wherever it is, closes. The agent also leaves out the white space before the
        /// body.
        Anywhere = "anywhere",
        /// gray-matter 4: `---` opens, optionally followed by the name of a language; the next line
        /// that begins with `---` closes, or else the end of the file (opencode).
        GrayMatter = "gray-matter",
        /// The first line is exactly `---`; the next line that begins with `---` closes (Gemini
        /// CLI, read in its source).
        Prefix = "prefix",
        /// `---` and a line feed, twice, with content between them (opencode-agent-skills, read in
        /// its source).
        Exact = "exact",
        /// Lines of `---` with only white space behind it; the text between them may be empty
        /// (Copilot CLI, measured).
        Alone = "alone",
        /// Lines of exactly `---`, with at least one line between them (Qwen Code, read in its
        /// source).
        BareLines = "bare-lines",
        /// Lines of three or more dashes with only white space behind them; blank lines may come
        /// first (Mistral Vibe, read in its source).
        DashRuns = "dash-runs",
        /// As `prefix`, but the body begins right behind the closing dashes (Factory Droid, read in
        /// its program; Cline, read in its source).
        PrefixRest = "prefix-rest",
        /// The first two lines of `---` with only white space behind them, whatever comes before
        /// (Continue, read in its source).
        AnyTwo = "any-two",
        /// Three dashes open, whatever the next character is; the next line that begins with `---`
        /// closes (pi, read in its source).
        AnyOpening = "any-opening",
        /// As `trimmed-lines`, without the white space before the first key, so that the other keys
        /// may not be indented (Kimi Code, read in its source).
        TrimmedText = "trimmed-text",
        /// Three dashes open, whatever follows; a line of three dashes with only white space behind
        /// it and a line end closes (Hermes Agent, read in its source).
        BlankClosed = "blank-closed",
    }
}

/// The frontmatter that an agent recognises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrontmatterRange {
    /// The text between the lines, including its last line end.
    pub content: Span,
    pub language: Language,
    /// The offset at which the body starts.
    pub body: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    Yaml,
    /// JSON, named behind the opening dashes.
    Json,
    /// JavaScript, which the agent runs; skillsd does not.
    JavaScript,
}

/// The reason why an agent recognises no frontmatter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FenceError {
    /// The fault, as a sentence fragment.
    pub message: &'static str,
    pub offset: usize,
}

impl FenceError {
    const NOT_OPENED: Self =
        Self { message: "the first line is not `---`, which this agent requires", offset: 0 };
    const NOT_CLOSED: Self = Self {
        message: "the frontmatter is not closed by a line `---`, which this agent requires",
        offset: 0,
    };
    const EMPTY: Self = Self { message: "the frontmatter is empty", offset: 0 };
    const LANGUAGE: Self = Self {
        message: "the frontmatter is written in a language that the agent does not read",
        offset: 3,
    };
}

impl Fence {
    /// Finds the frontmatter of a text without byte order mark. [`Fence::FirstLine`] always fails
    /// here: skillsd's own parser handles it.
    pub fn find(self, text: &str) -> Result<FrontmatterRange, FenceError> {
        match self {
            Self::FirstLine => Err(FenceError::NOT_OPENED),
            Self::TrimmedLines => trimmed_lines(text),
            Self::Anywhere => anywhere(text),
            Self::GrayMatter => gray_matter(text),
            Self::Prefix => prefix(text),
            Self::Exact => exact(text),
            Self::Alone => alone(text),
            Self::BareLines => bare_lines(text),
            Self::DashRuns => dash_runs(text),
            Self::PrefixRest => prefix_rest(text),
            Self::AnyTwo => any_two(text),
            Self::AnyOpening => any_opening(text),
            Self::TrimmedText => trimmed_text(text),
            Self::BlankClosed => blank_closed(text),
        }
    }
}

/// Returns the text up to the end of the longest frontmatter that any agent recognises, and at
/// least up to `end`. It ends with a whole line.
pub(crate) fn longest_head(text: &str, end: usize) -> &str {
    let rules = Fence::KEYWORDS.iter().map(|it| it.1).filter(|it| *it != Fence::BlankClosed);
    let ends = rules.filter_map(|it| it.find(text).ok()).map(|it| it.body);
    // Its blank lines stay out: other agents count them as a body.
    let blank_closed = blank_closed(text).map(|it| next_line(text, it.content.end)).ok();
    let end = ends.chain(blank_closed).fold(end, usize::max);
    let is_inside = end > 0 && !text[..end].ends_with('\n');
    &text[..if is_inside { next_line(text, end) } else { end }]
}

/// Returns the line spans of a text, without `\n` or `\r\n`. Only `\n` ends a line.
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

/// Finds the frontmatter between the first line, which must be a fence, and the next fence.
fn between(
    text: &str,
    mut lines: impl Iterator<Item = Span>,
    is_fence: impl Fn(&str) -> bool,
) -> Result<FrontmatterRange, FenceError> {
    let is_fence = |it: &Span| is_fence(it.slice(text));
    let opening = lines.next().filter(is_fence).ok_or(FenceError::NOT_OPENED)?;
    let closing = lines.find(is_fence).ok_or(FenceError::NOT_CLOSED)?;
    let content = Span::new(next_line(text, opening.end), closing.start);
    Ok(FrontmatterRange { content, language: Language::Yaml, body: next_line(text, closing.end) })
}

fn trimmed_lines(text: &str) -> Result<FrontmatterRange, FenceError> {
    let found = between(text, line_spans(text), |it| it.trim() == "---")?;
    if found.content.is_empty() {
        return Err(FenceError { offset: found.content.end, ..FenceError::EMPTY });
    }
    Ok(found)
}

fn anywhere(text: &str) -> Result<FrontmatterRange, FenceError> {
    let rest = text.strip_prefix("---").ok_or(FenceError::NOT_OPENED)?;
    let blanks = &rest[..rest.len() - trim_start(rest).len()];
    let start = 3 + blanks.rfind('\n').ok_or(FenceError::NOT_OPENED)? + 1;
    let closing = start + text[start..].find("---").ok_or(FenceError::NOT_CLOSED)?;
    let behind = closing + "---".len();
    let line_end = text[behind..].find('\n').map_or(text.len(), |at| behind + at);
    let is_alone = trim_start(&text[behind..line_end]).is_empty();
    let body = if is_alone { next_line(text, line_end) } else { behind };
    Ok(FrontmatterRange { content: Span::new(start, closing), language: Language::Yaml, body })
}

fn gray_matter(text: &str) -> Result<FrontmatterRange, FenceError> {
    let rest = text.strip_prefix("---").filter(|it| !it.starts_with('-'));
    let rest = rest.ok_or(FenceError::NOT_OPENED)?;
    let line = rest.find('\n').unwrap_or(rest.len());
    let named = rest[..line].trim();
    let is = |names: &[&str]| names.iter().any(|it| named.eq_ignore_ascii_case(it));
    let language = if is(&["", "yaml", "yml"]) {
        Language::Yaml
    } else if named == "json" {
        Language::Json
    } else if is(&["js", "javascript"]) {
        Language::JavaScript
    } else {
        return Err(FenceError::LANGUAGE);
    };
    // The agent leaves white space there to the YAML, which refuses all but spaces and tabs.
    let is_blank = rest[..line].trim_matches([' ', '\t', '\r']).is_empty();
    let start = if is_blank || !named.is_empty() { (3 + line + 1).min(text.len()) } else { 3 };
    Ok(match text[3 + line..].find("\n---") {
        None => {
            FrontmatterRange { content: Span::new(start, text.len()), language, body: text.len() }
        }
        Some(at) => {
            let closing = 3 + line + at;
            let behind = closing + "\n---".len();
            let after = &text[behind..];
            let body = text.len() - after.strip_prefix('\r').unwrap_or(after).len();
            let body = if text[body..].starts_with('\n') { body + 1 } else { body };
            // The agent's parser gets the text without its last line end, and adds one only if the
            // text does not end with another.
            let is_blank = closing > start && text[..closing].ends_with('\n');
            let end = if is_blank { closing } else { closing + 1 };
            FrontmatterRange { content: Span::new(start, end), language, body }
        }
    })
}

fn prefix(text: &str) -> Result<FrontmatterRange, FenceError> {
    let opening = ["---\n", "---\r\n"].into_iter().find(|it| text.starts_with(it));
    let start = opening.ok_or(FenceError::NOT_OPENED)?.len();
    let closing = start + text[start..].find("\n---").ok_or(FenceError::NOT_CLOSED)?;
    let behind = closing + "\n---".len();
    let line_end = ["\n", "\r\n"].into_iter().find(|it| text[behind..].starts_with(it));
    // Text after the dashes is lost, and the body is empty.
    let body = line_end.map_or(text.len(), |it| behind + it.len());
    Ok(FrontmatterRange { content: Span::new(start, closing + 1), language: Language::Yaml, body })
}

fn exact(text: &str) -> Result<FrontmatterRange, FenceError> {
    let rest = text.strip_prefix("---\n").ok_or(FenceError::NOT_OPENED)?;
    let start = text.len() - rest.len();
    let closing = start + rest.find("\n---\n").ok_or(FenceError::NOT_CLOSED)?;
    if closing == start {
        return Err(FenceError { offset: start, ..FenceError::EMPTY });
    }
    let (content, body) = (Span::new(start, closing + 1), closing + "\n---\n".len());
    Ok(FrontmatterRange { content, language: Language::Yaml, body })
}

fn alone(text: &str) -> Result<FrontmatterRange, FenceError> {
    between(text, line_spans(text), |it| it.trim_end() == "---")
}

fn bare_lines(text: &str) -> Result<FrontmatterRange, FenceError> {
    // The line after the first one is no fence.
    let lines = line_spans(text).enumerate().filter(|it| it.0 != 1).map(|it| it.1);
    between(text, lines, |it| it == "---")
}

fn dash_runs(text: &str) -> Result<FrontmatterRange, FenceError> {
    let lines = line_spans(text).skip_while(|it| it.slice(text).trim().is_empty());
    between(text, lines, |it| {
        let line = it.trim_end();
        line.len() >= 3 && line.bytes().all(|it| it == b'-')
    })
}

fn any_opening(text: &str) -> Result<FrontmatterRange, FenceError> {
    let rest = text.strip_prefix("---").ok_or(FenceError::NOT_OPENED)?;
    let closing = 3 + rest.find("\n---").ok_or(FenceError::NOT_CLOSED)?;
    let start = 3 + rest.chars().next().map_or(0, char::len_utf8);
    if start >= closing {
        return Err(FenceError { offset: closing, ..FenceError::EMPTY });
    }
    let (content, body) = (Span::new(start, closing + 1), closing + "\n---".len());
    Ok(FrontmatterRange { content, language: Language::Yaml, body })
}

fn prefix_rest(text: &str) -> Result<FrontmatterRange, FenceError> {
    let found = prefix(text)?;
    let behind = found.content.end + "---".len();
    let rest = text[behind..].strip_prefix('\r').unwrap_or(&text[behind..]);
    let rest = rest.strip_prefix('\n').unwrap_or(rest);
    Ok(FrontmatterRange { body: text.len() - rest.len(), ..found })
}

fn any_two(text: &str) -> Result<FrontmatterRange, FenceError> {
    between(text, line_spans(text).filter(|it| it.slice(text).trim_end() == "---"), |_| true)
}

fn blank_closed(text: &str) -> Result<FrontmatterRange, FenceError> {
    let rest = text.strip_prefix("---").ok_or(FenceError::NOT_OPENED)?;
    let behind = |at: usize| {
        let rest = &rest[at + "\n---".len()..];
        let blank = &rest[..rest.len() - rest.trim_start().len()];
        // Blank lines belong to the fence: `\s*\n` matches as much as it can.
        blank.rfind('\n').map(|it| (3 + at, text.len() - rest.len() + it + 1))
    };
    let mut lines = rest.match_indices("\n---");
    let (closing, body) = lines.find_map(|it| behind(it.0)).ok_or(FenceError::NOT_CLOSED)?;
    let start = if rest.starts_with('\n') { 4 } else { 3 };
    let content = Span::new(start, closing + 1);
    Ok(FrontmatterRange { content, language: Language::Yaml, body })
}

fn trimmed_text(text: &str) -> Result<FrontmatterRange, FenceError> {
    let found = trimmed_lines(text)?;
    let content = found.content.slice(text);
    let blanks = content.len() - content.trim_start().len();
    if blanks == content.len() {
        return Err(FenceError { offset: found.content.start, ..FenceError::EMPTY });
    }
    let content = Span::new(found.content.start + blanks, found.content.end);
    Ok(FrontmatterRange { content, ..found })
}

fn next_line(text: &str, line_end: usize) -> usize {
    text[line_end..].find('\n').map_or(text.len(), |at| line_end + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [Fence; 4] = [Fence::GrayMatter, Fence::TrimmedLines, Fence::Prefix, Fence::Exact];

    /// Checks content and body for gray-matter, Codex, Gemini CLI and opencode-agent-skills.
    #[track_caller]
    fn check(text: &str, expected: [Option<(&str, &str)>; 4]) {
        let found = RULES.map(|it| {
            let fenced = it.find(text).ok()?;
            Some((fenced.content.slice(text), &text[fenced.body..]))
        });
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn no_break_space_behind_the_opening_dashes_is_content_for_gray_matter() {
        let found = Fence::GrayMatter.find("---\u{A0}\na: b\n---\nx\n").unwrap();
        assert_eq!((found.content, found.body), (Span::new(3, 11), 15));
    }

    #[test]
    fn plain_delimiters_are_recognised_by_all() {
        check("---\na: b\n---\nx\n", [Some(("a: b\n", "x\n")); 4]);
        check("---\na: b\n---\nx\n---\ny\n", [Some(("a: b\n", "x\n---\ny\n")); 4]);
    }

    #[test]
    fn delimiters_with_spaces_crlf_or_no_final_newline() {
        let found = Some(("a: b\n", "x\n"));
        check("--- \na: b\n---  \nx\n", [Some(("a: b\n", "  \nx\n")), found, None, None]);
        let found = Some(("a: b\r\n", "x\r\n"));
        check("---\r\na: b\r\n---\r\nx\r\n", [found, found, found, None]);
        let found = Some(("a: b\n", ""));
        check("---\na: b\n---", [found, found, found, None]);
        check("---\ra: b\r---\rx", [None, None, None, None]);
    }

    #[test]
    fn line_starting_with_dashes_closes_for_prefix_rules() {
        let text = "---\na: b\n---- x\nc: d\n---\ny\n";
        let codex = Some(("a: b\n---- x\nc: d\n", "y\n"));
        check(text, [Some(("a: b\n", "- x\nc: d\n---\ny\n")), codex, Some(("a: b\n", "")), codex]);
        let text = "---\na: b\n ---\nc: d\n---\ny\n";
        let others = Some(("a: b\n ---\nc: d\n", "y\n"));
        check(text, [others, Some(("a: b\n", "c: d\n---\ny\n")), others, others]);
    }

    #[test]
    fn unclosed_frontmatter_is_accepted_by_gray_matter_only() {
        check("---\na: b\nx\n", [Some(("a: b\nx\n", "")), None, None, None]);
        assert_eq!(longest_head("---\na: b\nx\n", 0).len(), 11);
        assert_eq!(longest_head("# x\n", 0), "");
    }

    #[test]
    fn head_ends_before_blank_lines_of_the_body() {
        assert_eq!(longest_head("---\na: b\n---\n\n\nx\n", 0), "---\na: b\n---\n");
    }

    #[test]
    fn languages_other_than_yaml_are_recognised_by_gray_matter_only() {
        check("---yaml\na: b\n---\n", [Some(("a: b\n", "")), None, None, None]);
        check("---js\n{}\n---\n", [Some(("{}\n", "")), None, None, None]);
        for (named, language) in [
            ("", Some(Language::Yaml)),
            ("YML", Some(Language::Yaml)),
            (" json", Some(Language::Json)),
            ("JSON", None),
            ("JavaScript", Some(Language::JavaScript)),
            ("js", Some(Language::JavaScript)),
            ("toml", None),
            ("yaml x", None),
        ] {
            let text = format!("---{named}\n{{}}\n---\n");
            let found = Fence::GrayMatter.find(&text).ok();
            assert_eq!(found.map(|it| it.language), language, "{named}");
        }
        check("----\na: b\n----\n", [None; 4]);
    }

    #[test]
    fn last_line_end_behind_a_blank_line_is_no_part_for_gray_matter() {
        let others = Some(("a: |+\n  b\n\n\n", "x\n"));
        let text = "---\na: |+\n  b\n\n\n---\nx\n";
        check(text, [Some(("a: |+\n  b\n\n", "x\n")), others, others, others]);
    }

    #[test]
    fn openings_and_closings_differ_between_pi_droid_and_kimi() {
        for (text, pi, droid, kimi) in [
            ("---\na: b\n---\nx\n", Some(("a: b\n", "\nx\n")), Some(("a: b\n", "x\n")), true),
            ("--- \na: b\n---\n", Some(("\na: b\n", "\n")), None, true),
            ("----\na: b\n----", Some(("\na: b\n", "-")), None, false),
            ("---\na: b\n---x\n", Some(("a: b\n", "x\n")), Some(("a: b\n", "x\n")), false),
            ("---\n---\nx\n", None, None, false),
            ("---\n  a: b\n ---\n", None, None, true),
            ("---", None, None, false),
            ("---é\n---", None, None, false),
            ("---é\na: b\n---", Some(("\na: b\n", "")), None, false),
        ] {
            let found = |fence: Fence| {
                let it = fence.find(text).ok()?;
                Some((it.content.slice(text), &text[it.body..]))
            };
            assert_eq!(found(Fence::AnyOpening).is_some(), pi.is_some(), "{text:?}");
            assert!(pi.is_none_or(|it| found(Fence::AnyOpening) == Some(it)), "{text:?}");
            assert_eq!(found(Fence::PrefixRest), droid, "{text:?}");
            let trimmed = found(Fence::TrimmedText).map(|it| it.0);
            assert_eq!(trimmed, kimi.then_some("a: b\n"), "{text:?}");
        }
    }

    #[test]
    fn runs_of_dashes_after_blank_lines_are_fences_for_vibe() {
        for (text, expected) in [
            ("\n \n----\na: b\n--- \nx\n", Some(("a: b\n", "x\n"))),
            ("---\n---\n", Some(("", ""))),
            ("---\na: b\n ---\n---", Some(("a: b\n ---\n", ""))),
            ("x\n---\na: b\n---\n", None),
            ("---\na: b\n---x\n", None),
        ] {
            let found = Fence::DashRuns.find(text).ok();
            let found = found.map(|it| (it.content.slice(text), &text[it.body..]));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn fences_of_cline_keep_the_text_behind_and_those_of_continue_may_come_later() {
        for (text, cline, continue_dev) in [
            ("---\na: b\n---\nx\n", Some(("a: b\n", "x\n")), Some(("a: b\n", "x\n"))),
            ("---\na: b\n---x\n", Some(("a: b\n", "x\n")), None),
            ("x\n---\na: b\n--- \ny\n", None, Some(("a: b\n", "y\n"))),
            ("---\n---\nx\n", None, Some(("", "x\n"))),
        ] {
            let found = |fence: Fence| {
                let it = fence.find(text).ok()?;
                Some((it.content.slice(text), &text[it.body..]))
            };
            assert_eq!(found(Fence::PrefixRest), cline, "{text:?}");
            assert_eq!(found(Fence::AnyTwo), continue_dev, "{text:?}");
        }
    }

    #[test]
    fn closing_dashes_of_hermes_need_a_line_end() {
        for (text, expected) in [
            ("---\na: b\n---\nx\n", Some(("a: b\n", "x\n"))),
            ("--- \na: b\n--- \n\nx\n", Some((" \na: b\n", "x\n"))),
            ("---\na: b\n---\n\n\t\n  x\n", Some(("a: b\n", "  x\n"))),
            ("---\n---\nx\n", Some(("", "x\n"))),
            ("---\na: b\n---x\n---\ny\n", Some(("a: b\n---x\n", "y\n"))),
            ("---\na: b\n---", None),
            ("\n---\na: b\n---\n", None),
        ] {
            let found = Fence::BlankClosed.find(text).ok();
            let found = found.map(|it| (it.content.slice(text), &text[it.body..]));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn dashes_alone_on_their_lines_are_fences_for_copilot() {
        for (text, expected) in [
            ("---\na: b\n---\nx\n", Some(("a: b\n", "x\n"))),
            ("--- \r\na: b\r\n---\t\r\nx\n", Some(("a: b\r\n", "x\n"))),
            ("---\n---\nx\n", Some(("", "x\n"))),
            ("---\na: b\n ---\n---", Some(("a: b\n ---\n", ""))),
            ("---\na: b\n---x\n", None),
            (" ---\na: b\n---\n", None),
            ("---yaml\na: b\n---\n", None),
        ] {
            let found = Fence::Alone.find(text).ok();
            let found = found.map(|it| (it.content.slice(text), &text[it.body..]));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn bare_dashes_with_a_line_between_are_fences_for_qwen() {
        for (text, expected) in [
            ("---\na: b\n---\nx\n", Some(("a: b\n", "x\n"))),
            ("---\r\na: b\r\n---", Some(("a: b\r\n", ""))),
            ("---\n---\nx\n", None),
            ("---\na: b\n--- \n", None),
            ("--- \na: b\n---\n", None),
        ] {
            let found = Fence::BareLines.find(text).ok();
            let found = found.map(|it| (it.content.slice(text), &text[it.body..]));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn any_dashes_close_for_claude_code() {
        for (text, expected) in [
            ("---\na: b\n---\nx\n", Some(("a: b\n", "x\n"))),
            ("--- \n\na: --- b\n---\n x\n", Some(("a: ", " b\n---\n x\n"))),
            ("---\na: b---\u{FEFF}\n\n  x\n", Some(("a: b", "\n  x\n"))),
            ("---\n---\n---\nx\n", Some(("", "---\nx\n"))),
            ("---\na: b\n----\n", Some(("a: b\n", "-\n"))),
            ("---\na: b\n--\n", None),
            ("---\n---", Some(("", ""))),
            ("---\ra: b\r---\r", None),
            ("---yaml\na: b\n---\n", None),
            (" ---\na: b\n---\n", None),
        ] {
            let found = Fence::Anywhere.find(text).ok();
            let found = found.map(|it| (it.content.slice(text), &text[it.body..]));
            assert_eq!(found, expected, "{text:?}");
        }
        assert_eq!(longest_head("x\ry\nz\n", 2), "x\ry\n");
    }

    #[test]
    fn empty_frontmatter_by_rule() {
        check("---\n---\nx\n", [Some(("", "x\n")), None, None, None]);
        check(
            "---\n\n---\nx\n",
            [Some(("\n", "x\n")), Some(("\n", "x\n")), Some(("\n", "x\n")), None],
        );
    }

    #[test]
    fn line_spans_exclude_line_ends() {
        let text = "a\r\n\nb";
        let lines: Vec<_> = line_spans(text).map(|it| it.slice(text)).collect();
        assert_eq!(lines, ["a", "", "b"]);
        assert_eq!(line_spans("").count(), 0);
    }
}
