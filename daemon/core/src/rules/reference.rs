//! `ref/*`: other skills that a skill speaks of.
//!
//! Prose is full of slashes that are no skills. A reference is only taken for one where it is
//! written as code, and only told when it is almost the name of a skill that there is.

use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, found};
use crate::catalog::CLAUDE_SKILLS;
use crate::diagnostic::Severity;
use crate::likeness;
use crate::text::Span;

pub(super) static RULES: [Rule; 1] = [Rule::new(
    "ref/unknown",
    Severity::Warning,
    "A reference to a skill that there is not, and almost is.",
    "The model looks for a skill of that name and does not find it.",
    "Write the name of the skill.",
)
.fixable()
.sources(&[&CLAUDE_SKILLS])
.texts(
    "//- /w/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nThen use the `release-ntoes` skill.\n//- /w/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
    "//- /w/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nThen use the `release-notes` skill, in `/etc` or `/logs`.\n//- /w/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
)];

/// How alike a name has to be: one slip in a word of six letters.
const ALIKE: f64 = 0.84;

/// The shortest name of which a slip can be told from another word.
const SHORT: usize = 6;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let neighbours = cx.surroundings.neighbours();
    if neighbours.is_empty() {
        return;
    }
    let references = in_body(cx).into_iter().chain(in_lists(cx));
    for (name, span) in references {
        if name.len() < SHORT
            || neighbours.iter().any(|it| it.name == name || it.path.parent_name() == Some(&*name))
        {
            continue;
        }
        let names = neighbours.iter().map(|it| it.name.as_str());
        let Some(meant) = likeness::nearest(&name, names, ALIKE).first().copied() else { continue };
        // A word with another ending is as likely another thing.
        if meant.starts_with(&name) || name.starts_with(meant) {
            continue;
        }
        let message = format!("there is no skill `{name}`; did you mean `{meant}`?");
        let finding = found("ref/unknown", span, message);
        out.push(finding.fix(format!("Write `{meant}`"), span, meant));
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.starts_with(|it: char| it.is_ascii_lowercase())
        && text.chars().all(|it| matches!(it, 'a'..='z' | '0'..='9' | '-'))
}

/// `` `/name` ``, `` `$name` ``, and `` `name` skill ``.
fn in_body(cx: &Cx<'_>) -> Vec<(String, Span)> {
    let mut references = Vec::new();
    for code in &cx.body().codes {
        let written = code.slice(cx.text);
        let name = written.strip_prefix(['/', '$']).unwrap_or(written);
        let start = code.end - name.len();
        // An argument may follow the name of a command.
        let name =
            if start > code.start { name.split(' ').next().unwrap_or_default() } else { name };
        let behind = cx.text[code.end..].trim_start_matches('`');
        let says_so = behind.trim_start().strip_prefix("skill").is_some_and(|it| {
            !it.starts_with(|it: char| it.is_alphanumeric() || it == '-' || it == '/')
        });
        if is_name(name) && (says_so || start > code.start) {
            references.push((name.to_owned(), Span::new(start, start + name.len())));
        }
    }
    references
}

/// The items of a list `skills:`, as agents' files have it.
fn in_lists(cx: &Cx<'_>) -> Vec<(String, Span)> {
    let items = cx.entry("skills").and_then(|it| it.value.items()).unwrap_or_default();
    let names = items.iter().filter_map(|it| Some((it.as_str()?.to_owned(), it.span)));
    names.filter(|(name, _)| is_name(name)).collect()
}
