//! [`TextParts`]: the body, references and links of one text, each searched once.

use std::iter;
use std::sync::OnceLock;

use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use crate::references::{
    Link, Reference, links_at, links_in, links_near, paths_in, reference_at, references_in,
    references_near,
};

/// The body, the possible references and the links of one text, each searched on first use. The
/// text and its tree must be the same in every call.
#[derive(Clone, Debug, Default)]
pub struct TextParts {
    body: OnceLock<Body>,
    references: OnceLock<Box<[Reference]>>,
    links: OnceLock<Box<[Link]>>,
}

impl TextParts {
    pub fn body(&self, text: &str, document: &Document) -> &Body {
        self.body.get_or_init(|| Body::new(text, document.body))
    }

    /// Returns the possible references, in text order.
    pub fn references(&self, text: &str, document: &Document) -> &[Reference] {
        let search = || references_in(text, document, self.body(text, document)).into();
        self.references.get_or_init(search)
    }

    /// Returns the links, in text order.
    pub fn links(&self, text: &str, document: &Document) -> &[Link] {
        self.links.get_or_init(|| links_in(text, document, self.body(text, document)).into())
    }

    /// Returns the paths of a text that is no Markdown, in place of [`Self::links`].
    pub fn paths(&self, text: &str) -> &[Link] {
        self.links.get_or_init(|| paths_in(text).into())
    }

    /// Returns the links in text order, and searches only the part of the text that they are taken
    /// from.
    pub fn links_from_start<'a>(
        &'a self,
        text: &'a str,
        document: &'a Document,
    ) -> impl Iterator<Item = Link> + 'a {
        const FIRST_PART: usize = 64 * 1024;
        let body = self.body(text, document);
        // Each part is as long as all before it: one that cuts a long block searches it again.
        let ends = iter::successors(Some(FIRST_PART), |it| it.checked_mul(2));
        let parts = iter::once(0).chain(ends.clone()).zip(ends).map(|(at, end)| Span::new(at, end));
        parts.take_while(|it| it.start < text.len()).flat_map(move |part| {
            let links = links_near(text, document, body, part);
            links.into_iter().filter(move |it| part.contains(it.span.start))
        })
    }

    /// Returns the reference at an offset, as [`reference_at`] does. Searches only the parts around
    /// the offset unless the whole text was searched before.
    pub fn reference_at(
        &self,
        text: &str,
        document: &Document,
        offset: usize,
    ) -> Option<Reference> {
        if let Some(known) = self.references.get() {
            return reference_at(known, offset).cloned();
        }
        // The sigil before a name is not part of its span, but of the same part.
        let near = Span::empty(offset);
        let found = references_near(text, document, self.body(text, document), near);
        reference_at(&found, offset).cloned()
    }

    /// Returns the links at an offset, as [`links_at`] does. Searches only the parts around the
    /// offset unless the whole text was searched before.
    pub fn links_at(&self, text: &str, document: &Document, offset: usize) -> Vec<Link> {
        if let Some(known) = self.links.get() {
            return links_at(known, offset);
        }
        let near = Span::empty(offset);
        links_at(&links_near(text, document, self.body(text, document), near), offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::parse;

    #[test]
    fn links_from_start_are_all_links() {
        let prose = "See [it](references/a.md), `b c/d.md`, and e/f.md.\n\n".repeat(8_000);
        let fence = format!("```sh\n{}```\n", "run a/b.py c/d\n".repeat(20_000));
        let text = format!("---\nname: a\nhooks: x/y.sh\n---\n{prose}{fence}{prose}");
        let document = parse(&text);
        let parts = TextParts::default();
        let found: Vec<_> = parts.links_from_start(&text, &document).collect();
        assert!(parts.links.get().is_none());
        assert!(found == parts.links(&text, &document));
    }

    #[test]
    fn search_around_an_offset_finds_what_the_whole_search_finds() {
        let text = "---\nname: a\nskills: [pdf-tools, b]\nallowed-tools: Skill(deploy-app)\n---\nUse /pdf, `/xls now`, `pdf-tools` skill, [it](../pdf/x.md \"t\")\nand Skill(one-two). See [pdf-tools][n] and the odd-name skill.\n\n```sh\npython scripts/a.py /pdf-tools\n```\n\n[n]: ../n/SKILL.md\n* é /pdf-tools\n";
        let document = parse(text);
        let whole = TextParts::default();
        let (n_references, n_links) =
            (whole.references(text, &document).len(), whole.links(text, &document).len());
        assert!(n_references > 8 && n_links > 3, "{n_references} {n_links}");
        for offset in (0..=text.len()).filter(|it| text.is_char_boundary(*it)) {
            let part = TextParts::default();
            let at = |parts: &TextParts| {
                let reference = parts.reference_at(text, &document, offset);
                (reference, parts.links_at(text, &document, offset))
            };
            assert_eq!(at(&part), at(&whole), "{offset}");
            assert!(part.references.get().is_none() && part.links.get().is_none());
        }
    }
}
