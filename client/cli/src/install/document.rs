//! A file as a tree that items are put into and taken out of, whichever language it is written in.

use crate::install::item::{Fault, Form, Item, Presence};
use crate::install::json::Json;
use crate::install::toml::Toml;

/// A parsed file.
pub(super) enum Document {
    /// In JSON.
    Json(Json),
    /// In TOML.
    Toml(Box<Toml>),
}

impl Document {
    /// Returns what a file without anything in it holds.
    pub(super) fn blank(form: Form) -> &'static str {
        match form {
            Form::Json => "{}\n",
            Form::Toml => "",
        }
    }

    /// Reads a file's text.
    pub(super) fn parse(form: Form, text: &str) -> Result<Self, Fault> {
        match form {
            Form::Json => Json::parse(text).map(Self::Json),
            Form::Toml => Toml::parse(text).map(|it| Self::Toml(Box::new(it))),
        }
    }

    /// Returns the text, as it was where nothing was changed.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Json(it) => it.text(),
            Self::Toml(it) => it.text(),
        }
    }

    /// Tells whether it holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Json(it) => it.is_empty(),
            Self::Toml(it) => it.is_empty(),
        }
    }

    /// Tells whether an item is there.
    pub(super) fn presence(&self, item: &Item) -> Presence {
        match self {
            Self::Json(it) => it.presence(item),
            Self::Toml(it) => it.presence(item),
        }
    }

    /// Puts an item in, and returns the paths of what was made to hold it.
    pub(super) fn add(&mut self, item: &Item) -> Result<Vec<Vec<String>>, Fault> {
        match self {
            Self::Json(it) => it.add(item),
            Self::Toml(it) => it.add(item),
        }
    }

    /// Takes an item out that is there to the letter; returns whether it was.
    pub(super) fn remove(&mut self, item: &Item) -> bool {
        match self {
            Self::Json(it) => it.remove(item),
            Self::Toml(it) => it.remove(item),
        }
    }

    /// Takes out those of the containers at `made` that hold nothing any more, the inner ones first.
    pub(super) fn prune(&mut self, made: &[Vec<String>]) {
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

    fn hook() -> Item {
        let value = json!({"matcher": "*", "hooks": [{"type": "command", "timeout": 10}]});
        Item::element(&["hooks", "PostToolUse"], value, "hook me")
    }

    fn server() -> Item {
        let value = json!({"command": "skillsd", "args": ["mcp"]});
        Item::property(&["mcp_servers"], "skillsd", value)
    }

    // Puts the item in, expects the text, and expects what there was after taking it out again.
    #[track_caller]
    fn check(form: Form, text: &str, item: &Item, expected: &Expect) {
        let mut document = Document::parse(form, text).expect("it is well formed");
        assert_eq!(document.presence(item), Presence::Absent);
        let made = document.add(item).expect("it fits");
        let with = document.text();
        expected.assert_eq(&with);
        let mut document = Document::parse(form, &with).expect("still well formed");
        assert_eq!(document.presence(item), Presence::Same);
        assert!(document.remove(item));
        assert!(!document.remove(item));
        document.prune(&made);
        assert_eq!(document.text(), text);
    }

    #[test]
    fn comments_order_and_layout_stay() {
        check(
            Form::Json,
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
            Form::Toml,
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
            Form::Toml,
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
    fn what_a_user_wrote_in_other_words_is_known() {
        let text = "{\"hooks\": {\"PostToolUse\": [{\"command\": \"x hook me --profile p\"}]}}";
        let document = Document::parse(Form::Json, text).expect("it is well formed");
        assert_eq!(document.presence(&hook()), Presence::Other);
        let text = "mcp_servers = { skillsd = { command = \"other\" } }\n";
        let document = Document::parse(Form::Toml, text).expect("it is well formed");
        assert_eq!(document.presence(&server()), Presence::Other);
    }

    #[test]
    fn faults_say_where() {
        let fault = |form, text| Document::parse(form, text).err().expect("it is broken");
        assert_eq!(fault(Form::Json, "{\n  \"a\": ]\n}").place, Some((2, 8)));
        assert_eq!(fault(Form::Toml, "a = 1\nb = = 2\n").place, Some((2, 5)));
        let mut document = Document::parse(Form::Json, "{\"hooks\": []}").expect("well formed");
        assert_eq!(document.add(&hook()), Err(Fault::kind(&["hooks".to_owned()], "object")));
        let mut document = Document::parse(Form::Json, "[]").expect("well formed");
        assert_eq!(document.add(&hook()), Err(Fault::kind(&[], "object")));
    }
}
