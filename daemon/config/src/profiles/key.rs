//! [`ProfileKey`]: a row of the tables of profile keys and root keys.

/// A key of a profile that is not a rule, or a key of a root.
#[derive(Clone, Copy, Debug)]
pub struct ProfileKey {
    pub name: &'static str,
    pub doc: &'static str,
    /// Accepted values.
    pub kind: ProfileKeyKind,
}

/// Creates a row.
pub(super) const fn key(name: &'static str, doc: &'static str, kind: ProfileKeyKind) -> ProfileKey {
    ProfileKey { name, doc, kind }
}

/// The values that such a key accepts.
#[derive(Clone, Copy, Debug)]
pub enum ProfileKeyKind {
    Text,
    Word(fn() -> Vec<&'static str>),
    /// `true` or `false`.
    YesNo,
    Strings,
    /// A number of levels, or `any`.
    Depth,
    /// A list of tables with the keys of a root.
    Roots,
    /// A table with the keys that control how a root is walked.
    Walk,
}
