//! [`PublishQueue`]: the documents whose diagnostics are to be published.

use std::collections::{HashSet, VecDeque};

use tower_lsp::ls_types::Uri;

/// Documents to publish, each once. Changed documents come before their dependents, so that a
/// letter does not wait for all open documents.
#[derive(Debug, Default)]
pub(super) struct PublishQueue {
    changed: UriQueue,
    dependent: UriQueue,
}

/// A queue that contains each URI once, oldest first.
#[derive(Debug, Default)]
struct UriQueue {
    /// Entries that are not in `queued` any more are skipped.
    order: VecDeque<Uri>,
    queued: HashSet<Uri>,
}

impl UriQueue {
    fn push(&mut self, uri: Uri) {
        if self.queued.insert(uri.clone()) {
            self.order.push_back(uri);
        }
    }

    fn pop(&mut self) -> Option<Uri> {
        std::iter::from_fn(|| self.order.pop_front()).find(|it| self.queued.remove(it))
    }
}

impl PublishQueue {
    /// Adds a document that the client has opened, changed or closed.
    pub(super) fn push_changed(&mut self, uri: Uri) {
        self.changed.push(uri);
    }

    /// Adds a document whose findings may have changed.
    pub(super) fn push_dependent(&mut self, uri: Uri) {
        if !self.changed.queued.contains(&uri) {
            self.dependent.push(uri);
        }
    }

    /// Removes and returns the next document.
    pub(super) fn pop(&mut self) -> Option<Uri> {
        let Some(uri) = self.changed.pop() else { return self.dependent.pop() };
        self.dependent.queued.remove(&uri);
        Some(uri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_documents_come_first_and_each_document_once() {
        let uri = |name: &str| format!("file:///{name}").parse::<Uri>().unwrap();
        let mut queue = PublishQueue::default();
        for name in ["a", "b", "c", "a"] {
            queue.push_dependent(uri(name));
        }
        for name in ["c", "d", "c"] {
            queue.push_changed(uri(name));
        }
        queue.push_dependent(uri("d"));
        let mut popped = Vec::new();
        while let Some(it) = queue.pop() {
            popped.push(it.as_str()["file:///".len()..].to_owned());
            if popped.len() == 1 {
                queue.push_dependent(uri("c"));
            }
        }
        assert_eq!(popped, ["c", "d", "a", "b", "c"]);
    }
}
