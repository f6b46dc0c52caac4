//! Rules `body/*`: problems with the body and the files that it mentions.

mod files;
mod variables;

use skills_agents::field_table::{
    AUTHORING, Agent, CLAUDE_SKILLS, COMMON_MARK, Citation, OPENCODE, PLUGIN, SPECIFICATION,
};
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::Span;

use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, new_finding};

pub use files::unreferenced_files;
pub(super) use variables::commands;
pub use variables::is_amount;

const SOURCES: &[&Citation] = &[&SPECIFICATION];

const HEAD: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n";
const PASSING: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";
const LINKED: &str = "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nSee [forms](references/forms.md), run `scripts/read.py`.\n//- /w/pdf/references/forms.md\n# Forms\n//- /w/pdf/scripts/read.py\nprint()\n";

const fn rule(
    id: &'static str,
    severity: Severity,
    what: &'static str,
    why: &'static str,
    repair: &'static str,
    failing: &'static str,
    passing: &'static str,
) -> Rule {
    Rule::new(id, severity, what, why, repair).sources(SOURCES).texts(failing, passing)
}

pub(super) static RULES: [Rule; 14] = [
    rule(
        "body/long",
        Severity::Information,
        "The body is longer than 500 lines or about 5,000 tokens.",
        "Agents put the whole body into the context. Models read the end of a long text less well, and Claude Code keeps only 5,000 tokens after a compaction.",
        "Move details to files under `references/` and say when to read them.",
        "(a body of 501 lines)",
        PASSING,
    )
    .whole_file()
    .sources(&[&SPECIFICATION, &AUTHORING]),
    rule(
        "body/empty",
        Severity::Warning,
        "The body is empty.",
        "The skill gives the model no instructions, and opencode-agent-skills drops it.",
        "Write the instructions.",
        HEAD,
        PASSING,
    )
    .whole_file()
    .sources(&[&SPECIFICATION, &PLUGIN]),
    rule(
        "body/too-large",
        Severity::Warning,
        "The file is larger than the read limit.",
        "skillsd ignores the text after the limit.",
        "Move long material to files under `references/`, which agents read on demand.",
        "(a file larger than `read_limit`)",
        PASSING,
    )
    .whole_file(),
    rule(
        "body/broken-link",
        Severity::Warning,
        "A link points to a file that does not exist.",
        "The model wastes a turn trying to read it, or invents its content.",
        "Correct the path, or add the file.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nSee [forms](references/form.md).\n//- /w/pdf/references/forms.md\n# Forms\n",
        LINKED,
    )
    .fixable(),
    rule(
        "body/broken-path",
        Severity::Warning,
        "A path in backticks names a missing file of the skill.",
        "The model tries to read or run it, and fails.",
        "Correct the path, or add the file.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun `scripts/raed.py`.\n//- /w/pdf/scripts/read.py\nprint()\n",
        LINKED,
    )
    .fixable(),
    rule(
        "body/escape",
        Severity::Information,
        "A link points outside the skill's directory.",
        "Skills are copied and installed alone, without the files beside them.",
        "Copy the file into the skill, or refer to the other skill by name.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nSee [other](../other/notes.md).\n//- /w/other/notes.md\n# Notes\n",
        LINKED,
    ),
    rule(
        "body/not-executable",
        Severity::Information,
        "A script that is run by its path is not executable.",
        "The shell answers `Permission denied`.",
        "Run `chmod +x` on the file, or name its interpreter: `python scripts/read.py`.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun:\n\n```sh\n./scripts/read.sh a.pdf\n```\n//- /w/pdf/scripts/read.sh\n#!/bin/sh\n",
        LINKED,
    )
    .choosable(),
    rule(
        "body/unreferenced-file",
        Severity::Hint,
        "The body does not mention a file of the skill.",
        "The model does not know that the file exists.",
        "Say in the body when to use the file, or remove it.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n//- /w/pdf/references/forms.md\n# Forms\n",
        LINKED,
    )
    .whole_file()
    .sources(&[&AUTHORING]),
    rule(
        "body/unclosed-fence",
        Severity::Warning,
        "A code block is not closed.",
        "The rest of the body becomes code.",
        "Close the block with a line of the same characters.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdftotext a.pdf\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdftotext a.pdf\n```\n",
    )
    .fixable()
    .sources(&[&COMMON_MARK]),
    rule(
        "body/no-hint",
        Severity::Hint,
        "The body uses arguments, but `argument-hint` is missing.",
        "Without a hint, the command menu does not show what to type.",
        "Add `argument-hint:` with a short example.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead $ARGUMENTS.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: file\n---\nRead $ARGUMENTS.\n",
    )
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS]),
    rule(
        "body/unknown-variable",
        Severity::Warning,
        "A variable looks misspelled.",
        "Claude Code leaves it as written, and a path that contains it does not exist.",
        "Correct the variable's name.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun ${CLAUDE_SKILLS_DIR}/read.py.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun ${CLAUDE_SKILL_DIR}/read.py.\n",
    )
    .fixable()
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS]),
    rule(
        "body/command-not-run",
        Severity::Information,
        "Some agents do not replace a command by its output.",
        "Claude Code runs `` !`…` `` at the start of a line or after a space, before the model sees the body. opencode runs it when the user starts the skill with a slash. Other agents show the command itself.",
        "Put a space before the `!`. For other agents, describe the command in words.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nFiles: !`ls *.pdf`\n",
        "//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nFiles: `ls *.pdf`\n",
    )
    .sources(&[&CLAUDE_SKILLS, &OPENCODE]),
    rule(
        "body/currency",
        Severity::Hint,
        "An amount of money looks like an argument.",
        "`$5` is the sixth argument in Claude Code and the fifth in opencode. Both replace it when the user passes arguments.",
        "Write `5 USD`, or `\\$5` if only Claude Code reads the skill.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: file\n---\nRead $ARGUMENTS, which costs $5 a page.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: file\n---\nRead $ARGUMENTS, which costs 5 USD a page.\n",
    )
    .choosable()
    .sources(&[&CLAUDE_SKILLS, &OPENCODE]),
    rule(
        "body/code-argument",
        Severity::Information,
        "A number after `$` in a code block is read as an argument.",
        "If the user passes enough arguments, agents replace `$1` in code too: `awk '{print $1}'` then prints something else. Claude Code then no longer appends the arguments to the body.",
        "Move the code to a file under `scripts/`. If only Claude Code reads the skill, escape the `$` with a backslash.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdfinfo a.pdf | awk '/Pages/ {print $2}'\n```\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdfinfo a.pdf | awk '/Pages/ {print $NF}'\n```\n",
    )
    .sources(&[&CLAUDE_SKILLS, &OPENCODE]),
];

