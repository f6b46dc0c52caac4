//! `textDocument/selectionRange`: from the word at each cursor to the whole document.

use tower_lsp::ls_types::{Position, SelectionRange};

use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// Returns the selection ranges at each position of a skill, in order; `None` for other documents.
pub(crate) fn selection_range(
    document: &Document,
    positions: &[Position],
    settings: Settings,
) -> Option<Vec<SelectionRange>> {
    if !from_proto::is_skill(document.uri()) {
        return None;
    }
    let (text, parsed, body) = (document.text(), document.parsed(), document.body());
    let steps = positions.iter().map(|position| {
        let offset = from_proto::offset(document, *position, settings.encoding);
        let spans = skills_ide::selection_ranges(text, parsed, body, offset);
        // Built from the outside in, because each range contains its parent.
        let whole = spans.iter().rev().fold(None, |parent, span| {
            let range = to_proto::range(document, *span, settings.encoding);
            Some(SelectionRange { range, parent: parent.map(Box::new) })
        });
        // Every position needs a result; in an empty document it is the position itself.
        whole.unwrap_or_else(|| SelectionRange {
            range: tower_lsp::ls_types::Range::new(*position, *position),
            parent: None,
        })
    });
    Some(steps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Revision;

    #[test]
    fn every_position_has_selection_ranges() {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let text = "---\nname: 漢字\n---\nBody\n".to_owned();
        let document = Document::new(uri, 1, Revision::default(), text);
        let at = |line, character| Position { line, character };
        let found = selection_range(&document, &[at(1, 7), at(3, 0)], Settings::default()).unwrap();
        let [first, second] = &found[..] else { panic!("{found:?}") };
        assert_eq!((first.range.start, first.range.end), (at(1, 6), at(1, 8)));
        let entry = first.parent.as_ref().unwrap();
        assert_eq!((entry.range.start, entry.range.end), (at(1, 0), at(1, 8)));
        assert_eq!((second.range.start, second.range.end), (at(3, 0), at(3, 4)));
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let empty = Document::new(uri, 1, Revision::default(), String::new());
        let found = selection_range(&empty, &[at(0, 0)], Settings::default()).unwrap();
        assert_eq!(found.len(), 1);
    }
}
