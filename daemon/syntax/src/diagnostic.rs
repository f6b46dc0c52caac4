//! The [`Diagnostic`] type: a problem in a text, with code, severity, span and help.
//! [`ProblemCode`] has the codes of the problems that reading a file reports; rules have their own.
//!
//! Editors, `explain` and the command line render diagnostics. The position is a byte span, not a
//! line, so that it is valid in every position encoding. A diagnostic does not say which agents it
//! affects; the caller adds that.

use std::fmt;

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
    Information,
    /// A style suggestion.
    Hint,
}

/// Declares [`ProblemCode`]: each code with its form in text.
macro_rules! problem_codes {
    ($($code:ident = $text:literal,)*) => {
        /// The code of a problem that is found while a file is read.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ProblemCode {
            $(#[doc = concat!("`", $text, "`")] $code,)*
        }

        impl ProblemCode {
            /// Returns the code as text, `family/kebab-name`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $text,)*
                }
            }
        }
    };
}

problem_codes! {
    NoFrontmatter = "yaml/no-frontmatter",
    UnclosedFrontmatter = "yaml/unclosed-frontmatter",
    MissingOpening = "yaml/missing-opening",
    TextBeforeFrontmatter = "yaml/text-before-frontmatter",
    OddClosing = "yaml/odd-closing",
    Syntax = "yaml/syntax",
    DuplicateKey = "yaml/duplicate-key",
    TabIndentation = "yaml/tab-indentation",
    UnquotedColon = "yaml/unquoted-colon",
    CommentCutsValue = "yaml/comment-cuts-value",
    UnquotedStart = "yaml/unquoted-start",
    RecursiveAlias = "yaml/recursive-alias",
    UnindentedContinuation = "yaml/unindented-continuation",
    ControlCharacter = "yaml/control-character",
    NotAMapping = "yaml/not-a-mapping",
    TooDeep = "yaml/too-deep",
    TooLarge = "yaml/too-large",
    TooMany = "yaml/too-many",
    NotUtf8 = "yaml/not-utf8",
    BodyTooLarge = "body/too-large",
    FrontmatterCode = "security/frontmatter-code",
    ListingInjection = "security/listing-injection",
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A finding about one item of a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Diagnostic<C = ProblemCode> {
    /// The kind of problem.
    pub code: C,
    pub severity: Severity,
    /// The affected item.
    pub span: Span,
    /// The problem: a lower-case fragment without a full stop, values in backticks.
    pub message: String,
    /// The remedy: a full sentence.
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: ProblemCode, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, span, message.into())
    }

    pub fn warning(code: ProblemCode, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message.into())
    }

    pub fn information(code: ProblemCode, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Information, span, message.into())
    }

    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn new(code: ProblemCode, severity: Severity, span: Span, message: String) -> Self {
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
        let found =
            Diagnostic::warning(ProblemCode::Syntax, Span::new(1, 2), "odd").with_help("Do this.");
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(found.help.as_deref(), Some("Do this."));
    }
}
