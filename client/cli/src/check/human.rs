//! Findings for people: with source and carets on a terminal, one line per finding in a pipe.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::path::decode;
use skills_protocol::wire::{CheckFinding, CheckResult, CheckedFile, Severity};

use super::source::{self, Excerpt};
use crate::heading::{self, labelled};
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{count, join_or_stack, pad, plain, plain_exact, width, wrap};

/// Maximum number of columns of a source line that are shown around a finding.
const MAX_EXCERPT: usize = 100;

/// Width of the longest word for a severity.
const SEVERITY_WIDTH: usize = 7;

/// Renders the findings and a summary line.
pub(super) fn render(
    result: &CheckResult,
    n_fixed: u64,
    cwd: &Path,
    terminal: &Terminal,
) -> String {
    let names = result.profiles.iter().map(|it| labelled(&it.profile, &it.agent, it.confidence));
    // The call names the profiles, or else they have a reason.
    let names = if result.reason.is_some() { heading::first_few(names) } else { names.collect() };
    let mut text = heading::render(&names, None, result.reason.as_deref(), terminal) + "\n";
    for file in &result.files {
        let path =
            decode(&file.path, file.path_encoding).unwrap_or_else(|_| file.path.clone().into());
        let shown = match path.strip_prefix(cwd) {
            Ok(relative) => plain_exact(&relative.to_string_lossy()),
            Err(_) => terminal.path(&file.path, file.path_encoding),
        };
        // Read again: the server only sends positions. A removed file has no excerpts.
        let source = if terminal.width.is_some() { source::read(&path).ok() } else { None };
        let source = source.map(|it| String::from_utf8_lossy(&it).into_owned());
        let lines = source.as_deref().map(source::lines);
        push_file(file, &shown, lines.as_deref(), terminal, &mut text);
    }
    if !result.files.is_empty() && terminal.width.is_none() {
        text.push('\n');
    }
    push_summary(result, n_fixed, terminal, &mut text);
    text
}

/// Renders the number of findings of each rule, the most severe and most frequent first, and a
/// summary line.
pub(super) fn render_rules(result: &CheckResult, terminal: &Terminal) -> String {
    let mut rules: BTreeMap<(Severity, &str), (u64, u64)> = BTreeMap::new();
    for file in &result.files {
        let mut seen = BTreeSet::new();
        for finding in &file.findings {
            let rule = (finding.severity, &*finding.code);
            let (n_findings, n_files) = rules.entry(rule).or_default();
            *n_findings += 1;
            *n_files += u64::from(seen.insert(rule));
        }
    }
    let mut rules: Vec<_> = rules.into_iter().collect();
    rules.sort_by_key(|((severity, _), (n_findings, _))| (*severity, Reverse(*n_findings)));
    let longest = rules.iter().map(|((_, code), _)| width(code)).max().unwrap_or_default();
    let mut text = String::new();
    for ((severity, code), (n_findings, n_files)) in rules {
        let word = style::severity_word(severity);
        let severity = paint(style::severity_style(severity), pad(word, SEVERITY_WIDTH));
        let (code, files) = (pad(&plain(code), longest), count(n_files, "file"));
        let _ = writeln!(text, "{n_findings:>5}  {severity}  {code}  in {files}");
    }
    push_summary(result, 0, terminal, &mut text);
    text
}

fn push_file(
    file: &CheckedFile,
    path: &str,
    source: Option<&[&str]>,
    terminal: &Terminal,
    text: &mut String,
) {
    for finding in &file.findings {
        let word = style::severity_word(finding.severity);
        let severity = paint(style::severity_style(finding.severity), word);
        let bare_code = format!("[{}]", plain(&finding.code));
        let code = paint(style::FAINT, &bare_code);
        let message = terminal.prose(&finding.message);
        let start = finding.range.start;
        let place = format!("{path}:{}:{}", start.line, start.column);
        match source {
            None => {
                let _ = writeln!(text, "{place}: {severity}{code} {message}");
            }
            Some(source) => {
                let lead = width(word) + width(&bare_code);
                let lines = wrap_after(lead, 2, &message, terminal.width);
                let _ = writeln!(text, "{severity}{code} {}", lines.join("\n"));
                let place = terminal.link(&file.path, file.path_encoding, place);
                let _ = writeln!(text, "  {} {place}", paint(style::FAINT, "-->"));
                push_excerpt(finding, source, terminal.width, text);
                push_notes(finding, terminal, text);
                text.push('\n');
            }
        }
    }
}

