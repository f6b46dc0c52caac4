//! The [`Diagnostic`] type: a problem in a text, with code, severity, span and help.
//!
//! Editors, `explain` and the command line render diagnostics. The position is a byte span, not a
//! line, so that it is valid in every position encoding. A diagnostic does not say which agents it
//! affects; the caller adds that.

use crate::text::Span;

/// The severity of a finding.
///
/// Ordered from the most to the least severe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// An agent drops the skill or the field.
    Error,
    /// The skill works, but its effect differs from its text.
    Warning,
    /// Additional information.
    Information,
    /// A style suggestion.
    Hint,
}

/// A finding about one item of a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diagnostic {
    /// A stable name, `family/kebab-name`, such as `yaml/unquoted-colon`.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The affected item.
    pub span: Span,
    /// The problem: a lower-case fragment without a full stop, values in backticks.
    pub message: String,
    /// The remedy: a full sentence.
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

    /// Creates an information.
    pub fn information(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Information, span, message.into())
    }

    /// Creates a hint.
    pub fn hint(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Hint, span, message.into())
    }

    /// Adds a remedy.
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
    fn most_severe_sorts_first() {
        let mut all = [Severity::Hint, Severity::Error, Severity::Information, Severity::Warning];
        all.sort();
        assert_eq!(
            all,
            [Severity::Error, Severity::Warning, Severity::Information, Severity::Hint]
        );
    }

    #[test]
    fn with_help_sets_the_help_text() {
        let found = Diagnostic::warning("yaml/x", Span::new(1, 2), "odd").with_help("Do this.");
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(found.help.as_deref(), Some("Do this."));
    }
}
