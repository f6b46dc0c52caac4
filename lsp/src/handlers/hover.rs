//! `textDocument/hover`: what the thing under the cursor is.

use skills_core::assist;
use tower_lsp::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::document::Document;
use crate::settings::Settings;
use crate::{from_proto, to_proto};

/// Returns what is to be said about a position of a skill; nothing for other texts.
pub(crate) fn hover(document: &Document, position: Position, settings: Settings) -> Option<Hover> {
    if !from_proto::is_skill(document.uri()) {
        return None;
    }
    let offset = from_proto::offset(document, position, settings.encoding);
    let found = assist::hover(document.text(), offset)?;
    let markup = MarkupContent { kind: MarkupKind::Markdown, value: found.text };
    Some(Hover {
        contents: HoverContents::Markup(markup),
        range: Some(to_proto::range(document, found.span, settings.encoding)),
    })
}
