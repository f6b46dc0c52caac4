//! The methods of the protocol, each handed on to its handler.
//!
//! No logic here: a method takes what its handler needs out of the session, and that is all.
//! Notes about texts never come this far, see [`crate::arrival`].

use std::sync::Arc;

use skills_core::rules::Nowhere;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{
    CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams, CompletionItem,
    CompletionParams, CompletionResponse, DidChangeConfigurationParams, DidSaveTextDocumentParams,
    DocumentDiagnosticParams, DocumentDiagnosticReportResult, DocumentFormattingParams,
    DocumentSymbolParams, DocumentSymbolResponse, FoldingRange, FoldingRangeParams, Hover,
    HoverParams, InitializeParams, InitializeResult, InlayHint, InlayHintParams, SelectionRange,
    SelectionRangeParams, SemanticTokensParams, SemanticTokensRangeParams,
    SemanticTokensRangeResult, SemanticTokensResult, TextDocumentPositionParams, TextEdit,
};
use tower_lsp::{Client, LanguageServer};

use crate::session::Session;
use crate::{from_proto, handlers};

/// The server as one client sees it.
#[derive(Debug)]
pub(crate) struct Server {
    client: Client,
    session: Arc<Session>,
}

impl Server {
    pub(crate) fn new(client: Client, session: Arc<Session>) -> Self {
        Self { client, session }
    }

    /// Returns the way to the client.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }
}

impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let mut settings = from_proto::settings(&params.capabilities);
        if let Some(options) = &params.initialization_options {
            settings.features = from_proto::features(options);
        }
        self.session.begin(settings);
        Ok(handlers::initialize::initialize(settings))
    }

    async fn shutdown(&self) -> Result<()> {
        self.session.shut_down();
        Ok(())
    }

    // Clients send these unasked. There is nothing to configure, and what is saved is as it is open.

    async fn did_change_configuration(&self, _: DidChangeConfigurationParams) {}

    async fn did_save(&self, _: DidSaveTextDocumentParams) {}

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        let settings = self.session.settings();
        if !settings.pulls_diagnostics {
            // Never both ways: this client is sent them.
            return Err(Error::method_not_found());
        }
        let document = self.session.document(params.text_document.uri.as_str());
        Ok(handlers::diagnostic::diagnostic(document.as_deref(), &params, settings).into())
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let document = self.session.document(text_document.uri.as_str());
        let settings = self.session.settings();
        Ok(document.and_then(|it| handlers::completion::completion(&it, position, settings)))
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        Ok(handlers::completion::resolve(item))
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let TextDocumentPositionParams { text_document, position } =
            params.text_document_position_params;
        let document = self.session.document(text_document.uri.as_str());
        let settings = self.session.settings();
        Ok(document.and_then(|it| handlers::hover::hover(&it, position, settings)))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        let CodeActionParams { range, context, .. } = params;
        Ok(document.and_then(|it| {
            handlers::code_action::code_action(&it, range, &context, &Nowhere, settings)
        }))
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        Ok(document.and_then(|it| handlers::document_symbol::document_symbol(&it, settings)))
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        Ok(document.and_then(|it| handlers::folding_range::folding_range(&it, settings)))
    }
    async fn selection_range(
        &self,
        params: SelectionRangeParams,
    ) -> Result<Option<Vec<SelectionRange>>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        let positions = params.positions;
        Ok(document
            .and_then(|it| handlers::selection_range::selection_range(&it, &positions, settings)))
    }

    async fn semantic_tokens_full(
        &self,
        params: SemanticTokensParams,
    ) -> Result<Option<SemanticTokensResult>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        let tokens =
            document.and_then(|it| handlers::semantic_tokens::semantic_tokens(&it, None, settings));
        Ok(tokens.map(SemanticTokensResult::Tokens))
    }

    async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokensRangeResult>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        let range = Some(params.range);
        let tokens = document
            .and_then(|it| handlers::semantic_tokens::semantic_tokens(&it, range, settings));
        Ok(tokens.map(SemanticTokensRangeResult::Tokens))
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        Ok(document
            .and_then(|it| handlers::inlay_hint::inlay_hint(&it, params.range, &Nowhere, settings)))
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        Ok(document.and_then(|it| handlers::code_lens::code_lens(&it, &Nowhere, None, settings)))
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        let document = self.session.document(params.text_document.uri.as_str());
        let settings = self.session.settings();
        Ok(document.and_then(|it| handlers::formatting::formatting(&it, settings)))
    }
}
