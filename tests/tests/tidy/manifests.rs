//! Dependency rules for the manifests: directions between our packages, restricted crates,
//! licences.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::tree::{none, text_of, top};

/// Allowed directions: each package and those of ours that it may depend on.
const DIRECTIONS: &[(&str, &[&str])] = &[
    ("skills-syntax", &[]),
    ("skills-agents", &["skills-syntax"]),
    ("skills-discovery", &["skills-syntax", "skills-agents"]),
    ("skills-config", &["skills-syntax", "skills-agents", "skills-discovery"]),
    ("skills-render", &["skills-syntax", "skills-agents"]),
    ("skills-lint", &["skills-syntax", "skills-agents", "skills-discovery"]),
    (
        "skills-ide",
        &["skills-syntax", "skills-agents", "skills-discovery", "skills-render", "skills-lint"],
    ),
    ("skills-platform", &[]),
    ("skills-protocol", &[]),
    (
        "skills-engine",
        // Only the file inspection of lint.
        &[
            "skills-syntax", "skills-agents", "skills-discovery", "skills-config", "skills-lint",
            "skills-platform",
        ],
    ),
    ("skills-client", &["skills-platform", "skills-protocol"]),
    ("skills-cli", &["skills-syntax", "skills-platform", "skills-protocol", "skills-client"]),
    (
        "skills-mcp",
        &[
            "skills-syntax", "skills-agents", "skills-discovery", "skills-render",
            "skills-platform", "skills-protocol", "skills-client",
        ],
    ),
    (
        "skills-lsp",
        &[
            "skills-syntax", "skills-agents", "skills-discovery", "skills-config", "skills-lint",
            "skills-ide", "skills-platform", "skills-protocol",
        ],
    ),
    (
        "skillsd",
        &[
            "skills-syntax", "skills-agents", "skills-discovery", "skills-config", "skills-render",
            "skills-lint", "skills-platform", "skills-protocol", "skills-engine", "skills-client",
            "skills-cli", "skills-mcp", "skills-lsp",
        ],
    ),
    ("skills-testkit", &[]),
    (
        "skills-tests",
        &[
            "skills-syntax", "skills-agents", "skills-discovery", "skills-config", "skills-render",
            "skills-lint", "skills-ide", "skills-protocol", "skills-engine", "skills-client",
            "skills-cli", "skills-lsp", "skillsd", "skills-testkit",
        ],
    ),
];

/// Crates that only some packages may use. Tests may use any.
const HOLDERS: &[(&str, &[&str])] = &[
    ("granit-parser", &["skills-syntax"]),
    ("pulldown-cmark", &["skills-syntax"]),
    ("inotify", &["skills-engine"]),
    ("notify", &["skills-engine"]),
    ("rusqlite", &["skills-engine"]),
    ("clap", &["skills-cli", "skillsd"]),
    ("tower-lsp-server", &["skills-lsp"]),
    ("jsonrpsee", &["skills-protocol", "skillsd"]),
    ("rmcp", &["skills-engine", "skills-mcp"]),
    ("listenfd", &["skillsd"]),
    ("sd-notify", &["skillsd"]),
];

/// Maximum number of packages in the lock file; raise it on purpose, with the reason in the commit.
const PACKAGES: usize = 350;

fn metadata(args: &[&str]) -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .current_dir(top())
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(args)
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

fn members() -> Vec<Value> {
    list(&metadata(&["--no-deps"])["packages"])
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Returns a package's dependencies: name, and whether it is a development dependency.
fn dependencies(package: &Value) -> Vec<(String, bool)> {
    let dependencies = list(&package["dependencies"]);
    dependencies
        .iter()
        .map(|dependency| (text(dependency, "name").to_owned(), text(dependency, "kind") == "dev"))
        .collect()
}

fn forbidden_directions(packages: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    let names: Vec<&str> = packages.iter().map(|package| text(package, "name")).collect();
    for package in packages {
        let name = text(package, "name");
        let Some((_, may)) = DIRECTIONS.iter().find(|(of, _)| *of == name) else {
            findings.push(format!("`{name}` has no place in the table of directions"));
            continue;
        };
        for (dependency, _) in dependencies(package) {
            if names.contains(&dependency.as_str()) && !may.contains(&dependency.as_str()) {
                findings.push(format!("`{name}` must not depend on `{dependency}`"));
            }
        }
    }
    findings
}

fn misplaced_dependencies(packages: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| text(package, "name") != "skills-tests") {
        let name = text(package, "name");
        for (dependency, _) in dependencies(package).iter().filter(|(_, is_dev)| !is_dev) {
            let holders = HOLDERS.iter().find(|(of, _)| of == dependency);
            if holders.is_some_and(|(_, holders)| !holders.contains(&name)) {
                findings.push(format!("`{dependency}` does not belong in `{name}`"));
            }
        }
    }
    findings
}

/// Returns third-party direct dependencies, each with the members that use it.
fn third_party(packages: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let names: Vec<&str> = packages.iter().map(|package| text(package, "name")).collect();
    let mut outside: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        for (dependency, _) in dependencies(package) {
            if !names.contains(&dependency.as_str()) {
                outside.entry(dependency).or_default().insert(text(package, "name").to_owned());
            }
        }
    }
    outside
}

