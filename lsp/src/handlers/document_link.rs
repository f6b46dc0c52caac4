//! `textDocument/documentLink`: paths to files, and skill names.

use std::collections::HashMap;

use skills_agents::references::{Link, LinkBase, LinkBases, LinkForm, path_steps};
use skills_ide::moves::relative;
use skills_lint::{FsContext as _, PathKind};
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{DocumentLink, Uri};

use crate::analysis::AnalysisContext;
use crate::document::Document;
use crate::settings::Settings;
use crate::to_proto;

/// The maximum number of links of one document: editors draw all of them again after each letter. A
/// definition is found for every path and name.
const MAX_LINKS: usize = 500;

/// Returns the links of a document, at most [`MAX_LINKS`]. A path outside Markdown links becomes a
/// link if its file exists; a plain word with slashes, only if it leads into a skill.
pub(crate) fn document_link(
    document: &Document,
    analysis: &AnalysisContext,
    settings: Settings,
) -> Vec<DocumentLink> {
    let link = |span, target: Option<Uri>, tooltip: Option<String>| {
        let range = to_proto::range(document, span, settings.encoding);
        Some(DocumentLink { range, target: Some(target?), tooltip, data: None })
    };
    let mut found: Vec<DocumentLink> = Vec::new();
    let bases = document.path().map(|it| analysis.snapshot.bases(it));
    // Long documents name the same few files many times, with different fragments.
    let mut targets: HashMap<(String, LinkBase, LinkForm), Option<Uri>> = HashMap::new();
    let mut end = 0;
    for file in document.links_from_start() {
        if found.len() == MAX_LINKS {
            break;
        }
        // A command in backticks is found as one path and again word by word.
        if end <= file.span.start
            && let Some(bases) = &bases
            && let Some(target) = targets
                .entry((file.path.clone(), file.base, file.form))
                .or_insert_with(|| target_uri(document, &file, bases, analysis))
        {
            end = file.span.end;
            found.extend(link(file.span, Some(target.clone()), None));
        }
    }
    let n_left = MAX_LINKS - found.len();
    if n_left == 0 {
        return found;
    }
    let skills = document.references().iter().filter_map(|it| {
        let (skill, _) = analysis.snapshot.resolve(it, document.path())?;
        // A skill does not link to itself.
        let other = document.path() != Some(&skill.path);
        let target = to_proto::uri(&skill.path).filter(|_| other);
        link(it.span, target, Some(format!("Open the skill {}", skill.name)))
    });
    found.extend(skills.take(n_left));
    found
}

/// Returns the file that a path leads to, if it is known to exist.
fn target_uri(
    document: &Document,
    link: &Link,
    bases: &LinkBases,
    analysis: &AnalysisContext,
) -> Option<Uri> {
    let dir = document.path()?.parent()?;
    let leads = |base: &AbsPath| {
        let target = base.join_lexically(&link.path);
        let skill = analysis.snapshot.enclosing_skill(&target);
        let is_named = || {
            let passed = path_steps(link, document.text(), base);
            passed.iter().any(|it| analysis.snapshot.at(&it.reached.child("SKILL.md")).is_some())
        };
        if link.form == LinkForm::Word && !is_named() {
            return None;
        }
        match analysis.look(&relative(&dir, &target)?)? {
            PathKind::File { .. } => Some(target),
            PathKind::Directory => {
                let own = skill.filter(|it| it.path.parent().as_ref() == Some(&target));
                own.map(|it| it.path.clone())
            }
            PathKind::Missing => None,
        }
    };
    let starts = bases.candidates(link.base);
    let found = starts.iter().find_map(leads);
    // A Markdown link is shown even if its target is missing.
    let is_link = link.form == LinkForm::Target && link.base == LinkBase::Text;
    let shown = || starts.first().filter(|_| is_link).map(|it| it.join_lexically(&link.path));
    Uri::from_file_path(&*found.or_else(shown)?)
}
