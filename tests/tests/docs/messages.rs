//! Checks docs/troubleshooting.md against the source: each message in it exists, and each error
//! code is in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::top;

const PAGE: &str = "docs/troubleshooting.md";

/// Returns the source of the product.
fn product_source() -> String {
    let mut text = String::new();
    for dir in ["client", "daemon", "lsp"] {
        gather(&top().join(dir), &mut text);
    }
    text
}

fn gather(dir: &Path, text: &mut String) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            if !["tests", "benches"].iter().any(|it| path.ends_with(it)) {
                gather(&path, text);
            }
        } else if path.extension().is_some_and(|it| it == "rs") {
            let file = fs::read_to_string(&path).unwrap();
            // Unit tests may contain messages that the product does not.
            let file = file.split("#[cfg(test)]\nmod tests").next().unwrap();
            text.push_str(file);
        }
    }
}

/// Returns the first cells of the tables in a page, without their backticks.
fn explained_messages(page: &str) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.map(|(cell, _)| cell.to_owned()).collect()
}

/// Returns the quoted codes right after `before` in a text.
fn words_after(text: &str, before: &str) -> BTreeSet<String> {
    // Only in the first non-empty line: a later quote belongs to another statement.
    let line = |rest: &str| rest.trim_start().lines().next().unwrap_or_default().to_owned();
    let lines: Vec<String> = text.split(before).skip(1).map(line).collect();
    let found = lines.iter().filter_map(|it| it.split('"').nth(1));
    let is_code =
        |it: &&str| !it.is_empty() && it.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    found.filter(is_code).map(str::to_owned).collect()
}

// Removes backticks and backslashes.
fn without_quotes(text: &str) -> String {
    text.chars().filter(|c| *c != '`' && *c != '\\').collect()
}

#[test]
fn every_error_code_is_in_troubleshooting() {
    let page = fs::read_to_string(top().join(PAGE)).unwrap();
    let explained: BTreeSet<String> = explained_messages(&page).into_iter().collect();
    let source = product_source();
    let mut codes = words_after(&source, "DoctorProblem::error(");
    codes.extend(words_after(&source, "DoctorProblem::warning("));
    codes.extend(words_after(&source, "            code: "));
    codes.extend(words_after(&source, "        code: "));
    let protocol = fs::read_to_string(top().join("daemon/protocol/src/error.rs")).unwrap();
    let numbers = protocol.lines().filter_map(|line| line.split_once(": i32 = "));
    codes.extend(numbers.map(|(_, it)| it.trim_end_matches(';').to_owned()));
    assert!(codes.len() > 40, "{codes:?}");
    let missing: Vec<_> = codes.difference(&explained).collect();
    assert!(missing.is_empty(), "{PAGE} does not explain {missing:?}");
}

#[test]
fn every_message_in_troubleshooting_exists() {
    let page = fs::read_to_string(top().join(PAGE)).unwrap();
    let source = without_quotes(&product_source());
    let mut stale = Vec::new();
    for message in explained_messages(&page).iter().filter(|it| it.contains(' ')) {
        let parts = message.split('…').map(|it| without_quotes(it.trim()));
        let long = parts.filter(|it| it.len() > 6);
        for part in long.filter(|it| !source.contains(it.as_str())) {
            stale.push(format!("`{part}` of `{message}`"));
        }
    }
    assert!(stale.is_empty(), "{PAGE} explains messages that do not exist:\n{}", stale.join("\n"));
}
