//! What the headings of a text are called in links: `#like-this`, as renderers of Markdown have it.

use std::collections::HashMap;

use super::sections::Section;
use crate::rules::decoded;
use crate::text::Span;

/// A heading, by its name as it is, and by those that it has once a section has become a page.
pub(super) struct Anchor {
    name: String,
    /// In the page; none where it is not there.
    pub(super) on_page: Option<String>,
    /// In the text that stays.
    pub(super) in_text: Option<String>,
}

/// Returns the headings of a text of which one section becomes a page; `below` is what is taken out
/// of the text, without the section's own heading.
pub(super) fn anchors(text: &str, all: &[Section], section: Span, below: Span) -> Vec<Anchor> {
    let is_on_page = |it: &Section| section.covers(it.heading);
    let is_in_text = |it: &Section| !below.covers(it.heading);
    let (mut names, mut page, mut rest) = (Names::default(), Names::default(), Names::default());
    let anchor = |it: &Section| {
        let title = it.title.slice(text);
        Anchor {
            name: names.next(title),
            on_page: is_on_page(it).then(|| page.next(title)),
            in_text: is_in_text(it).then(|| rest.next(title)),
        }
    };
    all.iter().map(anchor).collect()
}

/// Returns the heading that a link's fragment names.
pub(super) fn named<'a>(anchors: &'a [Anchor], fragment: &str) -> Option<&'a Anchor> {
    let fragment = decoded(fragment);
    anchors.iter().find(|it| it.name == fragment)
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
