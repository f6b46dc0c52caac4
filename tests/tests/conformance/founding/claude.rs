//! The document on Claude Code.

mod fields;
mod listing;
mod running;
mod sources;

use serde_json::{Value, json};

use super::Document;
use super::place::Place;

pub(super) const DOCUMENT: Document = Document {
    id: "claude",
    title: "Claude Code",
    profile: "claude-code@founding",
    parts: &[sources::ROWS, fields::ROWS, listing::ROWS, running::ROWS],
};

/// A small SKILL.md.
const SKILL: &str = "---\ndescription: d\n---\nBody.\n";

impl Place<'_> {
    /// Installs and enables the plugin `tools@market` with a manifest and files, each a path below
    /// the plugin that ends in `.md`.
    fn plugin(&self, manifest: &Value, paths: &[&str]) {
        let root = "/home/.claude/plugins/cache/market/tools/1";
        let installed = json!({"version": 2, "plugins": {
            "tools@market": [{"scope": "user", "installPath": format!("$HOME{}", &root[5..])}]}});
        let files: Vec<_> = paths.iter().map(|it| format!("//- {root}/{it}\n{SKILL}")).collect();
        let settings = json!({"enabledPlugins": {"tools@market": true}});
        self.files(&format!(
            "//- /home/.claude/settings.json\n{settings}\n//- /home/.claude/plugins/installed_plugins.json\n{installed}\n//- {root}/.claude-plugin/plugin.json\n{manifest}\n{}",
            files.concat()
        ));
    }
}
