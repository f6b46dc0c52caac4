//! `textDocument/definition` and `textDocument/references`: for skills, paths and arguments.

use skills_ide::Argument;
use skills_syntax::text::Span;
use tower_lsp::ls_types::{Location, Position, Range, ReferenceContext};

use super::rename_edits::config_locations;
use crate::document::Document;
use crate::texts::Texts;
use crate::{from_proto, to_proto};

/// Returns the location of the skill, file or argument at a position.
pub(crate) async fn definition(
    document: &Document,
    position: Position,
    texts: Texts<'_>,
) -> Option<Location> {
    let offset = from_proto::offset(document, position, texts.session.settings().encoding);
    if let Some(declared) = declaration(document, offset) {
        let range = to_proto::range(document, declared, texts.session.settings().encoding);
        return Some(Location::new(document.uri().clone(), range));
    }
    let resolved = texts.skill_at_offset(document, offset).map(|(resolved, _)| resolved.skill);
    let reference = document.reference_at(offset);
    if reference.is_some_and(|it| resolved.is_some() || !it.form.needs_confirmation()) {
        return texts.location(&resolved?.path).await;
    }
    let snapshot = texts.session.snapshot_for(document).unwrap_or_default();
    let bases = snapshot.bases(document.path()?);
    let links = document.links_at(offset);
    for target in links.iter().flat_map(|it| bases.targets(it)) {
        if snapshot.at(&target).is_some() {
            return texts.location(&target).await;
        }
        if let Some((found, _)) = texts.document(&target).await {
            return Some(Location::new(found.uri().clone(), Range::default()));
        }
    }
    // A directory or an unreadable file: use the skill that contains it.
    texts.location(&resolved?.path).await
}

/// Returns the declaration of the argument that a skill's body uses at an offset.
fn declaration(document: &Document, offset: usize) -> Option<Span> {
    if offset < document.parsed().body.start {
        return None;
    }
    argument(document, offset)?.declared
}

/// Returns the argument that a skill declares or uses at an offset.
pub(super) fn argument(document: &Document, offset: usize) -> Option<Argument> {
    if !from_proto::is_skill(document.uri()) {
        return None;
    }
    skills_ide::argument(document.text(), document.parsed(), document.body(), offset)
}

/// Returns all uses of the argument, or all mentions of the skill at a position, with its
/// declaration or its own name if the context asks for it.
pub(crate) async fn references(
    document: &Document,
    position: Position,
    context: &ReferenceContext,
    texts: Texts<'_>,
) -> Option<Vec<Location>> {
    let encoding = texts.session.settings().encoding;
    let offset = from_proto::offset(document, position, encoding);
    if let Some(argument) = argument(document, offset) {
        let declared = argument.declared.filter(|_| context.include_declaration);
        let location = |it: Span| {
            Location::new(document.uri().clone(), to_proto::range(document, it, encoding))
        };
        return Some(declared.into_iter().chain(argument.uses).map(location).collect());
    }
    let (resolved, _) = texts.skill_at_offset(document, offset)?;
    let mut locations = Vec::new();
    let found = texts.mentions(&resolved).await.unwrap_or_default();
    if context.include_declaration {
        match found.iter().find(|it| it.path == resolved.skill.path) {
            Some(own) => locations.push(texts.declaration(&own.document)),
            None => locations.extend(texts.location(&resolved.skill.path).await),
        }
    }
    for referencing_file in found {
        locations.extend(referencing_file.locations(encoding));
    }
    locations.extend(config_locations(&resolved, texts).await);
    Some(locations)
}
