//! How the text is written as bytes: what is not UTF-8, a byte order mark, and line ends.

use skills_agents::loaders::{LoadVerdict, load_as};
use skills_agents::profile::{EncodingPolicy, Profile};
use skills_agents::skill::{DecodeFacts, SkillRecord, parse};
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::Span;

use super::super::audience::act;
use super::super::rule::Rule;
use super::super::subject::Cx;
use super::super::{Finding, Offer, find};

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    not_utf8(cx, out);
    byte_order_mark(cx, out);
    crlf(cx, out);
    lone_cr(cx, out);
}

fn not_utf8(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let bad = cx.record.findings.iter().find(|it| it.diagnostic.code == "yaml/not-utf8");
    let (Some(bad), Some(rule)) = (bad, find("yaml/not-utf8")) else { return };
    let dropped = cx.those(|it, _| it.bad_utf8 == EncodingPolicy::Drop);
    let message = match dropped.as_slice() {
        [] => bad.diagnostic.message.clone(),
        them => {
            format!("{} this skill: {}", act(them, "drops", "drop"), bad.diagnostic.message)
        }
    };
    let severity = if dropped.is_empty() { Severity::Warning } else { Severity::Error };
    let finding = Finding::new(rule, bad.diagnostic.span, message).severity(severity);
    out.push(finding.about(&dropped));
}

fn byte_order_mark(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let (true, Some(rule)) = (cx.record.bom, find("yaml/byte-order-mark")) else { return };
    let dropped = cx.those(|it, _| it.bom == EncodingPolicy::Drop);
    let what = "the file begins with a byte order mark";
    let finding = minded(rule, first(cx), what, &dropped);
    // Most readers take it off before anybody sees the text.
    out.push(if cx.text.starts_with('\u{FEFF}') {
        finding.fix(Offer::RemoveMark.title(), Span::new(0, '\u{FEFF}'.len_utf8()), "")
    } else {
        finding.offer(Offer::RemoveMark)
    });
}

fn crlf(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let (true, Some(rule)) = (cx.record.crlf, find("yaml/crlf")) else { return };
    let dropped = cx.those(|it, _| it.crlf == EncodingPolicy::Drop);
    if dropped.is_empty() {
        return;
    }
    let finding = minded(rule, first(cx), "the frontmatter has CRLF line ends", &dropped);
    let all = Span::new(0, cx.text.len());
    out.push(finding.fix("Use LF line ends", all, cx.text.replace("\r\n", "\n")));
}

/// Looks for line ends that editors and YAML take for such, and agents that look for lines do not.
fn lone_cr(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let lone = |at: &usize| cx.text.as_bytes().get(at + 1) != Some(&b'\n');
    let places = || cx.text.match_indices('\r').map(|(at, _)| at).filter(lone);
    let (Some(start), Some(end)) = (places().next(), places().next_back().map(|it| it + 1)) else {
        return;
    };
    let Some(rule) = find("yaml/lone-cr") else { return };
    let mut mended = String::with_capacity(end - start);
    let mut from = start;
    for at in places() {
        mended.push_str(&cx.text[from..at]);
        mended.push_str(cx.line_break());
        from = at + 1;
    }
    let dropped = minding(cx, &format!("{}{mended}{}", &cx.text[..start], &cx.text[end..]));
    let n_lines = places().count();
    let lines = if n_lines == 1 { "a line ends" } else { "lines end" };
    let what = format!("{lines} with a carriage return alone");
    // Shown on what the line says, where it says something.
    let line = cx.line(start);
    let line = if line.is_empty() { Span::new(start, start + 1) } else { line };
    let title = if cx.line_break() == "\n" { "Use LF line ends" } else { "Use CRLF line ends" };
    out.push(minded(rule, line, &what, &dropped).fix(title, Span::new(start, end), mended));
}

/// Returns who drops the file as it is, and would not with this text.
fn minding<'a>(cx: &Cx<'a>, text: &str) -> Vec<&'a Profile> {
    let record =
        SkillRecord::from_document(text, &parse(text), cx.record.facts, DecodeFacts::default());
    let directory = cx.path.and_then(|it| it.parent_name()).unwrap_or_default();
    cx.those(|profile, reading| {
        reading.verdict == LoadVerdict::Dropped
            && load_as(profile, &record, directory).verdict != LoadVerdict::Dropped
    })
}

/// The first letters of the text.
fn first(cx: &Cx<'_>) -> Span {
    Span::new(0, cx.text.len().min(3).min(cx.line(0).end))
}

/// A finding that is an error where somebody drops the skill for it.
fn minded(rule: &'static Rule, span: Span, what: &str, dropped: &[&Profile]) -> Finding {
    if dropped.is_empty() {
        return Finding::new(rule, span, what);
    }
    let message = format!("{} this skill: {what}", act(dropped, "drops", "drop"));
    Finding::new(rule, span, message).severity(Severity::Error).about(dropped)
}
