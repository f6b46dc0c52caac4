//! `textDocument/didOpen`, `didChange` and `didClose`.
//!
//! Called in wire order.

use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
};

use crate::document::Document;
use crate::from_proto;
use crate::session::Session;
use crate::settings::Settings;

/// Opens a document.
pub(crate) fn did_open(session: &Session, params: DidOpenTextDocumentParams) {
    let item = params.text_document;
    session.open(item.uri, item.version, item.text);
}

/// Applies all changes, each to the text after the previous one.
pub(crate) fn did_change(session: &Session, params: DidChangeTextDocumentParams) {
    let edits = params.content_changes.into_iter().map(|change| {
        move |document: &Document, settings: Settings| {
            from_proto::edit(document, change, settings.encoding)
        }
    });
    session.change(params.text_document.uri, params.text_document.version, edits);
}

/// Closes a document.
pub(crate) fn did_close(session: &Session, params: DidCloseTextDocumentParams) {
    session.close(params.text_document.uri);
}
