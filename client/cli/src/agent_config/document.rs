//! Configuration file in JSON or TOML ([`ConfigDocument`]) in which items are added and removed.

use serde_json::Value;

use crate::agent_config::item::{ConfigEntry, EditError, FileFormat, Presence};
use crate::agent_config::json::Json;
use crate::agent_config::toml::Toml;

/// A parsed file.
pub(crate) enum ConfigDocument {
    /// JSON file.
    Json(Json),
    /// TOML file.
    Toml(Box<Toml>),
}

impl ConfigDocument {
    /// Returns the content of an empty document.
    pub(crate) fn blank(form: FileFormat) -> &'static str {
        match form {
            FileFormat::Json => "{}\n",
            FileFormat::Toml => "",
        }
    }

    /// Parses the content of a file.
    pub(crate) fn parse(form: FileFormat, text: &str) -> Result<Self, EditError> {
        match form {
            FileFormat::Json => Json::parse(text).map(Self::Json),
            FileFormat::Toml => Toml::parse(text).map(|it| Self::Toml(Box::new(it))),
        }
    }

    /// Returns the content; unchanged parts keep their layout.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Json(it) => it.text(),
            Self::Toml(it) => it.text(),
        }
    }

    /// Returns whether the document is empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Json(it) => it.is_empty(),
            Self::Toml(it) => it.is_empty(),
        }
    }

    /// Returns the presence of an item.
    pub(crate) fn presence(&self, item: &ConfigEntry) -> Presence {
        match self {
            Self::Json(it) => it.presence(item),
            Self::Toml(it) => it.presence(item),
        }
    }

    /// Adds an item, and returns the paths of the containers created for it.
    pub(crate) fn add(&mut self, item: &ConfigEntry) -> Result<Vec<Vec<String>>, EditError> {
        match self {
            Self::Json(it) => it.add(item),
            Self::Toml(it) => it.add(item),
        }
    }

    /// Removes an item if it is present unchanged; returns whether it was.
    pub(crate) fn remove(&mut self, item: &ConfigEntry) -> bool {
        match self {
            Self::Json(it) => it.remove(item),
            Self::Toml(it) => it.remove(item),
        }
    }

    /// Returns the value at a path.
    pub(crate) fn value(&self, at: &[String]) -> Option<Value> {
        match self {
            Self::Json(it) => it.value(at),
            Self::Toml(it) => it.value(at),
        }
    }

    /// Replaces the value of a property in JSON; returns whether it exists.
    pub(crate) fn replace(&mut self, at: &[String], key: &str, value: &Value) -> bool {
        match self {
            Self::Json(it) => it.replace(at, key, value),
            Self::Toml(_) => false,
        }
    }

    /// Removes empty containers at the paths in `made`, innermost first.
    pub(crate) fn prune(&mut self, made: &[Vec<String>]) {
        let mut made: Vec<_> = made.iter().collect();
        made.sort_by_key(|at| std::cmp::Reverse(at.len()));
        for at in made {
            match self {
                Self::Json(it) => it.prune(at),
                Self::Toml(it) => it.prune(at),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn hook() -> ConfigEntry {
        let value = json!({"matcher": "*", "hooks": [{"type": "command", "timeout": 10}]});
        ConfigEntry::element(&["hooks", "PostToolUse"], value, "hook me")
    }

    fn server() -> ConfigEntry {
        let value = json!({"command": "skillsd", "args": ["mcp"]});
        ConfigEntry::property(&["mcp_servers"], "skillsd", value)
    }

    // Adds the item, compares the text, removes the item and expects the original text.
    #[track_caller]
    fn check(form: FileFormat, text: &str, item: &ConfigEntry, expected: &Expect) {
        let mut document = ConfigDocument::parse(form, text).expect("it is well formed");
        assert_eq!(document.presence(item), Presence::Absent);
        let made = document.add(item).expect("it fits");
        let with = document.text();
        expected.assert_eq(&with);
        let mut document = ConfigDocument::parse(form, &with).expect("still well formed");
        assert_eq!(document.presence(item), Presence::Same);
        assert!(document.remove(item));
        assert!(!document.remove(item));
        document.prune(&made);
        assert_eq!(document.text(), text);
    }

    #[test]
    fn edits_keep_comments_order_and_layout() {
        check(
            FileFormat::Json,
            "{\n    // Mine.\n    \"model\": \"opus\", // why\n    \"hooks\": {\n        \"Stop\": [],\n    },\n    \"z\": 1\n}\n",
            &hook(),
            &expect![[r#"
                {
                    // Mine.
                    "model": "opus", // why
                    "hooks": {
                        "Stop": [],
                        "PostToolUse": [
                            {
                                "matcher": "*",
                                "hooks": [
                                    {
                                        "type": "command",
                                        "timeout": 10
                                    }
                                ]
                            }
                        ],
                    },
                    "z": 1
                }
            "#]],
        );
        check(
            FileFormat::Toml,
            "# Mine.\nmodel = \"x\" # why\n\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n",
            &server(),
            &expect![[r##"
                # Mine.
                model = "x" # why

                [projects."/w"]
                trust_level = "trusted"

                [mcp_servers.skillsd]
                command = "skillsd"
                args = ["mcp"]
            "##]],
        );
        check(
            FileFormat::Toml,
            "[mcp_servers.other]\ncommand = \"o\"\n\n[z]\n",
            &server(),
            &expect![[r#"
                [mcp_servers.other]
                command = "o"

                [mcp_servers.skillsd]
                command = "skillsd"
                args = ["mcp"]

                [z]
            "#]],
        );
    }

    #[test]
    fn item_changed_by_the_user_is_present_as_other() {
        let text = "{\"hooks\": {\"PostToolUse\": [{\"command\": \"x hook me --profile p\"}]}}";
        let document = ConfigDocument::parse(FileFormat::Json, text).expect("it is well formed");
        assert_eq!(document.presence(&hook()), Presence::Other);
        let text = "mcp_servers = { skillsd = { command = \"other\" } }\n";
        let document = ConfigDocument::parse(FileFormat::Toml, text).expect("it is well formed");
        assert_eq!(document.presence(&server()), Presence::Other);
    }

    #[test]
    fn parse_errors_have_a_position() {
        let fault = |form, text| ConfigDocument::parse(form, text).err().expect("it is broken");
        assert_eq!(fault(FileFormat::Json, "{\n  \"a\": ]\n}").place, Some((2, 8)));
        assert_eq!(fault(FileFormat::Toml, "a = 1\nb = = 2\n").place, Some((2, 5)));
        let mut document =
            ConfigDocument::parse(FileFormat::Json, "{\"hooks\": []}").expect("well formed");
        assert_eq!(document.add(&hook()), Err(EditError::kind(&["hooks".to_owned()], "object")));
        let mut document = ConfigDocument::parse(FileFormat::Json, "[]").expect("well formed");
        assert_eq!(document.add(&hook()), Err(EditError::kind(&[], "object")));
    }
}
