//! Places of a text that lead to files: links, imports, and paths as they are, in commands too.
//!
//! What is found here looks like a path. Where it starts from, and whether anything is there, is for
//! [`super::bases`] and for whoever asks to say: of words that only look alike nothing ever follows.

use std::path::Path;

use skills_syntax::markdown::{Body, link_path};
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use super::bases::PathStep;

/// A place that leads to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// Where the path stands, with what it starts from and a place in the file.
    pub span: Span,
    /// Where its names stand: the span without what it starts from and without a place in the file.
    pub names: Span,
    /// The path as it is meant, from where it starts.
    pub path: String,
    /// Where it starts.
    pub start: LinkBase,
    /// How it is written.
    pub way: LinkForm,
}

/// How a path is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkForm {
    /// As the target of a link.
    Target,
    /// Behind `@`, as instructions take other files in.
    Import,
    /// As it is, in backticks or in running text: it may be no path at all.
    Bare,
    /// As it is, in a command, in the frontmatter, or without a file's ending: it is a path only
    /// where something known is at it.
    Word,
}

/// Where a path starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkBase {
    /// Nothing is written before it: at the text's directory, or at the top of the worktree.
    Text,
    /// At the top of the worktree: `$CLAUDE_PROJECT_DIR/`.
    Top,
    /// At the directory of the skill: `${CLAUDE_SKILL_DIR}/`.
    Skill,
    /// At the user's home directory: `~/`.
    Home,
    /// At the root directory, or at the top of the worktree: `/`.
    Root,
}

/// The longest path that a file can have.
const MAX_PATH: usize = 4096;

/// What is written before a path, and where it starts then.
const LINK_BASES: [(&str, LinkBase); 8] = [
    ("$CLAUDE_PROJECT_DIR/", LinkBase::Top),
    ("${CLAUDE_PROJECT_DIR}/", LinkBase::Top),
    ("$CLAUDE_SKILL_DIR/", LinkBase::Skill),
    ("${CLAUDE_SKILL_DIR}/", LinkBase::Skill),
    ("$HOME/", LinkBase::Home),
    ("${HOME}/", LinkBase::Home),
    ("~/", LinkBase::Home),
    ("/", LinkBase::Root),
];

/// Returns the places of a text that may lead to files, in their order.
pub fn links(text: &str, document: &Document) -> Vec<Link> {
    let body = Body::new(text, document.body);
    let target = |span: &Span| read(text, *span, LinkForm::Target).filter(Link::is_path);
    let mut links: Vec<_> = body.links.iter().filter_map(target).collect();
    for code in &body.codes {
        if code.slice(text).contains(char::is_whitespace) {
            // A path with blanks, or a command.
            links.extend(read(text, *code, LinkForm::Word).filter(Link::is_path));
            words(text, *code, LinkForm::Word, &mut links);
        } else {
            let before = links.len();
            words(text, *code, LinkForm::Bare, &mut links);
            // Code takes nothing in.
            for link in links[before..].iter_mut().filter(|it| it.way == LinkForm::Import) {
                link.way = LinkForm::Word;
            }
        }
    }
    for prose in &body.prose {
        words(text, *prose, LinkForm::Bare, &mut links);
    }
    let fences = body.fences.iter().map(|it| it.content);
    let frontmatter = document.frontmatter.as_ref().map(|it| it.content);
    for commands in fences.chain(frontmatter) {
        words(text, commands, LinkForm::Word, &mut links);
    }
    links.sort_by_key(|it| it.span);
    links
}

/// Returns what may lead to a file at an offset: of a command in backticks first the word, then the
/// whole, which may be a path with blanks.
pub fn links_at(mut links: Vec<Link>, offset: usize) -> Vec<Link> {
    links.retain(|it| it.span.start <= offset && offset <= it.span.end);
    links.sort_by_key(|it| it.span.len());
    links
}

impl Link {
    /// Whether a step on its way may be the first of two words with a slash between them.
    pub fn is_ambiguous(&self, step: &PathStep) -> bool {
        self.way == LinkForm::Word
            && self.start == LinkBase::Text
            && step.span.start == self.names.start
            && !self.path.ends_with('/')
            && !is_file(&self.path)
    }

    /// Whether it names more than a word.
    fn is_path(&self) -> bool {
        self.path.contains(['/', '.']) || self.start != LinkBase::Text
    }
}

