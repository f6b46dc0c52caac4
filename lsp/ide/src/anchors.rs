//! What the headings of a text are called in links: `#like-this`, as renderers of Markdown have it.

use std::collections::HashMap;

use skills_syntax::text::Span;

use super::sections::Section;

/// What a heading is called once a section has become a page.
pub(super) struct Anchor {
    /// In the page; none where it is not there.
    pub(super) on_page: Option<String>,
    /// In the text that stays.
    pub(super) in_text: Option<String>,
}

/// Returns the headings of a text of which one section becomes a page, by their names before that;
/// `below` is what is taken out of the text, without the section's own heading. What is named by an
/// `id` goes by that.
pub(super) fn anchors(
    text: &str,
    all: &[Section],
    section: Span,
    below: Span,
) -> HashMap<String, Anchor> {
    let (mut names, mut page, mut rest) = (Names::default(), Names::default(), Names::default());
    let mut anchors = HashMap::new();
    for mark in [" id=\"", " name=\""] {
        for (at, _) in text.match_indices(mark) {
            let id = text[at + mark.len()..].split(['"', '\n']).next().unwrap_or_default();
            let is_moved = below.contains(at);
            let [on_page, in_text] = [is_moved, !is_moved].map(|it| it.then(|| id.to_owned()));
            anchors.insert(id.to_owned(), Anchor { on_page, in_text });
        }
    }
    for heading in all {
        let title = heading.title.slice(text);
        let anchor = Anchor {
            on_page: section.covers(heading.heading).then(|| page.next(title)),
            in_text: (!below.covers(heading.heading)).then(|| rest.next(title)),
        };
        anchors.insert(names.next(title), anchor);
    }
    anchors
}

/// Gives headings their names; one that is taken gets a number.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn next(&mut self, title: &str) -> String {
        let plain = plain(title);
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

/// Returns a title in small letters, with hyphens for blanks and without other marks.
fn plain(title: &str) -> String {
    let letters = title.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    letters.flat_map(char::to_lowercase).map(|it| if it == ' ' { '-' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_names_that_renderers_give_them() {
        let mut names = Names::default();
        let titles = ["Big 😀 section", "`run` it!", "Use", "Use", "Use-1", "Use", "Éa_b"];
        let found = titles.map(|it| names.next(it));
        assert_eq!(found, ["big--section", "run-it", "use", "use-1", "use-1-1", "use-2", "éa_b"]);
    }
}
