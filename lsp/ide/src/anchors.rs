//! Heading anchors (`#like-this`) as Markdown renderers generate them.

use std::collections::HashMap;

use skills_syntax::markdown::heading_anchor;
use skills_syntax::text::Span;

use super::sections::Section;

/// The anchor of a heading after a section has been extracted to a page.
pub(super) struct MovedAnchor {
    /// Its anchor on the page; `None` if the heading is not there.
    pub(super) on_page: Option<String>,
    /// Its anchor in the remaining text; `None` if the heading is not there.
    pub(super) in_text: Option<String>,
}

/// Returns the anchors of all headings after the extraction, keyed by their current anchor.
/// `section` becomes a page; `below` is the part removed from the text, without the section's own
/// heading. HTML `id` and `name` attributes count as anchors.
pub(super) fn anchors(
    text: &str,
    all: &[Section],
    section: Span,
    below: Span,
) -> HashMap<String, MovedAnchor> {
    let (mut names, mut page, mut rest) =
        (AnchorNames::default(), AnchorNames::default(), AnchorNames::default());
    let mut anchors = HashMap::new();
    for mark in [" id=\"", " name=\""] {
        for (at, _) in text.match_indices(mark) {
            let id = text[at + mark.len()..].split(['"', '\n']).next().unwrap_or_default();
            let is_moved = below.contains(at);
            let [on_page, in_text] = [is_moved, !is_moved].map(|it| it.then(|| id.to_owned()));
            anchors.insert(id.to_owned(), MovedAnchor { on_page, in_text });
        }
    }
    for heading in all {
        let title = heading.title.slice(text);
        let anchor = MovedAnchor {
            on_page: section.covers(heading.heading).then(|| page.next(title)),
            in_text: (!below.covers(heading.heading)).then(|| rest.next(title)),
        };
        anchors.insert(names.next(title), anchor);
    }
    anchors
}

/// Generates unique anchors; a repeated one gets a number.
#[derive(Default)]
struct AnchorNames(HashMap<String, usize>);

impl AnchorNames {
    fn next(&mut self, title: &str) -> String {
        let plain = heading_anchor(title);
        let mut name = plain.clone();
        while self.0.contains_key(&name) {
            let count = self.0.entry(plain.clone()).or_default();
            *count += 1;
            name = format!("{plain}-{count}");
        }
        self.0.insert(name.clone(), 0);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heading_anchors_match_markdown_renderers() {
        let mut names = AnchorNames::default();
        let titles = ["Big 😀 section", "`run` it!", "Use", "Use", "Use-1", "Use", "Éa_b"];
        let found = titles.map(|it| names.next(it));
        assert_eq!(found, ["big--section", "run-it", "use", "use-1", "use-1-1", "use-2", "éa_b"]);
    }
}
