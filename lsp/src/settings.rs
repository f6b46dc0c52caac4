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
    /// Whether the client makes files that an edit asks for.
    pub(crate) creates_files: bool,
    /// Whether the client renames files that an edit asks for.
    pub(crate) renames_files: bool,
    /// Whether the client takes actions that are more than commands.
    pub(crate) action_literals: bool,
    /// Whether the client can be asked to make an edit.
    pub(crate) applies_edits: bool,
    /// Whether the client asks for the edit of an action once that is chosen.
    pub(crate) resolves_actions: bool,
    /// Whether the client shows actions that cannot be chosen, with the reason.
    pub(crate) shows_disabled: bool,
    /// What the client can be asked to ask for again.
    pub(crate) refreshes: Refreshes,
    /// Whether the client shows places itself when a lens is chosen.
    pub(crate) shows_references: bool,
    /// Whether the client can be asked to open a text.
    pub(crate) shows_documents: bool,
    /// Whether the client shows that something is under way that it has not asked for.
    pub(crate) shows_progress: bool,
    /// Whether the client watches files that it is asked to watch.
    pub(crate) registers_watchers: bool,
    /// Whether it can be told below which directory.
    pub(crate) watches_below: bool,
    /// Whether the client can be asked for its settings.
    pub(crate) has_configuration: bool,
    /// What the user wants to see.
    pub(crate) features: Features,
}

/// What the client can be asked to ask for again, of all texts at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Refreshes {
    pub(crate) diagnostics: bool,
    pub(crate) code_lens: bool,
    pub(crate) inlay_hints: bool,
    pub(crate) semantic_tokens: bool,
}

/// What the user wants to see besides what is always there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Features {
    /// Costs and counts between the letters.
    pub(crate) inlay_hints: bool,
    /// Lines above a skill that say who uses it.
    pub(crate) code_lens: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self { inlay_hints: false, code_lens: true }
    }
}
