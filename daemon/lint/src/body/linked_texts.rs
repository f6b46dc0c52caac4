//! Checks of the skill's other files that the body links to.

use std::collections::{BTreeMap, HashSet};

use skills_syntax::markdown::link_path;
use skills_syntax::path::AbsPath;
use skills_syntax::text::Span;

use super::super::Finding;
use super::super::bundled_texts::BundledLink;
use super::super::fs_context::PathKind;
use super::super::link::{is_markdown, normalise};
use super::super::subject::Cx;
use super::files::{OWN, offer_file};
use super::mention::{Above, Mentions};
use super::rules::BROKEN_LINK;

/// Maximum number of links in the skill's other files that are looked up.
const MAX_LINKS: usize = 256;

/// Reports missing files that a file of the skill links to, where the body links to that file.
pub(super) fn check(mentions: &Mentions<'_, '_>, cx: &Cx<'_>, out: &mut Vec<Finding>) {
    let mentioned = mentioned_texts(cx);
    if mentioned.is_empty() {
        return;
    }
    let Some(texts) = cx.fs.bundled_texts() else { return };
    let mut n_left = MAX_LINKS;
    for (file, links) in &texts.links {
        let Some(span) = mentioned.get(file.as_str()).copied() else { continue };
        let n_links = links.len().min(n_left);
        n_left -= n_links;
        let is_missing = |it: &&BundledLink| {
            cx.fs.look(&it.target) == Some(PathKind::Missing)
                && cx.fs.look(&it.path) == Some(PathKind::Missing)
                && !matches!(mentions.above(&it.path), Above::Found(_))
        };
        let mut missing = links[..n_links].iter().filter(is_missing);
        let Some(BundledLink { line, target, .. }) = missing.next() else { continue };
        let more = match missing.count() {
            0 => String::new(),
            1 => ", and to 1 more missing file".to_owned(),
            more => format!(", and to {more} more missing files"),
        };
        let message = format!("`{file}:{line}` links to `{target}`, which does not exist{more}");
        let mut finding = Finding::new(&BROKEN_LINK, span, message)
            .help(format!("Correct the path in `{file}`, or add the file."));
        if let Some(dir) = cx.path.and_then(AbsPath::parent) {
            finding = finding.related(&dir.child(file), format!("the link is in line {line}"));
        }
        out.push(offer_file(cx, finding, target));
    }
}

/// Returns the Markdown files of the skill that the body links to, or has the paths of as code, each
/// with its first place.
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
