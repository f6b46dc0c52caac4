//! Findings for people: with the source and carets on a terminal, a line each in a pipe.

use std::fmt::Write as _;
use std::path::Path;

use skills_protocol::path::decode;
use skills_protocol::wire::{CheckFinding, CheckResult, CheckedFile, Severity};

use super::source;
use crate::style::{self, paint};
use crate::terminal::Terminal;
use crate::text::{count, parted, plain, plain_exact, width, wrap};

/// How many columns of a long line are shown around a finding, where the terminal has them.
const ROOM: usize = 100;

/// Returns what is wrong, and a last line that counts.
pub(super) fn render(
    result: &CheckResult,
    n_fixed: u64,
    cwd: &Path,
    terminal: &Terminal,
) -> String {
    let mut text = String::new();
    for file in &result.files {
        let path =
            decode(&file.path, file.path_encoding).unwrap_or_else(|_| file.path.clone().into());
        let shown = match path.strip_prefix(cwd) {
            Ok(relative) => plain_exact(&relative.to_string_lossy()),
            Err(_) => terminal.path(&file.path, file.path_encoding),
        };
        // Read anew: the server gives places, and a file that has gone has no lines to show.
        let source = if terminal.width.is_some() { source::read(&path).ok() } else { None };
        let source = source.map(|it| String::from_utf8_lossy(&it).into_owned());
        push_file(file, &shown, source.as_deref(), terminal, &mut text);
    }
    if !text.is_empty() && terminal.width.is_none() {
        text.push('\n');
    }
    push_summary(result, n_fixed, terminal, &mut text);
    text
}

fn push_file(
    file: &CheckedFile,
    path: &str,
    source: Option<&str>,
    terminal: &Terminal,
    text: &mut String,
) {
    for finding in &file.findings {
        let word = style::severity_word(finding.severity);
        let severity = paint(style::of_severity(finding.severity), word);
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
                let lines = wrap_behind(lead, 2, &message, terminal.width);
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

/// Returns the lines of a text that stands behind `lead` columns and a blank; from the second one on
/// with `indent` blanks before it, which are fewer.
fn wrap_behind(lead: usize, indent: usize, said: &str, columns: Option<usize>) -> Vec<String> {
    // In the place of what stands before it, a word that is taken away again.
    let word = "x".repeat(lead - indent);
    let room = columns.map(|it| it.saturating_sub(indent));
    let mut lines = wrap(&format!("{word} {said}"), room);
    // Where the text begins on the next line, nothing of it stands behind the word.
    let first = lines[0].get(word.len() + 1..).unwrap_or_default().to_owned();
    lines[0] = first;
    for line in &mut lines[1..] {
        line.insert_str(0, &" ".repeat(indent));
    }
    lines
}

/// Shows the line of a finding with carets below it.
fn push_excerpt(finding: &CheckFinding, source: &str, columns: Option<usize>, text: &mut String) {
    let source = source.strip_prefix('\u{FEFF}').unwrap_or(source);
    let (start, end) = (finding.range.start, finding.range.end);
    let Some(line) = lines(source).nth(start.line.saturating_sub(1) as usize) else { return };
    let letters: Vec<char> = line.chars().collect();
    let from = (start.column.saturating_sub(1) as usize).min(letters.len());
    let to =
        if end.line == start.line { end.column.saturating_sub(1) as usize } else { letters.len() };
    let to = to.clamp(from, letters.len());
    let number = start.line.to_string();
    // What stands before the line, and the marks of what is cut off on both sides.
    let room = columns.map_or(ROOM, |it| it.saturating_sub(number.len() + 6).clamp(20, ROOM));
    // Of a very long line the part around the finding.
    let first = if letters.len() > room { from.saturating_sub(room / 3) } else { 0 };
    let last = letters.len().min(first + room);
    let part = |from: usize, to: usize| {
        let part: String = letters[from.min(last)..to.min(last)].iter().collect();
        plain_exact(&part.replace('\t', "    "))
    };
    let gutter = " ".repeat(number.len());
    let bar = paint(style::FAINT, "|");
    let (before, marked, behind) = (part(first, from), part(from, to), part(to, last));
    let cut = if first > 0 { "…" } else { "" };
    let more = if last < letters.len() { "…" } else { "" };
    let carets = "^".repeat(width(&marked).max(1));
    let carets = paint(style::of_severity(finding.severity), carets);
    let blanks = " ".repeat(width(cut) + width(&before));
    let _ = writeln!(text, " {gutter} {bar}");
    let shown = paint(style::FAINT, &number);
    let _ = writeln!(text, " {shown} {bar} {cut}{before}{marked}{behind}{more}");
    let _ = writeln!(text, " {gutter} {bar} {blanks}{carets}");
}

fn push_notes(finding: &CheckFinding, terminal: &Terminal, text: &mut String) {
    let mut note = |word: &str, said: &str| {
        let lines = wrap_behind(width(word) + 5, 5, said, terminal.width).join("\n");
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
        note("fix:", &format!("{} (`skillsd check --fix`)", plain(&fix.title)));
    }
}

// A line ends as editors count them: at `\n`, `\r\n` or a lone `\r`.
fn lines(source: &str) -> impl Iterator<Item = &str> {
    source.split('\n').flat_map(|it| it.strip_suffix('\r').unwrap_or(it).split('\r'))
}

fn push_summary(result: &CheckResult, n_fixed: u64, terminal: &Terminal, text: &mut String) {
    let findings = || result.files.iter().flat_map(|it| &it.findings);
    let counted =
        |severity: Severity| findings().filter(|it| it.severity == severity).count() as u64;
    let parts = [
        (counted(Severity::Error), "error", style::ERROR),
        (counted(Severity::Warning), "warning", style::WARNING),
        (counted(Severity::Info), "note", style::HINT),
        (counted(Severity::Hint), "hint", style::HINT),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, noun, style)| paint(style, count(number, noun)))
        .collect();
    if n_fixed > 0 {
        let _ = writeln!(
            text,
            "{} {} made",
            paint(style::GOOD, "✓"),
            count(n_fixed, "fix").replace("fixs", "fixes")
        );
    }
    let checked = count(result.checked, "skill");
    if parts.is_empty() {
        let _ = writeln!(text, "{} {checked} checked, nothing is wrong", paint(style::GOOD, "✓"));
        return;
    }
    let n_fixable = findings().filter(|it| it.fixes.len() == 1).count();
    let mark = if counted(Severity::Error) + counted(Severity::Warning) > 0 {
        paint(style::BAD, "✗")
    } else {
        paint(style::GOOD, "✓")
    };
    let mut verdict = vec![format!("{mark} {} in {checked}", parts.join(", "))];
    if n_fixable > 0 {
        verdict.push(format!("`skillsd check --fix` mends {n_fixable} of them"));
    }
    let _ = writeln!(text, "{}", parted(&verdict, terminal.width));
}
