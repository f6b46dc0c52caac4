//! Keys that the caller of the parser knows.

/// Known keys. They tell a key from a sentence where YAML refuses a text.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Returns whether a key is a field, or a known misspelling of one.
    pub is_field: fn(&str) -> bool,
    /// Returns whether the value of a key is a sentence: a comment behind it is never meant.
    pub is_prose: fn(&str) -> bool,
}

impl Keys {
    /// No key is known.
    pub const NONE: Self = Self { is_field: |_| false, is_prose: |_| false };
}
