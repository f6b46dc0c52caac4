//! Splits a body into sections, each from its heading to the next heading of the same or a higher
//! level.

use skills_syntax::markdown::{Body, Heading};
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

/// A heading and the text below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// The heading level, from 1.
    pub level: usize,
    /// The heading text.
    pub title: Span,
    /// The lines of the heading.
    pub heading: Span,
    /// The heading and its text, up to the next heading of the same or a higher level.
    pub span: Span,
}

/// Returns the sections in order of appearance.
pub fn sections(document: &Document, body: &Body) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    // Open sections, each nested in the one before it.
    let mut open: Vec<usize> = Vec::new();
    for Heading { level, title, span: heading } in body.headings.iter().copied() {
        while let Some(last) = open.pop_if(|it| sections[*it].level >= level) {
            sections[last].span.end = heading.start;
        }
        open.push(sections.len());
        let span = Span::new(heading.start, document.body.end);
        sections.push(Section { level, title, heading, span });
    }
    sections
}

#[cfg(test)]
mod tests {
    use skills_agents::skill::parse;

    use super::*;

    #[test]
    fn section_ends_at_the_next_heading_of_same_or_higher_level() {
        let text = "---\nname: a\n---\n# A #\nx\n## B\n```\n# no\n```\n<!--\n# no\n-->\n<pre>\n# no\n</pre>\n## C\n# D\n#E\n";
        let document = parse(text);
        let found = sections(&document, &Body::new(text, document.body));
        let shown: Vec<_> = found
            .iter()
            .map(|it| (it.level, it.title.slice(text), it.span.slice(text).lines().count()))
            .collect();
        assert_eq!(shown, [(1, "A", 13), (2, "B", 10), (2, "C", 1), (1, "D", 2)]);
    }
}
