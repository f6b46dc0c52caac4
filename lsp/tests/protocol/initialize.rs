//! Capabilities, and requests before and after `initialize`.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::editor::{Editor, URI, framed, range};

async fn check(capabilities: Value, expected: Expect) {
    let mut editor = Editor::connect(4096);
    let result = editor.initialize(capabilities).await;
    assert_eq!(result["serverInfo"]["name"], "skillsd");
    assert!(result["serverInfo"]["version"].is_string());
    let capabilities = result["capabilities"].as_object().expect("an object");
    let lines = capabilities.iter().map(|(name, value)| format!("{name}: {value}\n"));
    expected.assert_eq(&lines.collect::<String>());
}

#[tokio::test(start_paused = true)]
async fn capabilities_list_exactly_what_is_implemented() {
    check(
        json!({}),
        expect![[r#"
            positionEncoding: "utf-16"
            textDocumentSync: {"openClose":true,"change":2,"save":true}
            selectionRangeProvider: true
            hoverProvider: true
            completionProvider: {"resolveProvider":true,"triggerCharacters":[":"," ","-",",","[","(","$","{","/"]}
            definitionProvider: true
            referencesProvider: true
            documentHighlightProvider: true
            documentSymbolProvider: true
            workspaceSymbolProvider: true
            codeActionProvider: {"codeActionKinds":["quickfix","refactor.extract","refactor.rewrite","source.fixAll.skillsd"],"resolveProvider":true}
            codeLensProvider: {"resolveProvider":false}
            documentFormattingProvider: true
            renameProvider: {"prepareProvider":true}
            documentLinkProvider: {"resolveProvider":false}
            foldingRangeProvider: true
            executeCommandProvider: {"commands":["skillsd.open","skillsd.makeExecutable","skillsd.applyEdit"]}
            workspace: {"workspaceFolders":{"supported":true,"changeNotifications":true},"fileOperations":{"willRename":{"filters":[{"scheme":"file","pattern":{"glob":"**/*"}}]}}}
            semanticTokensProvider: {"legend":{"tokenTypes":["property","variable","function"],"tokenModifiers":["deprecated"]},"range":true,"full":true}
            inlayHintProvider: true
        "#]],
    )
    .await;
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-16", "utf-8"]},
        "textDocument": {"diagnostic": {}},
    });
    check(capabilities, expect![[r#"
        positionEncoding: "utf-8"
        textDocumentSync: {"openClose":true,"change":2,"save":true}
        selectionRangeProvider: true
        hoverProvider: true
        completionProvider: {"resolveProvider":true,"triggerCharacters":[":"," ","-",",","[","(","$","{","/"]}
        definitionProvider: true
        referencesProvider: true
        documentHighlightProvider: true
        documentSymbolProvider: true
        workspaceSymbolProvider: true
        codeActionProvider: {"codeActionKinds":["quickfix","refactor.extract","refactor.rewrite","source.fixAll.skillsd"],"resolveProvider":true}
        codeLensProvider: {"resolveProvider":false}
        documentFormattingProvider: true
        renameProvider: {"prepareProvider":true}
        documentLinkProvider: {"resolveProvider":false}
        foldingRangeProvider: true
        executeCommandProvider: {"commands":["skillsd.open","skillsd.makeExecutable","skillsd.applyEdit"]}
        workspace: {"workspaceFolders":{"supported":true,"changeNotifications":true},"fileOperations":{"willRename":{"filters":[{"scheme":"file","pattern":{"glob":"**/*"}}]}}}
        semanticTokensProvider: {"legend":{"tokenTypes":["property","variable","function"],"tokenModifiers":["deprecated"]},"range":true,"full":true}
        inlayHintProvider: true
        diagnosticProvider: {"identifier":"skillsd","interFileDependencies":true,"workspaceDiagnostics":true}
    "#]]).await;
}

#[tokio::test(start_paused = true)]
async fn unimplemented_methods_are_refused() {
    let mut editor = Editor::with(json!({})).await;
    editor.open(1, "---\nname: a\n---\n").await;
    for method in ["textDocument/declaration", "textDocument/diagnostic", "no/such", "$/odd"] {
        let position = json!({"line": 0, "character": 0});
        let params = json!({"textDocument": {"uri": URI}, "position": position});
        assert_eq!(editor.request(method, params).await, Err(-32601), "{method}");
    }
    editor.note("$/odd", json!({})).await;
    assert!(
        editor.ask("textDocument/documentSymbol").await.is_ok(),
        "a notification may be ignored"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_served_before_initialize() {
    let mut editor = Editor::connect(4096);
    assert_eq!(editor.ask("textDocument/documentSymbol").await, Err(-32002));
    editor.open(1, "").await;
    editor.initialize(json!({})).await;
    assert_eq!(editor.ask("textDocument/documentSymbol").await, Ok(Value::Null));
}

#[tokio::test(start_paused = true)]
async fn symbols_and_folding_ranges_are_served() {
    let nested = json!({"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}});
    let mut editor = Editor::with(json!({"textDocument": nested})).await;
    editor.open(1, "---\nname: pdf\nmetadata:\n  🦀: x\n---\n").await;
    let symbols = editor.ask("textDocument/documentSymbol").await.expect("it is advertised");
    let own = |symbol: &Value| format!("{} {}", symbol["name"], range(&symbol["selectionRange"]));
    assert_eq!(own(&symbols[0]), "\"name\" 1:0-1:4");
    assert_eq!(own(&symbols[1]), "\"metadata\" 2:0-2:8");
    assert_eq!(own(&symbols[1]["children"][0]), "\"🦀\" 3:2-3:4");
    let folds = editor.ask("textDocument/foldingRange").await.expect("it is advertised");
    let lines = |fold: &Value| (fold["startLine"].as_u64(), fold["endLine"].as_u64());
    let lines: Vec<_> = folds.as_array().expect("a list").iter().map(lines).collect();
    assert_eq!(lines, [(Some(0), Some(4)), (Some(2), Some(3))]);
}

#[tokio::test(start_paused = true)]
async fn invalid_messages_get_errors_and_serving_continues() {
    let mut editor = Editor::with(json!({})).await;
    for (body, code) in [
        ("{\"jsonrpc\": \"2.0\", ", -32700),
        ("\u{FF}", -32700),
        ("3", -32600),
        ("[]", -32600),
        ("{\"jsonrpc\": \"1.0\", \"method\": \"shutdown\"}", -32600),
    ] {
        let framed = format!("Content-Type: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        editor.send(framed.as_bytes()).await;
        assert_eq!(editor.answer(&Value::Null).await, Err(code), "{body}");
    }
    // Unknown notifications and unexpected responses get no response.
    editor.note("$/no/such", json!({})).await;
    editor.send(&framed(&json!({"jsonrpc": "2.0", "id": 9, "result": null}))).await;
    assert_eq!(editor.request("shutdown", Value::Null).await, Ok(Value::Null));
}
