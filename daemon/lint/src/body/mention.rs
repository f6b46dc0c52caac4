//! Context of a path in a body: a file of the skill, or an example, a result, or a file of
//! something else.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use skills_syntax::suggest;
use skills_syntax::text::Span;

use super::super::fs_context::PathKind;
use super::super::subject::Cx;

/// Minimum similarity of a path to an existing one.
pub(super) const MIN_SIMILARITY: f64 = 0.8;

/// Maximum number of missing paths of one body whose context is examined.
const MAX_EXAMINED: usize = 64;

/// Maximum number of directories above the skill that are searched for a path.
const MAX_UP: usize = 6;

/// Number of bytes before and after a path that are searched for words.
const NEAR: usize = 200;

/// Examines the contexts of missing paths, up to [`MAX_EXAMINED`].
pub(super) struct Mentions<'c, 'a> {
    cx: &'c Cx<'a>,
    n_examined: Cell<usize>,
    clones: OnceCell<bool>,
    /// File names of the skill's files in directories.
    names: OnceCell<HashSet<&'c str>>,
    alike: RefCell<HashMap<String, bool>>,
}

impl<'c, 'a> Mentions<'c, 'a> {
    pub(super) fn new(cx: &'c Cx<'a>) -> Self {
        let (clones, names) = (OnceCell::new(), OnceCell::new());
        Self { cx, n_examined: Cell::new(0), clones, names, alike: RefCell::default() }
    }

    /// Returns whether the path at a span may be a missing file of the skill, not an example or a
    /// file that the text tells to write.
    pub(super) fn is_own(&self, span: Span, path: &str) -> bool {
        self.n_examined.set(self.n_examined.get() + 1);
        let line = self.cx.line(span.start);
        let written = line.slice(self.cx.text);
        let at = span.start - line.start;
        let before = &written[written.ceil_char_boundary(at.saturating_sub(NEAR))..at];
        self.n_examined.get() <= MAX_EXAMINED
            && !is_placeholder(path)
            && !INTRODUCES.is_match(before)
            && !self.is_proposed(line)
            && !self.is_of_another_skill(span, before)
            && !self.is_elsewhere(path)
    }

    /// Returns whether the body clones a repository, whose scripts its commands may run.
    pub(super) fn clones(&self) -> bool {
        let body = || self.cx.document.body.slice(self.cx.text).contains("git clone");
        *self.clones.get_or_init(body)
    }

    /// Returns whether the skill has a file of this name in a directory, or of a similar path. A
    /// script without a directory is otherwise one of the user's project.
    pub(super) fn has_alike(&self, name: &str) -> bool {
        let files = || self.cx.fs.files().unwrap_or_default().iter().map(String::as_str);
        let names = self.names.get_or_init(|| {
            files().filter_map(|it| it.rsplit_once('/')).map(|(_, name)| name).collect()
        });
        let find = || !suggest::nearest(name, files(), MIN_SIMILARITY).is_empty();
        let mut alike = self.alike.borrow_mut();
        names.contains(name) || *alike.entry(name.to_owned()).or_insert_with(find)
    }

    /// Returns the path from the skill to a directory above it that has the file.
    pub(super) fn above(&self, path: &str) -> Option<String> {
        let n_dirs = self.cx.path?.components().count().saturating_sub(3);
        let mut ups = (1..=n_dirs.min(MAX_UP)).map(|it| "../".repeat(it) + path);
        ups.find(|it| {
            matches!(self.cx.fs.look(it), Some(PathKind::File { .. } | PathKind::Directory))
        })
    }

    /// Returns whether a directory above the skill has the file. Only the first missing paths are
    /// searched for.
    pub(super) fn is_above(&self, path: &str) -> bool {
        self.n_examined.set(self.n_examined.get() + 1);
        self.n_examined.get() <= MAX_EXAMINED && self.above(path).is_some()
    }