/// Wraps a text that follows `lead` columns and a space; later lines are indented by `indent`,
/// which is less than `lead`.
fn wrap_after(lead: usize, indent: usize, message: &str, columns: Option<usize>) -> Vec<String> {
    // A placeholder word for the lead, which is removed below.
    let word = "x".repeat(lead - indent);
    let room = columns.map(|it| it.saturating_sub(indent));
    let mut lines = wrap(&format!("{word} {message}"), room);
    // If the text begins on the next line, the first line is empty after the placeholder.
    let first = lines[0].get(word.len() + 1..).unwrap_or_default().to_owned();
    lines[0] = first;
    for line in &mut lines[1..] {
        line.insert_str(0, &" ".repeat(indent));
    }
    lines
}

/// Writes the source line of a finding with carets below it.
fn push_excerpt(finding: &CheckFinding, lines: &[&str], columns: Option<usize>, text: &mut String) {
    let number = finding.range.start.line.to_string();
    // Leaves space for the gutter and for ellipses on both sides.
    let room = columns
        .map_or(MAX_EXCERPT, |it| it.saturating_sub(number.len() + 6).clamp(20, MAX_EXCERPT));
    let Some(excerpt) = source::excerpt(lines, finding.range, room) else { return };
    let Excerpt { before, marked, behind } = excerpt;
    let gutter = " ".repeat(number.len());
    let bar = paint(style::FAINT, "|");
    let carets = "^".repeat(width(&marked).max(1));
    let carets = paint(style::severity_style(finding.severity), carets);
    let blanks = " ".repeat(width(&before));
    let _ = writeln!(text, " {gutter} {bar}");
    let shown = paint(style::FAINT, &number);
    let _ = writeln!(text, " {shown} {bar} {before}{marked}{behind}");
    let _ = writeln!(text, " {gutter} {bar} {blanks}{carets}");
}

fn push_notes(finding: &CheckFinding, terminal: &Terminal, text: &mut String) {
    let mut note = |word: &str, message: &str| {
        let lines = wrap_after(width(word) + 5, 5, message, terminal.width).join("\n");
        let _ =
            writeln!(text, "   {} {} {lines}", paint(style::FAINT, "="), paint(style::HINT, word));
    };
    if let Some(help) = &finding.help {
        note("help:", &terminal.prose(help));
    }
    for related in &finding.related {
        let path = terminal.path(&related.path, related.path_encoding);
        note("see:", &format!("{path} ({})", terminal.prose(&related.message)));
    }
    if let [fix] = &finding.fixes[..] {
        let title = plain(&fix.title);
        // `--fix` leaves hints to the user.
        let command = if is_fixed(finding) { " (`skillsd check --fix`)" } else { "" };
        note("fix:", &format!("{title}{command}"));
    }
}

/// Returns true if `--fix` fixes a finding: it has one fix, and is more than a hint.
fn is_fixed(finding: &CheckFinding) -> bool {
    finding.fixes.len() == 1 && finding.severity != Severity::Hint
}

fn push_summary(result: &CheckResult, n_fixed: u64, terminal: &Terminal, text: &mut String) {
    let findings = || result.files.iter().flat_map(|it| &it.findings);
    let counted =
        |severity: Severity| findings().filter(|it| it.severity == severity).count() as u64;
    let parts = [
        (counted(Severity::Error), "error", style::ERROR),
        (counted(Severity::Warning), "warning", style::WARNING),
        (counted(Severity::Info), "info", style::HINT),
        (counted(Severity::Hint), "hint", style::HINT),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, noun, style)| paint(style, count_findings(number, noun)))
        .collect();
    if n_fixed > 0 {
        let _ = writeln!(
            text,
            "{} {} applied",
            paint(style::GOOD, "✓"),
            count(n_fixed, "fix").replace("fixs", "fixes")
        );
    }
    let checked = count(result.checked, "skill");
    if parts.is_empty() {
        let _ = writeln!(text, "{} {checked} checked, no findings", paint(style::GOOD, "✓"));
        return;
    }
    let n_fixable = findings().filter(|it| is_fixed(it)).count();
    let mark = if counted(Severity::Error) + counted(Severity::Warning) > 0 {
        paint(style::BAD, "✗")
    } else {
        paint(style::GOOD, "✓")
    };
    let mut verdict = vec![format!("{mark} {} in {checked}", parts.join(", "))];
    if n_fixable > 0 {
        verdict.push(format!("`skillsd check --fix` fixes {n_fixable} of them"));
    }
    let _ = writeln!(text, "{}", join_or_stack(&verdict, terminal.width));
}

// `info` has no plural.
fn count_findings(number: u64, noun: &str) -> String {
    if noun == "info" { format!("{number} info") } else { count(number, noun) }
}
