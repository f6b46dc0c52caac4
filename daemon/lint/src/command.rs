//! `command/*`: what is only true of commands, the Markdown files below `.claude/commands`.
//!
//! All other rules are for them as well, but for those about a skill's name, its directory and the
//! files in it: a command has none of these.

use skills_agents::command;
use skills_agents::field_table::{Agent, CLAUDE_SKILLS, NAME};
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::Span;

use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, found};
use crate::Tag;

const WELL: &str = "//- /w/.claude/commands/deploy.md\n---\ndescription: Deploys the site.\n---\nRun the script.\n";

pub(super) static RULES: [Rule; 3] = [
    Rule::new(
        "command/name",
        Severity::Warning,
        "The file's name cannot be typed as a command.",
        "A command is called by its file: `/deploy` for `deploy.md`. What stands behind a blank is an argument.",
        "Rename the file to words with hyphens between them.",
    )
    .whole_file()
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS])
    .texts(
        "//- /w/.claude/commands/deploy site.md\n---\ndescription: Deploys the site.\n---\nRun the script.\n",
        WELL,
    ),
    Rule::new(
        "command/name-field",
        Severity::Hint,
        "A command has a `name`.",
        "It is called by its file and its directories, whatever the field says.",
        "Remove the field, or rename the file.",
    )
    .fixable()
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS])
    .texts(
        "//- /w/.claude/commands/deploy.md\n---\nname: release\ndescription: Deploys the site.\n---\nRun the script.\n",
        WELL,
    ),
    Rule::new(
        "command/shadowed",
        Severity::Warning,
        "A skill has the command's name.",
        "Claude Code runs the skill, and the command never.",
        "Rename one of the two, or remove the command.",
    )
    .whole_file()
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS])
    .texts(
        "//- /w/.claude/commands/deploy.md\n---\ndescription: Deploys the site.\n---\nRun the script.\n//- /w/.claude/skills/deploy/SKILL.md\n---\nname: deploy\ndescription: Deploys. Use when asked to.\n---\nRun it.\n",
        WELL,
    ),
];

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(name) = cx.path.and_then(|it| command::name(it)) else { return };
    let first = cx.line(0);
    let top = cx.frontmatter().map_or(first, |it| it.open);
    if name.contains(char::is_whitespace) {
        let message = format!("`/{name}` cannot be typed: a blank ends the name of a command");
        out.push(found("command/name", top, message));
    }
    if let Some(entry) = cx.entry(NAME.key) {
        let message = format!("the command is called `/{name}`, by its file");
        let finding = found("command/name-field", entry.key.span, message);
        out.push(finding.tag(Tag::Unnecessary).fix("Remove it", cx.removal(entry), ""));
    }
    shadowed(cx, &name, top, out);
}

/// A skill in the same `.claude` whose directory has the command's name.
fn shadowed(cx: &Cx<'_>, name: &str, top: Span, out: &mut Vec<Finding>) {
    let claude = |it: &std::path::Path| {
        it.ancestors().find(|it| it.ends_with(".claude")).map(ToOwned::to_owned)
    };
    let own = cx.path.and_then(|it| claude(it));
    let is_twin = |it: &&super::Neighbour| {
        claude(&it.path).is_some_and(|dir| {
            own.as_ref() == Some(&dir) && it.path.starts_with(dir.join("skills"))
        })
    };
    if let Some(twin) = cx.company().in_directory(name).find(is_twin) {
        let message = format!("Claude Code runs the skill `{name}` in this command's place");
        out.push(
            found("command/shadowed", top, message).related(&twin.path, "the skill that wins"),
        );
    }
}
