//! What an editor configures, and what it asks about the whole workspace.

use serde_json::json;
use skills_testkit::{Home, wait_for};

use super::client::{Editor, able, uri};
use crate::support::{run, run_json};

const TREE: &str = "//- /.claude/skills/a/SKILL.md\n---\nname: b\ndescription: Use it when asked.\n---\n🦀 [x](no/such.md)\n\
     //- /.claude/skills/c/SKILL.md\n---\nname: c\ndescription: Use when: asked\n---\nb\n";

#[test]
fn settings_are_asked_for_and_followed() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], able());
    let a = top.join(".claude/skills/a/SKILL.md");
    editor.open(&a);
    editor.wait_for(&a, &["name/dir"], &["name/directory"]);
    editor.hear("client/registerCapability");
    editor.configured = json!({"rules": {"name/*": "off"}});
    editor.note("workspace/didChangeConfiguration", json!({"settings": {}}));
    editor.wait_for(&a, &["name/dir"], &[]);
    editor.configured = json!({});
    editor.note("workspace/didChangeConfiguration", json!({"settings": {}}));
    editor.wait_for(&a, &["name/dir"], &["name/directory"]);
    run(&home, &top, &["stop"]);
}

#[test]
fn the_keys_of_the_configuration_are_settings_too() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], able());
    let a = top.join(".claude/skills/a/SKILL.md");
    editor.open(&a);
    editor.wait_for(&a, &["name/dir"], &["name/directory"]);
    for check in [
        json!({"rules": {"name/*": "off"}}),
        json!({"paths": {".claude/skills/a/**": {"name/*": "off"}}}),
    ] {
        editor.configured = json!({"check": check});
        editor.note("workspace/didChangeConfiguration", json!({"settings": {}}));
        editor.wait_for(&a, &["name/dir"], &[]);
        editor.configured = json!({"check": {"paths": {"elsewhere/**": {"name/*": "off"}}}});
        editor.note("workspace/didChangeConfiguration", json!({"settings": {}}));
        editor.wait_for(&a, &["name/dir"], &["name/directory"]);
    }
    run(&home, &top, &["stop"]);
}

#[test]
fn an_editor_with_a_conversation_of_its_own_has_no_second_one() {
    const WAITS: &str = "//- /.claude/skills/rust/SKILL.md\n---\nname: rust\ndescription: Use it for Rust.\npaths: \"**/*.rs\"\n---\nb\n\
         //- /CLAUDE.md\nSee the `rust` skill.\n//- /src/a.rs\nfn main() {}\n";
    let home = Home::new();
    let top = home.worktree("w", WAITS);
    let mut editor = Editor::spawn(&home, &[]);
    editor.initialize_with(&[&top], able(), json!({"session": "mine"}));
    let claude = top.join("CLAUDE.md");
    let session = format!("mine:{}", top.display());
    editor.open(&claude);
    // It would be a touch, were the touches not the editor's own to tell.
    editor.open(&top.join("src/a.rs"));
    let mut hover = || {
        let at = Editor::place(&claude, "rust");
        let found = editor.ask("textDocument/hover", &claude, at, json!({})).expect("answered");
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    wait_for("what is known of the disk", || hover().contains("conditional").then_some(()));
    run(&home, &top, &["touch", "src/a.rs", "--session", &session]);
    wait_for("what was activated", || hover().contains("activated").then_some(()));
    let all = run_json(&home, &top, &["session", "list"]);
    let sessions = all["sessions"].as_array().expect("a list");
    assert_eq!(sessions.len(), 1, "{all}");
    run(&home, &top, &["stop"]);
}

#[test]
fn the_whole_workspace_is_reported_with_progress() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut able = able();
    able["textDocument"] = json!({"diagnostic": {}});
    let mut editor = Editor::start(&home, &[], &[&top], able);
    let c = top.join(".claude/skills/c/SKILL.md");
    editor.open(&c);
    editor.edit(&c, "---\nname: c\ndescription: Use it when asked.\n---\nb\n");
    let params = json!({"previousResultIds": [], "workDoneToken": "t"});
    let report = editor.request("workspace/diagnostic", params).expect("answered");
    let items = report["items"].as_array().expect("a list");
    let of = |name: &str| {
        let uri = uri(&top.join(".claude/skills").join(name).join("SKILL.md"));
        items
            .iter()
            .find(|it| it["uri"] == json!(uri))
            .unwrap_or_else(|| panic!("no {name}: {report}"))
    };
    assert_eq!((&of("c")["version"], &of("c")["items"]), (&json!(2), &json!([])));
    let link = of("a")["items"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|it| it["code"] == "body/broken-link");
    let range = &link.expect("it is found")["range"];
    assert_eq!(range["start"], json!({"line": 4, "character": 7}), "in UTF-16");
    // The end of it may come behind the answer.
    editor.hear_times("$/progress", 2);
    run(&home, &top, &["stop"]);
}
