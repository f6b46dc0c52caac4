//! Places of a text that lead to files: links, imports, and paths as they are.

use std::path::Path;

use crate::parse::Document;
use crate::rules::{Body, path_of};
use crate::text::Span;

/// A place that leads to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// Where the path stands.
    pub span: Span,
    /// The path as it is meant, relative to the directory of the text.
    pub path: String,
    /// How it is written.
    pub way: Way,
}

/// How a path is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// As the target of a link.
    Target,
    /// Behind `@`, as instructions take other files in.
    Import,
    /// As it is, in backticks or in running text: it may be no path at all.
    Bare,
}

/// Returns the places of a text that lead to files, in their order.
pub fn links(text: &str, document: &Document) -> Vec<Link> {
    let body = Body::new(text, document.body);
    let target = |span: &Span| {
        let path = path_of(span.slice(text)).filter(|it| it.contains(['/', '.']))?;
        Some(Link { span: *span, path, way: Way::Target })
    };
    let code = |span: &Span| file(text, *span, Way::Bare).filter(|it| !it.path.contains(' '));
    let targets = body.links.iter().filter_map(target);
    let mut links: Vec<_> = targets.chain(body.codes.iter().filter_map(code)).collect();
    for prose in &body.prose {
        in_prose(text, *prose, &mut links);
    }
    links.sort_by_key(|it| it.span);
    links
}

/// Finds the words that are paths, with and without `@` before them.
fn in_prose(text: &str, prose: Span, links: &mut Vec<Link>) {
    // Stands around a path, and not in one.
    const AROUND: &[char] =
        &['(', ')', '[', ']', '<', '>', '"', '\'', '“', '”', '‘', '’', ',', ';', '*'];
    let mut at = prose.start;
    for word in prose.slice(text).split(|it: char| it.is_whitespace() || AROUND.contains(&it)) {
        let start = at;
        // What it was cut at is found in the text, since it may be of several bytes.
        at += word.len();
        at += text[at..prose.end].chars().next().map_or(0, char::len_utf8);
        let (way, path) = match word.strip_prefix('@') {
            Some(path) => (Way::Import, path),
            None => (Way::Bare, word),
        };
        let path = path.trim_end_matches(['.', ':', '!', '?']);
        let start = start + usize::from(way == Way::Import);
        links.extend(file(text, Span::new(start, start + path.len()), way));
    }
}

/// Returns a path with a directory and a file's ending; nothing for other words.
fn file(text: &str, span: Span, way: Way) -> Option<Link> {
    let written = span.slice(text);
    if !written.contains('/') {
        return None;
    }
    let path = path_of(written)?;
    Path::new(&path).extension().filter(|_| !path.starts_with('@'))?;
    Some(Link { span, path, way })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Way)]) {
        let links = links(text, &parse(text));
        let shown: Vec<_> = links.iter().map(|it| (it.span.slice(text), it.way)).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn links_lead_to_files_and_not_to_addresses() {
        check(
            "See [a](references/a.md#x), [b](https://x.org/b.md), `scripts/run.py` and `a b/c.d`, `x.y`.\n",
            &[("references/a.md#x", Way::Target), ("scripts/run.py", Way::Bare)],
        );
    }

    #[test]
    fn imports_and_paths_in_running_text_lead_to_files() {
        check(
            "First @.claude/skills/pdf/SKILL.md, then “../pdf/x.py”: (a/b.md). Mail to me@x.org/a.b.\n",
            &[
                (".claude/skills/pdf/SKILL.md", Way::Import),
                ("../pdf/x.py", Way::Bare),
                ("a/b.md", Way::Bare),
                ("me@x.org/a.b", Way::Bare),
            ],
        );
        check("and/or, /etc/x.conf, ~/a/b.md, https://x.org/a.md, @me, @types/node, 1/2.\n", &[]);
        check("`@a/b.md`\n```\na/b.md\n```\n", &[]);
    }
}
