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
use crate::references::{Form, Reference, references};

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
    for Reference { name, span, form } in references(cx.text, cx.document) {
        // Prose and what plugins bring is not told: too much of it means something else.
        if form == Form::Spoken
            || name.len() < SHORT
            || name.contains([':', '_'])
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
