//! Describes a search for texts that may reference skills ([`TextSearch`]); the engine executes it.

use skills_syntax::path::AbsPath;

/// The texts to search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TextSearch {
    /// The top of the worktree to search.
    pub top: Option<AbsPath>,
    /// The user's home directory, for instructions that apply to every session.
    pub home: Option<AbsPath>,
    /// The skills whose texts are searched.
    pub skills: Vec<AbsPath>,
    /// A text must contain one of these words; empty for any text.
    pub words: Vec<String>,
    /// Directories whose texts are all included, regardless of their content.
    pub below: Vec<AbsPath>,
}
