//! `textDocument/formatting`: formats the frontmatter; the body is unchanged.

use tower_lsp::ls_types::TextEdit;

use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// Returns the edits for a skill; `None` for other documents.
pub(crate) fn formatting(document: &Document, settings: Settings) -> Option<Vec<TextEdit>> {
    if !from_proto::is_skill(document.uri()) {
        return None;
    }
    let edits = skills_ide::format(document.text(), document.parsed());
    Some(edits.iter().map(|it| to_proto::text_edit(document, it, settings.encoding)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Revision;

    #[test]
    fn formatting_edits_only_changed_lines() {
        let edits = |uri: &str| {
            let text = "---\nname: a\nlicense:   MIT\n---\nBody  text\n".to_owned();
            let document = Document::new(uri.parse().unwrap(), 1, Revision::default(), text);
            formatting(&document, Settings::default())
        };
        let [edit] = &edits("file:///w/SKILL.md").unwrap()[..] else { panic!("one edit") };
        assert_eq!((edit.range.start.line, edit.range.end.line), (2, 3));
        assert_eq!(edit.new_text, "license: MIT\n");
        assert_eq!(edits("file:///w/README.md"), None);
    }
}
