//! One run of discovery over the directory index, on the event loop or on a thread of its own.

use skills_discovery::discover::{DiscoveryContext, Resolution, discover};

use crate::files::dir_index::{Need, NodeId};
use crate::sources::source_uses::SourceDependencies;
use crate::views::tracked_tree::{DiscoveryInput, TrackedTree};

/// Result of one run.
pub(crate) struct DiscoveryRun {
    pub(crate) resolution: Resolution,
    /// Answers that were missing; the resolution is final if there are none.
    pub(crate) needs: Vec<Need>,
    /// The nodes that the resolution depends on.
    pub(crate) depends: Dependencies,
    /// The external sources that it depends on.
    pub(crate) uses: SourceDependencies,
    /// Number of questions to the index, a measure of the time that the run took.
    pub(crate) n_visits: usize,
}

impl DiscoveryInput {
    /// Runs discovery once. After `limit` visits, the tree answers nothing more, and the result is
    /// of no use.
    pub(crate) fn run(&self, ctx: &DiscoveryContext, limit: usize) -> DiscoveryRun {
        let tree = TrackedTree::new(self, limit);
        let resolution = discover(ctx, &tree);
        let notes = tree.into_notes();
        let n_visits = notes.n_visits();
        let depends = Dependencies::new(notes.visited);
        DiscoveryRun { resolution, needs: notes.needs, depends, uses: notes.uses, n_visits }
    }
}

/// A sorted set of nodes.
#[derive(PartialEq)]
pub(crate) struct Dependencies(Vec<NodeId>);

impl Dependencies {
    fn new(mut visited: Vec<NodeId>) -> Self {
        visited.sort_unstable();
        visited.dedup();
        visited.shrink_to_fit();
        Self(visited)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = NodeId> {
        self.0.iter().copied()
    }

    pub(crate) fn contains(&self, id: NodeId) -> bool {
        self.0.binary_search(&id).is_ok()
    }
}
