//! `workspace/symbol`: every skill that can be seen from any of the editor's folders.

use std::collections::BTreeSet;

use tower_lsp::ls_types::{Location, Range, SymbolInformation, SymbolKind};

use crate::session::Session;
use crate::to_proto;

/// Returns the skills whose name has the letters of the query in their order.
#[expect(deprecated, reason = "the field has to be there, and is left empty")]
pub(crate) fn symbol(session: &Session, query: &str) -> Vec<SymbolInformation> {
    let mut seen = BTreeSet::new();
    let mut symbols = Vec::new();
    for (_, overlaid) in session.all_places() {
        for skill in overlaid.skills.iter().filter(|it| fits(&it.name, query)) {
            let Some(uri) = to_proto::uri(&skill.path) else { continue };
            if !seen.insert(skill.path.clone()) {
                continue;
            }
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
