//! Findings as annotations of GitHub Actions: workflow commands on standard output.

use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::path::decode;
use skills_protocol::wire::{CheckResult, Severity};

use crate::text::plain_lines;

/// Returns a workflow command for each finding.
pub(super) fn render(result: &CheckResult, cwd: &Path) -> String {
    let mut text = String::new();
    for file in &result.files {
        let path =
            decode(&file.path, file.path_encoding).unwrap_or_else(|_| file.path.clone().into());
        let path = path.strip_prefix(cwd).unwrap_or(&path).to_string_lossy().into_owned();
        for finding in &file.findings {
            let word = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info | Severity::Hint => "notice",
            };
            let (start, end) = (finding.range.start, finding.range.end);
            let message = match &finding.help {
                Some(help) => format!("{}\n{help}", finding.message),
                None => finding.message.clone(),
            };
            let _ = writeln!(
                text,
                "::{word} file={},line={},col={},endLine={},endColumn={},title={}::{}",
                property(&path),
                start.line,
                start.column,
                end.line,
                end.column,
                property(&finding.code),
                data(&message)
            );
        }
    }
    text
}

/// Escapes a message for a workflow command, and control characters in it for the log.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D");
    plain_lines(&text).replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
