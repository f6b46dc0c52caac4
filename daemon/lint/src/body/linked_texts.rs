//! Checks of the skill's other files that the body links to.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashSet};

use skills_syntax::markdown::link_path;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::super::Finding;
use super::super::anchors::{anchors, may_lead_to_heading};
use super::super::bundled_texts::{AnchorLink, BundledLink, BundledTexts};
use super::super::fs_context::PathKind;
use super::super::link::{is_markdown, normalise};
use super::super::subject::Cx;
use super::files::{OWN, offer_file};
use super::mention::{Above, Mentions};
use super::rules::{BROKEN_ANCHOR, BROKEN_LINK};

/// Maximum number of links in the skill's other files that are looked up.
const MAX_LINKS: usize = 256;

/// Reports missing files and headings that a file of the skill links to, where the body links to
/// that file.
pub(super) fn check(mentions: &Mentions<'_, '_>, cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let mentioned = mentioned_texts(cx);
    if mentioned.is_empty() {
        return;
    }
    let Some(texts) = cx.fs.bundled_texts() else { return };
    check_files(mentions, cx, texts, &mentioned, out);
    check_anchors(cx, texts, &mentioned, out);
}

fn check_files(
    mentions: &Mentions<'_, '_>,
    cx: &Cx<'_>,
    texts: &BundledTexts,
    mentioned: &BTreeMap<&str, Span>,
    out: &mut Vec<Finding>,
) {
    let mut n_left = MAX_LINKS;
    // A missing file is reported once: at a link of the body, or at the first file with one.
    let in_body = cx.body().links.iter().filter_map(|it| link_path(it.slice(cx.text)));
    let mut told: HashSet<String> = in_body.map(|it| normalise(&it).0).collect();
    for (file, links) in &texts.links {
        let Some(span) = mentioned.get(file.as_str()).copied() else { continue };
        let n_links = links.len().min(n_left);
        n_left -= n_links;
        let is_missing = |it: &&BundledLink| {
            !told.contains(&it.target)
                && cx.fs.look(&it.target) == Some(PathKind::Missing)
                && cx.fs.look(&it.path) == Some(PathKind::Missing)
                && !matches!(mentions.above(&it.path), Above::Found(_))
        };
        let missing: Vec<_> = links[..n_links].iter().filter(is_missing).collect();
        let Some((BundledLink { line, target, .. }, others)) = missing.split_first() else {
            continue;
        };
        let more = match others.len() {
            0 => String::new(),
            1 => ", and to 1 more missing file".to_owned(),
            n => format!(", and to {n} more missing files"),
        };
        let message = format!("`{file}:{line}` links to `{target}`, which does not exist{more}");
        let finding = Finding::new(&BROKEN_LINK, span, message)
            .help(format!("Correct the path in `{file}`, or add the file."));
        out.push(offer_file(cx, related_to(cx, finding, file, *line), target));
        told.extend(missing.into_iter().map(|it| it.target.clone()));
    }
}

fn check_anchors(
    cx: &Cx<'_>,
    texts: &BundledTexts,
    mentioned: &BTreeMap<&str, Span>,
    out: &mut Vec<Finding>,
) {
    let own = LazyCell::new(|| anchors(cx.text, cx.body(), cx.document.body));
    for (file, links) in &texts.anchor_links {
        let Some(span) = mentioned.get(file.as_str()).copied() else { continue };
        let is_missing =
            |it: &&AnchorLink| it.target != "SKILL.md" || !may_lead_to_heading(&it.anchor, &own);
        let missing: Vec<_> = links.iter().filter(is_missing).collect();
        let Some((AnchorLink { line, target, anchor }, others)) = missing.split_first() else {
            continue;
        };
        let shown = if target == file { "the file" } else { &*format!("`{target}`") };
        let more = match others.len() {
            1 => "1 more heading".to_owned(),
            n => format!("{n} more headings"),
        };
        let what = if others.is_empty() {
            format!("`#{anchor}`, but {shown} has no such heading")
        } else if others.iter().all(|it| it.target == *target) {
            format!("`#{anchor}` and {more} that {shown} does not have")
        } else {
            format!("`#{anchor}` and {more}, which do not exist")
        };
        let message = format!("`{file}:{line}` links to {what}");
        let finding = Finding::new(&BROKEN_ANCHOR, span, message)
            .help(format!("Correct the anchor in `{file}`, or add the heading."));
        out.push(related_to(cx, finding, file, *line));
    }
}

/// Adds the place of a link in another file of the skill.
fn related_to(cx: &Cx<'_>, finding: Finding, file: &str, line: usize) -> Finding {
    match cx.path.and_then(AbsPath::parent) {
        Some(dir) => finding.related(&dir.child(file), format!("the link is in line {line}")),
        None => finding,
    }
}

/// Returns the Markdown files of the skill that the body links to, or has the paths of as code,
/// each with its first place.
fn mentioned_texts<'c>(cx: &'c Cx<'_>) -> BTreeMap<&'c str, Span> {
    let files = cx.fs.files().unwrap_or_default();
    if !files.iter().any(|it| is_markdown(it)) {
        return BTreeMap::new();
    }
    // A long body links to few files many times.
    let mut seen = HashSet::new();
    let links = cx.body().links.iter().filter_map(|it| {
        let written = it.slice(cx.text);
        let path = written.split('#').next().filter(|it| is_markdown(it) && seen.insert(*it))?;
        Some((normalise(&link_path(path)?).0, *it))
    });
    let codes = cx.body().codes.iter().filter_map(|it| {
        let written = it.slice(cx.text);
        let path = OWN.iter().find_map(|own| written.strip_prefix(own)).unwrap_or(written);
        is_markdown(path).then(|| (path.to_owned(), *it))
    });
    let mut mentioned = BTreeMap::new();
    for (path, span) in links.chain(codes) {
        if let Ok(index) = files.binary_search(&path) {
            let first = mentioned.entry(files[index].as_str()).or_insert(span);
            *first = span.min(*first);
        }
    }
    mentioned
}
