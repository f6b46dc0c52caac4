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

fn is_product(source: &Source, test_modules: &[String]) -> bool {
    let path = &source.path;
    let is_test = |module: &String| {
        path.strip_prefix(module).is_some_and(|it| it == ".rs" || it.starts_with('/'))
    };
    PRODUCT.iter().any(|it| path.starts_with(it))
        && !["/benches/", "/examples/"].iter().any(|it| path.contains(it))
        && !test_modules.iter().any(is_test)
}

/// Returns the paths, without `.rs`, of the modules that a file declares only for tests.
fn test_modules(source: &Source) -> Vec<String> {
    let declaration = r"#\[cfg\((?:any\()?test\b.*\]\n(?:#\[.*\]\n)*(?:pub )?mod (\w+);";
    let declaration = Regex::new(declaration).expect("the pattern is valid");
    let parent = source.path.trim_end_matches(".rs");
    let parent = parent.strip_suffix("/lib").unwrap_or(parent);
    let names = declaration.captures_iter(&source.text);
    names.map(|it| format!("{parent}/{}", &it[1])).collect()
}

/// Returns the texts of one file in their order, each on one line.
fn texts(source: &Source) -> Vec<String> {
    let tests = Regex::new(r"#\[cfg\(test\)\]\n(?:#\[.*\]\n)*mod tests\b").expect("valid");
    let code = tests.split(&source.text).next().unwrap_or_default();
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
    let sources = rust_sources();
    let test_modules: Vec<String> = sources.iter().flat_map(test_modules).collect();
    for source in sources.iter().filter(|it| is_product(it, &test_modules)) {
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
    let code = "let a = \"two words\"; b(\"one two \\\n   three\"); c.expect(\"never seen by users\");\n#[cfg(test)]\n#[cfg(unix)]\nmod tests { \"in a test only\" }";
    assert_eq!(texts(&Source::new("client/src/a.rs", code)), ["one two three"]);
}

#[test]
fn modules_for_tests_are_not_product() {
    let code = "mod a;\n#[cfg(test)]\nmod b;\n#[cfg(any(test, feature = \"f\"))]\npub mod c;\n";
    assert_eq!(test_modules(&Source::new("lsp/src/lib.rs", code)), ["lsp/src/b", "lsp/src/c"]);
    let of_m = test_modules(&Source::new("lsp/src/m.rs", code));
    assert_eq!(of_m, ["lsp/src/m/b", "lsp/src/m/c"]);
    for (path, expected) in
        [("m.rs", true), ("m/a.rs", true), ("m/b.rs", false), ("m/b/d.rs", false)]
    {
        let source = Source::new(&format!("lsp/src/{path}"), "");
        assert_eq!(is_product(&source, &of_m), expected, "{path}");
    }
}
