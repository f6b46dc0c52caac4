//! Shape of source files: a module comment, a readable size, a descriptive name.

use std::path::Path;

use crate::code::{code_only, lines_beside_tests};
use crate::tree::{Source, none, rust_sources, sources, top};

/// Lines, without tests, above which a file is printed, and above which it fails.
const LARGE: usize = 500;
const TOO_LARGE: usize = 800;

const SAY_NOTHING: &[&str] =
    &["utils", "util", "helpers", "helper", "common", "manager", "misc", "shared", "types"];

fn undocumented(sources: &[Source]) -> Vec<String> {
    let has_doc = |text: &str| {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        first.strip_prefix("//! ").is_some_and(|doc| doc.len() > 10 && !doc.contains("Placeholder"))
    };
    let without = sources.iter().filter(|source| !has_doc(&source.text));
    without
        .map(|source| format!("{}: begins without a module doc (`//! …`)", source.path))
        .collect()
}

/// Returns each file with more lines than `limit`, without its tests.
fn larger_than(limit: usize, sources: &[Source]) -> Vec<String> {
    let lines =
        |source: &Source| (source.path.clone(), lines_beside_tests(&code_only(&source.text)));
    let large = sources.iter().map(lines).filter(|(_, n_lines)| *n_lines > limit);
    large.map(|(path, n_lines)| format!("{path}: {n_lines} lines; split it")).collect()
}

fn badly_named(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for Source { path, .. } in sources {
        let name = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if name == "mod" {
            findings.push(format!("{path}: `foo.rs` beside `foo/`, never `foo/mod.rs`"));
        }
        let dirs = path.split('/').filter(|part| SAY_NOTHING.contains(part)).count();
        if dirs > 0 || SAY_NOTHING.contains(&name) {
            findings.push(format!("{path}: the name does not say what is inside"));
        }
    }
    findings
}

/// Finds lint exceptions with `allow`, which stays silent when its reason is gone, unlike `expect`.
fn unchecked_lint_exceptions(sources: &[Source]) -> Vec<String> {
    let is_allow = |line: &str| line.contains("#[allow(") || line.contains("#![allow(");
    let is_bare = |line: &str| line.contains("#[ignore]") || line.contains("#[should_panic]");
    let mut findings = Vec::new();
    for source in sources {
        for (index, line) in code_only(&source.text).lines().enumerate() {
            if is_allow(line) || is_bare(line) {
                findings.push(format!("{}:{}: `{}`", source.path, index + 1, line.trim()));
            }
        }
    }
    findings
}

/// Finds paths of the development machine.
fn local_paths(sources: &[Source], places: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources {
        for (index, line) in source.text.lines().enumerate() {
            if let Some(place) = places.iter().find(|place| line.contains(place.as_str())) {
                findings.push(format!("{}:{}: names `{place}`", source.path, index + 1));
            }
        }
    }
    findings
}

/// Returns the parent directory of the checkout and the user's home, with a closing `/`.
fn local_dirs() -> Vec<String> {
    let top = top();
    let home = std::env::var("HOME").unwrap_or_default();
    let places = [top.parent().and_then(Path::to_str).unwrap_or_default().to_owned(), home];
    // A short path such as `/` or `/w` is not specific.
    places.into_iter().filter(|place| place.len() > 3).map(|place| format!("{place}/")).collect()
}

#[test]
fn every_file_starts_with_a_module_comment() {
    none(&undocumented(&rust_sources()));
}

#[test]
fn files_stay_below_line_limit() {
    let sources = rust_sources();
    for file in larger_than(LARGE, &sources) {
        println!("{file}");
    }
    none(&larger_than(TOO_LARGE, &sources));
}

#[test]
fn file_names_are_descriptive() {
    none(&badly_named(&rust_sources()));
}

#[test]
fn lint_exceptions_use_expect_with_a_reason() {
    none(&unchecked_lint_exceptions(&rust_sources()));
}

#[test]
fn no_file_contains_local_paths() {
    none(&local_paths(&sources(), &local_dirs()));
}

#[test]
fn badly_shaped_files_are_reported() {
    let bad = |path: &str, text: &str| [Source::new(path, text)];
    assert_eq!(undocumented(&bad("a.rs", "use std::fs;\n//! Late.")).len(), 1);
    assert_eq!(undocumented(&bad("a.rs", "//! Placeholder for it.\n")).len(), 1);
    assert!(undocumented(&bad("a.rs", "\n//! Owns the thing.\n")).is_empty());
    let lines = |count: usize| "x;\n".repeat(count) + "#[cfg(test)]\nmod tests {\n}\n";
    assert_eq!(larger_than(5, &bad("a.rs", &lines(6))).len(), 1);
    assert!(larger_than(5, &bad("a.rs", &lines(5))).is_empty());
    for path in ["a/mod.rs", "a/utils.rs", "helpers/a.rs"] {
        assert_eq!(badly_named(&bad(path, "")).len(), 1, "{path}");
    }
    assert!(badly_named(&bad("tests/kit/src/home.rs", "")).is_empty());
    assert_eq!(
        unchecked_lint_exceptions(&bad("a.rs", "// #[allow(x)]\n#[allow(dead_code)]\n#[ignore]\n"))
            .len(),
        2
    );
    assert_eq!(
        local_paths(&bad("a.md", "see\n/srv/me/x"), &["/srv/me/".to_owned()]),
        ["a.md:2: names `/srv/me/`"]
    );
}
