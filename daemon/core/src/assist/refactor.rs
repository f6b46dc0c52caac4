//! Changes of shape that keep what a skill means: a section into a file of its own, a list of tools
//! on one line or on several.

use super::sections::{Section, sections};
use super::tokens::{TokenKind, tokens};
use crate::catalog::{ALLOWED_TOOLS, DISALLOWED_TOOLS, Field};
use crate::command;
use crate::fields::Fields;
use crate::parse::{Document, ScalarStyle, ValueKind};
use crate::path::AbsPath;
use crate::rules::{Body, Edit, Look, Subject, Surroundings, apply, quoted};
use crate::text::{Span, after_line_end};

/// A change of shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refactoring {
    /// What it does, as an imperative without a full stop.
    pub title: String,
    /// What sort of change it is.
    pub kind: RefactorKind,
    /// The edits of the text itself, none of which touches another.
    pub edits: Vec<Edit>,
    /// A file that is made.
    pub creates: Option<(AbsPath, String)>,
}

/// What sort of change it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefactorKind {
    /// Something gets a place of its own.
    Extract,
    /// The same is written in another form.
    Rewrite,
}

/// How many lines a section has that is worth a file of its own.
const LONG: usize = 10;

/// How many names are tried for a file where others are taken.
const NAMES: usize = 9;

/// Returns the changes that can be made at `offset`.
pub fn refactorings(
    subject: &Subject<'_>,
    surroundings: &dyn Surroundings,
    offset: usize,
) -> Vec<Refactoring> {
    let offset = subject.text.floor_char_boundary(offset);
    let mut found = Vec::new();
    found.extend(extraction(subject, surroundings, offset));
    found.extend(lists(subject, offset));
    found
}

/// Moves the innermost long section around a place to a file below `references/`.
fn extraction(
    subject: &Subject<'_>,
    surroundings: &dyn Surroundings,
    offset: usize,
) -> Option<Refactoring> {
    let (text, document) = (subject.text, subject.document);
    let path = subject.path.filter(|it| !command::is_command(it))?;
    let all = sections(text, document);
    let is_long = |it: &&Section| it.span.slice(text).lines().count() > LONG;
    let around = |it: &&Section| it.span.start <= offset && offset <= it.span.end;
    let section = all.iter().filter(around).rfind(is_long)?;
    // What an agent replaces it replaces in the body alone.
    let is_replaced = tokens(text, document, &[])
        .iter()
        .any(|it| it.kind == TokenKind::Variable && section.span.covers(it.span))
        || section.span.slice(text).contains("!`");
    if is_replaced {
        return None;
    }
    let title = section.title.slice(text);
    let name = free_name(&slug(title), surroundings)?;
    let relative = format!("references/{name}.md");
    let created = AbsPath::new(&path.parent()?.join(&relative)).ok()?;
    let below = Span::new(after_line_end(text, section.heading.end), section.span.end);
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let tail = if section.span.end < text.len() { line } else { "" };
    Some(Refactoring {
        title: format!("Extract `{title}` to `{relative}`"),
        kind: RefactorKind::Extract,
        edits: vec![Edit {
            span: below,
            text: format!("{line}Read [{title}]({relative}).{line}{tail}"),
        }],
        creates: Some((created, extracted(text, document, section, &all))),
    })
}

