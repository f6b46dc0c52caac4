//! Keeps `tests/golden/messages.txt`: every text of the product that a user can read, by file, so
//! that a change of wording is reviewed as a whole.
//!
//! A text is a string literal of at least three words outside tests. Help texts are the doc
//! comments of command-line arguments and are kept by the help snapshots of the command line.

use std::fmt::Write as _;
use std::fs;

use regex::Regex;

use crate::code::literals;
use crate::tree::{Source, none, rust_sources, top};

const GOLDEN: &str = "tests/golden/messages.txt";

/// Crates whose texts users read.
const PRODUCT: &[&str] = &["client/", "daemon/", "lsp/"];

/// Calls whose text only a programmer sees.
const INTERNAL: &[&str] =
    &["expect(", "unreachable!(", "panic!(", "assert!(", "include_str!(", "env!(", "matches!("];

fn is_product(source: &Source) -> bool {
    let path = &source.path;
    let is_test = ["/tests/", "/tests.rs", "/benches/", "/examples/", "testing.rs", "/script.rs"];
    PRODUCT.iter().any(|it| path.starts_with(it)) && !is_test.iter().any(|it| path.contains(it))
}

/// Returns the texts of one file in their order, each on one line.
fn texts(source: &Source) -> Vec<String> {
    let code = source.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let continuation = Regex::new(r"\\\n\s*").expect("the pattern is valid");
    let is_sentence =
        Regex::new(r"[a-z`}…]+[,;:]? [^ ]*[a-z`}…]+[,;:]? [^ ]*[a-z`}]").expect("valid");
    let is_sql = Regex::new(r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|PRAGMA|ALTER|BEGIN)\b")
        .expect("the pattern is valid");
    literals(code)
        .into_iter()
        .filter(|(before, _)| !INTERNAL.iter().any(|it| before.trim_end().ends_with(it)))
        .map(|(_, text)| continuation.replace_all(text, "").replace('\n', "\\n"))
        .filter(|text| is_sentence.is_match(text) && !is_sql.is_match(text))
        .collect()
}

#[test]
fn user_facing_texts_match_the_golden_file() {
    let mut golden = String::new();
    for source in rust_sources().iter().filter(|it| is_product(it)) {
        let texts = texts(source);
        if !texts.is_empty() {
            let _ = write!(golden, "{}\n  {}\n\n", source.path, texts.join("\n  "));
        }
    }
    let path = top().join(GOLDEN);
    let is_same = fs::read_to_string(&path).is_ok_and(|it| it == golden);
    if is_same {
        return;
    }
    if std::env::var_os("CI").is_none() {
        fs::write(&path, &golden).expect("the golden file can be written");
    }
    none(&[format!(
        "`{GOLDEN}` was stale and has been written again; review the wording and keep it"
    )]);
}

#[test]
fn texts_are_sentences_outside_tests() {
    let code = "let a = \"two words\"; b(\"one two \\\n   three\"); c.expect(\"never seen by users\");\n#[cfg(test)]\nmod tests { \"in a test only\" }";
    assert_eq!(texts(&Source::new("client/src/a.rs", code)), ["one two three"]);
}
