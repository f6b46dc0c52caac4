//! Certainty of a rename's edits where a name may mean another skill or an earlier time, and in
//! files that are no Markdown.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skills_testkit::Home;

use super::client::{Editor, full_capabilities, uri};
use crate::support::run;

/// The lines that a rename to `new-name` edits for certain, those that it asks about, and those
/// that references list: each as a file and a line number.
#[derive(Default, Debug, PartialEq, Eq)]
struct Found {
    certain: BTreeSet<String>,
    asked: BTreeSet<String>,
    references: BTreeSet<String>,
}

/// Renames the skill at a path in a tree.
fn find(tree: &str, path: &str) -> Found {
    let home = Home::new();
    let top = home.worktree("w", tree);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let file = top.join(path);
    editor.open(&file);
    editor.wait_for(&file, &["yaml/not"], &[]);
    let start = uri(&top);
    let place = |address: &Value, range: &Value| {
        let address = address.as_str().expect("a text");
        let path = address.strip_prefix(&start).expect("within").trim_start_matches('/');
        let line = range["start"]["line"].as_u64().expect("a number") + 1;
        format!("{path}:{line}")
    };
    let context = json!({"context": {"includeDeclaration": true}});
    let found = editor.ask("textDocument/references", &file, (1, 7), context).expect("answered");
    let found = found.as_array().expect("a list").iter();
    let references = found.map(|it| place(&it["uri"], &it["range"])).collect();
    let mut found = Found { references, ..Found::default() };
    let new = json!({"newName": "new-name"});
    let edit = editor.ask("textDocument/rename", &file, (1, 7), new).expect("nothing in the way");
    for operation in edit["documentChanges"].as_array().expect("a list") {
        for edit in operation["edits"].as_array().into_iter().flatten() {
            let is_certain = edit["annotationId"].is_null();
            let list = if is_certain { &mut found.certain } else { &mut found.asked };
            list.insert(place(&operation["textDocument"]["uri"], &edit["range"]));
        }
    }
    run(&home, &top, &["stop"]);
    found
}

fn lines(places: &[&str]) -> BTreeSet<String> {
    places.iter().map(|it| (*it).to_owned()).collect()
}

#[track_caller]
fn check(tree: &str, path: &str, certain: &[&str], asked: &[&str]) {
    let found = find(tree, path);
    let (certain, asked) = (lines(certain), lines(asked));
    let references = certain.union(&asked).cloned().collect();
    assert_eq!(found, Found { certain, asked, references });
}

#[test]
fn rename_of_one_of_two_skills_of_a_name_asks_and_leaves_the_other_alone() {
    let body = "The aa-bb skill.\nSee `skills/aa-bb/SKILL.md`.\nRun /aa-bb.\n";
    let skill = format!("---\nname: aa-bb\ndescription: Does x. Use when asked.\n---\n{body}");
    let tree = format!(
        "//- /skills/aa-bb/SKILL.md\n{skill}//- /plugins/p/skills/aa-bb/SKILL.md\n{skill}\
         //- /plugins/q/skills/cc/SKILL.md\n---\nname: cc\ndescription: Does y. Use when asked.\n---\n\
         Use the aa-bb skill.\nSee `skills/aa-bb/SKILL.md`.\n"
    );
    let (one, other) = ("skills/aa-bb/SKILL.md", "plugins/p/skills/aa-bb/SKILL.md");
    let [own_name, own_path, others_path] = [
        ["skills/aa-bb/SKILL.md:2", "skills/aa-bb/SKILL.md:5", "skills/aa-bb/SKILL.md:7"],
        ["skills/aa-bb/SKILL.md:6", "plugins/q/skills/cc/SKILL.md:6", ""],
        ["plugins/p/skills/aa-bb/SKILL.md:6", "plugins/q/skills/cc/SKILL.md:5", ""],
    ];
    check(&tree, one, &[&own_name[..], &own_path[..2]].concat(), &others_path[..2]);
    let own_name = [2, 5, 7].map(|it| format!("{other}:{it}"));
    let own_name: Vec<&str> = own_name.iter().map(String::as_str).collect();
    check(&tree, other, &own_name, &others_path[..2]);
}

