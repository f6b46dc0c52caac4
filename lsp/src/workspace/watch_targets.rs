//! Computes the files outside the index that must be watched for the open documents.

use std::collections::BTreeSet;

use skills_syntax::path::AbsPath;

use super::WorkspaceState;
use crate::backend::WatchTarget;

/// The maximum number of watch targets. Changes of others are noticed at the next edit.
const MAX_WATCH_TARGETS: usize = 512;

impl WorkspaceState {
    /// Returns the files outside the index that findings depend on: the configuration of each root,
    /// the directories of its globs, and the files that skills refer to. The server watches them
    /// itself, because many clients watch only their folders or some file names.
    pub(crate) fn watch_targets(&self) -> Vec<WatchTarget> {
        let mut watch_targets = BTreeSet::new();
        for state in &self.roots {
            watch_targets.insert(WatchTarget::Configuration(state.root.clone()));
            watch_targets.extend(state.globs.keys().map(|it| glob_target(&state.root, it)));
        }
        for (path, skill_facts) in &self.facts {
            let Some(dir) = path.parent() else { continue };
            watch_targets.extend(
                skill_facts.looks.iter().map(|it| WatchTarget::File(dir.join_lexically(it))),
            );
            let files = skill_facts.facts.iter().filter_map(|it| it.files.as_deref()).flatten();
            let dirs = files.filter_map(|it| Some(dir.join_lexically(it.rsplit_once('/')?.0)));
            watch_targets.extend(dirs.map(WatchTarget::Directory));
            watch_targets.insert(WatchTarget::Directory(dir));
        }
        watch_targets.into_iter().take(MAX_WATCH_TARGETS).collect()
    }
}

/// Returns the directory in which a glob's files are searched.
fn glob_target(root: &AbsPath, glob: &str) -> WatchTarget {
    let glob = glob.trim_start_matches('!');
    let literal = glob.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let (dir, last) = match literal.rfind('/') {
        Some(at) => (&glob[..at], &glob[at + 1..]),
        None => ("", glob),
    };
    // A glob without a slash matches in every directory, and its last name may be a directory.
    let is_recursive = !glob.contains('/') || last.contains('/') || !last.contains('.');
    let dir = dir.trim_start_matches('/').to_owned();
    WatchTarget::Glob { root: root.clone(), dir, is_recursive: is_recursive || last.contains("**") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn glob_target_is_the_directory_before_the_first_wildcard() {
        let root = AbsPath::new(Path::new("/w")).unwrap();
        for (glob, expected, recursive) in [
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
            let WatchTarget::Glob { dir, is_recursive, .. } = glob_target(&root, glob) else {
                panic!()
            };
            assert_eq!((&*dir, is_recursive), (expected, recursive), "{glob}");
        }
    }
}
