//! `textDocument/definition` and `textDocument/references`: a skill, and where it is named; and for
//! what the body asks of its arguments, where that is named.

use skills_syntax::text::Span;
use tower_lsp::ls_types::{Location, Position, Range};

use crate::document::Document;
use crate::texts::Texts;
use crate::{from_proto, to_proto};

/// Returns where the skill, the file or the argument is that a position names.
pub(crate) async fn definition(
    document: &Document,
    position: Position,
    texts: Texts<'_>,
) -> Option<Location> {
    let offset = from_proto::offset(document, position, texts.session.settings().encoding);
    if let Some(declared) = argument(document, offset) {
        let range = to_proto::range(document, declared, texts.session.settings().encoding);
        return Some(Location::new(document.uri().clone(), range));
    }
    let meant = texts.meant_at(document, offset).map(|(meant, _)| meant.skill);
    if skills_agents::references::reference_at(document.references(), offset).is_some() {
        return texts.location(&meant?.path).await;
    }
    let links = skills_agents::references::links(document.text(), document.parsed());
    let overlaid = texts.session.place(document).unwrap_or_default();
    let bases = overlaid.bases(document.path()?);
    let links = skills_agents::references::links_at(links, offset);
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

/// Returns where the argument is named that a skill's body asks for at a place.
fn argument(document: &Document, offset: usize) -> Option<Span> {
    if !from_proto::is_skill(document.uri()) || offset < document.parsed().body.start {
        return None;
    }
    skills_ide::argument(document.text(), document.parsed(), offset)?.declared
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