/// Finds the words that are paths, with and without `@` before them.
fn words(text: &str, span: Span, way: LinkForm, links: &mut Vec<Link>) {
    // Stands around a path, and not in one.
    const AROUND: &[char] = &[
        '(', ')', '[', ']', '<', '>', '"', '\'', '“', '”', '‘', '’', ',', ';', '*', '`', '|', '=',
    ];
    let mut at = span.start;
    for word in span.slice(text).split(|it: char| it.is_whitespace() || AROUND.contains(&it)) {
        let start = at;
        // What it was cut at is found in the text, since it may be of several bytes.
        at += word.len();
        at += text[at..span.end].chars().next().map_or(0, char::len_utf8);
        if !word.contains('/') {
            continue;
        }
        let is_import = way == LinkForm::Bare && word.starts_with('@');
        let path = word.strip_prefix('@').unwrap_or(word);
        let start = start + (word.len() - path.len());
        let path = without_line(path.trim_end_matches(['.', ':', '!', '?']));
        let span = Span::new(start, start + path.len());
        let Some(mut link) = read(text, span, if is_import { LinkForm::Import } else { way })
        else {
            continue;
        };
        if link.path.starts_with('@') {
            continue;
        }
        if !is_file(&link.path) || link.start != LinkBase::Text {
            link.way = LinkForm::Word;
        }
        links.push(link);
    }
}

fn is_file(path: &str) -> bool {
    Path::new(path).extension().is_some()
}

/// Returns a path without the line that stands behind it: `run.py:12`, `run.py:12:3`.
fn without_line(path: &str) -> &str {
    let mut path = path;
    while let Some((before, line)) = path.rsplit_once(':') {
        if line.is_empty() || !line.bytes().all(|it| it.is_ascii_digit() || it == b'-') {
            break;
        }
        path = before;
    }
    path
}

/// Reads a path where it stands; nothing for other words.
fn read(text: &str, span: Span, way: LinkForm) -> Option<Link> {
    if span.len() > MAX_PATH {
        return None;
    }
    let written = span.slice(text);
    let (before, start) = LINK_BASES
        .iter()
        .find(|it| written.starts_with(it.0))
        .copied()
        .unwrap_or(("", LinkBase::Text));
    let rest = &written[before.len()..];
    let path = link_path(rest)?;
    let names = rest.split(['#', '?']).next().unwrap_or_default();
    let at = span.start + before.len();
    Some(Link { span, names: Span::new(at, at + names.len()), path, start, way })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::parse;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, LinkForm)]) {
        let links = links(text, &parse(text));
        let shown: Vec<_> = links.iter().map(|it| (it.span.slice(text), it.way)).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn links_lead_to_files_and_not_to_addresses() {
        check(
            "See [a](references/a.md#x), [b](https://x.org/b.md), `scripts/run.py` and `a b/c.d`, `x.y`.\n",
            &[
                ("references/a.md#x", LinkForm::Target),
                ("scripts/run.py", LinkForm::Bare),
                ("a b/c.d", LinkForm::Word),
                ("b/c.d", LinkForm::Word),
            ],
        );
    }

    #[test]
    fn imports_and_paths_in_running_text_lead_to_files() {
        check(
            "First @.claude/skills/pdf/SKILL.md, then “../pdf/x.py”: (a/b.md). Mail to me@x.org/a.b.\n",
            &[
                (".claude/skills/pdf/SKILL.md", LinkForm::Import),
                ("../pdf/x.py", LinkForm::Bare),
                ("a/b.md", LinkForm::Bare),
                ("me@x.org/a.b", LinkForm::Bare),
            ],
        );
        check("https://x.org/a.md, @me, x.md, /, ~/.\n", &[]);
    }

    #[test]
    fn what_may_be_a_path_is_a_word_until_something_is_at_it() {
        check(
            "and/or, /etc/x.conf, ~/a/b.md, a/b/.\n```sh\npython a/b.py --in=c/d\n```\n",
            &[
                ("and/or", LinkForm::Word),
                ("/etc/x.conf", LinkForm::Word),
                ("~/a/b.md", LinkForm::Word),
                ("a/b/", LinkForm::Word),
                ("a/b.py", LinkForm::Word),
                ("c/d", LinkForm::Word),
            ],
        );
        check(
            "---\nhooks: [{command: \"$CLAUDE_PROJECT_DIR/a/x.sh\"}]\nallowed-tools: Bash(a/b.py:*)\n---\n",
            &[("$CLAUDE_PROJECT_DIR/a/x.sh", LinkForm::Word), ("a/b.py", LinkForm::Word)],
        );
    }

    #[test]
    fn a_line_or_a_heading_behind_a_path_is_not_of_its_names() {
        let text = "At a/run.py:12, a/run.py:12:3-4: and `~/a/x.md#top`, [x](/a%20b/y.md?z).\n";
        let links = links(text, &parse(text));
        let shown: Vec<_> = links.iter().map(|it| (it.names.slice(text), &*it.path)).collect();
        assert_eq!(
            shown,
            [
                ("a/run.py", "a/run.py"),
                ("a/run.py", "a/run.py"),
                ("a/x.md", "a/x.md"),
                ("a%20b/y.md", "a b/y.md"),
            ]
        );
    }
}
