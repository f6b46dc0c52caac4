//! Texts made to hurt: of nothing but beginnings, or all in one line. All that is said of a text is
//! asked of each; and of a megabyte of the worst, whose rest nobody may look at at every place: that
//! would take hours.

mod texts;

use std::path::Path;

use skills_agents::references::{LinkBases, links, path_references, references};
use skills_agents::skill::parse;
use skills_lint::{FsContext, MAX_SHOWN, Settings, check, check_to_mend, settle, shown};
use skills_syntax::path::AbsPath;
use skills_syntax::text::{LineIndex, Span};

use super::with_subject;
use crate::mention::name_at;
use crate::{
    FileKind, argument, complete, complete_paths, format, hints, hover, lenses, refactorings,
    selection, tokens,
};
use texts::texts;

/// A directory with one file, of which nothing else is there.
struct Bare(Vec<String>);

impl FsContext for Bare {
    fn files(&self) -> Option<&[String]> {
        Some(&self.0)
    }
}

/// Asks all that is said of a text.
fn ask(text: &str) {
    let bare = Bare(vec!["references/a.md".to_owned()]);
    let document = parse(text);
    let path = AbsPath::new(Path::new("/w/a/SKILL.md")).unwrap();
    let found = references(text, &document);
    links(text, &document);
    path_references(text, &document, &LinkBases::for_file(&path, None, None), |_| None);
    let spans: Vec<Span> = found.iter().map(|it| it.span).collect();
    tokens(text, &document, &spans);
    for at in [text.len() / 2, text.len() - 8, 12] {
        let at = text.floor_char_boundary(at);
        hover(text, at);
        complete(text, at, FileKind::Skill(None));
        complete_paths(text, &document, at, &bare);
        name_at(text, &document, at);
        argument(text, &document, at);
        selection(text, &document, at);
    }
    format(text, &document);
    with_subject(text, |subject| {
        let settings = Settings::default();
        let findings = check(subject, &settings, &bare);
        hints(subject, &bare);
        lenses(subject, &bare, None, &findings);
        refactorings(subject, &bare, text.floor_char_boundary(text.len() / 2));
        if findings.len() > MAX_SHOWN {
            check_to_mend(subject, &Settings::default(), &bare);
        }
        settle(text, findings.clone(), |_| Vec::new());
        assert!(shown(findings, subject, &settings, &bare).len() <= MAX_SHOWN + 1);
    });
}

#[test]
fn all_is_said_of_texts_made_to_hurt() {
    // What line ends cost is for the bench to say.
    for (_, text) in texts(1 << 9).iter().filter(|(name, _)| !name.ends_with("CRLF")) {
        ask(text);
    }
}

#[test]
fn a_megabyte_of_beginnings_is_read_once() {
    for (part, end) in [("[a](", ""), ("[a](", ")"), ("[a](<", " ) >"), ("[a](b ", "")] {
        let text = format!("{}{end}\n", part.repeat((1 << 20) / part.len()));
        let document = parse(&text);
        assert!(links(&text, &document).is_empty());
        let found = references(&text, &document);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn many_places_on_one_long_line_are_counted_from_near_them() {
    let text = "$a é ".repeat((1 << 20) / 6);
    let lines = LineIndex::new(&text);
    let places = text.match_indices('$').map(|(at, _)| at);
    assert!(places.enumerate().all(|(nth, at)| lines.utf16_column(&text, at) as usize == nth * 5));
}

#[test]
fn many_suppressions_on_one_long_line_know_their_line() {
    let part = "<!-- skillsd-ignore body/long -->";
    let text = format!("---\nname: a\n---\n{}\n", part.repeat((1 << 18) / part.len()));
    with_subject(&text, |subject| {
        let findings = check(subject, &Settings::default(), &Bare(Vec::new()));
        assert!(!findings.iter().any(|it| it.rule.id == "body/long"));
    });
}
