//! Comments, anchors and aliases of a frontmatter ([`Annotations`]).
//!
//! All pieces of a frontmatter share one [`Annotations`]; a piece that turns out to be invalid YAML
//! is rolled back.

use crate::parse::tree::Anchor;
use crate::text::Span;

/// The annotations of the pieces read so far.
#[derive(Default, Debug)]
pub(super) struct Annotations {
    pub(super) comments: Vec<Span>,
    pub(super) anchors: Vec<Anchor>,
    /// Aliases that refer to an anchor.
    pub(super) aliases: Vec<Span>,
    /// Aliases read as text.
    pub(super) unknown_aliases: Vec<Span>,
    /// Aliases inside the value they refer to.
    pub(super) recursive_aliases: Vec<Span>,
}

/// A state of [`Annotations`] that can be restored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Savepoint([usize; 5]);

impl Annotations {
    pub(super) fn savepoint(&self) -> Savepoint {
        Savepoint([
            self.comments.len(),
            self.anchors.len(),
            self.aliases.len(),
            self.unknown_aliases.len(),
            self.recursive_aliases.len(),
        ])
    }

    pub(super) fn roll_back(&mut self, Savepoint(lengths): Savepoint) {
        self.comments.truncate(lengths[0]);
        self.anchors.truncate(lengths[1]);
        self.aliases.truncate(lengths[2]);
        self.unknown_aliases.truncate(lengths[3]);
        self.recursive_aliases.truncate(lengths[4]);
    }
}
