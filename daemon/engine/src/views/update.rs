//! Changes of published views, and the callback for them.

use std::sync::Arc;

use crate::views::view::View;

/// Callback for each change of a published view; runs on the event loop's thread and must not
/// block.
pub type Listener = Box<dyn Fn(&Update) + Send>;

/// A change of a view.
#[derive(Debug)]
pub struct Update {
    /// The new state.
    pub view: Arc<View>,
    /// True if a skill was added, removed or changed.
    pub skills: bool,
    /// Indexes of new or changed candidates that the agent now drops or that cannot be read at the
    /// moment.
    pub invalid: Vec<usize>,
    /// True if the findings of any file changed or may have: the worktree's own configuration file
    /// changed.
    pub findings: bool,
    /// True if the view's health changed.
    pub health: bool,
}
