//! A refactoring that can be applied: its title, kind and edits.

use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;

/// A refactoring that can be applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refactoring {
    /// The title, an imperative without a full stop.
    pub title: String,
    /// Its kind.
    pub kind: RefactorKind,
    /// The edits of the text; they do not overlap.
    pub edits: Vec<Edit>,
    /// A file to create, with its text.
    pub creates: Option<(AbsPath, String)>,
}

/// The kind of a refactoring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefactorKind {
    /// Moves text to a new file.
    Extract,
    /// Rewrites text in an equivalent form.
    Rewrite,
}
