//! `body/*`: what the model reads once it has chosen a skill, and the files that it is sent to.

mod files;
mod variables;

use skills_agents::field_table::{
    AUTHORING, Agent, CLAUDE_SKILLS, COMMON_MARK, Citation, OPENCODE, PLUGIN, SPECIFICATION,
};
use skills_syntax::diagnostic::Severity;
use skills_syntax::text::Span;

use super::rule::Rule;
use super::subject::Cx;
use super::{Finding, found};

pub use files::unnamed;
pub(super) use variables::commands;
pub use variables::is_amount;

const SOURCES: &[&Citation] = &[&SPECIFICATION];

const HEAD: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n";
const WELL: &str = "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n";
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
        "It is put into the conversation whole; a model reads the rest of a long text less well, and Claude Code keeps 5,000 tokens of it after a compaction.",
        "Move what is not always needed to files under `references/` and say when to read them.",
        "(five hundred lines and one)",
        WELL,
    )
    .whole_file()
    .sources(&[&SPECIFICATION, &AUTHORING]),
    rule(
        "body/empty",
        Severity::Warning,
        "The body is empty.",
        "A model that loads the skill learns nothing from it, and opencode-agent-skills drops the skill.",
        "Write what to do.",
        HEAD,
        WELL,
    )
    .whole_file()
    .sources(&[&SPECIFICATION, &PLUGIN]),
    rule(
        "body/too-large",
        Severity::Warning,
        "The file is too large to be read whole.",
        "What lies beyond the limit is not looked at.",
        "Move long material to files under `references/` that are read on demand.",
        "(a file above the limit of `read_limit`)",
        WELL,
    )
    .whole_file(),
    rule(
        "body/broken-link",
        Severity::Warning,
        "A link leads to a file that there is not.",
        "The model tries to read it and loses a turn, or invents what it might say.",
        "Correct the path, or add the file.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nSee [forms](references/form.md).\n//- /w/pdf/references/forms.md\n# Forms\n",
        LINKED,
    )
    .fixable(),
    rule(
        "body/broken-path",
        Severity::Warning,
        "A path in backticks names a file of the skill that there is not.",
        "The model runs or reads it, and fails.",
        "Correct the path, or add the file.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun `scripts/raed.py`.\n//- /w/pdf/scripts/read.py\nprint()\n",
        LINKED,
    )
    .fixable(),
    rule(
        "body/escape",
        Severity::Information,
        "A link leads out of the skill's directory.",
        "A skill is copied and installed alone; what lies beside it may not be there.",
        "Copy the file into the skill, or name the other skill.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nSee [other](../other/notes.md).\n//- /w/other/notes.md\n# Notes\n",
        LINKED,
    ),
    rule(
        "body/not-executable",
        Severity::Information,
        "A script that is run by its path cannot be executed.",
        "The shell answers `Permission denied`.",
        "Run `chmod +x` on the file, or name its interpreter: `python scripts/read.py`.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun:\n\n```sh\n./scripts/read.sh a.pdf\n```\n//- /w/pdf/scripts/read.sh\n#!/bin/sh\n",
        LINKED,
    )
    .choosable(),
    rule(
        "body/unreferenced-file",
        Severity::Hint,
        "A file of the skill is named nowhere in the body.",
        "The model does not know that it is there.",
        "Say in the body when to use it, or remove it.",
        "//- /w/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead the file.\n//- /w/pdf/references/forms.md\n# Forms\n",
        LINKED,
    )
    .whole_file()
    .sources(&[&AUTHORING]),
    rule(
        "body/unclosed-fence",
        Severity::Warning,
        "A block of code is not closed.",
        "All that follows is code.",
        "Close it with a line of the same characters.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdftotext a.pdf\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdftotext a.pdf\n```\n",
    )
    .fixable()
    .sources(&[&COMMON_MARK]),
    rule(
        "body/no-hint",
        Severity::Hint,
        "The body uses arguments, and no `argument-hint` says which.",
        "The menu of commands shows the user what to type only with a hint.",
        "Add `argument-hint:` with what to type.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRead $ARGUMENTS.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: file\n---\nRead $ARGUMENTS.\n",
    )
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS]),
    rule(
        "body/unknown-variable",
        Severity::Warning,
        "There is no such variable, but almost.",
        "It stays as it is written, and a path with it leads nowhere.",
        "Write the variable that there is.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun ${CLAUDE_SKILLS_DIR}/read.py.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nRun ${CLAUDE_SKILL_DIR}/read.py.\n",
    )
    .fixable()
    .agents(&[Agent::ClaudeCode])
    .sources(&[&CLAUDE_SKILLS]),
    rule(
        "body/command-not-run",
        Severity::Information,
        "A command is to be replaced by its output, and some agents do not run it.",
        "Claude Code runs `` !`…` `` before the model sees the body, at the start of a line or behind a blank; opencode when the user starts the skill with a slash; others show the command itself.",
        "Put a blank before the `!`; say in words what to run where other agents use the skill.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nFiles: !`ls *.pdf`\n",
        "//- /w/.claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\nFiles: `ls *.pdf`\n",
    )
    .sources(&[&CLAUDE_SKILLS, &OPENCODE]),
    rule(
        "body/currency",
        Severity::Hint,
        "An amount of money looks like an argument.",
        "`$5` is the sixth argument to Claude Code and the fifth to opencode: with arguments, it is replaced.",
        "Write `5 USD`, or `\\$5` where Claude Code alone reads the skill.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: file\n---\nRead $ARGUMENTS, which costs $5 a page.\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\nargument-hint: file\n---\nRead $ARGUMENTS, which costs 5 USD a page.\n",
    )
    .choosable()
    .sources(&[&CLAUDE_SKILLS, &OPENCODE]),
    rule(
        "body/code-argument",
        Severity::Information,
        "A number behind `$` in a block of code is taken for an argument.",
        "Whoever calls the skill with enough arguments has `$1` replaced by one of them, in code as everywhere: `awk '{print $1}'` then prints something else. And because one is replaced, Claude Code does not add the arguments at the end.",
        "Put the code into a file under `scripts/`, or a backslash before the `$` where Claude Code alone reads the skill.",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdfinfo a.pdf | awk '/Pages/ {print $2}'\n```\n",
        "---\nname: pdf\ndescription: Reads PDF files. Use when asked about one.\n---\n```sh\npdfinfo a.pdf | awk '/Pages/ {print $NF}'\n```\n",
    )
    .sources(&[&CLAUDE_SKILLS, &OPENCODE]),
];

const MAX_LINES: usize = 500;
const MAX_TOKENS: usize = 5000;

/// About how many characters one token has.
const CHARACTERS: usize = 4;

pub(super) fn check(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    size(cx, out);
    let frontmatter = cx.frontmatter().filter(|it| super::yaml::is_delimited(it));
    let close = frontmatter.map(|it| it.close.unwrap_or(it.open));
    // A command may be a body and nothing else.
    let Some(place) = close.or_else(|| cx.is_command.then(|| cx.line(0))) else { return };
    let written = cx.document.body.slice(cx.text);
    if written.trim().is_empty() {
        // Some want an end of line behind the `---` that the file ends with.
        let dropped = cx.droppers(&["body/required", "frontmatter/delimited"]);
        out.push(match dropped.as_slice() {
            [] => found("body/empty", place, "the body is empty"),
            them => {
                let who = super::audience::act(them, "drops", "drop");
                let message = format!("{who} this skill: the body is empty");
                found("body/empty", place, message).severity(Severity::Error).about(them)
            }
        });
        return;
    }
    long(cx, out);
    fences(cx, out);
    // What a command names lies in the project.
    if !cx.is_command {
        files::check(cx, out);
    }
    variables::check(cx, out);
}

fn size(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let large = cx.record.findings.iter().find(|it| it.diagnostic.code == "body/too-large");
    if let Some(finding) = large {
        let end = cx.line(cx.text.len());
        let span = if end.is_empty() { Span::empty(cx.text.len()) } else { end };
        out.push(found("body/too-large", span, &finding.diagnostic.message));
    }
}

fn long(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let body = cx.body();
    let written = cx.document.body.slice(cx.text);
    let n_lines = body.lines.len();
    let many = n_lines > MAX_LINES;
    // Bytes are never fewer than characters, and counted for nothing.
    let n_tokens = if written.len() > MAX_TOKENS * CHARACTERS {
        written.chars().count().div_ceil(CHARACTERS)
    } else {
        0
    };
    if !many && n_tokens <= MAX_TOKENS {
        return;
    }
    // Where it becomes too much.
    let by_line = body.lines.get(MAX_LINES).copied();
    let by_size = || {
        let at = cx.document.body.start + written.floor_char_boundary(MAX_TOKENS * CHARACTERS);
        cx.line(at)
    };
    let span = if many { by_line.unwrap_or_else(by_size) } else { by_size() };
    let about = match n_tokens {
        0 => written.chars().count().div_ceil(CHARACTERS),
        it => it,
    };
    let message = format!("the body has {n_lines} lines, about {about} tokens");
    out.push(found("body/long", span, message));
}

fn fences(cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let Some(fence) = cx.body().fences.iter().find(|it| !it.closed) else { return };
    let text = cx.text;
    let before = if text.ends_with(['\n', '\r']) { "" } else { cx.line_break() };
    let mark = fence.mark.slice(text);
    let closing = format!("{before}{mark}{}", cx.line_break());
    let finding = found("body/unclosed-fence", fence.open, "this block of code is never closed");
    out.push(finding.fix("Close the block at the end", Span::empty(text.len()), closing));
}
