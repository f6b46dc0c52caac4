//! Rules `ref/*`: problems with references to other skills, in skills and instruction files.
//!
//! Prose contains many slashes that do not refer to skills. Only code counts as a reference, and
//! only a name similar to an existing skill's is reported.

use skills_agents::field_table::{CLAUDE_SKILLS, COMMON_MARK};
use skills_agents::references::{
    Link, LinkBase, LinkForm, Reference, ReferenceForm, is_name, links, outside_prose,
};
use skills_syntax::diagnostic::Severity;
use skills_syntax::suggest;
use skills_syntax::text::Span;

use super::finding::Finding;
use super::fs_context::PathKind;
use super::rule::Rule;
use super::rule_id::RuleId;
use super::subject::Cx;

/// Rules of this family, in the order of the reference page.
pub(super) static RULES: [&Rule; 2] = [&UNKNOWN, &BROKEN_LINK];

static UNKNOWN: Rule = Rule::new(
    RuleId::RefUnknown,
    Severity::Warning,
    "A reference to a skill looks misspelled.",
    "The model looks for a skill with this name and does not find it.",
    "Correct the name of the skill.",
)
.fixable()
.sources(&[&CLAUDE_SKILLS])
.texts(
    "//- /w/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nThen use the `release-ntoes` skill.\n//- /w/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
    "//- /w/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nThen use the `release-notes` skill, in `/etc` or `/logs`.\n//- /w/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
);

static BROKEN_LINK: Rule = Rule::new(
    RuleId::RefBrokenLink,
    Severity::Warning,
    "A link in an instruction file points to a missing file of a skill.",
    "The model wastes a turn trying to read it, or invents its content.",
    "Correct the path, or remove the link.",
)
.fixable()
.sources(&[&COMMON_MARK])
.texts(
    "//- /w/CLAUDE.md\nSee [notes](.claude/skills/release-ntoes/SKILL.md).\n//- /w/.claude/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
    "//- /w/CLAUDE.md\nSee [notes](.claude/skills/release-notes/SKILL.md).\n//- /w/.claude/skills/release-notes/SKILL.md\n---\nname: release-notes\ndescription: Writes notes. Use when asked to.\n---\nWrite.\n",
);

/// Minimum similarity of names: one typing error in a word of six letters.
const MIN_SIMILARITY: f64 = 0.84;

/// Minimum length of a name; in shorter ones, a typing error looks like another word.
const MIN_NAME_LEN: usize = 6;

/// Names of directories that contain skills.
const ROOTS: [&str; 2] = ["skills", "skill"];

/// Checks the links of an instruction file. The `body` rules check the links of a skill.
pub(super) fn check_links(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    // In other files, `@` may be relative to the worktree or have no meaning.
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
        if cx.fs.look(&link.path) != Some(PathKind::Missing) {
            continue;
        }
        let message = format!("`{}` does not exist", link.path);
        let finding = Finding::new(&BROKEN_LINK, link.span, message);
        out.push(suggest_skill(cx, finding, &link, dir, rest));
    }
}

/// Returns the name of the skill directory that a path leads into and the rest of the path; `None`
/// for other paths.
fn skill_of(path: &str) -> Option<(&str, &str)> {
    let roots = path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
    let mut below =
        roots.filter(|(before, _)| before.rsplit('/').next().is_some_and(|it| ROOTS.contains(&it)));
    let (_, rest) = below.next()?;
    let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
    (!name.is_empty()).then_some((name, rest))
}

/// Suggests a similar skill that has the same file.
fn suggest_skill(cx: &Cx<'_>, finding: Finding, link: &Link, dir: &str, rest: &str) -> Finding {
    let [meant] = suggest::nearest(dir, cx.skill_set().directories(), MIN_SIMILARITY)[..] else {
        return finding;
    };
    let written = link.span.slice(cx.text);
    let tail = if rest.is_empty() { dir.to_owned() } else { format!("{dir}/{rest}") };
    let (Some(at), Some(head)) = (written.rfind(&tail), link.path.strip_suffix(&tail)) else {
        return finding;
    };
    let path = format!("{head}{meant}{}", &tail[dir.len()..]);
    if matches!(cx.fs.look(&path), None | Some(PathKind::Missing)) {
        return finding;
    }
    let start = link.span.start + at;
    finding.suggest(Span::new(start, start + dir.len()), meant)
}

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let skill_set = cx.skill_set();
    if skill_set.neighbours().is_empty() {
        return;
    }
    // References in prose and in plugins are not checked: too many of them mean something else.
    for Reference { name, span, form } in outside_prose(cx.text, cx.document, cx.body()) {
        if name.len() < MIN_NAME_LEN
            || !is_name(&name)
            || name.contains([':', '_'])
            || skill_set.is_known_name(&name)
        {
            continue;
        }
        let alike = suggest::nearest(&name, skill_set.names(), MIN_SIMILARITY);
        let Some(meant) = alike.first().copied() else { continue };
        // After a slash, the name is often a path: `/components` beside a skill `Components`.
        if form == ReferenceForm::Called && meant.eq_ignore_ascii_case(&name) {
            continue;
        }
        // A word with another ending often means something else.
        if meant.starts_with(&name) || name.starts_with(meant) {
            continue;
        }
        let message = format!("unknown skill `{name}`; did you mean `{meant}`?");
        let finding = Finding::new(&UNKNOWN, span, message);
        out.push(finding.fix(format!("Change to `{meant}`"), span, meant));
    }
}
