//! Parsing of a configuration file in JSON or TOML.

use crate::agent_config::item::{BOM, ConfigDocument, EditError, FileFormat};
use crate::agent_config::json::Json;
use crate::agent_config::toml::Toml;

pub(crate) fn parse(form: FileFormat, text: &str) -> Result<Box<dyn ConfigDocument>, EditError> {
    Ok(match form {
        FileFormat::Json => Box::new(Json::parse(text)?),
        FileFormat::StrictJson => Box::new(Json::parse_strict(text)?),
        FileFormat::Toml => Box::new(Toml::parse(text)?),
    })
}

/// Parses the content of a file that may be missing or blank.
pub(crate) fn parse_or_new(
    form: FileFormat,
    text: Option<&str>,
) -> Result<Box<dyn ConfigDocument>, EditError> {
    let new = match form {
        FileFormat::Json | FileFormat::StrictJson => "{}\n",
        FileFormat::Toml => "",
    };
    let is_blank = |it: &str| it.trim_start_matches(BOM).trim().is_empty();
    parse(form, text.filter(|it| !is_blank(it)).unwrap_or(new))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::agent_config::item::{ConfigEntry, Presence};

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
        let mut document = parse(form, text).expect("it is well formed");
        assert_eq!(document.presence(item), Presence::Absent);
        let made = document.add(item).expect("it fits");
        let with = document.text();
        expected.assert_eq(&with);
        let mut document = parse(form, &with).expect("still well formed");
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
    fn edits_keep_byte_order_mark_and_line_ends() {
        for (form, item, text) in [
            (
                FileFormat::Toml,
                server(),
                "# Mine.\r\nmodel = \"x\"\r\ns = \"\"\"\r\na\r\n\"\"\"\r\n",
            ),
            (FileFormat::Json, hook(), "{\r\n  \"a\": 1\r\n}\r\n"),
            (FileFormat::StrictJson, hook(), "{\r\n  \"a\": 1\r\n}\r\n"),
        ] {
            for text in [text.to_owned(), format!("\u{feff}{text}")] {
                let mut document = parse(form, &text).expect("it is well formed");
                let made = document.add(&item).expect("it fits");
                let with = document.text();
                assert_eq!(with.starts_with(BOM), text.starts_with(BOM), "{with:?}");
                assert_eq!(with.matches('\n').count(), with.matches("\r\n").count(), "{with:?}");
                let mut document = parse(form, &with).expect("still well formed");
                assert!(document.remove(&item));
                document.prune(&made);
                assert_eq!(document.text(), text);
            }
        }
    }

    #[test]
    fn item_changed_by_the_user_is_present_as_other() {
        let text =
            "{\"hooks\": {\"PostToolUse\": [{\"command\": \"skillsd hook me --profile p\"}]}}";
        let document = parse(FileFormat::Json, text).expect("it is well formed");
        assert_eq!(document.presence(&hook()), Presence::Other);
        let text = "mcp_servers = { skillsd = { command = \"/opt/skillsd\", args = [\"mcp\"] } }\n";
        let document = parse(FileFormat::Toml, text).expect("it is well formed");
        assert_eq!(document.presence(&server()), Presence::Other);
    }

    #[test]
    fn entry_of_another_program_is_not_ours() {
        let text = "{\"hooks\": {\"PostToolUse\": [{\"command\": \"~/bin/webhook me\"}]}}";
        let document = parse(FileFormat::Json, text).expect("it is well formed");
        assert_eq!(document.presence(&hook()), Presence::Absent);
        let text = "[mcp_servers.skillsd]\ncommand = \"npx\"\nargs = [\"-y\", \"x-mcp\"]\n";
        let document = parse(FileFormat::Toml, text).expect("it is well formed");
        assert_eq!(document.presence(&server()), Presence::Taken);
    }

    #[test]
    fn our_hook_is_removed_from_a_group_with_hooks_of_the_user() {
        let item = hook();
        let mut group = item.value.clone();
        let own = json!({"type": "command", "command": "fmt"});
        group["hooks"].as_array_mut().expect("a list").push(own.clone());
        let text = json!({"hooks": {"PostToolUse": [group]}}).to_string();
        let mut document = parse(FileFormat::Json, &text).expect("it is well formed");
        assert!(document.remove(&item));
        let left = json!([{"matcher": "*", "hooks": [own]}]);
        assert_eq!(document.value(&item.at), Some(left));
        assert!(!document.remove(&item));
    }

    #[test]
    fn parse_errors_have_a_position() {
        let fault = |form, text| parse(form, text).err().expect("it is broken");
        assert_eq!(fault(FileFormat::Json, "{\n  \"a\": ]\n}").place, Some((2, 8)));
        assert_eq!(fault(FileFormat::Toml, "a = 1\nb = = 2\n").place, Some((2, 5)));
        let mut document = parse(FileFormat::Json, "{\"hooks\": []}").expect("well formed");
        assert_eq!(document.add(&hook()), Err(EditError::kind(&["hooks".to_owned()], "object")));
        let mut document = parse(FileFormat::Json, "[]").expect("well formed");
        assert_eq!(document.add(&hook()), Err(EditError::kind(&[], "object")));
    }
}
