//! What a conversation adds to what an agent sees from one place.
//!
//! It is told by its content and not by the conversation's name: two that have found and activated
//! the same see the same, and so share what was made of it.

use skills_syntax::path::AbsPath;

/// What a conversation has found and activated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Overlay {
    nested: Vec<AbsPath>,
    activated: Vec<AbsPath>,
}

impl Overlay {
    /// Returns an overlay of skill directories below the working directory, and of the SKILL.md
    /// that were activated. Neither order nor repetition matters.
    pub fn new(mut nested: Vec<AbsPath>, mut activated: Vec<AbsPath>) -> Self {
        let depth = |it: &AbsPath| it.components().count();
        // The deepest first, as agents list them.
        nested.sort_by(|a, b| depth(b).cmp(&depth(a)).then_with(|| a.cmp(b)));
        nested.dedup();
        activated.sort();
        activated.dedup();
        Self { nested, activated }
    }

    /// Returns the skill directories below the working directory, the deepest first.
    pub fn nested(&self) -> &[AbsPath] {
        &self.nested
    }

    /// Returns whether the skill of this SKILL.md was activated.
    pub fn activates(&self, path: &AbsPath) -> bool {
        self.activated.binary_search(path).is_ok()
    }

    /// Returns whether it adds nothing.
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
