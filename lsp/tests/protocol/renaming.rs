//! A skill under another name, and who speaks of it: what is asked of the disk for it, and when.

use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use crate::editor::{Editor, literals};
use crate::told::Told;

/// Called `pdf`, in a directory of another name.
const SKILL: &str = "file:///w/.claude/skills/pdf-tools/SKILL.md";
const TEXT: &str =
    "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nb\n";

const SPEAKER: &str = "/w/CLAUDE.md";
const SPOKEN: &str = "Use /pdf-tools, see [it](.claude/skills/pdf-tools/SKILL.md).\n";

/// Begins in a folder with the skill open.
async fn begin(able: Value) -> (Editor, Arc<Told>) {
    let places = [("/w", &[("pdf-tools", "pdf")][..])].into();
    let speakers = std::sync::Mutex::new([(SPEAKER, SPOKEN.to_owned())].into());
    let source = Arc::new(Told { places, speakers, ..Told::default() });
    let mut editor = Editor::connect_over(64 * 1024, Arc::clone(&source) as _);
    editor.initialize_in(&["/w"], able).await;
    editor.open_at(SKILL, 1, TEXT).await;
    (editor, source)
}

/// A client that renames files, and resolves actions where it says so.
fn able(resolves: bool) -> Value {
    let mut takes = literals();
    if resolves {
        takes["dataSupport"] = json!(true);
        takes["resolveSupport"] = json!({"properties": ["edit"]});
    }
    json!({
        "textDocument": {"codeAction": takes},
        "workspace": {
            "workspaceEdit": {"documentChanges": true, "resourceOperations": ["rename"]},
        },
    })
}

/// Asks for the quick fixes at the name; why they are asked for is the protocol's number.
async fn actions(editor: &mut Editor, trigger: Value) -> Vec<Value> {
    titled(editor, trigger, "Rename the directory to `pdf`").await
}

