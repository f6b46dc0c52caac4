//! The document on the plugin opencode-agent-skills.
//!
//! Statements 100 to 104 are not in the document itself: it points to the plugin's next pages.

mod places;
mod reading;

use serde_json::{Value, json};

use super::Document;
use super::place::Place;

pub(super) const DOCUMENT: Document = Document {
    id: "plugin",
    title: "The plugin opencode-agent-skills",
    profile: "opencode-agent-skills",
    parts: &[places::ROWS, reading::ROWS, places::PLUGINS, reading::TOOLS],
};

impl Place<'_> {
    /// Writes the list of Claude Code's installed plugins.
    fn installed(&self, version: u8, plugins: &Value) {
        let list = json!({"version": version, "plugins": plugins});
        self.files(&format!("//- /home/.claude/plugins/installed_plugins.json\n{list}\n"));
    }

    /// Writes a frontmatter and a body, and asserts whether it is a skill.
    #[track_caller]
    fn accepts(&mut self, text: &str, is_accepted: bool) {
        self.files(&format!("//- /w/.opencode/skills/a/SKILL.md\n{text}"));
        let list = self.call("skills/list", json!({}));
        let n_listed = list["skills"].as_array().map_or(0, Vec::len);
        assert_eq!(n_listed == 1, is_accepted, "{text}");
    }
}
