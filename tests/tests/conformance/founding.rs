//! The founding documents, statement by statement.
//!
//! Each statement is a [`Row`]: its number, the statement in our own words, a verdict, and a test
//! that fails if the verdict is no longer true. One test runs all rows of a document and reports
//! each failed one; `FOUNDING=claude-17` runs only that row. `docs/founding.md` is generated from
//! the rows.

mod claude;
mod generic;
mod opencode;
mod page;
mod place;
mod plugin;

use std::panic::{AssertUnwindSafe, catch_unwind};

use place::{Place, Service};

/// One statement of a document.
struct Row {
    number: u16,
    statement: &'static str,
    verdict: Verdict,
    test: Test,
}

/// Result of comparing skillsd with a statement.
enum Verdict {
    Works,
    /// Differs on purpose, for this reason.
    Deviates(&'static str),
}

/// The test of a row.
#[derive(Clone, Copy)]
enum Test {
    Here(fn(&mut Place<'_>)),
    /// A test elsewhere: its file and its function.
    Elsewhere(&'static str, &'static str),
}

/// A founding document, or two on one subject.
struct Document {
    /// The first part of the rows' ids.
    id: &'static str,
    title: &'static str,
    profile: &'static str,
    parts: &'static [&'static [Row]],
}

impl Document {
    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.parts.iter().copied().flatten()
    }
}

const DOCUMENTS: &[Document] =
    &[claude::DOCUMENT, opencode::DOCUMENT, plugin::DOCUMENT, generic::DOCUMENT];

/// Returns a row whose statement holds.
const fn works(number: u16, statement: &'static str, test: fn(&mut Place<'_>)) -> Row {
    Row { number, statement, verdict: Verdict::Works, test: Test::Here(test) }
}

/// Returns a row whose statement holds, as the test `name` in `file` shows.
const fn kept(number: u16, statement: &'static str, file: &'static str, name: &'static str) -> Row {
    Row { number, statement, verdict: Verdict::Works, test: Test::Elsewhere(file, name) }
}

impl Row {
    /// Returns the row with the verdict that skillsd differs on purpose; its test shows how.
    const fn deviates(mut self, reason: &'static str) -> Self {
        self.verdict = Verdict::Deviates(reason);
        self
    }
}

/// Runs the rows of the document `id` and reports every failed one.
#[track_caller]
fn check(id: &str) {
    let document = DOCUMENTS.iter().find(|it| it.id == id).expect("it is a document");
    let only = std::env::var("FOUNDING").ok();
    let service = Service::start("");
    let (mut n_run, mut failed) = (0, Vec::new());
    for row in document.rows() {
        let id = format!("{}-{}", document.id, row.number);
        let Test::Here(test) = row.test else { continue };
        if only.as_ref().is_some_and(|it| *it != id) {
            continue;
        }
        n_run += 1;
        let mut place = Place::new(&service, &id, document.profile);
        if catch_unwind(AssertUnwindSafe(|| test(&mut place))).is_err() {
            failed.push(format!("{id}: {}", row.statement));
        }
    }
    assert!(n_run > 0 || only.is_some(), "no row of `{id}` has run");
    assert!(failed.is_empty(), "{} rows are wrong:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn statements_on_claude_code_hold() {
    check("claude");
}

#[test]
fn statements_on_opencode_hold() {
    check("opencode");
}

#[test]
fn statements_on_the_plugin_hold() {
    check("plugin");
}

#[test]
fn statements_on_the_generic_protocol_hold() {
    check("generic");
}
