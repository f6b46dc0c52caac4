//! The editor's settings: each problem is reported once, and valid settings still apply.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::editor::Editor;
use crate::mock_backend::MockBackend;

/// Returns the messages shown to the user or logged, each with its method.
async fn user_messages(editor: &mut Editor) -> Vec<(String, String)> {
    tokio::time::sleep(Duration::from_mins(1)).await;
    let _ = editor.ask("textDocument/foldingRange").await;
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let notes = editor.take_messages().into_iter().filter(|it| {
        let method = it["method"].as_str().unwrap_or_default();
        method.starts_with("window/")
    });
    notes.map(|it| (text(&it["method"]), text(&it["params"]["message"]))).collect()
}

#[tokio::test(start_paused = true)]
async fn settings_problems_are_reported_once_and_valid_settings_apply() {
    let backend = MockBackend { roots: [("/w", &[][..])].into(), ..MockBackend::default() };
    let mut editor = Editor::connect_over(64 * 1024, Arc::new(backend));
    editor.initialize_in(&["/w"], json!({})).await;
    let text = "---\nname: pdf\ndescription: Reads PDF files.\neffort: high\n---\nRead.\n";
    editor.open(1, text).await;
    let settings = json!({"settings": {"skillsd": {"proflies": [], "check": {
        "profiles": ["claude-cod", "codex"],
        "rules": {"nam/case": "off", "description/*": "off"},
    }}}});
    editor.note("workspace/didChangeConfiguration", settings.clone()).await;
    let found = user_messages(&mut editor).await;
    let methods: Vec<_> = found.iter().map(|(method, _)| method.as_str()).collect();
    let (shown, logged) = ("window/showMessage", "window/logMessage");
    assert_eq!(methods, [logged, shown, shown], "{found:?}");
    for (at, words) in [
        (0, ["`skillsd.proflies`", "`check`"]),
        (1, ["`nam/case`", "`name/*`"]),
        (2, ["`claude-cod`", "`claude-code`"]),
    ] {
        for word in words {
            assert!(found[at].1.contains(word), "{word}: {found:?}");
        }
    }
    editor.note("workspace/didChangeConfiguration", settings).await;
    let again = user_messages(&mut editor).await;
    assert!(again.is_empty(), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn unknown_profile_applies_after_it_is_defined() {
    let backend =
        Arc::new(MockBackend { roots: [("/w", &[][..])].into(), ..MockBackend::default() });
    let mut editor = Editor::connect_over(64 * 1024, Arc::clone(&backend) as _);
    editor.initialize_in(&["/w"], json!({})).await;
    let settings = json!({"settings": {"skillsd": {"check": {"profiles": ["mine", "codex"]}}}});
    editor.note("workspace/didChangeConfiguration", settings).await;
    assert_eq!(user_messages(&mut editor).await.len(), 1);
    assert_eq!(*backend.profiles.lock().unwrap(), ["codex"]);
    *backend.own_profiles.lock().unwrap() = "[profiles.mine]\nbase = \"codex\"\n".to_owned();
    backend.notify_change();
    assert!(user_messages(&mut editor).await.is_empty());
    assert_eq!(*backend.profiles.lock().unwrap(), ["mine", "codex"]);
}
