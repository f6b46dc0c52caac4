//! Refactoring that moves a long section to a page below `references/`.
//!
//! Relative paths, heading links and label definitions are adjusted on both sides, so that every
//! link keeps its target. The remaining text keeps the section's heading and links to the page.

use std::collections::{BTreeMap, HashMap};

use skills_agents::command;
use skills_agents::references::LinkBases;
use skills_lint::{FsContext, PathKind, Subject, unreferenced_files};
use skills_syntax::edit::{Edit, apply};
use skills_syntax::markdown::{Body, link_path, percent_decode};
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{Span, after_line_end};

use super::anchors::{MovedAnchor, anchors};
use super::labels::{Definition, Labels};
use super::sections::{Section, sections};
use super::tokens::{TokenKind, tokens};
use crate::moves::{Move, Moves, relative};
use crate::refactoring::{RefactorKind, Refactoring};

/// A section with more lines than this can be extracted.
const MIN_LINES: usize = 10;

/// Number of file names tried if the first ones exist.
const MAX_NAME_ATTEMPTS: usize = 9;

/// Extracts the innermost long section around `offset` to a file below `references/`.
pub(super) fn extract_section(
    subject: &Subject<'_>,
    fs: &dyn FsContext,
    offset: usize,
) -> Option<Refactoring> {
    let (text, document) = (subject.text, subject.document);
    let path = subject.path.filter(|it| !command::is_command(it))?;
    let all = sections(text, document);
    let is_long = |it: &&Section| it.span.slice(text).lines().count() > MIN_LINES;
    let around = |it: &&Section| it.span.start <= offset && offset <= it.span.end;
    let section = all.iter().filter(around).rfind(is_long)?;
    // Agents substitute variables in the body only, not in files that it links to.
    let is_replaced = tokens(text, document, &[])
        .iter()
        .any(|it| it.kind == TokenKind::Variable && section.span.covers(it.span))
        || section.span.slice(text).contains("!`");
    if is_replaced {
        return None;
    }
    let title = section.title.slice(text);
    let file = format!("references/{}.md", free_name(&slug(title), fs)?);
    let below = Span::new(after_line_end(text, section.heading.end), section.span.end);
    let body = Body::new(text, document.body);
    let page = path.parent()?.child(&file);
    let split = SectionSplit {
        text,
        document,
        path,
        page: &page,
        file: &file,
        section,
        below,
        anchors: anchors(text, &all, section.span, below),
        labels: Labels::new(text, &body),
        body,
        fs,
    };
    let [on_page, in_rest] = [Side::Page, Side::Rest].map(|it| split.link_edits(it));
    Some(Refactoring {
        title: format!("Extract `{title}` to `{file}`"),
        kind: RefactorKind::Extract,
        edits: split.rest_edits(&in_rest),
        creates: Some((page.clone(), split.page_text(&all, &on_page))),
    })
}

/// A text split into a page and the remaining text.
struct SectionSplit<'a> {
    text: &'a str,
    document: &'a Document,
    path: &'a AbsPath,
    /// Absolute path of the new page, and its path relative to the skill.
    page: &'a AbsPath,
    file: &'a str,
    section: &'a Section,
    /// The section without its heading, which also stays in the text.
    below: Span,
    anchors: HashMap<String, MovedAnchor>,
    labels: Labels,
    body: Body,
    fs: &'a dyn FsContext,
}

/// One of the two texts after the split.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Page,
    Rest,
}

