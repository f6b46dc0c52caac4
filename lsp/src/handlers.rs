//! One file for each thing a client can ask for.
//!
//! A handler is a free function: a text, what is known around it and parameters in, a result out.
//! It knows nothing of connections, locks or who asked. Those about several files are handed
//! [`crate::texts::Texts`] to read them by.

pub(crate) mod initialize;

pub(crate) mod synchronization;

pub(crate) mod diagnostic;

pub(crate) mod completion;

pub(crate) mod hover;

pub(crate) mod code_action;

pub(crate) mod execute_command;

pub(crate) mod document_symbol;

pub(crate) mod folding_range;

pub(crate) mod selection_range;

pub(crate) mod semantic_tokens;

pub(crate) mod inlay_hint;

pub(crate) mod code_lens;

pub(crate) mod formatting;

pub(crate) mod definition;

pub(crate) mod document_highlight;

pub(crate) mod document_link;

pub(crate) mod workspace_symbol;

pub(crate) mod rename;

pub(crate) mod will_rename_files;

mod rename_edits;

mod converting;

pub(crate) mod workspace_diagnostic;
