//! `workspace/symbol`: every skill that can be seen from any of the editor's folders, each once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use skills_discovery::discover::FileId;
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{Location, Range, SymbolInformation, SymbolKind};

use crate::session::Session;
use crate::snapshot::OverlaySnapshot;
use crate::to_proto;

/// Returns the skills whose name has the letters of the query in their order.
#[expect(deprecated, reason = "the field has to be there, and is left empty")]
pub(crate) fn symbol(session: &Session, query: &str) -> Vec<SymbolInformation> {
    let places = session.all_places();
    let others = other_ways(&places, |it| session.document_at(it).is_some());
    let mut seen = BTreeSet::new();
    let mut symbols = Vec::new();
    for (_, overlaid) in &places {
        for skill in overlaid.skills.iter().filter(|it| fits(&it.name, query)) {
            if others.contains(&skill.path) || !seen.insert(&skill.path) {
                continue;
            }
            let Some(uri) = to_proto::uri(&skill.path) else { continue };
            symbols.push(SymbolInformation {
                name: skill.name.clone(),
                kind: SymbolKind::MODULE,
                tags: None,
                deprecated: None,
                location: Location::new(uri, Range::default()),
                container_name: skill
                    .path
                    .parent()
                    .and_then(|it| it.parent())
                    .map(|it| it.display().to_string()),
            });
        }
    }
    symbols.sort_by(|a, b| a.name.cmp(&b.name));
    symbols
}

/// Returns the paths by which no file is shown, since it is by another: by one at which it is open,
/// else by the one that most agents know it by; some of them know a link by where it leads.
fn other_ways(
    places: &[(AbsPath, Arc<OverlaySnapshot>)],
    is_open: impl Fn(&AbsPath) -> bool,
) -> BTreeSet<&AbsPath> {
    let mut ways: BTreeMap<FileId, BTreeSet<&AbsPath>> = BTreeMap::new();
    for skill in places.iter().flat_map(|(_, it)| &it.skills) {
        if let Some(file) = skill.file {
            ways.entry(file).or_default().insert(&skill.path);
        }
    }
    // Of most files there is one, and nothing to choose.
    ways.retain(|_, it| it.len() > 1);
    let mut known_by: HashMap<&AbsPath, usize> =
        ways.values().flatten().map(|it| (*it, 0)).collect();
    let rankings = places.iter().flat_map(|(_, it)| it.company.rankings());
    for ranked in rankings.flat_map(|it| &it.skills) {
        if let Some(count) = known_by.get_mut(&ranked.path) {
            *count += 1;
        }
    }
    let mut others = BTreeSet::new();
    for paths in ways.into_values() {
        let rank = |it: &&AbsPath| (!is_open(it), Reverse(known_by[it]));
        let shown = paths.iter().copied().min_by_key(rank);
        others.extend(paths.into_iter().filter(|it| Some(*it) != shown));
    }
    others
}

/// Whether all letters of a query stand in a name, in their order.
fn fits(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    let mut wanted = query.chars().filter(|it| !it.is_whitespace()).flat_map(char::to_lowercase);
    wanted.all(|it| letters.any(|letter| letter == it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_letters_in_their_order() {
        assert!(fits("release-notes", "") && fits("release-notes", "RN") && fits("pdf", "p d f"));
        assert!(!fits("release-notes", "nr") && !fits("pdf", "pdff"));
    }
}
