//! What of the disk is to be watched for the open texts, since the index knows nothing of it.

use std::collections::BTreeSet;

use skills_syntax::path::AbsPath;

use super::WorkspaceState;
use crate::backend::WatchTarget;

/// How many things nearby are watched at most; of more a client is told at the next change of a text.
const MOST_NEARBY: usize = 512;

impl WorkspaceState {
    /// Returns what there is on the disk that the index knows nothing of and what is said depends on:
    /// how each place is configured, where its globs begin, and what texts refer to. Of what it
    /// watches itself no client is sure to tell: many watch their folders alone, or some names.
    pub(crate) fn nearby(&self) -> Vec<WatchTarget> {
        let mut nearby = BTreeSet::new();
        for place in &self.places {
            nearby.insert(WatchTarget::Configuration(place.root.clone()));
            nearby.extend(place.globs.keys().map(|it| beginning(&place.root, it)));
        }
        for (path, beside) in &self.facts {
            let Some(dir) = path.parent() else { continue };
            nearby.extend(beside.looks.iter().map(|it| WatchTarget::File(dir.join_lexically(it))));
            let files = beside.facts.iter().filter_map(|it| it.files.as_deref()).flatten();
            let dirs = files.filter_map(|it| Some(dir.join_lexically(it.rsplit_once('/')?.0)));
            nearby.extend(dirs.map(WatchTarget::Directory));
            nearby.insert(WatchTarget::Directory(dir));
        }
        nearby.into_iter().take(MOST_NEARBY).collect()
    }
}

/// Returns where the files of a glob begin.
fn beginning(place: &AbsPath, glob: &str) -> WatchTarget {
    let glob = glob.trim_start_matches('!');
    let literal = glob.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let (below, last) = match literal.rfind('/') {
        Some(at) => (&glob[..at], &glob[at + 1..]),
        None => ("", glob),
    };
    // Without a slash it is meant in every directory, and what ends in a name may be one.
    let is_deep = !glob.contains('/') || last.contains('/') || !last.contains('.');
    let below = below.trim_start_matches('/').to_owned();
    WatchTarget::Glob { place: place.clone(), below, is_deep: is_deep || last.contains("**") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_glob_begins_where_its_first_wildcard_is() {
        let place = AbsPath::new(Path::new("/w")).unwrap();
        for (glob, expected, deep) in [
            ("src/*.rs", "src", false),
            ("/src/*.rs", "src", false),
            ("!src/a/*.rs", "src/a", false),
            ("src/**/*.rs", "src", true),
            ("src/**", "src", true),
            ("src/*", "src", true),
            ("src/{a,b}/x.rs", "src", true),
            ("src/a.rs", "src", false),
            ("src", "", true),
            ("*.rs", "", true),
            ("**/*.rs", "", true),
            ("src/*.d/x.rs", "src", true),
        ] {
            let WatchTarget::Glob { below, is_deep, .. } = beginning(&place, glob) else {
                panic!()
            };
            assert_eq!((&*below, is_deep), (expected, deep), "{glob}");
        }
    }
}
