//! Classifies files without frontmatter, so that the diagnostic can name the remedy.

use crate::diagnostic::{Diagnostic, ProblemCode};
use crate::parse::line::lines;
use crate::text::Span;

/// Returns the diagnostic for a file without frontmatter.
pub(super) fn diagnose(text: &str, start: usize) -> Diagnostic {
    let first = lines(text, start).find(|line| !line.is_blank());
    let Some(first) = first else {
        return Diagnostic::error(CODE, Span::empty(start), "the file is empty").with_help(ADD);
    };
    let span = first.span();
    let content = first.content(text);
    let (message, help) = explain(content, text.len());
    let code =
        if [JAVASCRIPT, JSON].contains(&message) { ProblemCode::FrontmatterCode } else { CODE };
    Diagnostic::error(code, span, message).with_help(help)
}

const CODE: ProblemCode = ProblemCode::NoFrontmatter;
const JAVASCRIPT: &str = "the frontmatter is JavaScript, which opencode runs when it lists skills";
const JSON: &str = "the frontmatter is JSON, which only opencode reads";
const ADD: &str = "Start the file with `---`, lines of `name:` and `description:`, and `---`.";

fn explain(first: &str, size: usize) -> (&'static str, &'static str) {
    if first.starts_with("version https://git-lfs.github.com/") {
        return (
            "the file is a Git LFS pointer, not the skill itself",
            "Run `git lfs pull` to fetch the file.",
        );
    }
    let is_path = first.contains('/') && !first.contains(' ');
    if size == first.len() && is_path && first.ends_with("/SKILL.md") {
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
    if let Some(language) = first.strip_prefix("---").map(str::trim) {
        if ["js", "javascript"].iter().any(|it| language.eq_ignore_ascii_case(it)) {
            return (
                JAVASCRIPT,
                "Remove the skill if you do not trust its code; write the fields in YAML between lines of `---`.",
            );
        }
        if language.eq_ignore_ascii_case("json") {
            return (JSON, "Write it in YAML between lines of `---`.");
        }
        if ["\\r\\n", "\\n"].iter().any(|it| language.starts_with(it)) {
            return (
                "the line breaks are written as `\\n`, so the file is one line",
                "Write the file with line breaks.",
            );
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = diagnose(text, 0);
        assert_eq!(format!("{:?} {}", found.span.slice(text), found.message), expected);
        assert!(found.help.is_some_and(|help| help.ends_with('.')));
    }

    #[test]
    fn missing_frontmatter_message_names_the_file_type() {
        check("", r#""" the file is empty"#);
        check("\n \n", r#""" the file is empty"#);
        check("\n# Title\nx", r##""# Title" the file has no frontmatter"##);
        check("+++\nname = \"a\"\n+++\n", r#""+++" the frontmatter is TOML, which no agent reads"#);
        check(
            "---js\n{}\n---\n",
            r#""---js" the frontmatter is JavaScript, which opencode runs when it lists skills"#,
        );
        check(
            "--- json\n{}\n---\n",
            r#""--- json" the frontmatter is JSON, which only opencode reads"#,
        );
        check(
            "---\\r\\nname: a\\r\\n---\\r\\nRead.",
            r#""---\\r\\nname: a\\r\\n---\\r\\nRead." the line breaks are written as `\n`, so the file is one line"#,
        );
        check("---x\n{}\n---\n", r#""---x" the opening line is not exactly `---`"#);
        check(
            "{\"name\":\"a\"}",
            r#""{\"name\":\"a\"}" the file is JSON, which no agent reads as a skill"#,
        );
        check("**name:** a\n", r#""**name:** a" the fields are bold text, not a frontmatter"#);
        check(
            "../../skills/a/SKILL.md",
            r#""../../skills/a/SKILL.md" the file looks like a symbolic link that was checked out as text"#,
        );
        check(
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            r#""version https://git-lfs.github.com/spec/v1" the file is a Git LFS pointer, not the skill itself"#,
        );
        let utf16 = crate::text::decode(b"\xFF\xFE-\0-\0-\0\n\0").text;
        assert_eq!(diagnose(&utf16, 0).message, "the file looks like UTF-16, not UTF-8");
    }
}
