//! The book: each page of `docs` is in its summary, and each link of a document leads somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::blocks::fenced;
use crate::{documents, top};

/// Returns the lines of a document that are not code.
fn prose(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let code: BTreeSet<usize> =
        fenced(&lines).iter().flat_map(|it| it.line..it.line + it.body.len() + 2).collect();
    (0..lines.len()).filter(|nth| !code.contains(nth)).map(|nth| lines[nth]).collect()
}

/// Returns the targets of the links in a document, outside of its code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        // Of what stands between backticks nothing is a link.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let mut rest = prose.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, after)) = after.split_once(')') else { break };
            found.push(target.to_owned());
            rest = after;
        }
    }
    found
}

// As mdBook and GitHub make them of a heading.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in prose(text) {
        if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
        let ids = line.split("id=\"").skip(1).filter_map(|it| it.split('"').next());
        found.extend(ids.map(str::to_owned));
    }
    found
}

fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Returns what is wrong with a link, where something is.
fn fault(from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let here = Path::new(from).parent().unwrap();
    let path = if file.is_empty() { PathBuf::from(from) } else { plain(&here.join(file)) };
    let place = top().join(&path);
    if !place.exists() {
        return Some(format!("{from}: `{target}` leads nowhere"));
    }
    let text = fs::read_to_string(&place).unwrap_or_default();
    let is_there = anchor.is_empty() || anchors(&text).contains(anchor);
    (!is_there).then(|| format!("{from}: `{target}` names no heading"))
}

#[test]
fn document_links_resolve() {
    let mut wrong = Vec::new();
    for name in documents() {
        let text = fs::read_to_string(top().join(&name)).unwrap();
        wrong.extend(links(&text).iter().filter_map(|it| fault(&name, it)));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn broken_document_link_is_reported() {
    assert_eq!(links("[a](b.md) `[c](d)` [e](f#g)\n```\n[h](i)\n```\n"), ["b.md", "f#g"]);
    assert!(fault("README.md", "docs/no-such.md").is_some());
    assert!(fault("docs/check.md", "rules.md#no-such-heading").is_some());
    assert!(fault("docs/check.md", "../README.md#install").is_none());
    assert!(anchors("## A `b`, c\n").contains("a-b-c"));
}

#[test]
fn book_summary_lists_each_page_once() {
    let summary = fs::read_to_string(top().join("docs/SUMMARY.md")).unwrap();
    let listed = links(&summary);
    let pages: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(pages.len(), listed.len(), "a page is listed twice");
    let is_page = |it: &String| it.starts_with("docs/") && it != "docs/SUMMARY.md";
    let there: BTreeSet<String> =
        documents().into_iter().filter(is_page).map(|it| it["docs/".len()..].to_owned()).collect();
    assert_eq!(pages.difference(&there).collect::<Vec<_>>(), Vec::<&String>::new());
    // A decision counts from the day it is taken; the others are of no use where nobody finds them.
    let missing: Vec<_> = there.difference(&pages).filter(|it| !it.starts_with("adr/")).collect();
    assert_eq!(missing, Vec::<&String>::new());
}
