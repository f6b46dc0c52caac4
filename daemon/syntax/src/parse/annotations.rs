//! What a frontmatter holds besides its values: comments, anchors, aliases.
//!
//! Pieces are read one after the other into the same notes; a piece that turns out to be no YAML
//! takes back what it noted.

use crate::parse::tree::Anchor;
use crate::text::Span;

/// What the pieces read so far hold besides their values.
#[derive(Default, Debug)]
pub(super) struct Annotations {
    pub(super) comments: Vec<Span>,
    pub(super) anchors: Vec<Anchor>,
    /// Aliases that refer to an anchor.
    pub(super) aliases: Vec<Span>,
    /// Aliases that were read as text.
    pub(super) unknown_aliases: Vec<Span>,
    /// Aliases that lie inside the value they refer to.
    pub(super) recursive_aliases: Vec<Span>,
}

/// A state of [`Annotations`] to go back to.
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

    pub(super) fn go_back(&mut self, Savepoint(lengths): Savepoint) {
        self.comments.truncate(lengths[0]);
        self.anchors.truncate(lengths[1]);
        self.aliases.truncate(lengths[2]);
        self.unknown_aliases.truncate(lengths[3]);
        self.recursive_aliases.truncate(lengths[4]);
    }
}
