//! Skill directories and activations that a session adds to a view.
//!
//! Compared by content, not by session: sessions with equal additions share a view.

use skills_syntax::path::AbsPath;

/// Additions of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Overlay {
    nested: Vec<AbsPath>,
    activated: Vec<AbsPath>,
}

impl Overlay {
    /// Returns an overlay of nested skill directories and of activated SKILL.md files. Order and
    /// duplicates do not matter.
    pub fn new(mut nested: Vec<AbsPath>, mut activated: Vec<AbsPath>) -> Self {
        let depth = |it: &AbsPath| it.components().count();
        // The deepest first, as agents list them.
        nested.sort_by(|a, b| depth(b).cmp(&depth(a)).then_with(|| a.cmp(b)));
        nested.dedup();
        activated.sort();
        activated.dedup();
        Self { nested, activated }
    }

    /// Returns the nested skill directories, the deepest first.
    pub fn nested(&self) -> &[AbsPath] {
        &self.nested
    }

    /// Returns true if the skill of this SKILL.md is activated.
    pub fn activates(&self, path: &AbsPath) -> bool {
        self.activated.binary_search(path).is_ok()
    }

    /// Returns true if the overlay adds nothing.
    pub fn is_empty(&self) -> bool {
        self.nested.is_empty() && self.activated.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text.as_ref()).unwrap()
    }

    #[test]
    fn overlays_are_equal_by_their_content() {
        let one = Overlay::new(vec![path("/a"), path("/b/c"), path("/a")], vec![path("/s")]);
        let other = Overlay::new(vec![path("/b/c"), path("/a")], vec![path("/s"), path("/s")]);
        assert_eq!(one, other);
        assert_eq!(one.nested(), [path("/b/c"), path("/a")]);
        assert!(one.activates(&path("/s")) && !one.activates(&path("/a")));
    }
}
