//! Difference between two contents of a file, as lines for a person.

use std::fmt::Write as _;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};

use crate::style::{self, paint};
use crate::text::plain_exact;

/// Returns the hunks, without the file's name; a missing file is empty.
pub(crate) fn hunks(before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let lines = InternedInput::new(before.unwrap_or_default(), after.unwrap_or_default());
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let mut config = UnifiedDiffConfig::default();
    config.context_len(2);
    diff.unified_diff(&BasicLineDiffPrinter(&lines.interner), config, &lines).to_string()
}

/// Returns hunks with colours, indented.
pub(crate) fn painted(hunks: &str) -> String {
    let mut text = String::new();
    for line in hunks.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => style::GOOD,
            Some(b'-') => style::BAD,
            _ => style::FAINT,
        };
        let _ = writeln!(text, "  {}", paint(style, plain_exact(&line.replace('\t', "    "))));
    }
    text
}
