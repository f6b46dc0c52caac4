//! `textDocument/documentLink`: what leads to a file, and the skills that a text names.

use skills_core::references::{Way, links};
use skills_core::rules::{Look, Surroundings as _};
use tower_lsp::ls_types::{DocumentLink, Uri};

use crate::document::Document;
use crate::scene::Scene;
use crate::settings::Settings;
use crate::texts::target;
use crate::to_proto;

/// Returns the links of a text. A path that no link is written around, as it
/// is or behind `@`, is one where a file is there.
pub(crate) fn document_link(
    document: &Document,
    scene: &Scene,
    settings: Settings,
) -> Vec<DocumentLink> {
    let link = |span, target: Option<Uri>, tooltip: Option<String>| {
        let range = to_proto::range(document, span, settings.encoding);
        Some(DocumentLink { range, target: Some(target?), tooltip, data: None })
    };
    let files = links(document.text(), document.parsed());
    let is_there =
        |path: &str| matches!(scene.look(path.trim_start_matches("./")), Some(Look::File { .. }));
    let files = files
        .iter()
        .filter(|it| it.way == Way::Target || is_there(&it.path))
        .filter_map(|it| link(it.span, Uri::from_file_path(&*target(document, it)?), None));
    let skills = document.references().iter().filter_map(|it| {
        let skill = scene.overlaid.meant(&it.name)?;
        // A skill does not lead to itself.
        let other = document.path() != Some(&skill.path);
        let target = to_proto::uri(&skill.path).filter(|_| other);
        link(it.span, target, Some(format!("Open the skill {}", skill.name)))
    });
    files.chain(skills).collect()
}