/// Returns what stands in the new file: the section as a page, its links from where it then lies.
fn extracted(text: &str, document: &Document, section: &Section, all: &[Section]) -> String {
    let up = section.level - 1;
    let headings = all.iter().filter(|it| section.span.covers(it.heading));
    let mut edits: Vec<Edit> = headings
        .map(|it| Edit {
            span: Span::new(it.heading.start, it.heading.start + up),
            text: String::new(),
        })
        .collect();
    let body = Body::new(text, document.body);
    for link in body.links.iter().filter(|it| section.span.covers(**it)) {
        let target = link.slice(text);
        let is_path = !target.starts_with(['#', '/', '<', '~']) && !target.contains(':');
        if is_path {
            let bare = target.strip_prefix("./").unwrap_or(target);
            let moved = match bare.strip_prefix("references/") {
                Some(beside) => beside.to_owned(),
                None => format!("../{bare}"),
            };
            edits.push(Edit { span: *link, text: moved });
        }
    }
    // Outside of the section nothing is changed, so its end moves by what changed inside.
    let grown: isize =
        edits.iter().map(|it| it.text.len().cast_signed() - it.span.len().cast_signed()).sum();
    let whole = apply(text, &edits);
    let end = section.span.end.saturating_add_signed(grown);
    let page = Span::new(section.span.start, end).slice(&whole).trim_end();
    format!("{page}{}", if text.contains("\r\n") { "\r\n" } else { "\n" })
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    for letter in title.chars() {
        if letter.is_alphanumeric() {
            slug.extend(letter.to_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "section".to_owned() } else { slug.to_owned() }
}

/// Returns the name that no file below `references/` has, as far as that is known.
fn free_name(name: &str, surroundings: &dyn Surroundings) -> Option<String> {
    let is_free = |name: &String| {
        let found = surroundings.look(&format!("references/{name}.md"));
        matches!(found, None | Some(Look::Missing))
    };
    let numbered = (2..=NAMES).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free)
}

/// Writes tools on one line as a list, and a list on one line.
fn lists(subject: &Subject<'_>, offset: usize) -> Option<Refactoring> {
    let frontmatter = subject.document.frontmatter.as_ref()?;
    let fields = Fields::new(frontmatter, subject.text);
    let here = |it: &&&Field| {
        fields.entry(it).is_some_and(|it| it.span.start <= offset && offset <= it.span.end)
    };
    let field = [&ALLOWED_TOOLS, &DISALLOWED_TOOLS].iter().copied().find(|it| here(&it))?;
    let entry = fields.entry(field)?;
    let items: Vec<String> = fields.list(field).into_iter().map(|it| it.text).collect();
    let line = if subject.text.contains("\r\n") { "\r\n" } else { "\n" };
    let span = Span::new(entry.key.span.end, entry.value.span.end);
    // A comment between them would be lost.
    if items.is_empty() || entry.duplicate_of.is_some() || span.slice(subject.text).contains('#') {
        return None;
    }
    let (title, text) = match &entry.value.kind {
        ValueKind::Scalar {
            style: ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted,
            ..
        } => {
            let items: Vec<_> = items.iter().map(|it| format!("{line}  - {}", item(it))).collect();
            ("Write the tools as a list", format!(":{}", items.concat()))
        }
        ValueKind::Sequence { .. } => {
            // Blanks that are no separators stand in parentheses.
            let joins = |it: &String| !it.contains([' ', ',']) || it.ends_with(')');
            if !items.iter().all(joins) {
                return None;
            }
            ("Write the tools on one line", format!(": {}", item(&items.join(" "))))
        }
        ValueKind::Scalar { .. }
        | ValueKind::Mapping { .. }
        | ValueKind::Null
        | ValueKind::Alias { .. } => return None,
    };
    Some(Refactoring {
        title: title.to_owned(),
        kind: RefactorKind::Rewrite,
        edits: vec![Edit { span, text }],
        creates: None,
    })
}

/// Returns a text as a YAML scalar that every reader takes for it.
fn item(text: &str) -> String {
    let plain = |it: char| it.is_alphanumeric() || " _-.()/*".contains(it);
    let starts_well = text.starts_with(char::is_alphabetic);
    if starts_well && text.chars().all(plain) && text.trim() == text {
        text.to_owned()
    } else {
        quoted(text)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::assist::tests::with_subject_at;
    use crate::rules::Nowhere;

    #[track_caller]
    fn check(path: &str, marked: &str, expected: &Expect) {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let shown = with_subject_at(path, &text, |subject| {
            let found = refactorings(subject, &Nowhere, at);
            let show = |it: &Refactoring| {
                let mut shown = format!("= {}\n{}", it.title, apply(&text, &it.edits));
                if let Some((path, text)) = &it.creates {
                    let _ = write!(shown, "= {}\n{text}", path.display());
                }
                shown
            };
            found.iter().map(show).collect::<String>()
        });
        expected.assert_eq(&shown);
    }

    const SKILL: &str = "/w/.claude/skills/a/SKILL.md";

    #[test]
    fn a_long_section_becomes_a_page() {
        let lines = "line\n".repeat(8);
        let text = format!(
            "---\nname: a\n---\n# A\n\n## All forms!\n\nSee [x](references/x.md), [y](scripts/y.py#a) and [z](https://z).\n\n### Deep|er\n{lines}\n## Next\nx\n"
        );
        check(
            SKILL,
            &text,
            &expect![[r##"
                = Extract `All forms!` to `references/all-forms.md`
                ---
                name: a
                ---
                # A

                ## All forms!

                Read [All forms!](references/all-forms.md).

                ## Next
                x
                = /w/.claude/skills/a/references/all-forms.md
                # All forms!

                See [x](x.md), [y](../scripts/y.py#a) and [z](https://z).

                ## Deeper
                line
                line
                line
                line
                line
                line
                line
                line
            "##]],
        );
    }

    #[test]
    fn what_an_agent_replaces_stays_in_the_body() {
        let lines = "line\n".repeat(12);
        for with in ["$ARGUMENTS", "${CLAUDE_SKILL_DIR}", "!`ls`"] {
            check(SKILL, &format!("---\nname: a\n---\n# A|\n{with}\n{lines}"), &expect![[""]]);
        }
        check(SKILL, "---\nname: a\n---\n# Short|\nx\n", &expect![[""]]);
    }

    #[test]
    fn tools_are_split_and_joined() {
        check(
            SKILL,
            "---\nallowed-tools: Re|ad Bash(git add:*), Grep\n---\nx\n",
            &expect![[r#"
                = Write the tools as a list
                ---
                allowed-tools:
                  - Read
                  - "Bash(git add:*)"
                  - Grep
                ---
                x
            "#]],
        );
        check(
            SKILL,
            "---\nallowed-tools:|\n  - Read\n  - Bash(git add *)\n---\nx\n",
            &expect![[r#"
                = Write the tools on one line
                ---
                allowed-tools: Read Bash(git add *)
                ---
                x
            "#]],
        );
        check(SKILL, "---\nallowed-tools:|\n  - Read # why\n  - Grep\n---\nx\n", &expect![[""]]);
    }
}
