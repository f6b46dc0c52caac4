//! `textDocument/definition` and `textDocument/references`: a skill, and where it is named.

use tower_lsp::ls_types::{Location, Position, Range};

use crate::document::Document;
use crate::from_proto;
use crate::texts::Texts;

/// Returns where the skill or the file is that a position names.
pub(crate) async fn definition(
    document: &Document,
    position: Position,
    texts: Texts<'_>,
) -> Option<Location> {
    let offset = from_proto::offset(document, position, texts.session.settings().encoding);
    let meant = texts.meant_at(document, offset).map(|(meant, _)| meant.skill);
    if skills_core::references::at(document.references(), offset).is_some() {
        return texts.location(&meant?.path).await;
    }
    let links = skills_core::references::links(document.text(), document.parsed());
    let overlaid = texts.session.place(document).unwrap_or_default();
    let bases = overlaid.bases(document.path()?);
    let links = skills_core::references::links_at(links, offset);
    for target in links.iter().flat_map(|it| bases.targets(it)) {
        if overlaid.at(&target).is_some() {
            return texts.location(&target).await;
        }
        if let Some((found, _)) = texts.document(&target).await {
            return Some(Location::new(found.uri().clone(), Range::default()));
        }
    }
    // A directory, or nothing that can be read: the skill that it is of.
    texts.location(&meant?.path).await
}

/// Returns everywhere that the skill at a position is named; its own name as well where the client
/// wants the declaration.
pub(crate) async fn references(
    document: &Document,
    position: Position,
    with_declaration: bool,
    texts: Texts<'_>,
) -> Option<Vec<Location>> {
    let encoding = texts.session.settings().encoding;
    let offset = from_proto::offset(document, position, encoding);
    let (meant, _) = texts.meant_at(document, offset)?;
    let mut locations = Vec::new();
    if with_declaration {
        locations.extend(texts.location(&meant.skill.path).await);
    }
    for speaker in texts.speakers(&meant).await.unwrap_or_default() {
        locations.extend(speaker.locations(encoding));
    }
    Some(locations)
}
