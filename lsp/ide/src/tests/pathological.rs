//! Runs every feature on pathological texts: repeated openings, very long lines. Quadratic code
//! would take hours on the one-megabyte texts.

mod texts;

use std::path::Path;

use skills_agents::references::{LinkBases, links, path_references_in, references};
use skills_agents::skill::parse;
use skills_lint::{
    FsContext, MAX_SHOWN, Settings, apply_fixes, check, check_for_fixing, limit_findings,
};
use skills_syntax::markdown::Body;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{LineIndex, Span};

use super::{complete, complete_paths, hover, name_at, with_subject};
use crate::{FileKind, argument, format, hints, lenses, refactorings, selection_ranges, tokens};
use texts::texts;

/// A directory that contains one file.
struct OneFile(Vec<String>);

impl FsContext for OneFile {
    fn files(&self) -> Option<&[String]> {
        Some(&self.0)
    }
}

/// Runs every feature on a text.
fn run_all(text: &str) {
    let fs = OneFile(vec!["references/a.md".to_owned()]);
    let document = parse(text);
    let path = AbsPath::new(Path::new("/w/a/SKILL.md")).unwrap();
    let found = references(text, &document);
    path_references_in(
        text,
        &links(text, &document),
        &LinkBases::for_file(&path, None, None),
        |_| None,
    );
    let spans: Vec<Span> = found.iter().map(|it| it.span).collect();
    let body = Body::new(text, document.body);
    tokens(text, &document, &body, &spans);
    for at in [text.len() / 2, text.len() - 8, 12] {
        let at = text.floor_char_boundary(at);
        hover(text, at);
        complete(text, at, FileKind::Skill(None));
        complete_paths(text, &document, at, &fs);
        name_at(text, &document, at);
        argument(text, &document, &body, at);
        selection_ranges(text, &document, &body, at);
    }
    format(text, &document);
    with_subject(text, |subject| {
        let settings = Settings::default();
        let findings = check(subject, &settings, &fs);
        hints(subject, &fs);
        lenses(subject, &fs, None, &findings);
        for it in refactorings(subject, &body, &fs, text.floor_char_boundary(text.len() / 2)) {
            it.change();
        }
        if findings.len() > MAX_SHOWN {
            check_for_fixing(subject, &Settings::default(), &fs);
        }
        apply_fixes(text, findings.clone(), |_| Vec::new());
        assert!(limit_findings(findings, subject, &settings, &fs).len() <= MAX_SHOWN + 1);
    });
}

#[test]
fn every_feature_handles_pathological_texts() {
    // The `growth` benchmark covers CRLF.
    for (_, text) in texts(1 << 9).iter().filter(|(name, _)| !name.ends_with("CRLF")) {
        run_all(text);
    }
}

#[test]
fn megabyte_of_link_openings_is_parsed_in_linear_time() {
    for (part, end) in [("[a](", ""), ("[a](", ")"), ("[a](<", " ) >"), ("[a](b ", "")] {
        let text = format!("{}{end}\n", part.repeat((1 << 20) / part.len()));
        let document = parse(&text);
        assert!(links(&text, &document).is_empty());
        let found = references(&text, &document);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn columns_on_a_long_line_are_computed_in_linear_time() {
    let text = "$a é ".repeat((1 << 20) / 6);
    let lines = LineIndex::new(&text);
    let places = text.match_indices('$').map(|(at, _)| at);
    assert!(places.enumerate().all(|(nth, at)| lines.utf16_column(&text, at) as usize == nth * 5));
}

#[test]
fn suppressions_on_a_long_line_apply() {
    let part = "<!-- skillsd-ignore body/long -->";
    let text = format!("---\nname: a\n---\n{}\n", part.repeat((1 << 18) / part.len()));
    with_subject(&text, |subject| {
        let findings = check(subject, &Settings::default(), &OneFile(Vec::new()));
        assert!(!findings.iter().any(|it| it.rule.id.as_str() == "body/long"));
    });
}