async fn titled(editor: &mut Editor, trigger: Value, title: &str) -> Vec<Value> {
    let at = json!({"line": 1, "character": 7});
    let context = json!({"diagnostics": [], "only": ["quickfix"], "triggerKind": trigger});
    let range = json!({"start": at, "end": at});
    let params = json!({"textDocument": {"uri": SKILL}, "range": range, "context": context});
    let actions = editor.request("textDocument/codeAction", params).await.expect("answered");
    let ours = |it: &&Value| it["title"] == title;
    actions.as_array().expect("a list").iter().filter(ours).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn a_skill_takes_its_directorys_name_with_all_that_speak_of_it() {
    let spoken = "Use the `pdf` skill, /pdf-tools and @.claude/skills/pdf-tools/SKILL.md.\n";
    let simple = json!({"textDocument": {"codeAction": literals()}});
    for able in [able(false), simple.clone()] {
        let (mut editor, source) = begin(able.clone()).await;
        let mut speakers = source.speakers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        speakers.insert(SPEAKER, spoken.to_owned());
        *source.speakers.lock().unwrap_or_else(PoisonError::into_inner) = speakers;
        let title = "Rename the skill to `pdf-tools`";
        let [action] = &titled(&mut editor, json!(1), title).await[..] else { panic!("offered") };
        let edit = &action["edit"];
        // The directory stays, so that a client has a part in it that renames no files.
        let texts: Vec<Value> = if let Some(steps) = edit["documentChanges"].as_array() {
            steps.iter().map(|it| it["textDocument"]["uri"].clone()).collect()
        } else {
            edit["changes"].as_object().expect("changes").keys().map(|it| json!(it)).collect()
        };
        assert_eq!(edit.get("documentChanges").is_none(), able == simple);
        assert_eq!(texts.len(), 2, "{edit}");
        assert!(texts.contains(&json!(SKILL)), "{edit}");
        assert_eq!(edit.to_string().matches("\"newText\":\"pdf-tools\"").count(), 2, "{edit}");
    }
    // What has two right answers is not in what has one.
    let (mut editor, _) = begin(able(false)).await;
    let at = json!({"line": 1, "character": 7});
    let context = json!({"diagnostics": [], "only": ["source.fixAll"]});
    let params = json!({"textDocument": {"uri": SKILL}, "range": {"start": at, "end": at}, "context": context});
    assert_eq!(editor.request("textDocument/codeAction", params).await, Ok(json!([])));
}

#[tokio::test(start_paused = true)]
async fn imports_and_paths_go_with_the_directory() {
    let (mut editor, source) = begin(able(false)).await;
    let spoken = "Read @.claude/skills/pdf-tools/SKILL.md and .claude/skills/pdf-tools/x/a.py.\n";
    let spoken = [(SPEAKER, spoken.to_owned())].into();
    *source.speakers.lock().unwrap_or_else(PoisonError::into_inner) = spoken;
    let edit = asks_first(&mut editor).await;
    let edits = edit["documentChanges"][0]["edits"].as_array().expect("edits");
    let starts: Vec<_> = edits.iter().map(|it| it["range"]["start"]["character"].clone()).collect();
    assert_eq!(starts, [json!(21), json!(59)], "{edit}");
}

#[tokio::test(start_paused = true)]
async fn a_name_that_an_agent_keeps_for_itself_is_refused_and_the_own_one_explained() {
    let (mut editor, _) = begin(able(false)).await;
    let at = json!({"line": 1, "character": 7});
    let params = json!({"textDocument": {"uri": SKILL}, "position": at, "newName": "synced"});
    assert_eq!(editor.request("textDocument/rename", params).await, Err(-32803));
    let params = json!({"textDocument": {"uri": SKILL}, "position": at});
    let hover = editor.request("textDocument/hover", params).await.expect("answered");
    let said = hover["contents"]["value"].as_str().expect("text");
    assert!(said.contains("active: claude-code") && said.contains("SKILL.md"), "{said}");
}

async fn asks_first(editor: &mut Editor) -> Value {
    let old = "file:///w/.claude/skills/pdf-tools";
    let files = json!({"files": [{"oldUri": old, "newUri": "file:///w/.claude/skills/pdf"}]});
    editor.request("workspace/willRenameFiles", files).await.expect("answered")
}

#[tokio::test(start_paused = true)]
async fn who_has_a_part_in_a_renaming_is_looked_for_when_it_is_chosen() {
    let (mut editor, source) = begin(able(true)).await;
    for trigger in [json!(2), json!(1), Value::Null] {
        let [action] = &actions(&mut editor, trigger).await[..] else { panic!("it is offered") };
        assert!(action.get("edit").is_none() && action["data"].is_object(), "{action}");
        assert_eq!(source.n_asked(), 0, "whatever it is asked for");
    }
    let action = actions(&mut editor, json!(2)).await.remove(0);
    let chosen = editor.request("codeAction/resolve", action.clone()).await.expect("resolved");
    let steps = chosen["edit"]["documentChanges"].as_array().expect("a list");
    assert_eq!(steps[0]["textDocument"]["uri"], "file:///w/CLAUDE.md", "{chosen}");
    assert_eq!(steps[0]["edits"].as_array().map(Vec::len), Some(2), "{chosen}");
    assert_eq!(steps[1]["kind"], "rename", "{chosen}");
    assert_eq!((steps.len(), source.n_asked()), (2, 1));

    let mut damaged = action.clone();
    damaged["data"] = json!({"skill": 3});
    assert_eq!(editor.request("codeAction/resolve", damaged).await, Err(-32602));
    editor.close(SKILL).await;
    assert_eq!(editor.request("codeAction/resolve", action).await, Err(-32803));
}

#[tokio::test(start_paused = true)]
async fn who_cannot_resolve_is_offered_it_when_the_user_asks() {
    let (mut editor, source) = begin(able(false)).await;
    assert_eq!(actions(&mut editor, json!(2)).await, [] as [Value; 0]);
    assert_eq!(source.n_asked(), 0, "at each move of the cursor");
    for trigger in [json!(1), Value::Null] {
        let [action] = &actions(&mut editor, trigger).await[..] else { panic!("it is offered") };
        assert_eq!(action["edit"]["documentChanges"].as_array().map(Vec::len), Some(2));
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_edit_of_ours_renames_is_not_renamed_once_more() {
    // The texts of the edit are changed when the client comes to the directory and asks about it;
    // closed ones it has opened, or written.
    for is_opened in [true, false] {
        let (mut editor, source) = begin(able(true)).await;
        assert_ne!(asks_first(&mut editor).await, Value::Null, "nobody has changed them yet");
        let changed = SPOKEN.replace("pdf-tools", "pdf");
        if is_opened {
            editor.open_at("file:///w/CLAUDE.md", 1, SPOKEN).await;
            let document = json!({"uri": "file:///w/CLAUDE.md", "version": 2});
            let changes = json!({"textDocument": document, "contentChanges": [{"text": changed}]});
            editor.note("textDocument/didChange", changes).await;
        } else {
            let mut speakers = source.speakers.lock().unwrap_or_else(PoisonError::into_inner);
            speakers.insert(SPEAKER, changed);
        }
        assert_eq!(asks_first(&mut editor).await, Value::Null);
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_renamed_already_stays_as_it_is() {
    let (mut editor, source) = begin(able(true)).await;
    let at = json!({"line": 1, "character": 7});
    let params = json!({"textDocument": {"uri": SKILL}, "position": at, "newName": "paper"});
    let edit = editor.request("textDocument/rename", params).await.expect("nothing is in the way");
    assert_eq!(edit["documentChanges"].as_array().map(Vec::len), Some(3), "{edit}");
    let document = json!({"uri": SKILL, "version": 2});
    let text = TEXT.replace("name: pdf", "name: paper");
    let changes = json!({"textDocument": document, "contentChanges": [{"text": text}]});
    editor.note("textDocument/didChange", changes).await;
    let changed = SPOKEN.replace("pdf-tools", "paper");
    source.speakers.lock().unwrap_or_else(PoisonError::into_inner).insert(SPEAKER, changed);
    let (old, new) = ("file:///w/.claude/skills/pdf-tools", "file:///w/.claude/skills/paper");
    let files = json!({"files": [{"oldUri": old, "newUri": new}]});
    assert_eq!(editor.request("workspace/willRenameFiles", files).await, Ok(Value::Null));
}

/// Asks for the lines above the skill, and returns what they say.
async fn lenses(editor: &mut Editor) -> Vec<String> {
    let params = json!({"textDocument": {"uri": SKILL}});
    let lenses = editor.request("textDocument/codeLens", params).await.expect("answered");
    let lenses = lenses.as_array().expect("a list").iter();
    lenses.map(|it| it["command"]["title"].as_str().expect("a title").to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn who_uses_a_skill_is_looked_for_once() {
    let (mut editor, source) = begin(json!({})).await;
    assert_eq!(lenses(&mut editor).await, ["used by 2"]);
    // By its name, and by its directory's.
    assert_eq!(source.n_asked(), 2);
    let change = |version: i32, text: &str| {
        let document = json!({"uri": SKILL, "version": version});
        json!({"textDocument": document, "contentChanges": [{"text": text}]})
    };
    // Whatever it says of itself.
    for version in 2..20 {
        let text = TEXT.replace("Reads", &format!("Reads {version}"));
        editor.note("textDocument/didChange", change(version, &text)).await;
        assert_eq!(lenses(&mut editor).await, ["used by 2"]);
    }
    assert_eq!(source.n_asked(), 2);
    // Under another name others may speak of it.
    let text = TEXT.replace("name: pdf", "name: pages");
    editor.note("textDocument/didChange", change(20, &text)).await;
    lenses(&mut editor).await;
    assert_eq!(source.n_asked(), 4);
    lenses(&mut editor).await;
    assert_eq!(source.n_asked(), 4);
    // What was closed is not kept.
    editor.close(SKILL).await;
    editor.open_at(SKILL, 1, &text).await;
    lenses(&mut editor).await;
    assert_eq!(source.n_asked(), 6);
    // The disk may have changed.
    source.ring();
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    lenses(&mut editor).await;
    assert_eq!(source.n_asked(), 8);
}
