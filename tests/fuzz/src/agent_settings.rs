//! Agents' settings files in every syntax, of the user and of a repository.

use skills_agents::profile;
use skills_discovery::discover::Resolution;
use skills_syntax::config_tree::{Node, Syntax, parse};
use skills_syntax::text::decode;

use super::disk::Disk;
use super::{assert_place, chosen, parts};

/// Settings files that a repository may contain.
const THEIRS: [&str; 5] = [
    "/w/opencode.json",
    "/w/opencode.jsonc",
    "/w/.claude/settings.json",
    "/w/.gemini/settings.json",
    "/w/.codex/config.toml",
];

/// The settings files of the user.
const OWN: [&str; 6] = [
    "/home/u/.config/opencode/opencode.json",
    "/home/u/.config/opencode/opencode.jsonc",
    "/home/u/.claude/settings.json",
    "/home/u/.gemini/settings.json",
    "/home/u/.gemini/trustedFolders.json",
    "/home/u/.codex/config.toml",
];

/// Asserts that every reported position lies in the text, and that a repository's settings make no
/// outside skill the user's.
///
/// The first part is the repository's file, the second the user's.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let [theirs, own] = parts(input);
    let syntaxes =
        [Syntax::Json, Syntax::JsonWithComments, Syntax::JsonLoose, Syntax::Toml, Syntax::Yaml];
    for syntax in syntaxes {
        let text = decode(theirs.as_bytes()).text;
        match parse(&text, syntax) {
            Ok(node) => places(&node, &text),
            Err(flaw) => assert_place(&text, flaw.at.line, flaw.at.column),
        }
    }
    let mut disk = Disk::new();
    for path in THEIRS {
        disk.file(path, &theirs);
    }
    let profiles: Vec<&str> = profile::builtin().iter().map(|it| &*it.id).collect();
    let profile = chosen(&profiles, input);
    outside(&disk.resolve(profile, "/w"));
    for path in OWN {
        disk.file(path, &own);
    }
    disk.resolve(profile, "/w");
}

/// Asserts that no root outside the repository counts as the user's.
fn outside(resolution: &Resolution) {
    for root in &resolution.roots {
        let is_elsewhere = root.path.starts_with("/outside");
        assert!(!(root.is_own() && is_elsewhere), "a repository made {root:?} the user's");
    }
}

fn places(node: &Node, text: &str) {
    assert_place(text, node.at.line, node.at.column);
    for entry in node.entries() {
        assert_place(text, entry.at.line, entry.at.column);
        places(&entry.node, text);
    }
    node.items().iter().for_each(|it| places(it, text));
}