#[test]
fn rename_asks_in_change_logs_and_archives() {
    let path = ".claude/skills/data-clean/SKILL.md";
    let tree = format!(
        "//- /{path}\n---\nname: data-clean\ndescription: Cleans. Use when asked.\n---\nb\n\
         //- /CHANGELOG.md\n- Add the data-clean skill.\n- See [it]({path}).\n- Run `{path}`.\n\
         //- /.agents/archive/a.md\nUse the data-clean skill.\n\
         //- /docs/2025-12-03-log.md\nUse the data-clean skill.\n\
         //- /README.md\nUse the data-clean skill.\n"
    );
    let certain = [&*format!("{path}:2"), "CHANGELOG.md:2", "README.md:1"];
    let asked =
        ["CHANGELOG.md:1", "CHANGELOG.md:3", ".agents/archive/a.md:1", "docs/2025-12-03-log.md:1"];
    check(&tree, path, &certain, &asked);
}

#[test]
fn rename_edits_paths_in_settings_and_asks_in_workflows() {
    let dir = ".claude/skills/data-clean";
    let tree = format!(
        "//- /{dir}/SKILL.md\n---\nname: data-clean\ndescription: Cleans. Use when asked.\n---\nb\n\
         //- /.claude/settings.json\n{{\"permissions\": {{\"allow\": [\n\"Skill(data-clean)\",\n\
         \"Bash({dir}/run.sh:*)\",\n\"Bash(other/{dir}/run.sh)\"\n]}},\n\
         \"hooks\": {{\"Stop\": [{{\"hooks\": [{{\"type\": \"command\",\n\
         \"command\": \"$CLAUDE_PROJECT_DIR/{dir}/stop.sh\"}}]}}]}}}}\n\
         //- /.github/workflows/a.yml\nsteps:\n\n      - run: python {dir}/scripts/x.py\n"
    );
    let settings = [2, 3, 7].map(|it| format!(".claude/settings.json:{it}"));
    let own = format!("{dir}/SKILL.md:2");
    let certain: Vec<&str> = settings.iter().chain([&own]).map(String::as_str).collect();
    check(&tree, &format!("{dir}/SKILL.md"), &certain, &[".github/workflows/a.yml:3"]);
}

#[test]
fn rename_asks_about_a_hyphenated_name_wherever_it_is() {
    let path = ".claude/skills/data-clean/SKILL.md";
    let tree = format!(
        "//- /{path}\n---\nname: data-clean\ndescription: Cleans. Use when he says \"data-clean this\".\n---\n\
         When a data-clean run ends.\n<!-- data-clean -->\n\
         //- /.claude/skills/other/SKILL.md\n---\nname: other\ndescription: Other. Use when asked.\n---\n\
         Any edit fires data-clean.\n.claude/skills/{{other,data-clean}}/\n\
         See data-clean/references/a.md and data-clean.json.\n"
    );
    let other = ".claude/skills/other/SKILL.md";
    let asked = [(path, 3), (path, 5), (path, 6), (other, 5), (other, 6), (other, 7)];
    let asked = asked.map(|(path, line)| format!("{path}:{line}"));
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    check(&tree, path, &[&format!("{path}:2")], &asked);
}

#[test]
fn placeholder_with_the_name_of_a_skill_is_not_certain() {
    let path = ".claude/skills/skill-name/SKILL.md";
    let tree = format!(
        "//- /{path}\n---\nname: skill-name\ndescription: Names. Use when asked.\n---\nb\n\
         //- /CLAUDE.md\nUse the [skill-name] skill to read.\nUse the {{skill-name}} skill.\n"
    );
    check(&tree, path, &[&format!("{path}:2")], &["CLAUDE.md:1", "CLAUDE.md:2"]);
}
