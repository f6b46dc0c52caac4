//! Editor settings and workspace diagnostics.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::{Home, wait_for};

use super::client::{Editor, full_capabilities, uri};
use crate::support::{run, run_json};

const TREE: &str = "//- /.claude/skills/a/SKILL.md\n---\nname: b\ndescription: Use it when asked.\n---\n🦀 [x](no/such.md)\n\
     //- /.claude/skills/c/SKILL.md\n---\nname: c\ndescription: Use when: asked\n---\nb\n";

#[test]
fn editor_settings_are_requested_and_followed() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    let a = top.join(".claude/skills/a/SKILL.md");
    editor.open(&a);
    editor.wait_for(&a, &["name/dir"], &["name/directory"]);
    editor.wait_for_method("client/registerCapability");
    editor.configured = json!({"rules": {"name/*": "off"}});
    editor.note("workspace/didChangeConfiguration", json!({"settings": {}}));
    editor.wait_for(&a, &["name/dir"], &[]);
    editor.configured = json!({});
    editor.note("workspace/didChangeConfiguration", json!({"settings": {}}));
    editor.wait_for(&a, &["name/dir"], &["name/directory"]);
    run(&home, &top, &["stop"]);
}

/// Returns the diagnostic codes of a file in a workspace report.
fn codes(report: &Value, path: &Path) -> Vec<String> {
    let items = report["items"].as_array().expect("a list");
    let of_file = items.iter().filter(|it| it["uri"] == json!(uri(path)));
    let found = of_file.flat_map(|it| it["items"].as_array().expect("a list"));
    found.map(|it| it["code"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn editor_settings_apply_to_workspace_diagnostics() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut able = full_capabilities();
    able["textDocument"] = json!({"diagnostic": {}});
    let mut editor = Editor::start(&home, &[], &[&top], able);
    let (a, c) = (top.join(".claude/skills/a/SKILL.md"), top.join(".claude/skills/c/SKILL.md"));
    editor.configured = json!({
        "profiles": ["claude-code"],
        "rules": {"name/*": "off", "body/broken-link": "error", "no/such": "error"},
    });
    editor.open(&a);
    let document = json!({"textDocument": {"uri": uri(&a)}});
    let of_text = wait_for("the settings to apply", || {
        let report = editor.request("textDocument/diagnostic", document.clone()).expect("answered");
        // Facts about nearby files may arrive after the first report.
        let text = report.to_string();
        let is_whole = text.contains("body/broken-link") && !text.contains("name/directory");
        is_whole.then_some(report)
    });
    editor.note("textDocument/didClose", document);
    let params = json!({"previousResultIds": []});
    let report = editor.request("workspace/diagnostic", params).expect("answered");
    assert_eq!(codes(&report, &a), ["body/broken-link"], "{report}");
    let items = report["items"].as_array().expect("a list");
    let of_a = items.iter().find(|it| it["uri"] == json!(uri(&a))).expect("it has findings");
    for key in ["code", "range", "severity", "message"] {
        assert_eq!(of_a["items"][0][key], of_text["items"][0][key], "{key}");
    }
    assert_eq!(of_a["items"][0]["severity"], 1);
    // The finding applies to Claude Code only, which repairs the value by guessing.
    let of_c = items.iter().find(|it| it["uri"] == json!(uri(&c))).expect("it has findings");
    let message = of_c["items"][0]["message"].as_str().expect("a text");
    assert!(message.contains("Claude Code") && !message.contains("opencode"), "{message}");
    run(&home, &top, &["stop"]);
}

#[test]
fn user_profile_gives_the_same_findings_in_editor_and_check() {
    let home = Home::new();
    let tree = "//- /.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\nb\n\
         //- /house/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\nb\n";
    let top = home.worktree("w", tree);
    let dir = home.config_dir().join("skillsd");
    fs::create_dir_all(&dir).expect("it can be made");
    let text = "[profiles.house]\nbase = \"opencode\"\nagent = \"our agent\"\nduplicates = \"first-wins\"\nroots_first = [{ base = \"project\", relative = \"house\" }]\n";
    fs::write(dir.join("config.toml"), text).expect("it can be written");
    let checked = run_json(&home, &top, &["check", "--profile", "house"]);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    editor.configured = json!({"profiles": ["house"]});
    let skill = top.join(".agents/skills/pdf/SKILL.md");
    editor.open(&skill);
    editor.wait_for(&skill, &["index/shadowed"], &["index/shadowed -> pdf"]);
    let files = checked["files"].as_array().expect("a list");
    let file = files.iter().find(|it| it["path"] == json!(skill)).expect("it has findings");
    let said =
        |it: &Value| it["message"].as_str().expect("a text").lines().next().map(str::to_owned);
    let told: Vec<_> = editor.diagnostics(&skill).iter().map(said).collect();
    let expected: Vec<_> = file["findings"].as_array().expect("a list").iter().map(said).collect();
    assert_eq!(told, expected);
    assert!(told.iter().flatten().any(|it| it.contains("our agent")), "{told:?}");
    run(&home, &top, &["stop"]);
}

#[test]
fn configuration_keys_work_as_editor_settings() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
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
fn editor_with_its_own_session_opens_no_second_one() {
    const WAITS: &str = "//- /.claude/skills/rust/SKILL.md\n---\nname: rust\ndescription: Use it for Rust.\npaths: \"**/*.rs\"\n---\nb\n\
         //- /CLAUDE.md\nSee the `rust` skill.\n//- /src/a.rs\nfn main() {}\n";
    let home = Home::new();
    let top = home.worktree("w", WAITS);
    let mut editor = Editor::spawn(&home, &[]);
    editor.initialize_with(&[&top], full_capabilities(), json!({"session": "mine"}));
    let claude = top.join("CLAUDE.md");
    let session = format!("mine:{}", top.display());
    editor.open(&claude);
    // Opening a file is a touch only if the editor does not report touches itself.
    editor.open(&top.join("src/a.rs"));
    let mut hover = || {
        let at = Editor::place(&claude, "rust");
        let found = editor.ask("textDocument/hover", &claude, at, json!({})).expect("answered");
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    wait_for("the disk facts", || hover().contains("conditional").then_some(()));
    run(&home, &top, &["touch", "src/a.rs", "--session", &session]);
    wait_for("the activation", || hover().contains("activated").then_some(()));
    let all = run_json(&home, &top, &["session", "list"]);
    let sessions = all["sessions"].as_array().expect("a list");
    assert_eq!(sessions.len(), 1, "{all}");
    run(&home, &top, &["stop"]);
}

#[test]
fn workspace_diagnostics_report_progress() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let mut able = full_capabilities();
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
    // The progress end may arrive after the response.
    editor.wait_for_method_times("$/progress", 2);
    run(&home, &top, &["stop"]);
}

#[test]
fn profile_added_later_applies_in_the_editor() {
    let home = Home::new();
    let tree = "//- /.agents/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\nb\n\
         //- /house/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked.\n---\nb\n";
    let top = home.worktree("w", tree);
    let dir = home.config_dir().join("skillsd");
    fs::create_dir_all(&dir).expect("it can be made");
    let mut editor = Editor::start(&home, &[], &[&top], full_capabilities());
    editor.configured = json!({"profiles": ["house"]});
    let skill = top.join(".agents/skills/pdf/SKILL.md");
    editor.open(&skill);
    editor.wait_for_method("window/showMessage");
    // The fallback profile's diagnostics are published by then.
    editor.wait_for(&skill, &["index/shadowed"], &[]);
    let text = "[profiles.house]\nbase = \"opencode\"\nagent = \"our agent\"\nduplicates = \"first-wins\"\nroots_first = [{ base = \"project\", relative = \"house\" }]\n";
    fs::write(dir.join("config.toml"), text).expect("it can be written");
    // No client reports the change.
    editor.wait_for(&skill, &["index/shadowed"], &["index/shadowed -> pdf"]);
    // The new profile's roots are watched from then on.
    fs::remove_dir_all(top.join("house/pdf")).expect("it can be removed");
    editor.wait_for(&skill, &["index/shadowed"], &[]);
    run(&home, &top, &["stop"]);
}

#[test]
fn configuration_edit_updates_open_documents() {
    let home = Home::new();
    let tree = "//- /.agents/skills/report-writer/SKILL.md\n---\nname: report-writer\ndescription: Reads PDF files. Use when asked.\n---\nb\n\
         //- /CLAUDE.md\nUse the `report-writr` skill.\n";
    let top = home.worktree("w", tree);
    let dir = home.config_dir().join("skillsd");
    fs::create_dir_all(&dir).expect("it can be made");
    for args in [&[][..], &["--no-daemon"]] {
        let mut editor = Editor::start(&home, args, &[&top], full_capabilities());
        let doc = top.join("CLAUDE.md");
        editor.open(&doc);
        editor.wait_for(&doc, &["ref/"], &["ref/unknown"]);
        for file in [dir.join("config.toml"), top.join(".skillsd.toml")] {
            fs::write(&file, "[check.rules]\n\"ref/*\" = \"off\"\n").expect("it can be written");
            editor.wait_for(&doc, &["ref/"], &[]);
            fs::remove_file(&file).expect("it can be removed");
            editor.wait_for(&doc, &["ref/"], &["ref/unknown"]);
        }
    }
    run(&home, &top, &["stop"]);
}

#[test]
fn pulled_diagnostics_follow_the_configuration() {
    let home = Home::new();
    let top = home.worktree("w", TREE);
    let dir = home.config_dir().join("skillsd");
    fs::create_dir_all(&dir).expect("it can be made");
    let mut able = full_capabilities();
    able["textDocument"] = json!({"diagnostic": {}});
    able["workspace"]["diagnostics"] = json!({"refreshSupport": true});
    let a = top.join(".claude/skills/a/SKILL.md");
    for args in [&[][..], &["--no-daemon"]] {
        let mut editor = Editor::start(&home, args, &[&top], able.clone());
        editor.open(&a);
        let mut known = (Value::Null, false);
        // Pulls until the diagnostic is present, or absent; the server's refresh says when to pull
        // again.
        let mut wait = |editor: &mut Editor, is_wanted: bool| loop {
            let told = "workspace/diagnostic/refresh";
            let n_told = editor.received_methods.iter().filter(|it| *it == told).count();
            let document = json!({"textDocument": {"uri": uri(&a)}, "previousResultId": known.0});
            let report = editor.request("textDocument/diagnostic", document).expect("answered");
            if let Some(found) = report["items"].as_array() {
                let is_there = found.iter().any(|it| it["code"] == "name/directory");
                known = (report["resultId"].clone(), is_there);
            }
            if known.1 == is_wanted {
                return;
            }
            editor.wait_for_method_times(told, n_told + 1);
        };
        wait(&mut editor, true);
        for file in [dir.join("config.toml"), top.join(".skillsd.toml")] {
            fs::write(&file, "[check.rules]\n\"name/*\" = \"off\"\n").expect("it can be written");
            wait(&mut editor, false);
            fs::remove_file(&file).expect("it can be removed");
            wait(&mut editor, true);
        }
        assert!(editor.diagnostics(&a).is_empty(), "what is pulled is not published as well");
    }
    run(&home, &top, &["stop"]);
}
