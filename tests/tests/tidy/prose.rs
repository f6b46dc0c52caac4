//! Checks comments and test names against the rules of `CONTRIBUTING.md`: sentences start with a
//! noun or a verb, and test names state a subject.
//!
//! The counts are ceilings that only go down.

use regex::Regex;

use crate::tree::{Source, none, sources};

/// Sentences that may still open with a pronoun clause, such as "What was read".
const MAX_CLAUSES: usize = 0;

/// Comment lines that may still contain an indirect phrase, such as "nobody" or "goes by".
const MAX_PHRASES: usize = 0;

/// Test names that may still start with a pronoun, such as `what_was_read`.
const MAX_NAMES: usize = 0;

/// One kind of lapse: its description, the places, and how many are allowed.
struct Count {
    kind: &'static str,
    places: Vec<String>,
    max: usize,
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

/// Returns the comment on this line without its marker.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let markers = ["///", "//!", "//", "--", "#"];
    let marker = markers.into_iter().find(|it| line.starts_with(it))?;
    let is_attribute = line.starts_with("#[") || line.starts_with("#!");
    (!is_attribute).then(|| line[marker.len()..].trim())
}

fn count(sources: &[Source]) -> [Count; 3] {
    let clause = pattern(
        r"^(What|Who|Whoever|Whose|Of|Whether|Where|That|Those|Nobody|Somebody|Nor|Neither|How|So)\b",
    );
    let phrase = pattern(
        r"(?i)\b(nobody|somebody|anybody|whoever|goes? by|(is|are) told|is meant|hears? of|as good as|in (the|its|their) place of|that there is not|there is none|all the same|is heard|gives? (it|them) up|for want of|what (is|are|was|were|has|have|lies|stands|comes|counts)\b)",
    );
    let name = pattern(r"\bfn (what|who|whoever|whose|of|whether|where|nobody|somebody)_\w+");
    let sentence_end = pattern(r"[.;:] ");
    let (mut clauses, mut phrases, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for source in sources {
        let is_first_line_of_sentence = |before: Option<&str>| {
            before.is_none_or(|it| it.is_empty() || it.ends_with('.') || it.ends_with(':'))
        };
        let mut before = None;
        for (index, line) in source.text.lines().enumerate() {
            let place = || format!("{}:{}: {}", source.path, index + 1, line.trim());
            let Some(text) = comment(line) else {
                before = None;
                names.extend(name.is_match(line).then(place));
                continue;
            };
            let mut sentences = sentence_end.split(text);
            let opening = sentences.next().unwrap_or_default();
            let opens = is_first_line_of_sentence(before) && clause.is_match(opening);
            if opens || sentences.any(|it| clause.is_match(it)) {
                clauses.push(place());
            }
            phrases.extend(phrase.is_match(text).then(place));
            before = Some(text);
        }
    }
    [
        Count { kind: "sentences open with a pronoun clause", places: clauses, max: MAX_CLAUSES },
        Count { kind: "comments have an indirect phrase", places: phrases, max: MAX_PHRASES },
        Count { kind: "test names state no subject", places: names, max: MAX_NAMES },
    ]
}

fn is_read(source: &Source) -> bool {
    let is_code = [".rs", ".ts", ".lua", ".py"].iter().any(|it| source.path.ends_with(it));
    // This file quotes the phrases.
    is_code && source.path != "tests/tests/tidy/prose.rs"
}

#[test]
fn comments_and_test_names_are_plain() {
    let sources: Vec<Source> = sources().into_iter().filter(is_read).collect();
    let mut findings = Vec::new();
    for Count { kind, places, max } in count(&sources) {
        if places.len() > max {
            let shown = places.iter().rev().take(20).cloned().collect::<Vec<_>>().join("\n  ");
            findings.push(format!("{}: {kind}, {max} are allowed:\n  {shown}", places.len()));
        }
    }
    none(&findings);
}

#[test]
fn pronoun_clauses_and_phrases_are_counted() {
    let text = "/// What was read.\n/// Returns it. Whoever asks\n/// who waits\n//! Nobody.\nfn what_is_read() {}\nlet a = 1; // fine\n";
    let [clauses, phrases, names] = count(&[Source::new("a.rs", text)]);
    assert_eq!((clauses.places.len(), phrases.places.len(), names.places.len()), (2, 3, 1));
}
