//! What the user sets in the editor: what is wrong with it is told once, and the rest counts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::editor::Editor;
use crate::told::Told;

/// Returns what the user is told, each with how it is told.
async fn told(editor: &mut Editor) -> Vec<(String, String)> {
    tokio::time::sleep(Duration::from_mins(1)).await;
    let _ = editor.ask("textDocument/foldingRange").await;
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let notes = editor.kept().into_iter().filter(|it| {
        let method = it["method"].as_str().unwrap_or_default();
        method.starts_with("window/")
    });
    notes.map(|it| (text(&it["method"]), text(&it["params"]["message"]))).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_wrong_with_the_settings_is_told_once_and_the_rest_counts() {
    let source = Told { places: [("/w", &[][..])].into(), ..Told::default() };
    let mut editor = Editor::connect_over(64 * 1024, Arc::new(source));
    editor.initialize_in(&["/w"], json!({})).await;
    let text = "---\nname: pdf\ndescription: Reads PDF files.\neffort: high\n---\nRead.\n";
    editor.open(1, text).await;
    let settings = json!({"settings": {"skillsd": {"proflies": [], "check": {
        "profiles": ["claude-cod", "codex"],
        "rules": {"nam/case": "off", "description/*": "off"},
    }}}});
    editor.note("workspace/didChangeConfiguration", settings.clone()).await;
    let found = told(&mut editor).await;
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
    let again = told(&mut editor).await;
    assert!(again.is_empty(), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn a_profile_counts_once_the_user_has_made_it() {
    let source = Arc::new(Told { places: [("/w", &[][..])].into(), ..Told::default() });
    let mut editor = Editor::connect_over(64 * 1024, Arc::clone(&source) as _);
    editor.initialize_in(&["/w"], json!({})).await;
    let settings = json!({"settings": {"skillsd": {"check": {"profiles": ["mine", "codex"]}}}});
    editor.note("workspace/didChangeConfiguration", settings).await;
    assert_eq!(told(&mut editor).await.len(), 1);
    assert_eq!(*source.profiles.lock().unwrap(), ["codex"]);
    *source.own.lock().unwrap() = "[profiles.mine]\nbase = \"codex\"\n".to_owned();
    source.ring();
    assert!(told(&mut editor).await.is_empty());
    assert_eq!(*source.profiles.lock().unwrap(), ["mine", "codex"]);
}
