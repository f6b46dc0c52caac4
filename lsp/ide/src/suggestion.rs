//! One completion suggestion and its kind.

/// One completion suggestion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggestion {
    /// The label shown in the list.
    pub label: String,
    /// Its kind.
    pub kind: SuggestionKind,
    /// Short text shown next to the label; may be empty.
    pub detail: String,
    /// The inserted plain text.
    pub text: String,
    /// The inserted text with tab stops, in LSP snippet syntax.
    pub snippet: Option<String>,
}

/// The kind of a suggestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuggestionKind {
    /// A frontmatter field.
    Field,
    /// A value of a field.
    Value,
    /// A tool.
    Tool,
    /// A hook event.
    Event,
    /// A key inside `hooks` or `metadata`.
    Key,
    /// A variable of the body.
    Variable,
    /// A whole file.
    File,
    /// A file or a glob.
    Path,
}