/// Compares the table rows ``| `crate` | … |`` of `page` with the dependencies.
fn page_faults(page: &str, crates: &BTreeSet<String>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    for (name, rest) in rows {
        if !crates.contains(name) {
            findings.push(format!("`{name}` has a line and is no direct dependency"));
        }
        if !seen.insert(name.to_owned()) {
            findings.push(format!("`{name}` has two lines"));
        }
        if rest.split('|').all(|cell| cell.trim().len() < 15) {
            findings.push(format!("the line of `{name}` does not say why"));
        }
    }
    findings.extend(crates.difference(&seen).map(|name| format!("`{name}` has no line")));
    findings
}

/// Returns whether `allowed` licences satisfy a licence expression.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace(['(', ')'], "").replace('/', " OR ");
    // `AND` binds tighter than `OR`, and the expressions of real crates need no more than that,
    // except `(A OR B) AND C`, where reading it as `A OR (B AND C)` would be too lenient: hence
    // each `AND` first.
    expression.split(" AND ").all(|part| part.split(" OR ").any(|one| allowed.contains(one.trim())))
}

fn allowed_licences(deny: &str) -> BTreeSet<String> {
    let list = deny.split("allow = [").nth(1).and_then(|rest| rest.split(']').next());
    let lines =
        list.unwrap_or_default().lines().map(str::trim).filter(|line| line.starts_with('"'));
    lines.map(|line| line.trim_matches(|c| c == '"' || c == ',').to_owned()).collect()
}

#[test]
fn dependencies_point_one_way() {
    none(&forbidden_directions(&members()));
}

#[test]
fn restricted_crates_stay_in_their_packages() {
    none(&misplaced_dependencies(&members()));
}

#[test]
fn every_dependency_is_documented() {
    let crates = third_party(&members()).into_keys().collect();
    none(&page_faults(&text_of("docs/dependencies.md"), &crates));
}

#[test]
fn dependency_licences_are_allowed() {
    let allowed = allowed_licences(&text_of("deny.toml"));
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let packages = list(&metadata(&["--locked", "--filter-platform", &target])["packages"]);
    assert!(packages.len() > 50, "cargo named {} packages only", packages.len());
    let refused = packages.iter().filter(|package| !is_allowed(text(package, "license"), &allowed));
    let name = |package| format!("`{}`: {}", text(package, "name"), text(package, "license"));
    none(&refused.map(name).collect::<Vec<_>>());
}

#[test]
fn lock_file_stays_within_package_limit() {
    let n_packages = text_of("Cargo.lock").matches("[[package]]").count();
    assert!(n_packages <= PACKAGES, "{n_packages} packages, {PACKAGES} were agreed on");
}

#[test]
fn versions_are_stated_once_in_the_workspace() {
    for package in members() {
        let manifest = std::fs::read_to_string(text(&package, "manifest_path"));
        let manifest = manifest.expect("cargo has just read it");
        let tables = manifest.split("\n[").filter(|table| table.contains("dependencies]\n"));
        for line in tables.flat_map(|table| table.lines().skip(1)).filter(|line| line.contains('='))
        {
            let name = text(&package, "name");
            assert!(line.contains("workspace = true"), "`{name}` states a version: {line}");
        }
    }
}

#[test]
fn forbidden_dependencies_are_reported() {
    let package = |name: &str, dependencies: &[&str]| {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|name| serde_json::json!({"name": name, "kind": null}))
            .collect();
        serde_json::json!({"name": name, "dependencies": dependencies})
    };
    let packages = [
        package("skills-agents", &["skills-engine", "serde"]),
        package("skills-engine", &["skills-agents", "clap"]),
        package("skills-more", &[]),
    ];
    assert_eq!(
        forbidden_directions(&packages),
        [
            "`skills-agents` must not depend on `skills-engine`",
            "`skills-more` has no place in the table of directions"
        ]
    );
    assert_eq!(misplaced_dependencies(&packages), ["`clap` does not belong in `skills-engine`"]);
    assert_eq!(third_party(&packages).into_keys().collect::<Vec<_>>(), ["clap", "serde"]);
}

#[test]
fn incomplete_dependency_page_is_reported() {
    let crates = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
    let row = |name: &str| format!("| `{name}` | core | a reason that is one |\n");
    assert!(page_faults(&(row("a") + &row("b")), &crates).is_empty());
    assert_eq!(page_faults(&row("a"), &crates), ["`b` has no line"]);
    assert_eq!(page_faults(&(row("a") + &row("b") + &row("c")), &crates).len(), 1);
    assert_eq!(page_faults(&(row("a") + &row("b") + &row("b")), &crates).len(), 1);
    assert_eq!(page_faults(&(row("a") + "| `b` | core | short |\n"), &crates).len(), 1);
}

#[test]
fn licence_expressions_are_evaluated() {
    let allowed = allowed_licences("x\nallow = [\n  \"MIT\",\n  # why\n  \"Unicode-3.0\",\n]\n");
    assert_eq!(allowed.len(), 2);
    for (expression, is_good) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), is_good, "{expression}");
    }
}
