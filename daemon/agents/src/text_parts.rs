//! [`TextParts`]: the body, references and links of one text, each searched once.

use std::sync::OnceLock;

use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use crate::references::{
    Link, Reference, links_at, links_in, links_near, reference_at, references_in, references_near,
};

/// The body, the possible references and the links of one text, each searched on first use. The text
/// and its tree must be the same in every call.
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

    /// Returns the reference at an offset, as [`reference_at`] does. Searches only the parts around the
    /// offset unless the whole text was searched before.
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

    /// Returns the links at an offset, as [`links_at`] does. Searches only the parts around the offset
    /// unless the whole text was searched before.
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
