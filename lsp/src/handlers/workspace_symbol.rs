//! `workspace/symbol`: all skills of all workspace roots, each listed once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use skills_discovery::discover::FileId;
use skills_syntax::path::AbsPath;
use tower_lsp::ls_types::{Location, Range, SymbolInformation, SymbolKind};

use crate::session::Session;
use crate::snapshot::OverlaySnapshot;
use crate::to_proto;

/// Returns the skills whose name contains the characters of the query in order.
#[expect(deprecated, reason = "the type requires the deprecated field; it stays empty")]
pub(crate) fn symbol(session: &Session, query: &str) -> Vec<SymbolInformation> {
    let snapshots = session.all_snapshots();
    let others = hidden_aliases(&snapshots, |it| session.document_at(it).is_some());
    let mut seen = BTreeSet::new();
    let mut symbols = Vec::new();
    for (_, snapshot) in &snapshots {
        for skill in snapshot.skills.iter().filter(|it| matches_query(&it.name, query)) {
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

/// Returns the paths to hide because the same file is listed by another path: an open one, else the
/// one that most agents use. Some agents list a symlink by its target.
fn hidden_aliases(
    snapshots: &[(AbsPath, Arc<OverlaySnapshot>)],
    is_open: impl Fn(&AbsPath) -> bool,
) -> BTreeSet<&AbsPath> {
    let mut paths_by_file: BTreeMap<FileId, BTreeSet<&AbsPath>> = BTreeMap::new();
    for skill in snapshots.iter().flat_map(|(_, it)| &it.skills) {
        if let Some(file) = skill.file {
            paths_by_file.entry(file).or_default().insert(&skill.path);
        }
    }
    // Most files have one path, so there is nothing to choose.
    paths_by_file.retain(|_, it| it.len() > 1);
    let mut known_by: HashMap<&AbsPath, usize> =
        paths_by_file.values().flatten().map(|it| (*it, 0)).collect();
    let rankings = snapshots.iter().flat_map(|(_, it)| it.skill_set.rankings());
    for ranked in rankings.flat_map(|it| &it.skills) {
        if let Some(count) = known_by.get_mut(&ranked.path) {
            *count += 1;
        }
    }
    let mut others = BTreeSet::new();
    for paths in paths_by_file.into_values() {
        let rank = |it: &&AbsPath| (!is_open(it), Reverse(known_by[it]));
        let shown = paths.iter().copied().min_by_key(rank);
        others.extend(paths.into_iter().filter(|it| Some(*it) != shown));
    }
    others
}

/// Returns true if the name contains all characters of the query, in order and ignoring case.
fn matches_query(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    let mut wanted = query.chars().filter(|it| !it.is_whitespace()).flat_map(char::to_lowercase);
    wanted.all(|it| letters.any(|letter| letter == it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_matches_a_subsequence_ignoring_case() {
        assert!(
            matches_query("release-notes", "")
                && matches_query("release-notes", "RN")
                && matches_query("pdf", "p d f")
        );
        assert!(!matches_query("release-notes", "nr") && !matches_query("pdf", "pdff"));
    }
}
