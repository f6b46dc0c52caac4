//! `ref/*`: skills that a skill, or the instructions beside it, speak of.
//!
//! Prose is full of slashes that are no skills. A reference is only taken for one where it is
//! written as code, and only told when it is almost the name of a skill that there is.

use skills_agents::field_table::{CLAUDE_SKILLS, COMMON_MARK};
use skills_agents::references::{
    Link, LinkBase, LinkForm, Reference, ReferenceForm, is_name, links, outside_prose,
};
use skills_syntax::diagnostic::Severity;
use skills_syntax::suggest;
use skills_syntax::text::Span;

use super::rule::Rule;
use super::subject::Cx;
use super::surroundings::Look;
use super::{Finding, found};

pub(super) static RULES: [Rule; 2] = [Rule::new(
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
),
Rule::new(
    "ref/broken-link",
    Severity::Warning,
    "A link in instructions leads to a skill, or a file of one, that there is not.",
    "The model tries to read it and loses a turn, or invents what it might say.",
    "Correct the path, or remove the link.",
)
.fixable()
.sources(&[&COMMON_MARK])
.texts(
    "//- /w/CLAUDE.md\nSee [notes](.claude/skills/release-ntoes/SKILL.md).\n//- /w/.claude/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
    "//- /w/CLAUDE.md\nSee [notes](.claude/skills/release-notes/SKILL.md).\n//- /w/.claude/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
)];

/// How alike a name has to be: one slip in a word of six letters.
const ALIKE: f64 = 0.84;

/// The shortest name of which a slip can be told from another word.
const SHORT: usize = 6;

/// Directories whose entries are skills.
const ROOTS: [&str; 2] = ["skills", "skill"];

/// Looks at the links of instructions; those of a skill are looked at with its body.
pub(super) fn check_links(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    // Elsewhere an `@` may begin at the top of the worktree, or mean nothing.
    let imports = cx
        .path
        .and_then(|it| it.file_name()?.to_str())
        .is_some_and(|it| it.starts_with("CLAUDE") || it.starts_with("GEMINI"));
    for link in links(cx.text, cx.document) {
        let is_told = match link.way {
            LinkForm::Target => true,
            LinkForm::Import => imports,
            LinkForm::Bare | LinkForm::Word => false,
        };
        if !is_told || link.start != LinkBase::Text {
            continue;
        }
        let Some((dir, rest)) = skill_of(&link.path) else { continue };
        if cx.surroundings.look(&link.path) != Some(Look::Missing) {
            continue;
        }
        let message = format!("there is no `{}`", link.path);
        let finding = found("ref/broken-link", link.span, message);
        out.push(meant(cx, finding, &link, dir, rest));
    }
}

/// Returns the directory of a skill that a path leads into, as its name in the path and what stands
/// behind it; nothing for other paths.
fn skill_of(path: &str) -> Option<(&str, &str)> {
    let roots = path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
    let mut below =
        roots.filter(|(before, _)| before.rsplit('/').next().is_some_and(|it| ROOTS.contains(&it)));
    let (_, rest) = below.next()?;
    let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
    (!name.is_empty()).then_some((name, rest))
}

/// Adds the skill that was probably meant, where the same file is there.
fn meant(cx: &Cx<'_>, finding: Finding, link: &Link, dir: &str, rest: &str) -> Finding {
    let [meant] = suggest::nearest(dir, cx.company().directories(), ALIKE)[..] else {
        return finding;
    };
    let written = link.span.slice(cx.text);
    let tail = if rest.is_empty() { dir.to_owned() } else { format!("{dir}/{rest}") };
    let (Some(at), Some(head)) = (written.rfind(&tail), link.path.strip_suffix(&tail)) else {
        return finding;
    };
    let path = format!("{head}{meant}{}", &tail[dir.len()..]);
    if matches!(cx.surroundings.look(&path), None | Some(Look::Missing)) {
        return finding;
    }
    let start = link.span.start + at;
    finding.meant(Span::new(start, start + dir.len()), meant)
}

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let company = cx.company();
    if company.neighbours().is_empty() {
        return;
    }
    // Prose and what plugins bring is not told: too much of it means something else.
    for Reference { name, span, form } in outside_prose(cx.text, cx.document, cx.body()) {
        if name.len() < SHORT
            || !is_name(&name)
            || name.contains([':', '_'])
            || company.knows(&name)
        {
            continue;
        }
        let alike = suggest::nearest(&name, company.names(), ALIKE);
        let Some(meant) = alike.first().copied() else { continue };
        // Behind a slash it is a path as often as not: `/components` beside a skill `Components`.
        if form == ReferenceForm::Called && meant.eq_ignore_ascii_case(&name) {
            continue;
        }
        // A word with another ending is as likely another thing.
        if meant.starts_with(&name) || name.starts_with(meant) {
            continue;
        }
        let message = format!("there is no skill `{name}`; did you mean `{meant}`?");
        let finding = found("ref/unknown", span, message);
        out.push(finding.fix(format!("Write `{meant}`"), span, meant));
    }
}
