//! Requests that wait for disk facts and are cancelled or outdated meanwhile.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::client::{Editor, full_capabilities, uri};
use crate::hung_daemon::HungDaemon;

/// LSP error codes `RequestCancelled` and `ContentModified`.
const CANCELLED: i64 = -32800;
const MODIFIED: i64 = -32801;

/// Methods that wait until all facts about the open documents are known.
const WAITING: [&str; 2] = ["textDocument/documentLink", "textDocument/semanticTokens/full"];

/// Starts an editor on a hung daemon, so that requests that need it wait.
fn editor_on_hung_daemon(hung: &HungDaemon) -> (Editor, PathBuf) {
    hung.hang();
    let mut editor = Editor::start(hung.home(), &[], &[&hung.top], full_capabilities());
    let skill = hung.top.join(".agents/skills/pdf/SKILL.md");
    editor.open(&skill);
    (editor, skill)
}

fn begin_request(editor: &mut Editor, method: &str, path: &Path) -> u64 {
    editor.begin(method, json!({"textDocument": {"uri": uri(path)}}))
}

#[test]
fn cancelled_waiting_requests_answer_request_cancelled() {
    let hung = HungDaemon::new();
    let (mut editor, skill) = editor_on_hung_daemon(&hung);
    for method in WAITING {
        let id = begin_request(&mut editor, method, &skill);
        editor.note("$/cancelRequest", json!({"id": id}));
        let error = editor.answer(id).expect_err(method);
        assert_eq!(error["code"], CANCELLED, "{method}: {error}");
    }
    // No state is left behind, and the next request is answered.
    let id = begin_request(&mut editor, "textDocument/documentSymbol", &skill);
    assert!(editor.answer(id).is_ok());
}

#[test]
fn outdated_waiting_requests_answer_content_modified() {
    let hung = HungDaemon::new();
    let (mut editor, skill) = editor_on_hung_daemon(&hung);
    for method in WAITING {
        let id = begin_request(&mut editor, method, &skill);
        editor.edit(&skill, "---\nname: pdf\ndescription: Typed. Use when asked.\n---\nb\n");
        let error = editor.answer(id).expect_err(method);
        assert_eq!(error["code"], MODIFIED, "{method}: {error}");
    }
    // Requests about the current text are answered with the facts known by then.
    for method in WAITING {
        let id = begin_request(&mut editor, method, &skill);
        let answer = editor.answer(id).unwrap_or_else(|error| panic!("{method}: {error}"));
        assert!(!answer.is_null(), "{method}");
    }
}

#[test]
fn cancelling_one_waiting_request_keeps_the_others() {
    let hung = HungDaemon::new();
    let (mut editor, skill) = editor_on_hung_daemon(&hung);
    let ids = WAITING.map(|method| begin_request(&mut editor, method, &skill));
    editor.note("$/cancelRequest", json!({"id": ids[0]}));
    assert_eq!(editor.answer(ids[0]).expect_err("it is cancelled")["code"], CANCELLED);
    assert!(editor.answer(ids[1]).is_ok());
}
