//! Words around a name or a path that make it an illustration: an example, or something that could
//! be made.

use std::sync::LazyLock;

use regex::Regex;
use skills_syntax::text::Span;

use super::example_lists::{ANNOUNCES, TABLE_OF_EXAMPLES, is_below};
use super::expression::expression;
use super::subject::Cx;

/// Number of bytes on each side that are searched for words.
pub(super) const CONTEXT_BYTES: usize = 200;

/// Pattern of words that announce examples, up to the end of the text. A dot within a word or a
/// path does not end the sentence.
pub(super) const EXAMPLES: &str = r"(?:\bexamples?\W*:|\be\.g\.|\bz\.\s?B\.|\bbspw\.|\bp\.\s?ex\.|\bzum Beispiel\b|\bpar exemple\b|\bpor ejemplo\b|例如|比如|例えば|たとえば|\bfor (?:example|instance)\b|\bsuch as\b|\blike (?:this|these)\W*:)(?:[^.]|\.[\w/])*$";

/// Text before the name of a skill that is an example, or that the reader may make.
static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    let supposes = r"\b(?:suppos(?:e|ing)|imagin(?:e|ing)|pretend|hypothetical(?:ly)?)\b[^.]*$";
    let makes = r"\b(?:build|creat|design|mak|writ|develop|generat|scaffold)\w*\s+(?:(?:an?|your|another|one|new|custom|simple)\s+){0,3}[`*_/$\x22']*$";
    let named =
        r"\b(?:nam|call)(?:e|es|s|ed|ing)?\s+(?:it|them|(?:the|your|a)\s+(?:new\s+)?skill)\b";
    let names = format!(r"{named}\s*[`*_/$\x22']*$|\b(?:if|when)\s+(?:you|we)\s+{named}[^.]*$");
    expression(&format!("(?i)(?:{EXAMPLES}|{supposes}|{makes}|{names})"))
});

/// Text after such a name, or the owner of a skill that is elsewhere.
static AFTER: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"^\W*(?:[Ss]kills?\b)?\W*(?:could|would|might|for (?:example|instance)|e\.g\.)(?:\W|$)|^\W*[Ss]kills?\s+(?:of|from|by)\s+[A-Z]",
    )
});

/// Words anywhere in a sentence that make its names and paths proposals.
static PROPOSES: LazyLock<Regex> = LazyLock::new(|| {
    expression(
        r"(?i)\b(?:would|could|might) (?:be|help|say)\b|\b(?:would|could|might|may|can) (?:contain|have|hold|include|add)\b|\bif (?:you|there) (?:had|were)\b",
    )
});

/// A line that announces a list of files to make, of planned files, or of results.
static ANNOUNCES_RESULTS: LazyLock<Regex> = LazyLock::new(|| {
    let makes = r"^\W*(?:\d+\W+)?(?:(?:then|now|next|first|finally|and)\W+)?(?:create|generate|write|produce|make|add)\s+(?:[^\s.:]+\s+){0,6}(?:files?|documents?|pages?|references)(?:\W+(?:in|into|under|at|to|below)\s[^.:]*)?\W*:\W*$";
    let results = r"^\W*(?:(?:creates|generates|produces|writes)\W*:|(?:output(?: files?)?|outputs|results|artifacts|deliverables)\W*:?)\W*$";
    let later = r"\b(?:planned|coming soon|not yet (?:created|written|implemented|available|there)|to be (?:created|written|added))\b[^.:]*:\W*$";
    expression(&format!("(?i)(?:{makes}|{results}|{later})"))
});

/// Returns whether a line announces files to make, planned files, or results.
pub(super) fn announces_results(line: &str) -> bool {
    ANNOUNCES_RESULTS.is_match(line)
}

/// Returns whether the text says that something could be made.
pub(super) fn proposes(text: &str) -> bool {
    PROPOSES.is_match(&text[..text.floor_char_boundary(4 * CONTEXT_BYTES)])
}

/// Returns whether the text around the name of a skill makes it an illustration.
pub(super) fn is_illustrated(cx: &Cx<'_>, name: Span) -> bool {
    let line = cx.line(name.start);
    let start = paragraph_start(cx, line);
    let from = cx.text.ceil_char_boundary(name.start.saturating_sub(CONTEXT_BYTES)).max(start);
    let before = &cx.text[from..name.start];
    let to = cx.text.floor_char_boundary(name.end + CONTEXT_BYTES).min(line.end).max(name.end);
    let after = &cx.text[name.end..to];
    let sentence_start = before.rfind(". ").map_or(0, |it| it + 2);
    let sentence_end = after.find(". ").unwrap_or(after.len());
    BEFORE.is_match(before)
        || AFTER.is_match(after)
        || proposes(&cx.text[from + sentence_start..name.end + sentence_end])
        || is_in_examples(cx, line)
}

/// Returns the start of the paragraph, list item or row that contains a line. Looks at few lines
/// above.
pub(super) fn paragraph_start(cx: &Cx<'_>, line: Span) -> usize {
    const MAX_LINES: usize = 4;
    let begins = |it: &str| {
        let it = it.trim_start();
        it.is_empty() || it.starts_with(['-', '*', '+', '#', '>', '|']) || it.starts_with("```")
    };
    let mut first = line;
    for _ in 0..MAX_LINES {
        let written = first.slice(cx.text);
        let is_numbered = written.trim_start().starts_with(|it: char| it.is_ascii_digit());
        if first.start <= cx.document.body.start || begins(written) || is_numbered {
            break;
        }
        let above = cx.line(first.start - 1);
        let text = above.slice(cx.text).trim();
        if text.is_empty() || text.starts_with(['#', '|']) || text.starts_with("```") {
            break;
        }
        first = above;
    }
    first.start
}

/// Returns whether a line belongs to a list below a line that announces examples, or to a table
/// of examples or conventions.
pub(super) fn is_in_examples(cx: &Cx<'_>, line: Span) -> bool {
    is_below(cx.text, |at| cx.line(at), line, [&ANNOUNCES, &TABLE_OF_EXAMPLES])
}

/// Returns whether a line belongs to a list below a line that announces files to make, planned
/// files, or results.
pub(super) fn is_in_list_of_results(cx: &Cx<'_>, line: Span) -> bool {
    is_below(cx.text, |at| cx.line(at), line, [&ANNOUNCES_RESULTS, &ANNOUNCES_RESULTS])
}