impl SectionSplit<'_> {
    /// Returns the text of the page; `links` are the edits of its links.
    fn page_text(&self, all: &[Section], links: &[Edit]) -> String {
        let (text, span) = (self.text, self.section.span);
        let up = self.section.level - 1;
        let headings = all.iter().filter(|it| span.covers(it.heading));
        let mut edits: Vec<Edit> = headings
            .map(|it| Edit {
                span: Span::new(it.heading.start, it.heading.start + up),
                text: String::new(),
            })
            .collect();
        let (needed, elsewhere) =
            (self.needed_definitions(Side::Page), self.needed_definitions(Side::Rest));
        let here = self.labels.definitions.iter().filter(|it| span.covers(it.span));
        let gone = here
            .filter(|it| contains_definition(&elsewhere, it) && !contains_definition(&needed, it));
        edits.extend(self.removals(gone));
        edits.sort_by_key(|it| it.span);
        let kept = edits_within(links, span).iter().filter(|it| !is_replaced(&edits, it.span));
        let kept: Vec<Edit> = kept.cloned().collect();
        edits.extend(kept);
        edits.sort_by_key(|it| it.span);
        let mut page = apply_within(text, span, &edits).trim_end().to_owned();
        let line = self.line_break();
        let mut before = format!("{line}{line}");
        for it in needed.iter().filter(|it| !span.covers(it.span)) {
            page.push_str(&std::mem::replace(&mut before, line.to_owned()));
            page.push_str(apply_within(text, it.span, links).trim_end());
        }
        page + line
    }

    /// Returns the edits of the remaining text; `links` are the edits of its links.
    fn rest_edits(&self, links: &[Edit]) -> Vec<Edit> {
        let edits = self.rest_edits_with(links, "");
        let files = self.fs.files().unwrap_or_default();
        let body = |text: &str| text[self.document.body.start..].to_owned();
        let (before, after) = (body(self.text), body(&apply(self.text, &edits)));
        let known = unreferenced_files(files, &before);
        let lost: Vec<String> = unreferenced_files(files, &after)
            .into_iter()
            .filter(|it| !known.contains(it))
            .map(|it| format!("`{it}`"))
            .collect();
        // The pointer mentions files that only the page names, so that a model that skips the page
        // still knows them.
        let Some((last, others)) = lost.split_last() else { return edits };
        let others = others.join(", ");
        let and = if others.is_empty() { "" } else { " and " };
        self.rest_edits_with(links, &format!(", which mentions {others}{and}{last}"))
    }

    fn rest_edits_with(&self, links: &[Edit], more: &str) -> Vec<Edit> {
        let (text, line) = (self.text, self.line_break());
        let (below, title) = (self.below, self.section.title.slice(text));
        let mut pointer = format!("{line}Read [{title}]({}){more}.{line}", self.file);
        let (needed, elsewhere) =
            (self.needed_definitions(Side::Rest), self.needed_definitions(Side::Page));
        for (at, it) in needed.iter().filter(|it| below.covers(it.span)).enumerate() {
            pointer.push_str(if at == 0 { line } else { "" });
            pointer.push_str(apply_within(text, it.span, links).trim_end());
            pointer.push_str(line);
        }
        if below.end < text.len() {
            pointer.push_str(line);
        }
        let here = self.labels.definitions.iter().filter(|it| !below.covers(it.span));
        let gone = here
            .filter(|it| contains_definition(&elsewhere, it) && !contains_definition(&needed, it));
        let mut edits = self.removals(gone);
        edits.push(Edit { span: below, text: pointer });
        edits.sort_by_key(|it| it.span);
        let kept: Vec<Edit> =
            links.iter().filter(|it| !is_replaced(&edits, it.span)).cloned().collect();
        edits.extend(kept);
        edits.sort_by_key(|it| it.span);
        edits
    }

    /// Returns the definitions used on one side, in order, one per label: preferably one that is
    /// already on that side, else the first.
    fn needed_definitions(&self, side: Side) -> Vec<&Definition> {
        let span = self.section.span;
        let is_here = |at: usize| match side {
            Side::Page => span.contains(at),
            Side::Rest => !self.below.contains(at),
        };
        let mut chosen: BTreeMap<&str, &Definition> = BTreeMap::new();
        for it in self.labels.needed(is_here) {
            let known = chosen.entry(&it.label).or_insert(it);
            if !is_here(known.span.start) && is_here(it.span.start) {
                *known = it;
            }
        }
        let mut chosen: Vec<&Definition> = chosen.into_values().collect();
        chosen.sort_by_key(|it| it.span);
        chosen
    }

    /// Returns the edits that remove definitions, each with the preceding blank line if another
    /// follows.
    fn removals<'d>(&self, gone: impl Iterator<Item = &'d Definition>) -> Vec<Edit> {
        let mut spans: Vec<Span> = Vec::new();
        for it in gone {
            match spans.last_mut() {
                Some(last) if last.end == it.span.start => last.end = it.span.end,
                _ => spans.push(it.span),
            }
        }
        let line = self.line_break();
        let removal = |Span { start, end }: Span| {
            let is_last = self.text[end..].is_empty() || self.text[end..].starts_with(line);
            let is_apart = is_last && self.text[..start].ends_with(&line.repeat(2));
            let start = if is_apart { start - line.len() } else { start };
            Edit { span: Span::new(start, end), text: String::new() }
        };
        spans.into_iter().map(removal).collect()
    }

    /// Returns the link edits for one side, sorted by position.
    fn link_edits(&self, side: Side) -> Vec<Edit> {
        let links = self.body.links.iter();
        let mut edits: Vec<Edit> = links.filter_map(|it| self.heading_edit(*it, side)).collect();
        edits.sort_by_key(|it| it.span);
        if side == Side::Page {
            let mut paths = self.path_edits();
            paths.retain(|it| !is_replaced(&edits, it.span));
            edits.extend(paths);
            edits.sort_by_key(|it| it.span);
        }
        edits
    }

    /// Returns the edit that keeps a heading link pointing to its heading.
    fn heading_edit(&self, link: Span, side: Side) -> Option<Edit> {
        let target = link.slice(self.text);
        let (path, fragment) = target.split_once('#')?;
        let own = self.path.file_name()?.to_str()?;
        let is_own = path.is_empty() || link_path(path).is_some_and(|it| self.is_own(&it));
        if !is_own || fragment.is_empty() {
            return None;
        }
        let MovedAnchor { on_page, in_text } = self.anchors.get(&percent_decode(fragment))?;
        let text = match side {
            Side::Page => match (on_page, in_text) {
                (Some(name), _) => format!("#{name}"),
                (None, name) => format!("../{own}#{}", name.as_ref()?),
            },
            Side::Rest => match (on_page, in_text) {
                (_, Some(name)) => format!("{path}#{name}"),
                (name, None) => format!("{}#{}", self.file, name.as_ref()?),
            },
        };
        (text != target).then_some(Edit { span: link, text })
    }

    fn is_own(&self, path: &str) -> bool {
        self.path.parent().is_some_and(|it| it.join_lexically(path) == *self.path)
    }

    /// Returns the path edits for the page. Paths in fenced code and commands stay unchanged,
    /// because their working directory does not move.
    fn path_edits(&self) -> Vec<Edit> {
        let Some(dir) = self.path.parent() else { return Vec::new() };
        // Treats the section as a file of its own that moves alone.
        let old = dir.child(format!("{}#", self.file.replace('/', "#")));
        let moves = Moves::new([Move { old: old.clone(), new: self.page.clone() }]);
        let bases = LinkBases::for_file(&old, None, None).with_skill(Some(dir.clone()));
        let is_known = |it: &AbsPath| {
            let look = relative(&dir, it).and_then(|it| self.fs.look(&it));
            matches!(look, Some(PathKind::File { .. } | PathKind::Directory))
        };
        let edits = |is_there: &dyn Fn(&AbsPath) -> bool| {
            moves.edits(&old, &bases, self.text, self.document, is_there)
        };
        // Link targets are paths even if no file exists.
        let mut found = edits(&|_| true);
        found.retain(|it| covers(&self.body.links, it.span));
        let is_word = |it: &&Span| !it.slice(self.text).contains(char::is_whitespace);
        let codes: Vec<Span> = self.body.codes.iter().filter(is_word).copied().collect();
        let mut known = edits(&is_known);
        known.retain(|it| covers(&codes, it.span) || covers(&self.body.prose, it.span));
        found.extend(known);
        // A single word is often a placeholder, so the file must exist.
        for link in &self.body.links {
            let path = link_path(link.slice(self.text)).filter(|it| !it.contains(['/', '.']));
            if path.is_some_and(|it| is_known(&dir.child(it))) {
                found.push(Edit { span: Span::empty(link.start), text: "../".to_owned() });
            }
        }
        found
    }

    fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }
}

