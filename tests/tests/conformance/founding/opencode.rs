//! The two documents on opencode.

mod finding;
mod loading;

use serde_json::Value;

use super::Document;
use super::place::Place;

pub(super) const DOCUMENT: Document = Document {
    id: "opencode",
    title: "opencode",
    profile: "opencode@founding",
    parts: &[finding::ROWS, loading::ROWS],
};

impl Place<'_> {
    /// Writes the user's configuration of opencode.
    fn opencode(&self, config: &Value) {
        self.files(&format!("//- /home/.config/opencode/opencode.json\n{config}\n"));
    }
}
