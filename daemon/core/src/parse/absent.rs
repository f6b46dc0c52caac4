//! What a file without a frontmatter is, so that the message can say what to do.

use crate::diagnostic::Diagnostic;
use crate::parse::line::lines;
use crate::text::Span;

/// Says that there is no frontmatter and what seems to be there instead.
pub(super) fn diagnose(text: &str, start: usize) -> Diagnostic {
    let first = lines(text, start).find(|line| !line.is_blank());
    let Some(first) = first else {
        return Diagnostic::error(CODE, Span::empty(start), "the file is empty").with_help(ADD);
    };
    let span = first.span();
    let content = first.content(text);
    let (message, help) = explain(content, text.len());
    Diagnostic::error(CODE, span, message).with_help(help)
}

const CODE: &str = "yaml/no-frontmatter";
const ADD: &str = "Start the file with `---`, lines of `name:` and `description:`, and `---`.";

fn explain(first: &str, size: usize) -> (&'static str, &'static str) {
    if first.starts_with("version https://git-lfs.github.com/") {
        return (
            "the file is a Git LFS pointer, not the skill itself",
            "Run `git lfs pull` to fetch the file.",
        );
    }
    if size == first.len() && first.ends_with(".md") && first.contains('/') && !first.contains(' ')
    {
        return (
            "the file looks like a symbolic link that was checked out as text",
            "Turn on `core.symlinks` in Git and check the file out again.",
        );
    }
    if first.starts_with('\u{FFFD}') && first.contains(['\u{FFFD}', '\0']) {
        return ("the file looks like UTF-16, not UTF-8", "Save the file as UTF-8.");
    }
    if first.starts_with("+++") {
        return (
            "the frontmatter is TOML, which no agent reads",
            "Write it in YAML between lines of `---`.",
        );
    }
    if first.starts_with("---") {
        return (
            "the opening line is not exactly `---`",
            "Write `---` alone on the first line; agents see no frontmatter otherwise.",
        );
    }
    if first.starts_with('{') {
        return ("the file is JSON, which no agent reads as a skill", ADD);
    }
    if first.starts_with("**") && first.contains(':') {
        return (
            "the fields are bold text, not a frontmatter",
            "Write them as `name: …` and `description: …` between lines of `---`.",
        );
    }
    ("the file has no frontmatter", ADD)
}