/// Returns whether one of the sorted, disjoint spans covers `span`.
fn covers(spans: &[Span], span: Span) -> bool {
    let next = spans.partition_point(|it| it.start <= span.start);
    next.checked_sub(1).is_some_and(|it| spans[it].covers(span))
}

/// Returns whether one of the edits replaces a span that covers `span`.
fn is_replaced(edits: &[Edit], span: Span) -> bool {
    let next = edits.partition_point(|it| it.span.start <= span.start);
    next.checked_sub(1).is_some_and(|it| edits[it].span.covers(span))
}

/// Returns whether the sorted `definitions` contain `it`.
fn contains_definition(definitions: &[&Definition], it: &Definition) -> bool {
    definitions.binary_search_by_key(&it.span, |it| it.span).is_ok()
}

/// Returns the sorted edits that lie within a span.
fn edits_within(edits: &[Edit], span: Span) -> &[Edit] {
    let start = edits.partition_point(|it| it.span.start < span.start);
    let length = edits[start..].partition_point(|it| it.span.end <= span.end);
    &edits[start..start + length]
}

/// Returns the text of a span with the edits inside it applied.
fn apply_within(text: &str, span: Span, edits: &[Edit]) -> String {
    let moved = |it: &Edit| {
        let [start, end] = [it.span.start, it.span.end].map(|it| it - span.start);
        Edit { span: Span::new(start, end), text: it.text.clone() }
    };
    let edits: Vec<Edit> = edits_within(edits, span).iter().map(moved).collect();
    apply(span.slice(text), &edits)
}

