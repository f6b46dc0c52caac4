//! [`Health`]: a problem of a view, the session store or the configuration that an answer reports.

use std::ffi::OsString;

/// A problem that does not prevent an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Stable identifier.
    pub code: &'static str,
    /// The problem, as a sentence fragment.
    pub message: String,
    /// The remedy, as a sentence.
    pub hint: &'static str,
    /// The affected path, if there is one.
    pub path: Option<OsString>,
}
