//! [`ProfileKey`]: a row of the tables of profile keys and root keys.

/// A key of a profile that is not a rule, or a key of a root.
#[derive(Clone, Copy, Debug)]
pub struct ProfileKey {
    /// Name.
    pub name: &'static str,
    /// Documentation.
    pub doc: &'static str,
    /// Accepted values.
    pub kind: ProfileKeyKind,
}

/// The values that such a key accepts.
#[derive(Clone, Copy, Debug)]
pub enum ProfileKeyKind {
    /// A string.
    Text,
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// `true` or `false`.
    YesNo,
    /// A string or a list of strings.
    Strings,
    /// A number of levels, or `any`.
    Depth,
    /// A list of tables with the keys of a root.
    Roots,
    /// A table with the keys that control how a root is walked.
    Walk,
}