/// Maximum number of characters of a title used in a file name.
const MAX_SLUG_CHARS: usize = 60;

fn slug(title: &str) -> String {
    let mut slug = String::new();
    // File names have a limited length.
    for letter in title.chars().take(MAX_SLUG_CHARS) {
        if letter.is_alphanumeric() {
            slug.extend(letter.to_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "section".to_owned() } else { slug.to_owned() }
}

/// Returns the first variant of `name` that is not known to exist below `references/`.
fn free_name(name: &str, fs: &dyn FsContext) -> Option<String> {
    let is_free = |name: &String| {
        let found = fs.look(&format!("references/{name}.md"));
        matches!(found, None | Some(PathKind::Missing))
    };
    let numbered = (2..=MAX_NAME_ATTEMPTS).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::{Expect, expect};
    use skills_agents::skill::parse;

    use super::*;
    use crate::tests::with_subject_at;

    const SKILL: &str = "/w/.claude/skills/a/SKILL.md";

    /// The files of the skill's directory.
    struct SkillFiles(Vec<String>);

    impl SkillFiles {
        fn new(files: &[&str]) -> Self {
            Self(files.iter().map(|it| (*it).to_owned()).collect())
        }
    }

    impl FsContext for SkillFiles {
        fn look(&self, relative: &str) -> Option<PathKind> {
            let is_there = self.0.iter().any(|it| it == relative);
            let file = PathKind::File { executable: true, script: true };
            Some(if is_there { file } else { PathKind::Missing })
        }

        fn files(&self) -> Option<&[String]> {
            Some(&self.0)
        }
    }

    /// Returns the remaining text and the page, if the section is long enough.
    fn split(text: &str, at: usize, files: &[&str]) -> Option<(String, String)> {
        with_subject_at(SKILL, text, |subject| {
            let found = extract_section(subject, &SkillFiles::new(files), at)?;
            Some((apply(text, &found.edits), found.creates?.1))
        })
    }

    /// `…` stands for lines that make the section long enough.
    #[track_caller]
    fn check(marked: &str, files: &[&str], expected: &Expect) {
        let at = marked.find('|').unwrap();
        let lines = "line\n".repeat(MIN_LINES);
        let text = marked.replacen('|', "", 1).replace("…\n", &lines);
        let shown = split(&text, at, files).map_or_else(String::new, |(rest, page)| {
            format!("{rest}=\n{page}").replace(&lines, "…\n")
        });
        expected.assert_eq(&shown);
    }

    #[test]
    fn long_section_is_extracted_to_a_page() {
        check(
            "---\nname: a\n---\n# A\n\n## All forms!\n\nSee [x](references/x.md), [y](scripts/y.py#a), [m](<SKILL.md>) and [z](https://z).\n\n…\n### Deep|er\nx\n\n## Next\nx\n",
            &[],
            &expect![[r##"
                ---
                name: a
                ---
                # A

                ## All forms!

                Read [All forms!](references/all-forms.md).

                ## Next
                x
                =
                # All forms!

                See [x](x.md), [y](../scripts/y.py#a), [m](<../SKILL.md>) and [z](https://z).

                …
                ## Deeper
                x
            "##]],
        );
    }

    #[test]
    fn sections_with_variables_are_not_extracted() {
        for with in ["$ARGUMENTS", "${CLAUDE_SKILL_DIR}", "!`ls`"] {
            check(&format!("---\nname: a\n---\n# A|\n{with}\n…\n"), &[], &expect![[""]]);
        }
        check("---\nname: a\n---\n# Short|\nx\n", &[], &expect![[""]]);
    }

    #[test]
    fn heading_links_follow_the_extracted_headings() {
        check(
            "---\nname: a\n---\n[in](#sub) [own](#big--one) [two](#use-1)\n## Use\n## Big 😀 one|\n[self](#after) [sub](#sub) [own](#big--one) [use](#use-1) [first](#use) [file](SKILL.md#after) [no](#nowhere)\n…\n### Sub\n### Use\n## After\n[up](SKILL.md#sub), [here](#after)\n",
            &[],
            &expect![[r##"
                ---
                name: a
                ---
                [in](references/big-one.md#sub) [own](#big--one) [two](references/big-one.md#use)
                ## Use
                ## Big 😀 one

                Read [Big 😀 one](references/big-one.md).

                ## After
                [up](references/big-one.md#sub), [here](#after)
                =
                # Big 😀 one
                [self](../SKILL.md#after) [sub](#sub) [own](#big--one) [use](#use) [first](../SKILL.md#use) [file](../SKILL.md#after) [no](#nowhere)
                …
                ## Sub
                ## Use
            "##]],
        );
    }

    #[test]
    fn label_definitions_move_with_their_uses() {
        check(
            "---\nname: a\n---\n## Big|\n\nSee [self](#after), [ref][r], [both] and note[^1].\n\n…\n## After\n\n[both], [^2] [inner][i]\n\n[r]: x.md 't'\n[both]: #after\n[^1]: foot [r]\n[^2]: other\n\n## Last\nx\n",
            &["x.md"],
            &expect![[r##"
                ---
                name: a
                ---
                ## Big

                Read [Big](references/big.md).

                ## After

                [both], [^2] [inner][i]

                [both]: #after
                [^2]: other

                ## Last
                x
                =
                # Big

                See [self](../SKILL.md#after), [ref][r], [both] and note[^1].

                …

                [r]: ../x.md 't'
                [both]: ../SKILL.md#after
                [^1]: foot [r]
            "##]],
        );
        // The last section holds definitions that other sections use.
        check(
            "---\nname: a\n---\n[a], [b]\n\n## Big|\n\n[b]\n\n…\n\n[a]: x.md\n[b]: references/y.md\n",
            &["x.md"],
            &expect![[r##"
                ---
                name: a
                ---
                [a], [b]

                ## Big

                Read [Big](references/big.md).

                [a]: x.md
                [b]: references/y.md
                =
                # Big

                [b]

                …

                [b]: y.md
            "##]],
        );
        // Removing the definitions also removes the blank line before them.
        check(
            "---\nname: a\n---\n## Big|\n\n[r], [^1]\n\n…\n## After\n\nx\n\n[r]: https://e.org\n[^1]: foot\n",
            &[],
            &expect![[r##"
                ---
                name: a
                ---
                ## Big

                Read [Big](references/big.md).

                ## After

                x
                =
                # Big

                [r], [^1]

                …

                [r]: https://e.org
                [^1]: foot
            "##]],
        );
    }

    #[test]
    fn pointer_mentions_files_that_only_the_page_names() {
        check(
            "---\nname: a\n---\n## Big|\n\nRun `scripts/x.sh`, assets/y.json, and/or `python scripts/x.sh`; [it](LICENSE) [no](word).\n\n```sh\nscripts/x.sh\n```\n\n…\n## After\nx\n",
            &["scripts/x.sh", "assets/y.json", "references/z.md", "LICENSE"],
            &expect![[r##"
                ---
                name: a
                ---
                ## Big

                Read [Big](references/big.md), which mentions `scripts/x.sh` and `assets/y.json`.

                ## After
                x
                =
                # Big

                Run `../scripts/x.sh`, ../assets/y.json, and/or `python scripts/x.sh`; [it](../LICENSE) [no](word).

                ```sh
                scripts/x.sh
                ```

                …
            "##]],
        );
    }

    /// Returns the broken links of a file: paths, headings and labels without a target.
    fn broken(text: &str, dir: &str, other: &str) -> BTreeSet<String> {
        let document = parse(text);
        let body = Body::new(text, document.body);
        let names = |text: &str| {
            let document = parse(text);
            let all = sections(text, &document);
            let end = Span::empty(text.len());
            let found = anchors(text, &all, end, end).into_iter();
            found.filter_map(|(_, it)| it.in_text).collect::<BTreeSet<_>>()
        };
        let at = |it: &str| AbsPath::new(std::path::Path::new(it)).unwrap();
        let mut broken = BTreeSet::new();
        for link in &body.links {
            let target = link.slice(text);
            let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
            let is_there = match path {
                "" => names(text).contains(fragment),
                it if it.contains("://") => true,
                it => {
                    let path = at(dir).join_lexically(it);
                    let is_file = [at("/s/references/x.md"), at("/s/scripts/y.sh")].contains(&path);
                    let is_skill = path == at("/s/SKILL.md");
                    let is_own = is_skill == (dir == "/s");
                    let names = names(if is_own { text } else { other });
                    let is_ours = is_skill || path == at("/s/references/b.md");
                    is_file || is_ours && (fragment.is_empty() || names.contains(fragment))
                }
            };
            if !is_there {
                broken.insert(target.to_owned());
            }
        }
        let labels = ["[r]", "[q]", "[^1]", "[^2]"];
        for label in labels {
            let is_used = text.matches(label).count() > text.matches(&format!("{label}:")).count();
            if is_used && !text.contains(&format!("\n{label}:")) {
                broken.insert(label.to_owned());
            }
        }
        broken
    }

    #[test]
    fn extraction_breaks_no_link_in_random_sections() {
        const SAID: [&str; 12] = [
            "[a](references/x.md)",
            "[b](scripts/y.sh#z)",
            "[c](#b)",
            "[d](#one)",
            "[e](#two)",
            "[f](SKILL.md#two)",
            "[g][r]",
            "[q]",
            "note[^1]",
            "other[^2]",
            "`scripts/y.sh`",
            "[h](#one-1)",
        ];
        const DEFINED: [&str; 5] =
            ["[r]: references/x.md", "[q]: #two", "[^1]: see [r]", "[^2]: [i](#one)", "plain"];
        let files = ["references/x.md", "scripts/y.sh"];
        // Deterministic pseudo-random numbers.
        let mut state = 7_u32;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize % limit
        };
        for round in 0..200 {
            let mut say = |n: usize| {
                let said: Vec<_> = (0..n).map(|_| SAID[below(SAID.len())]).collect();
                said.join(" ")
            };
            let (first, inner, last) = (say(4), say(6), say(4));
            let place = below(3);
            let defined = DEFINED.join("\n");
            let here = |it: usize| if it == place { &*defined } else { "plain" };
            let lines = "line\n".repeat(MIN_LINES);
            let text = format!(
                "---\nname: s\n---\n# One\n\n{first}\n\n{}\n\n## B\n\n{inner}\n\n{lines}\n{}\n\n### One\n\nx\n\n## Two\n\n{last}\n\n{}\n",
                here(0),
                here(1),
                here(2)
            );
            let before = broken(&text, "/s", &text);
            assert!(before.is_empty(), "{round}: {before:?}\n{text}");
            let at = text.find("## B").unwrap();
            let (rest, page) = split(&text, at, &files).unwrap();
            let found = broken(&rest, "/s", &page);
            assert!(found.is_empty(), "{round}: {found:?}\n{rest}\n=\n{page}");
            let found = broken(&page, "/s/references", &rest);
            assert!(found.is_empty(), "{round}: {found:?}\n{rest}\n=\n{page}");
            assert!(rest.contains("scripts/y.sh") || !text.contains("scripts/y.sh"), "{rest}");
        }
    }
}
