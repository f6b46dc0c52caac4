//! What is wrong with a text, and where.
//!
//! A diagnostic is a value that any consumer can render: an editor, `explain`, the command line.
//! It names the item it is about by a byte span and never a line, so that it is right in every
//! position encoding. It does not know which agent cares; the consumer that knows says so.

use crate::text::Span;

/// How much a finding matters.
///
/// Ordered from the gravest to the mildest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Some agent drops the skill or the field.
    Error,
    /// It works otherwise than it is written.
    Warning,
    /// Worth knowing.
    Information,
    /// A matter of style.
    Hint,
}

/// A finding about one item of a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diagnostic {
    /// A stable name, `family/kebab-name`, such as `yaml/unquoted-colon`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The item it is about.
    pub span: Span,
    /// What is wrong: a lower-case fragment without a full stop, values in backticks.
    pub message: String,
    /// What to do about it: a full sentence.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates an error.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, span, message.into())
    }

    /// Creates a warning.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message.into())
    }

    /// Creates a piece of information.
    pub fn information(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Information, span, message.into())
    }

    /// Creates a hint.
    pub fn hint(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Hint, span, message.into())
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn new(code: &'static str, severity: Severity, span: Span, message: String) -> Self {
        Self { code, severity, span, message, help: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_severity_sorts_first() {
        let mut all = [Severity::Hint, Severity::Error, Severity::Information, Severity::Warning];
        all.sort();
        assert_eq!(
            all,
            [Severity::Error, Severity::Warning, Severity::Information, Severity::Hint]
        );
    }

    #[test]
    fn help_is_added_to_the_finding() {
        let found = Diagnostic::warning("yaml/x", Span::new(1, 2), "odd").with_help("Do this.");
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(found.help.as_deref(), Some("Do this."));
    }
}
