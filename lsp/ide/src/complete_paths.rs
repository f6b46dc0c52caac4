//! Completion of paths: files of the skill in links and inline code, globs of the worktree in
//! `paths`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skills_agents::field_table::PATHS;
use skills_lint::{FsContext, MAX_MATCHES};
use skills_syntax::markdown::Body;
use skills_syntax::parse::Document;
use skills_syntax::text::Span;

use super::complete::Completion;
use super::hints::files;
use super::quote_value::{other_items, quote_suggestions};
use crate::cursor_context::{CursorContext, context_at};
use crate::mention::is_fenced;
use crate::suggestion::{Suggestion, SuggestionKind};

/// Maximum number of globs offered.
const MAX_GLOBS: usize = 30;

/// Returns the paths that may be written at `offset`, or `None` if no path is expected or known
/// there. Takes the parsed body.
pub fn complete_paths(
    text: &str,
    document: &Document,
    body: &Body,
    offset: usize,
    fs: &dyn FsContext,
) -> Option<Completion> {
    let offset = text.floor_char_boundary(offset);
    let (span, items) = match context_at(text, document, offset) {
        CursorContext::Value { path, word, style, .. } if path == [PATHS.key] => {
            let mut globs = globs(&text[word.start..offset.max(word.start)], fs);
            let written = other_items(text, document, &path, word);
            globs.retain(|it| !written.contains(&it.label));
            (word, quote_suggestions(globs, &[], text, word, style))
        }
        CursorContext::Other if offset >= document.body.start => {
            let word = path_at(text, document, body, offset)?;
            let mut items = own_files(&text[word.start..offset], fs);
            if text[..word.start].ends_with("](") {
                for item in &mut items {
                    item.text = percent_encode(&item.text);
                }
            }
            (word, items)
        }
        _ => return None,
    };
    (!items.is_empty()).then_some(Completion { span, items })
}

/// Returns the span of the path being written: a link target, or a path in inline code.
fn path_at(text: &str, document: &Document, body: &Body, offset: usize) -> Option<Span> {
    let start = text[..offset].rfind('\n').map_or(0, |it| it + 1).max(document.body.start);
    let before = &text[start..offset];
    let is_path = |it: char| it.is_alphanumeric() || "/._-@+%".contains(it);
    let stem = before.trim_end_matches(is_path);
    let in_link = stem.ends_with("](") || stem.ends_with("](<");
    // Most words in backticks are not paths, so at least one character must be typed.
    let in_code = stem.ends_with('`')
        && !stem.trim_start().starts_with("```")
        && stem.matches('`').count() % 2 == 1
        && stem.len() < before.len();
    let behind = &text[offset..];
    let end = offset + (behind.len() - behind.trim_start_matches(is_path).len());
    let is_path = (in_link || in_code) && !is_fenced(body, offset);
    is_path.then(|| Span::new(start + stem.len(), end))
}

fn own_files(typed: &str, fs: &dyn FsContext) -> Vec<Suggestion> {
    let dot = if typed.starts_with("./") { "./" } else { "" };
    let typed = skills_syntax::markdown::percent_decode(&typed[dot.len()..]);
    let known = fs.files().unwrap_or_default();
    let begun = known.iter().filter(|it| it.starts_with(&*typed));
    begun.map(|it| path(&format!("{dot}{it}"), String::new())).collect()
}

/// Percent-encodes the characters that would end a link target or change its meaning.
fn percent_encode(path: &str) -> String {
    let mut written = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter.is_ascii_control() || " %#?()<>\\\"".contains(letter) {
            let _ = write!(written, "%{:02X}", u32::from(letter));
        } else {
            written.push(letter);
        }
    }
    written
}

