//! The keys known to the caller of the parser ([`Keys`]).

/// Known keys. They tell keys from sentences in invalid YAML.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Returns whether a key is a field, or a known misspelling of one.
    pub is_field: fn(&str) -> bool,
    /// Returns whether the value of a key is prose, in which a comment is never intended.
    pub is_prose: fn(&str) -> bool,
}

impl Keys {
    /// No key is known.
    pub const NONE: Self = Self { is_field: |_| false, is_prose: |_| false };
}
