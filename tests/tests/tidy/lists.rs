//! Lists that must be complete: decisions, tests named in documents, test files.

use std::collections::BTreeSet;

use crate::tree::{Source, none, rust_sources, sources, text_of};

/// Finds files of `dir` that `page` does not link to, and dead links of `page` into `dir`.
fn unlisted(page: &str, dir: &str, files: &[String]) -> Vec<String> {
    let links: BTreeSet<&str> =
        page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let listed: BTreeSet<&str> = links.into_iter().filter(|link| link.starts_with(dir)).collect();
    let there: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    let missing = there.difference(&listed).map(|path| format!("`{path}` is not listed"));
    let dead = listed.difference(&there).map(|path| format!("`{path}` is listed and not there"));
    missing.chain(dead).collect()
}

/// Finds tests that `page` names, as `Test: `name`.`, and that do not exist.
fn missing_tests(page: &str, sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for line in page.lines() {
        let Some((_, tests)) = line.split_once("Test: ").or_else(|| line.split_once("Tests: "))
        else {
            continue;
        };
        for name in tests.split('`').skip(1).step_by(2) {
            let declaration = format!("fn {}(", name.rsplit("::").next().unwrap_or(name));
            if !sources.iter().any(|source| source.text.contains(&declaration)) {
                findings.push(format!("no test `{name}` keeps: {line}"));
            }
        }
    }
    findings
}

/// Finds paths in this repository that `page` names in backticks and that do not exist.
fn missing_paths(page: &str, there: &BTreeSet<String>) -> Vec<String> {
    let tops: BTreeSet<&str> = there.iter().filter_map(|path| path.split('/').next()).collect();
    let words = page.split('`').skip(1).step_by(2);
    let places = words.filter(|word| {
        let top = word.split_once('/').map(|(top, _)| top);
        // Methods such as `skills/list` are not paths.
        top.is_some_and(|it| tops.contains(it)) && !word.contains([' ', '*', '<', '$', '~'])
    });
    let is_there = |place: &str| {
        let dir = format!("{}/", place.trim_end_matches('/'));
        there.contains(place) || there.iter().any(|path| path.starts_with(&dir))
    };
    places.filter(|place| !is_there(place)).map(|place| format!("`{place}` is not there")).collect()
}

/// Finds files next to a `main.rs` that it does not declare: they would not be compiled, and would
/// never fail.
fn undeclared(main: &Source, sources: &[Source]) -> Vec<String> {
    let dir = main.path.trim_end_matches("main.rs");
    let beside =
        sources.iter().filter_map(|source| source.path.strip_prefix(dir)?.strip_suffix(".rs"));
    beside
        .filter(|name| !name.contains('/') && *name != "main")
        .filter(|name| !main.text.contains(&format!("mod {name};")))
        .map(|name| format!("`{dir}{name}.rs` is not declared in `{}`", main.path))
        .collect()
}

/// Finds attack cases that the table of `page` does not list, and rows of the table without a test.
///
/// A row starts with the test's path below `tests/tests/attacks/`, as `` | `links::a_case` ``.
fn unlisted_attacks(page: &str, sources: &[Source]) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    let mut written = BTreeSet::new();
    for source in sources {
        let Some(path) = source.path.strip_prefix("tests/tests/attacks/") else { continue };
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let mut is_test = false;
        for line in source.text.lines().map(str::trim) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_test = true;
            } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
                is_test = false;
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                written.insert(format!("{module}::{name}"));
            }
        }
    }
    let missing = written.difference(&listed).map(|it| format!("`{it}` has no row in the table"));
    let dead = listed.difference(&written).map(|it| format!("`{it}` is a row without a test"));
    missing.chain(dead).collect()
}

#[test]
fn attack_table_lists_every_attack_test() {
    none(&unlisted_attacks(&text_of("docs/security.md"), &rust_sources()));
}

#[test]
fn attack_table_check_reports_missing_and_dead_rows() {
    let source =
        Source::new("tests/tests/attacks/links.rs", "#[test]\nfn one() {}\nfn help() {}\n");
    let sources = [source];
    assert!(unlisted_attacks("| `links::one` | a | b |", &sources).is_empty());
    assert_eq!(unlisted_attacks("| `links::two` | a | b |", &sources).len(), 2);
}

#[test]
fn tests_named_in_security_and_reliability_exist() {
    for page in ["docs/security.md", "docs/reliability.md"] {
        let text = text_of(page);
        assert!(text.contains("Tests: `"), "{page} names no test at all");
        none(&missing_tests(&text, &rust_sources()));
    }
}

#[test]
fn paths_named_in_security_and_reliability_exist() {
    let there = sources().into_iter().map(|source| source.path).collect();
    for line in text_of("docs/security.md").lines().chain(text_of("docs/reliability.md").lines()) {
        // Only paths of this repository: the pages also name methods, errors and agents' files.
        if line.contains("`tests/") {
            none(&missing_paths(line, &there));
        }
    }
}

#[test]
fn architecture_lists_every_decision() {
    let files: Vec<String> = sources().into_iter().map(|source| source.path).collect();
    let decisions: Vec<String> =
        files.into_iter().filter(|path| path.starts_with("docs/adr/")).collect();
    assert!(!decisions.is_empty());
    none(&unlisted(&text_of("ARCHITECTURE.md"), "docs/adr/", &decisions));
}

#[test]
fn architecture_stays_within_200_lines() {
    let lines = text_of("ARCHITECTURE.md").lines().count();
    assert!(lines <= 200, "ARCHITECTURE.md has {lines} lines; move details to the code");
}

#[test]
fn paths_named_in_the_architecture_exist() {
    let there = sources().into_iter().map(|source| source.path).collect();
    none(&missing_paths(&text_of("ARCHITECTURE.md"), &there));
}

#[test]
fn readme_names_the_ci_test_command() {
    let command = "cargo test --workspace";
    let is_line = |text: &str| text.lines().any(|line| line.trim().starts_with(command));
    assert!(is_line(&text_of("README.md")) && is_line(&text_of(".ci/test")));
}

#[test]
fn every_test_file_is_declared() {
    let sources = rust_sources();
    let mains = sources.iter().filter(|source| source.path.starts_with("tests/tests/"));
    let mains = mains.filter(|source| source.path.ends_with("/main.rs"));
    none(&mains.flat_map(|main| undeclared(main, &sources)).collect::<Vec<_>>());
}

#[test]
fn incomplete_lists_are_reported() {
    let files = ["docs/adr/1.md".to_owned(), "docs/adr/2.md".to_owned()];
    let page = "see [one](docs/adr/1.md) and [three](docs/adr/3.md)";
    assert_eq!(unlisted(page, "docs/adr/", &files).len(), 2);

    let sources = [Source::new("a.rs", "#[test]\nfn it_holds() {}\n")];
    assert!(missing_tests("It holds. Test: `it_holds`.", &sources).is_empty());
    assert_eq!(missing_tests("It holds. Tests: `it_holds`, `m::that_too`.", &sources).len(), 1);

    let there = BTreeSet::from(["a/b/c.rs".to_owned()]);
    assert!(missing_paths("see `a/b/c.rs`, `a/b/` and `word`", &there).is_empty());
    assert_eq!(missing_paths("see `a/b/d.rs` and `a/c`", &there).len(), 2);

    let main = Source::new("tests/tests/e2e/main.rs", "mod one;\n");
    let sources = ["one", "two", "one/deep"]
        .map(|name| Source::new(&format!("tests/tests/e2e/{name}.rs"), ""));
    assert_eq!(undeclared(&main, &sources).len(), 1);
}
