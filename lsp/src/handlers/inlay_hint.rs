//! `textDocument/inlayHint`: token costs, and the number of files that a glob matches.

use skills_lint::FsContext;
use tower_lsp::ls_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Range};

use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// Returns the hints in a range of a skill; `None` for other documents, or if hints are disabled.
pub(crate) fn inlay_hint(
    document: &Document,
    range: Range,
    surroundings: &dyn FsContext,
    settings: Settings,
) -> Option<Vec<InlayHint>> {
    if !settings.features.inlay_hints || !from_proto::is_skill(document.uri()) {
        return None;
    }
    let requested = from_proto::span(document, range, settings.encoding);
    let hints = document.as_subject(|it| skills_ide::hints(it, surroundings));
    let here =
        hints.into_iter().filter(|it| requested.start <= it.offset && it.offset <= requested.end);
    let shown = here.map(|it| InlayHint {
        position: to_proto::position(document, it.offset, settings.encoding),
        label: InlayHintLabel::String(it.text),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(it.tooltip)),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    Some(shown.collect())
}

#[cfg(test)]
mod tests {
    use skills_lint::NoFs;
    use tower_lsp::ls_types::Position;

    use super::*;
    use crate::document::Revision;
    use crate::settings::Features;

    #[test]
    fn inlay_hints_are_sent_only_if_enabled() {
        let uri = "file:///w/SKILL.md".parse().unwrap();
        let text = "---\ndescription: Reads 漢字.\n---\nBody\n".to_owned();
        let document = Document::new(uri, 1, Revision::default(), text);
        let whole = Range::new(Position::default(), Position { line: 9, character: 0 });
        let hints = |inlay_hints| {
            let features = Features { inlay_hints, ..Features::default() };
            let settings = Settings { features, ..Settings::default() };
            inlay_hint(&document, whole, &NoFs, settings)
        };
        assert!(hints(false).is_none());
        let places: Vec<_> = hints(true).unwrap().into_iter().map(|it| it.position).collect();
        let at = |line, character| Position { line, character };
        assert_eq!(places, [at(1, 22), at(2, 3)]);
    }
}
