//! Splits a body into sections, each from its heading to the next heading of the same or a higher
//! level.

use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::text::{Span, after_line_end, line_end};

/// A heading and the text below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Section {
    /// The heading level, from 1.
    pub(super) level: usize,
    /// The heading text.
    pub(super) title: Span,
    /// The heading line.
    pub(super) heading: Span,
    /// The heading and its text, up to the next heading of the same or a higher level.
    pub(super) span: Span,
}

/// Returns the sections in order of appearance. Only `#` headings count, outside code and verbatim
/// HTML.
pub(super) fn sections(text: &str, document: &Document) -> Vec<Section> {
    let body = Body::new(text, document.body);
    // Both lists are sorted and free of overlaps.
    let in_code = |at: usize| {
        let next = body.fences.partition_point(|it| it.content.end <= at);
        let raw = body.verbatim.partition_point(|it| it.end <= at);
        body.fences.get(next).is_some_and(|it| it.content.contains(at))
            || body.verbatim.get(raw).is_some_and(|it| it.contains(at))
    };
    let mut sections: Vec<Section> = Vec::new();
    // Open sections, each nested in the one before it.
    let mut open: Vec<usize> = Vec::new();
    let mut at = document.body.start;
    while at < document.body.end {
        let end = line_end(text, at).unwrap_or(document.body.end).min(document.body.end);
        if let Some((level, title)) = heading(text, Span::new(at, end)).filter(|_| !in_code(at)) {
            let heading = Span::new(at, end);
            let span = Span::new(at, document.body.end);
            while let Some(last) = open.pop_if(|it| sections[*it].level >= level) {
                sections[last].span.end = at;
            }
            open.push(sections.len());
            sections.push(Section { level, title, heading, span });
        }
        at = after_line_end(text, end).max(at + 1);
    }
    sections
}

fn heading(text: &str, line: Span) -> Option<(usize, Span)> {
    let written = line.slice(text);
    let level = written.bytes().take_while(|it| *it == b'#').count();
    let rest = &written[level..];
    if !(1..=6).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let title = rest.trim().trim_end_matches('#').trim_end();
    let start = line.start + level + (rest.len() - rest.trim_start().len());
    (!title.is_empty()).then(|| (level, Span::new(start, start + title.len())))
}

#[cfg(test)]
mod tests {
    use skills_agents::skill::parse;

    use super::*;

    #[test]
    fn section_ends_at_the_next_heading_of_same_or_higher_level() {
        let text = "---\nname: a\n---\n# A #\nx\n## B\n```\n# no\n```\n<!--\n# no\n-->\n<pre>\n# no\n</pre>\n## C\n# D\n#E\n";
        let found = sections(text, &parse(text));
        let shown: Vec<_> = found
            .iter()
            .map(|it| (it.level, it.title.slice(text), it.span.slice(text).lines().count()))
            .collect();
        assert_eq!(shown, [(1, "A", 13), (2, "B", 10), (2, "C", 1), (1, "D", 2)]);
    }
}
