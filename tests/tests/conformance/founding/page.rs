//! `docs/founding.md`, generated from the rows, and checks on the rows themselves.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::{DOCUMENTS, Document, Row, Test, Verdict};

const PAGE: &str = "docs/founding.md";

const HEAD: &str = "# The founding documents

<!-- Generated from the rows in tests/tests/conformance/founding/; a test rewrites it. -->

The rules of skillsd began with five documents about the agents' skill systems.
The profiles `claude-code@founding`, `opencode@founding`, `opencode-agent-skills` and `agentskills` do what these documents say; `claude-code` and `opencode` follow today's agents, and [profiles](profiles.md) lists the differences.
Each statement of a document has a row here, in our own words, and a test that fails when the verdict is no longer true.

`works`: skillsd does what the statement says.
`deviates`: it differs on purpose, for the reason given.

A test without a path is a row in `tests/tests/conformance/founding/`; run one with `FOUNDING=claude-17 cargo test -p skills-tests --test conformance`.
";

/// Returns the number of rows with each verdict, and of those kept by tests elsewhere.
fn counts<'a>(rows: impl Iterator<Item = &'a Row>) -> [usize; 3] {
    let mut counts = [0; 3];
    for row in rows {
        let at = match row.verdict {
            Verdict::Works => 0,
            Verdict::Deviates(_) => 1,
        };
        counts[at] += 1;
        counts[2] += usize::from(matches!(row.test, Test::Elsewhere(..)));
    }
    counts
}

fn section(document: &Document, text: &mut String) -> std::fmt::Result {
    writeln!(text, "\n## {}\n", document.title)?;
    writeln!(text, "Profile: `{}`.\n", document.profile)?;
    writeln!(text, "| Id | Statement | Verdict | Test |\n|---|---|---|---|")?;
    for row in document.rows() {
        let verdict = match row.verdict {
            Verdict::Works => "works".to_owned(),
            Verdict::Deviates(reason) => format!("deviates: {reason}"),
        };
        let id = format!("{}-{}", document.id, row.number);
        let test = match row.test {
            Test::Here(_) => format!("`{id}`"),
            Test::Elsewhere(file, name) => format!("`{name}` in `{file}`"),
        };
        let statement = row.statement.replace('|', "\\|");
        writeln!(text, "| {id} | {statement} | {} | {test} |", verdict.replace('|', "\\|"))?;
    }
    Ok(())
}

fn page() -> String {
    let mut text = format!(
        "{HEAD}\n| Document | Statements | Works | Deviates | Kept by tests elsewhere |\n|---|---|---|---|---|\n"
    );
    for document in DOCUMENTS {
        let [works, deviates, elsewhere] = counts(document.rows());
        let (title, n_rows) = (document.title, document.rows().count());
        writeln!(text, "| {title} | {n_rows} | {works} | {deviates} | {elsewhere} |")
            .expect("a string takes it");
    }
    for document in DOCUMENTS {
        section(document, &mut text).expect("a string takes it");
    }
    text
}

fn top() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the package is a directory of the tree").to_owned()
}

#[test]
fn founding_page_is_up_to_date() {
    let place = top().join(PAGE);
    let text = page();
    if fs::read_to_string(&place).is_ok_and(|it| it == text) {
        return;
    }
    if std::env::var_os("CI").is_none() {
        fs::write(&place, text).expect("our own tree can be written");
    }
    panic!("`{PAGE}` was stale; outside CI it has been written again: keep it");
}

#[test]
fn statements_are_numbered_once_and_in_order() {
    for document in DOCUMENTS {
        let numbers: Vec<_> = document.rows().map(|it| it.number).collect();
        let first = numbers.first().copied().unwrap_or_default();
        let expected: Vec<_> = (first..).take(numbers.len()).collect();
        assert_eq!(numbers, expected, "{}", document.title);
        for row in document.rows() {
            assert!(row.statement.ends_with('.'), "{} is no sentence", row.statement);
        }
    }
}

#[test]
fn tests_elsewhere_exist_and_keep_at_most_a_third_of_the_rows() {
    for document in DOCUMENTS {
        for row in document.rows() {
            let Test::Elsewhere(file, name) = row.test else { continue };
            let text = fs::read_to_string(top().join(file)).unwrap_or_default();
            let is_test = text
                .split("#[test]")
                .chain(text.split("#[tokio::test"))
                .skip(1)
                .filter_map(|it| it.split("fn ").nth(1))
                .any(|it| it.starts_with(&format!("{name}(")));
            assert!(is_test, "{}-{}: no test `{name}` in `{file}`", document.id, row.number);
        }
    }
    let [works, deviates, elsewhere] = counts(DOCUMENTS.iter().flat_map(Document::rows));
    assert!(elsewhere * 3 <= works + deviates, "{elsewhere} rows are kept elsewhere");
}
