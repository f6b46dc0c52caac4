//! Which place an open text belongs to, and what each place sees of the open texts.
//!
//! The disk decides: a text of another worktree is another place's, though it lies below a folder of
//! the client. What the disk does not have counts where an agent would meet it, see
//! [`WorkspaceSnapshot::overlaid`].
//!
//! [`WorkspaceSnapshot::overlaid`]: crate::known::Known::overlaid

use std::sync::Arc;

use skills_syntax::path::AbsPath;

use super::{Place, WorkspaceState};
use crate::backend::DocumentLocation;
use crate::snapshot::{Buffer, OverlaySnapshot};

impl WorkspaceState {
    /// Returns the place that a file belongs to: the deepest above it that sees it or is in the same
    /// worktree, else one that sees it.
    pub(crate) fn place_of(&self, path: &AbsPath) -> Option<AbsPath> {
        Some(self.find(path)?.root.clone())
    }

    fn find(&self, path: &AbsPath) -> Option<&Place> {
        let top = self.whereabouts.get(path).and_then(|it| it.worktree.as_ref());
        let sees = |it: &&Place| it.known.as_ref().is_some_and(|it| it.sees(path));
        // A repository below a place is another one's, but for a skill that is one itself.
        let is_own = |it: &&Place| {
            path.starts_with(&*it.root)
                && (top.is_none_or(|top| it.root.starts_with(top)) || sees(it))
        };
        let above = self.places.iter().filter(is_own);
        let deepest = above.max_by_key(|it| it.root.as_os_str().len());
        deepest.or_else(|| self.places.iter().find(sees))
    }

    /// Whether it is known where a text is.
    pub(crate) fn is_located(&self, path: &AbsPath) -> bool {
        self.whereabouts.contains_key(path)
    }

    /// Takes up where texts are. Returns whether anything follows from it.
    pub(crate) fn take_whereabouts(&mut self, found: Vec<(AbsPath, DocumentLocation)>) {
        let mut is_other = false;
        for (path, whereabouts) in found {
            let before = (self.place_of(&path), self.is_there(&path));
            self.whereabouts.insert(path.clone(), whereabouts);
            is_other |= before != (self.place_of(&path), self.is_there(&path));
        }
        if is_other {
            self.forget_overlaid();
            self.generation += 1;
        }
    }

    /// Whether a text is on the disk; where that was not asked it is taken to be.
    fn is_there(&self, path: &AbsPath) -> bool {
        self.whereabouts.get(path).is_none_or(|it| it.is_there)
    }

    /// Lets go of what the open texts make of the places: it depends on where they belong.
    pub(super) fn forget_overlaid(&mut self) {
        for place in &mut self.places {
            place.overlaid = None;
        }
    }

    /// Returns what is known of a place, with the open texts over it.
    pub(super) fn overlaid(&mut self, index: usize, buffers: &[Buffer]) -> Arc<OverlaySnapshot> {
        let Place { root, known, overlaid, .. } = &self.places[index];
        let Some(known) = known else { return Arc::default() };
        if let Some((_, overlaid)) = overlaid.as_ref().filter(|(of, _)| of == buffers) {
            return Arc::clone(overlaid);
        }
        let is_own = |it: &AbsPath| self.find(it).is_some_and(|it| it.root == *root);
        let overlaid = Arc::new(known.overlaid(buffers, is_own, |it| self.is_there(it)));
        self.places[index].overlaid = Some((buffers.to_vec(), Arc::clone(&overlaid)));
        overlaid
    }
}
