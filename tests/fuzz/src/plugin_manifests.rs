//! Files that declare Claude Code's plugins, of the user and of a repository.

use skills_agents::profile::Scope;
use skills_discovery::discover::Resolution;
use skills_syntax::path::AbsPath;

use super::disk::Disk;
use super::{chosen, parts};

const PROFILES: [&str; 3] = ["claude-code", "claude-code@founding", "opencode-agent-skills"];
const PLUGINS: &str = "/home/u/.claude/plugins";

/// Asserts that a plugin's roots lie in the plugin, and that a repository's files make no root the
/// user's.
///
/// The parts are the repository's settings, the user's settings, `installed_plugins.json`,
/// `known_marketplaces.json`, a marketplace and a manifest.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let [theirs, own, installed, known, marketplace, manifest] = parts(input);
    let mut disk = disk(&theirs, &manifest, &marketplace);
    let profile = chosen(&PROFILES, input);
    let resolution = disk.resolve(profile, "/w");
    plugins(&resolution);
    // Only the repository declares anything, so nothing belongs to the user.
    let roots = resolution.roots.iter().filter(|it| it.is_own() && it.scope == Scope::Plugin);
    for root in roots {
        assert_ne!(profile, "claude-code", "{theirs:?} makes {root:?} the user's");
    }
    disk.file("/home/u/.claude/settings.json", &own);
    disk.file(&format!("{PLUGINS}/installed_plugins.json"), &installed);
    disk.file(&format!("{PLUGINS}/known_marketplaces.json"), &known);
    plugins(&disk.resolve(profile, "/w"));
}

/// Returns a file system with a plugin in the user's cache, one in a marketplace and one in the
/// worktree.
fn disk(settings: &str, manifest: &str, marketplace: &str) -> Disk {
    let mut disk = Disk::new();
    disk.file("/w/.claude/settings.json", settings);
    disk.file("/w/vendor/.claude-plugin/plugin.json", manifest);
    disk.file("/w/.claude/skills/p/.claude-plugin/plugin.json", manifest);
    disk.link(&format!("{PLUGINS}/cache/linked"), "/w/vendor");
    let places = [format!("{PLUGINS}/cache/m/p/1.0.0"), format!("{PLUGINS}/marketplaces/m")];
    for dir in places {
        disk.file(&format!("{dir}/.claude-plugin/plugin.json"), manifest);
        disk.file(&format!("{dir}/.claude-plugin/marketplace.json"), marketplace);
        disk.skill(&format!("{dir}/skills/a"));
        disk.file(&format!("{dir}/commands/b.md"), "b\n");
    }
    disk
}

/// Asserts that the roots of plugins lie in their plugins.
fn plugins(resolution: &Resolution) {
    for root in &resolution.roots {
        let Some(plugin) = &root.plugin else { continue };
        assert!(root.path.starts_with(&*plugin.root), "{root:?} leads out of its plugin");
        let data = plugin.data.as_ref().and_then(AbsPath::parent);
        assert!(data.is_none_or(|it| it.ends_with("plugins/data")), "{plugin:?}");
    }
}
