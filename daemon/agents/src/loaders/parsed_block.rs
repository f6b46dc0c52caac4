//! [`LastBlock`]: a parsed block, shared by agents whose libraries read the same text.

use std::cell::RefCell;
use std::sync::Arc;

use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use crate::skill::parse_block;

/// A block between two `---` lines, as parsed.
#[derive(PartialEq, Debug)]
pub(super) struct ParsedBlock {
    pub(super) text: String,
    pub(super) document: Document,
}

/// The block that was parsed last. Most agents' libraries get the same text.
#[derive(Default)]
pub(super) struct LastBlock(RefCell<Option<Arc<ParsedBlock>>>);

impl LastBlock {
    /// Parses the content of a text between two lines, unless it is the text of the last block.
    pub(super) fn parse(&self, text: String, content: Span) -> Arc<ParsedBlock> {
        let mut last = self.0.borrow_mut();
        if let Some(block) = last.as_ref().filter(|it| it.text == text) {
            return Arc::clone(block);
        }
        let block = Arc::new(ParsedBlock { document: parse_block(&text, content), text });
        *last = Some(Arc::clone(&block));
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_parsed_once() {
        let last = LastBlock::default();
        let content = Span::new(4, 9);
        let first = last.parse("---\na: 1\n---\n".to_owned(), content);
        assert!(Arc::ptr_eq(&first, &last.parse(first.text.clone(), content)));
        let other = last.parse("---\nb: 1\n---\n".to_owned(), content);
        assert_eq!(other.document, parse_block(&other.text, content));
        assert!(!Arc::ptr_eq(&first, &last.parse(first.text.clone(), content)));
    }
}
