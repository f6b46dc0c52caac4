//! Hermes Agent, whose own function lists its skills for its command and its tool.

use std::collections::BTreeSet;

use super::{ListingAgent, finish, relative};
use crate::agent_trees::{Found, first_line};

/// Prints the names and descriptions that the tool `skills_list` gets, and the paths.
const LIST: &str = r#"
import json
from tools import skills_tool as tool

paths, category = [], tool._get_category_from_path
def record(path):
    paths.append(str(path))
    return category(path)
tool._get_category_from_path = record
found = tool._find_all_skills()
print(json.dumps([[it["name"], str(it["description"]), path] for it, path in zip(found, paths)]))
"#;

pub(crate) const HERMES: ListingAgent = ListingAgent {
    profile: "hermes",
    program: "venv/bin/python",
    own: "/h/.hermes/skills",
    home: &[".hermes/skills"],
    project: &[".hermes/skills"],
    has_descriptions: true,
    lists_hidden: true,
    lists_conditional: true,
    is_race: false,
    list: |_, command, top| {
        let output = finish(command.args(["-c", LIST]));
        let found: BTreeSet<(String, String, String)> = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let skill = |it: (String, String, String)| (it.0, first_line(&it.1), relative(&it.2, top));
        found.into_iter().map(skill).collect::<Found>()
    },
};
