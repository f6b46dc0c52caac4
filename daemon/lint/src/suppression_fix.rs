//! The fix that adds a suppression comment at a finding.

use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_syntax::edit::{Edit, apply};
use skills_syntax::text::Span;

use super::finding::{Finding, Fix};
use super::fs_context::FsContext;
use super::run_rules::unverified;
use super::settings::Settings;
use super::subject::{Cx, Subject};
use super::suppress::{WORD, keys_of};

/// Maximum length in bytes of a text that is checked again for a new comment.
const MAX_CHECKED: usize = 64 * 1024;

/// Returns the fix that suppresses a finding with a comment at its place. `findings` are those of
/// the text. Returns `None` if the comment would not work there, or would add findings.
pub fn suppression(
    finding: &Finding,
    findings: &[Finding],
    subject: &Subject<'_>,
    settings: &Settings<'_>,
    fs: &dyn FsContext,
) -> Option<Fix> {
    if subject.text.len() > MAX_CHECKED {
        return None;
    }
    let edit = comment(&Cx::new(subject, &settings.profiles, fs), finding)?;
    let text = apply(subject.text, std::slice::from_ref(&edit));
    let document = parse(&text);
    let facts = FileFacts { size: text.len() as u64, ..subject.record.facts };
    let origin = DecodeFacts { bom: subject.record.bom, ..DecodeFacts::default() };
    let record = SkillRecord::from_document(&text, &document, facts, origin);
    let changed =
        Subject { text: &text, document: &document, record: &record, parts: None, ..*subject };
    let left = unverified(&Cx::new(&changed, &settings.profiles, fs), settings);
    let count = |all: &[Finding], id| all.iter().filter(|it| it.rule.id == id).count();
    let is_gone = count(&left, finding.rule.id) < count(findings, finding.rule.id);
    let is_new = |it: &Finding| count(&left, it.rule.id) > count(findings, it.rule.id);
    let title = format!("Suppress `{}` here", finding.rule.id);
    (is_gone && !left.iter().any(is_new)).then(|| Fix { title, edits: vec![edit] })
}

/// Returns the edit that adds a comment: above the key or item, at the end of a line or of a
/// table's row in the body, or above a code block. Returns `None` for a code block on the line of a
/// list marker.
fn comment(cx: &Cx<'_>, finding: &Finding) -> Option<Edit> {
    let (rule, at) = (finding.rule.id, finding.diagnostic.span.start);
    let above = |line: Span, prefix: &str, comment: &str| {
        let text = format!("{prefix}{comment}{}", cx.line_break());
        Edit { span: Span::empty(line.start), text }
    };
    let in_body = format!("<!-- {WORD} {rule} -->");
    if let Some(frontmatter) =
        cx.delimited().filter(|_| finding.rule.whole_file || at < cx.document.body.start)
    {
        let mut nodes = Vec::new();
        keys_of(&frontmatter.entries, &mut nodes);
        let is_around =
            |it: &&Span| cx.line(it.start).start <= at && at <= cx.line(it.end.max(it.start)).end;
        let node = nodes.iter().rfind(is_around).or(nodes.first())?;
        let line = cx.line(node.start);
        let written = line.slice(cx.text);
        let indent = &written[..written.len() - written.trim_start().len()];
        return Some(above(line, indent, &format!("# {WORD}: {rule}")));
    }
    let body = cx.body();
    let before = body.fences.partition_point(|it| it.open.start <= at);
    let fence = before.checked_sub(1).map(|it| &body.fences[it]);
    if let Some(fence) = fence.filter(|it| at < it.content.end.max(it.open.end)) {
        let line = cx.line(fence.open.start);
        let prefix = Span::new(line.start, fence.open.start).slice(cx.text);
        // A comment above a list marker would split the list.
        let is_alone = prefix.chars().all(|it| it == '>' || it.is_whitespace());
        return is_alone.then(|| above(line, prefix, &in_body));
    }
    let line = cx.line(at);
    let written = line.slice(cx.text).trim_end();
    // A comment behind the row of a table is no part of it.
    let end = line.start + written.strip_suffix('|').unwrap_or(written).trim_end().len();
    (at >= cx.document.body.start)
        .then(|| Edit { span: Span::empty(end), text: format!(" {in_body}") })
}
