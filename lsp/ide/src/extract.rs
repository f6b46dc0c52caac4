//! Refactoring that moves a long section to a page below `references/`.
//!
//! Relative paths, heading links and label definitions are adjusted on both sides, so that every
//! link keeps its target. The remaining text keeps the section's heading and links to the page.

mod edits;
mod file_name;
mod links;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use skills_agents::command;
use skills_agents::references::{Link, links_in};
use skills_lint::{FsContext, Subject, unreferenced_files};
use skills_syntax::edit::{Edit, apply};
use skills_syntax::markdown::{Body, Definition};
use skills_syntax::parse::Document;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{Span, after_line_end};

use crate::anchors::{MovedAnchor, anchors};
use crate::labels::Labels;
use crate::refactoring::{Change, RefactorKind, Refactoring};
use crate::sections::{Section, sections};
use crate::tokens::variables;
use edits::{apply_within, contains_definition, edits_within, is_replaced, raise_heading};
use file_name::{free_name, slug};

/// A section with more lines than this can be extracted.
const MIN_LINES: usize = 10;

/// Extracts the innermost long section around `offset` to a file below `references/`.
pub(super) fn extract_section<'a>(
    subject: &Subject<'a>,
    body: &'a Body,
    fs: &'a dyn FsContext,
    offset: usize,
) -> Option<Refactoring<'a>> {
    let (text, document) = (subject.text, subject.document);
    let path = subject.path.filter(|it| !command::is_command(it))?;
    let all = sections(document, body);
    let is_long = |it: &&Section| it.span.slice(text).lines().nth(MIN_LINES).is_some();
    let around = |it: &&Section| it.span.start <= offset && offset <= it.span.end;
    let section = all.iter().filter(around).rfind(is_long)?.clone();
    // Agents substitute variables in the body only, not in files that it links to.
    if section.span.slice(text).contains("!`")
        || !variables(text, document, body, section.span).is_empty()
    {
        return None;
    }
    let title = section.title.slice(text);
    let file = format!("references/{}.md", free_name(&slug(title), fs)?);
    let below = Span::new(after_line_end(text, section.heading.end), section.span.end);
    let page = path.parent()?.child(&file);
    let title = format!("Extract `{title}` to `{file}`");
    let parts = subject.parts;
    let creates = Some(page.clone());
    let change = move || {
        let split = SectionSplit {
            text,
            document,
            path,
            page: &page,
            file: &file,
            section: &section,
            below,
            anchors: anchors(text, &all, section.span, below),
            labels: Labels::new(body),
            body,
            links: parts.map_or_else(
                || Cow::Owned(links_in(text, document, body)),
                |it| Cow::Borrowed(it.links(text, document)),
            ),
            fs,
        };
        let [on_page, in_rest] = [Side::Page, Side::Rest].map(|it| split.link_edits(it));
        Change { edits: split.rest_edits(&in_rest), created_text: split.page_text(&all, &on_page) }
    };
    Some(Refactoring::new(title, RefactorKind::Extract, creates, change))
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
    body: &'a Body,
    links: Cow<'a, [Link]>,
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
        let mut edits: Vec<Edit> = headings.map(|it| raise_heading(text, it.heading, up)).collect();
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

    fn line_break(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }
}

#[cfg(test)]
mod tests;
