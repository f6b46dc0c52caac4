//! [`TypeMismatch`]: a part of a value that has the wrong type.

use skills_syntax::text::Span;

use crate::scalar::YamlType;

/// A part of a value that does not have the expected type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeMismatch {
    pub span: Span,
    /// The expected type, with an article.
    pub expected: &'static str,
    /// The actual type.
    pub found: YamlType,
}
