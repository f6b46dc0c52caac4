//! Position encodings: columns of the same finding in each encoding, sent and received.

use serde_json::{Value, json};

use crate::editor::{Editor, part, range};

/// Opens `before` followed by an invalid value and checks the range of the finding; then replaces
/// that range and checks that the finding is gone.
async fn check(kind: &str, before: &str, expected: &str) {
    let offer = json!({"general": {"positionEncodings": [kind, "utf-16"]}});
    // With UTF-16 on offer, the server would not choose UTF-32.
    let offer =
        if kind == "utf-32" { json!({"general": {"positionEncodings": [kind]}}) } else { offer };
    let mut editor = Editor::connect(4096);
    let result = editor.initialize(offer).await;
    assert_eq!(result["capabilities"]["positionEncoding"], kind);

    editor.open(1, &format!("{before}漢🦀 a: b\r\n---\r\n")).await;
    let published = editor.published().await;
    let of_quoting = |published: &Value| {
        let found = published["diagnostics"].as_array().expect("a list").iter();
        let is_quoting =
            |it: &&Value| it["code"].as_str().is_some_and(|it| it.starts_with("yaml/unquoted"));
        found.filter(is_quoting).cloned().collect::<Vec<_>>()
    };
    let found = of_quoting(&published);
    let [found] = &found[..] else { panic!("{kind} {before:?}: {published}") };
    assert_eq!(found["code"], "yaml/unquoted-colon", "{kind} {before:?}");
    assert_eq!(range(&found["range"]), expected, "{kind} {before:?}");

    let place = |key: &str| {
        let number = |name: &str| found["range"][key][name].as_u64().expect("a number") as u32;
        (number("line"), number("character"))
    };
    editor.change(2, &[part(place("start"), place("end"), "c")]).await;
    let published = editor.published().await;
    assert_eq!(of_quoting(&published), [json!(null); 0], "{kind} {before:?}");
}

#[tokio::test(start_paused = true)]
async fn ranges_are_exact_in_the_agreed_encoding() {
    for (before, utf8, utf16, utf32) in [
        ("---\nx: ", "1:12-1:13", "1:8-1:9", "1:7-1:8"),
        ("---\r\nx: ", "1:12-1:13", "1:8-1:9", "1:7-1:8"),
        ("\u{FEFF}---\r\nx: ", "1:12-1:13", "1:8-1:9", "1:7-1:8"),
        ("---\n# é🦀漢\nx: 🦀🦀 漢字 ", "2:28-2:29", "2:16-2:17", "2:13-2:14"),
        ("---\n漢: e\u{301} ", "1:18-1:19", "1:11-1:12", "1:10-1:11"),
    ] {
        check("utf-8", before, utf8).await;
        check("utf-16", before, utf16).await;
        check("utf-32", before, utf32).await;
    }
}