const MAX_LINES: usize = 500;
const MAX_TOKENS: usize = 5000;

/// Approximate number of characters per token.
const CHARACTERS_PER_TOKEN: usize = 4;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    check_size(cx, out);
    let frontmatter = cx.frontmatter().filter(|it| super::yaml::is_delimited(it));
    let close = frontmatter.map(|it| it.close.unwrap_or(it.open));
    // A command needs no frontmatter.
    let Some(place) = close.or_else(|| cx.is_command.then(|| cx.line(0))) else { return };
    let written = cx.document.body.slice(cx.text);
    if written.trim().is_empty() {
        // Some agents require a line ending after a final `---`.
        let dropped = cx.profiles_that_drop(&["body/required", "frontmatter/delimited"]);
        out.push(match dropped.as_slice() {
            [] => new_finding("body/empty", place, "the body is empty"),
            them => {
                let who = super::affected_agents::with_verb(them, "drops", "drop");
                let message = format!("{who} this skill: the body is empty");
                new_finding("body/empty", place, message).severity(Severity::Error).about(them)
            }
        });
        return;
    }
    check_length(cx, out);
    check_fences(cx, out);
    // Paths in a command refer to the project.
    if !cx.is_command {
        files::check(cx, out);
    }
    variables::check(cx, out);
}

fn check_size(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let large = cx.record.findings.iter().find(|it| it.diagnostic.code == "body/too-large");
    if let Some(finding) = large {
        let end = cx.line(cx.text.len());
        let span = if end.is_empty() { Span::empty(cx.text.len()) } else { end };
        out.push(new_finding("body/too-large", span, &finding.diagnostic.message));
    }
}

fn check_length(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let body = cx.body();
    let written = cx.document.body.slice(cx.text);
    let n_lines = body.lines.len();
    let many = n_lines > MAX_LINES;
    // Counts characters only if the number of bytes can exceed the limit.
    let n_tokens = if written.len() > MAX_TOKENS * CHARACTERS_PER_TOKEN {
        written.chars().count().div_ceil(CHARACTERS_PER_TOKEN)
    } else {
        0
    };
    if !many && n_tokens <= MAX_TOKENS {
        return;
    }
    // The first line over the limit.
    let by_line = body.lines.get(MAX_LINES).copied();
    let by_size = || {
        let at =
            cx.document.body.start + written.floor_char_boundary(MAX_TOKENS * CHARACTERS_PER_TOKEN);
        cx.line(at)
    };
    let span = if many { by_line.unwrap_or_else(by_size) } else { by_size() };
    let about = match n_tokens {
        0 => written.chars().count().div_ceil(CHARACTERS_PER_TOKEN),
        it => it,
    };
    let message = format!("the body has {n_lines} lines, about {about} tokens");
    out.push(new_finding("body/long", span, message));
}

fn check_fences(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(fence) = cx.body().fences.iter().find(|it| !it.closed) else { return };
    let text = cx.text;
    let before = if text.ends_with(['\n', '\r']) { "" } else { cx.line_break() };
    let mark = fence.mark.slice(text);
    let closing = format!("{before}{mark}{}", cx.line_break());
    let finding = new_finding("body/unclosed-fence", fence.open, "this code block is not closed");
    out.push(finding.fix("Close the block at the end", Span::empty(text.len()), closing));
}
