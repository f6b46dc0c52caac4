//! A refactoring that is offered: its title, its kind and the change that it makes.

use std::fmt;

use skills_syntax::edit::Edit;
use skills_syntax::path::AbsPath;

/// A refactoring that is offered.
pub struct Refactoring<'a> {
    /// The title, an imperative without a full stop.
    pub title: String,
    /// Its kind.
    pub kind: RefactorKind,
    /// The file that it creates.
    pub creates: Option<AbsPath>,
    change: Box<dyn Fn() -> Change + 'a>,
}

/// The change that a refactoring makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The edits of the text; they do not overlap.
    pub edits: Vec<Edit>,
    /// The text of the created file; empty if none is created.
    pub created_text: String,
}

impl<'a> Refactoring<'a> {
    /// Creates an offer. Editors request all offers at each move of the cursor, so `change` is
    /// called only for the chosen one.
    pub(super) fn new(
        title: String,
        kind: RefactorKind,
        creates: Option<AbsPath>,
        change: impl Fn() -> Change + 'a,
    ) -> Self {
        Self { title, kind, creates, change: Box::new(change) }
    }

    /// Computes the change.
    pub fn change(&self) -> Change {
        (self.change)()
    }
}

impl fmt::Debug for Refactoring<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refactoring").field("title", &self.title).finish_non_exhaustive()
    }
}

/// The kind of a refactoring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefactorKind {
    /// Moves text to a new file.
    Extract,
    /// Rewrites text in an equivalent form.
    Rewrite,
}