/// Returns globs for the directories below the typed prefix, and for the file extensions in them.
fn globs(typed: &str, fs: &dyn FsContext) -> Vec<Suggestion> {
    let (not, typed) = match typed.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", typed),
    };
    let dir = typed.rfind('/').map_or("", |at| &typed[..=at]);
    if dir.contains(['*', '{', '[']) {
        return Vec::new();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let known = fs.first_matches(&format!("{dir}**"));
    // The file list of a large worktree is truncated, so counts would be wrong.
    let is_whole = known.len() < MAX_MATCHES as usize;
    // Names with glob syntax are not offered, because they would match nothing.
    let is_plain = |it: &str| !it.contains(['*', '?', '[', ']', '{', '}', '!', ',', '\\']);
    for file in known {
        let Some(below) = file.strip_prefix(dir) else { continue };
        if let Some((first, _)) = below.split_once('/')
            && is_plain(first)
        {
            *counts.entry(format!("{dir}{first}/**")).or_default() += 1;
        }
        let name = below.rsplit('/').next().unwrap_or_default();
        if let Some((stem, extension)) = name.rsplit_once('.')
            && !stem.is_empty()
            && is_plain(extension)
        {
            *counts.entry(format!("{dir}**/*.{extension}")).or_default() += 1;
        }
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(MAX_GLOBS);
    let detail = |count| if is_whole { files(count) } else { String::new() };
    counts.into_iter().map(|(glob, count)| path(&format!("{not}{glob}"), detail(count))).collect()
}

fn path(text: &str, detail: String) -> Suggestion {
    Suggestion {
        label: text.to_owned(),
        kind: SuggestionKind::Path,
        detail,
        text: text.to_owned(),
        snippet: None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use skills_agents::skill::parse;

    use super::*;

    struct Tree(Vec<String>);

    impl FsContext for Tree {
        fn files(&self) -> Option<&[String]> {
            Some(&self.0)
        }

        fn first_matches(&self, glob: &str) -> Vec<String> {
            let dir = glob.strip_suffix("**").unwrap();
            let all = ["src/a.rs", "src/deep/b.rs", "src/deep/c.ts", "docs/x.md", "README.md"]
                .into_iter()
                .chain(["odd/[x]/a", "odd/a, b/a", "odd/c/a"]);
            let is_shown =
                |it: &&str| it.starts_with(dir) && it.starts_with("odd/") == (dir == "odd/");
            all.filter(is_shown).map(str::to_owned).collect()
        }
    }

    #[track_caller]
    fn check(marked: &str, expected: &Expect) {
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let files = ["odd/a #1.md", "references/forms.md", "scripts/read.py"];
        let tree = Tree(files.map(str::to_owned).into());
        let document = parse(&text);
        let body = Body::new(&text, document.body);
        let found = complete_paths(&text, &document, &body, at, &tree);
        let shown = found.map_or("nothing".to_owned(), |it| {
            let items: Vec<_> = it.items.iter().map(|it| it.text.as_str()).collect();
            format!("[{}] {}", it.span.slice(&text), items.join(" "))
        });
        expected.assert_eq(&shown);
    }

    #[test]
    fn links_and_inline_code_complete_skill_files() {
        let body = |line: &str| format!("---\nname: a\n---\n{line}\n");
        check(
            &body("See [x](|)."),
            &expect!["[] odd/a%20%231.md references/forms.md scripts/read.py"],
        );
        check(&body("See [x](odd/a%20|)."), &expect!["[odd/a%20] odd/a%20%231.md"]);
        check(&body("See [x](<odd|>)."), &expect!["[odd] odd/a #1.md"]);
        check(&body("See `odd/|`."), &expect!["[odd/] odd/a #1.md"]);
        check(&body("See [x](ref|x.md)."), &expect!["[refx.md] references/forms.md"]);
        check(&body("Run `./scr|`."), &expect!["[./scr] ./scripts/read.py"]);
        check(&body("Run `|`."), &expect!["nothing"]);
        check(&body("Then `a` and scr|"), &expect!["nothing"]);
        check(&body("```s|"), &expect!["nothing"]);
    }

    #[test]
    fn globs_are_derived_from_existing_directories_and_extensions() {
        check(
            "---\npaths: |\n---\n",
            &expect![[r#"[] src/** "**/*.md" "**/*.rs" "**/*.ts" docs/**"#]],
        );
        check(
            "---\npaths:\n  -|\n---\n",
            &expect![[r#"[]  src/**  "**/*.md"  "**/*.rs"  "**/*.ts"  docs/**"#]],
        );
        check(
            "---\npaths: [docs/**, *|]\n---\n",
            &expect![[r#"[*] src/** "**/*.md" "**/*.rs" "**/*.ts""#]],
        );
        check("---\npaths: docs/**, |\n---\n", &expect!["[] src/** **/*.md **/*.rs **/*.ts"]);
        check(
            "---\npaths: ['!src/|']\n---\n",
            &expect!["[!src/] !src/**/*.rs !src/deep/** !src/**/*.ts"],
        );
        check("---\npaths:\n  - docs/|\n---\n", &expect!["[docs/] docs/**/*.md"]);
        // Names with glob syntax are omitted.
        check("---\npaths: odd/|\n---\n", &expect!["[odd/] odd/c/**"]);
        check("---\nname: |\n---\n", &expect!["nothing"]);
    }
}
