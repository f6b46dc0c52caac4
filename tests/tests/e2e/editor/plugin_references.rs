//! References to the skills of a plugin in its own repository: the list of references and a rename
//! name the same places.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use crate::support::run;

fn skill(path: &str, body: &str) -> String {
    let name = path.rsplit('/').next().expect("never empty");
    format!(
        "//- /{path}/SKILL.md\n---\nname: {name}\ndescription: Does it. Use when asked to.\n---\n{body}\n"
    )
}

/// Returns each place of a document's edits or locations as its file, its line and the line's text
/// from the column.
fn shown(top: &Path, address: &Value, range: &Value) -> String {
    let path = PathBuf::from(address.as_str().expect("a text").trim_start_matches("file://"));
    let text = std::fs::read_to_string(&path).expect("it is there");
    let start = &range["start"];
    let line = start["line"].as_u64().expect("a number") as usize;
    let column = start["character"].as_u64().expect("a number") as usize;
    let rest = &text.lines().nth(line).expect("it is there")[column..];
    format!("{}: {rest}", path.strip_prefix(top).expect("within").display())
}

struct Found {
    references: Vec<String>,
    certain: Vec<String>,
    uncertain: Vec<String>,
}

/// Opens a skill, and searches for the references to it in other files and renames it.
fn find(tree: &str, path: &str) -> Found {
    let home = Home::new();
    let top = home.worktree("w", tree);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let file = top.join(path).join("SKILL.md");
    editor.open(&file);
    editor.wait_for(&file, &["index/"], &[]);
    let context = json!({"context": {"includeDeclaration": false}});
    let found = editor.ask("textDocument/references", &file, (1, 7), context).expect("answered");
    let found = found.as_array().expect("a list").iter();
    let references = found.map(|it| shown(&top, &it["uri"], &it["range"])).collect();
    let new = json!({"newName": "renamed-skill"});
    let edit = editor.ask("textDocument/rename", &file, (1, 7), new).expect("nothing in the way");
    let (mut certain, mut uncertain) = (Vec::new(), Vec::new());
    for operation in edit["documentChanges"].as_array().expect("a list") {
        let address = &operation["textDocument"]["uri"];
        for edit in operation["edits"].as_array().into_iter().flatten() {
            if *address != json!(uri(&file)) {
                let list =
                    if edit["annotationId"].is_null() { &mut certain } else { &mut uncertain };
                list.push(shown(&top, address, &edit["range"]));
            }
        }
    }
    run(&home, &top, &["stop"]);
    Found { references, certain, uncertain }
}

#[test]
fn agents_and_commands_of_a_plugin_are_references_that_a_rename_edits() {
    let dir = "git-plugin/skills/merge-hazards";
    let tree = "//- /git-plugin/.claude-plugin/plugin.json\n{\"name\": \"git-plugin\"}\n\
         //- /git-plugin/agents/ops.md\n---\nname: ops\nskills: [merge-hazards]\n---\nUse the merge-hazards skill.\n\
         //- /git-plugin/commands/go.md\nThen `merge-hazards`.\n";
    let found = find(&format!("{tree}{}", skill(dir, "b")), dir);
    let sure =
        ["agents/ops.md: merge-hazards]", "agents/ops.md: merge-hazards skill."].map(in_plugin);
    let unsure = ["commands/go.md: merge-hazards`."].map(in_plugin);
    assert_eq!(found.references, [&sure[..], &unsure].concat());
    assert_eq!((found.certain, found.uncertain), (sure.to_vec(), unsure.to_vec()));
}

fn in_plugin(place: &str) -> String {
    format!("git-plugin/{place}")
}

#[test]
fn name_with_its_own_plugin_is_certain_and_with_another_plugin_is_no_reference() {
    let tree = "//- /.claude-plugin/plugin.json\n{\"name\": \"acme\"}\n\
         //- /CLAUDE.md\nacme:competitive-brief, other:competitive-brief and `acme:competitive-brief`\n";
    let dir = "skills/competitive-brief";
    let found = find(&format!("{tree}{}", skill(dir, "b")), dir);
    let name = "competitive-brief";
    assert_eq!(
        found.references,
        [
            format!("CLAUDE.md: acme:{name}, other:{name} and `acme:{name}`"),
            format!("CLAUDE.md: acme:{name}`")
        ]
    );
    assert_eq!(
        found.certain,
        [
            format!("CLAUDE.md: {name}, other:{name} and `acme:{name}`"),
            format!("CLAUDE.md: {name}`")
        ]
    );
    assert_eq!(found.uncertain, [""; 0]);
}

#[test]
fn one_word_with_its_own_plugin_or_as_a_value_of_skill_is_uncertain() {
    let tree = "//- /.claude-plugin/plugin.json\n{\"name\": \"acme\"}\n\
         //- /CLAUDE.md\nThen acme:review.\nNot other:review or acme:reviews.\nThe tool takes `skill: \"review\"`.\n";
    let found = find(&format!("{tree}{}", skill("skills/review", "b")), "skills/review");
    assert_eq!(found.references, ["CLAUDE.md: acme:review.", "CLAUDE.md: review\"`."]);
    assert_eq!(found.certain, [""; 0]);
    assert_eq!(found.uncertain, ["CLAUDE.md: review.", "CLAUDE.md: review\"`."]);
}

#[test]
fn path_in_a_closed_file_into_a_skill_that_no_agent_finds_is_a_reference() {
    let text = "See `../pm-agent/_internal/a.md`.";
    let tree = [skill("roles/pm/skills/audit", text), skill("roles/pm/skills/pm-agent", "b")];
    let found = find(&tree.concat(), "roles/pm/skills/pm-agent");
    let place = "roles/pm/skills/audit/SKILL.md: pm-agent/_internal/a.md`.";
    assert_eq!(found.references, [place]);
    assert_eq!(found.certain, [place]);
}
