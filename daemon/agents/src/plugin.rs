//! Plugins of Claude Code: the name that goes before the names of their skills.

use skills_syntax::config_tree::{Syntax, parse};
use skills_syntax::path::AbsPath;

/// The manifest of a plugin, relative to its directory.
pub const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Maximum number of directories above a file in which its plugin's manifest is searched.
const MAX_DEPTH: usize = 8;

/// Returns where the manifest of the plugin that contains a file may be, the nearest first.
pub fn manifests(file: &AbsPath) -> impl Iterator<Item = AbsPath> {
    file.ancestors().skip(1).take(MAX_DEPTH).map(|it| it.child(MANIFEST))
}

/// Returns the name of the plugin with a manifest.
pub fn name(manifest: &str) -> Option<String> {
    Some(parse(manifest, Syntax::JsonLoose).ok()?.get("name")?.text()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_the_text_in_the_manifest() {
        assert_eq!(name("{\"name\": \"acme\", \"version\": \"1\"}").as_deref(), Some("acme"));
        for manifest in ["{\"name\": 1}", "{}", "[", ""] {
            assert_eq!(name(manifest), None, "{manifest}");
        }
    }
}