    /// Returns whether the line or the one above says that a file could be made.
    fn is_proposed(&self, line: Span) -> bool {
        let above = self.cx.line(line.start.saturating_sub(1));
        [line, above].into_iter().any(|it| {
            let text = it.slice(self.cx.text);
            PROPOSES.is_match(&text[..text.floor_char_boundary(4 * NEAR)])
        })
    }

    /// Returns whether the sentence names another skill as the owner: `` `forms`'s `a.md` ``, or
    /// `` the `forms` skill (`a.md`) ``.
    fn is_of_another_skill(&self, span: Span, before: &str) -> bool {
        let above = self.cx.line(self.cx.line(span.start).start.saturating_sub(1));
        let above = above.slice(self.cx.text).trim_end();
        let above = &above[above.ceil_char_boundary(above.len().saturating_sub(NEAR))..];
        let before = before.trim_end_matches(['`', '*', '"']);
        OWNS.is_match(before)
            || before.contains("/SKILL.md)")
            || before.trim().is_empty() && OWNS.is_match(above)
    }

    /// Returns whether the body writes the file, or has it in another directory.
    fn is_elsewhere(&self, path: &str) -> bool {
        let body = self.cx.document.body.slice(self.cx.text);
        body.match_indices(path).any(|(at, _)| {
            let before = &body[body.ceil_char_boundary(at.saturating_sub(NEAR))..at];
            let before = before.rsplit('\n').next().unwrap_or_default();
            let lead = before.trim_end_matches(['`', '*', '"', '\'']);
            let is_longer = before.ends_with('/')
                && !["./", "}/", ">/", "SKILL_DIR/"].iter().any(|it| before.ends_with(it));
            is_longer || WRITES.is_match(lead)
        })
    }
}

/// Words directly before a path that make it an example or a result.
static INTRODUCES: LazyLock<Regex> = LazyLock::new(|| {
    // A dot within a word or a path does not end the sentence.
    let examples = r"(?:\bexamples?\W*:|\be\.g\.|\bfor (?:example|instance)\b|\bsuch as\b)(?:[^.]|\.[\w/])*$|\blike `*$|→\s*\W*$|->\s*`*$|\bnot\s+`*$";
    let makes = r"\b(?:create|creates|creating|write|writes|writing|save|saves|saved|saving|paste|store|stores|output|generates?|produces?|add|put|move|export|record)s?\b:?(?:\s+(?:\S+\s+){0,7}(?:in|into|to|as|at|under))?\s*(?:a|the|an|it)?\s*\W*$";
    Regex::new(&format!("(?i)(?:{examples}|{makes})")).expect("the expression is valid")
});

/// Words anywhere in a line that make its paths proposals.
static PROPOSES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:would|could|might) be\b|\bif (?:you|there) (?:had|were)\b")
        .expect("the expression is valid")
});

/// Text directly before a path that names the owner of the file.
static OWNS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:`\s*|\w)(?:'s|’s)(?:\s+own)?\s*$|(?:—|--)\s+its\s*$|`[\w:-]+`\s+skill(?:'s)?\s*\W*$|\b(?:plugin|skill|repo|project)(?:'s|’s)\s*\W*$")
        .expect("the expression is valid")
});

/// Text directly before a path in a body that writes the file.
static WRITES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^-=])>>?\s*$|\btee (?:-a )?$|\b(?:--output|--out|-o)[ =]$|^\W*save\s+$|\btouch $")
        .expect("the expression is valid")
});

/// Returns whether the file name is a placeholder.
fn is_placeholder(path: &str) -> bool {
    const NAMES: [&str; 19] = [
        "example",
        "filename",
        "file-name",
        "file_name",
        "file",
        "name",
        "script",
        "script_name",
        "script-name",
        "my-script",
        "my_script",
        "your-script",
        "your_script",
        "foo",
        "bar",
        "xxx",
        "guide",
        "something",
        "whatever",
    ];
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    NAMES.contains(&&*stem) || stem.starts_with("your") || path.contains("path/to/")
}
