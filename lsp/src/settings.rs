//! What was agreed with the client in `initialize`: a few flags, asked by name from then on.
//!
//! Made once, by [`crate::from_proto`]; nothing else looks at the client's capabilities.

/// What a column counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Encoding {
    Utf8,
    /// What every client knows, and the only one where nothing is said.
    #[default]
    Utf16,
    Utf32,
}

/// What was agreed with the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Settings {
    /// What the columns of all positions count, both ways.
    pub(crate) encoding: Encoding,
    /// Whether the client asks for diagnostics. Then none are sent unasked: it would show both.
    pub(crate) pulls_diagnostics: bool,
    /// Whether the client takes document symbols that hold others.
    pub(crate) nested_symbols: bool,
    /// Whether the client fills in the places of a snippet.
    pub(crate) snippets: bool,
    /// How many folds the client wants at most.
    pub(crate) max_folds: Option<usize>,
}
