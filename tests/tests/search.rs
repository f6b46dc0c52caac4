//! Search quality on the corpus: the share of judged queries with the expected skill in the top
//! three.
//!
//! The queries and their answers are in `search/queries.tsv`, written from the descriptions before
//! the ranker existed. The corpus is not part of the repository: without `SKILLSD_CORPUS` the test
//! is skipped with a message; if `CI` is set it fails.

#![expect(clippy::unwrap_used, reason = "a failing step of a test is its result")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use skills_agents::skill::{FileFacts, SkillRecord};
use skills_engine::views::search::{Document, SearchIndex};
use skills_testkit::Corpus;
use skills_testkit::corpus::skills_below;

const QUERIES: &str = include_str!("../search/queries.tsv");

/// Required share of queries with their skill in the top three.
const BAR: f64 = 0.9;

#[test]
fn ninety_percent_of_queries_rank_their_skill_in_top_three() {
    let Some(corpus) = Corpus::open("the judged queries") else { return };
    let skills = skills_below(&corpus.top().join("dev"));
    let documents: Vec<_> = skills.iter().map(|it| document(it)).collect();
    let names: Vec<_> = documents.iter().map(|it| it.name.clone()).collect();
    let index = SearchIndex::new(documents).unwrap();
    let mut missed = String::new();
    let (mut first, mut among_three, mut all) = (0, 0, 0);
    for (query, expected) in queries() {
        let wanted = corpus.top().join("dev").join(expected).join("SKILL.md");
        let expected = skills.iter().position(|it| *it == wanted).unwrap();
        assert!(!contains_name(query, &names[expected]), "`{query}` names its skill");
        let hits = index.search(query, 20, |_| true, |_| 0.0).unwrap();
        let place = hits.iter().position(|it| it.document == expected);
        all += 1;
        first += usize::from(place == Some(0));
        match place {
            Some(0..3) => among_three += 1,
            place => {
                let ahead: Vec<_> = hits.iter().take(3).map(|it| &*names[it.document]).collect();
                let _ = writeln!(
                    missed,
                    "  {query}: {} is {place:?}, first {ahead:?}",
                    names[expected]
                );
            }
        }
    }
    let share = f64::from(among_three) / f64::from(all);
    let summary = format!(
        "{all} queries over {} skills: {first} first, {among_three} in three",
        skills.len()
    );
    assert!(all >= 60, "too few queries");
    assert!(share >= BAR, "{summary}; missed:\n{missed}");
    report(&format!("{summary}; missed:\n{missed}"));
}

#[expect(clippy::print_stderr, reason = "figures are shown with --nocapture")]
fn report(text: &str) {
    eprintln!("{text}");
}

fn queries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = QUERIES.lines().filter(|it| !it.starts_with('#'));
    lines.map(|it| it.split_once('\t').expect("a query, a tab and a directory"))
}

/// Returns whether a query contains all words of a name in sequence.
fn contains_name(query: &str, name: &str) -> bool {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        let words: Vec<_> =
            lower.split(|it: char| !it.is_alphanumeric()).map(str::to_owned).collect();
        format!(" {} ", words.join(" "))
    };
    words(query).contains(&words(name))
}

fn document(path: &Path) -> Document {
    let bytes = fs::read(path).unwrap();
    let facts = FileFacts { size: bytes.len() as u64, truncated: false, hash: [0; 32] };
    let record = SkillRecord::read(&bytes, facts);
    let text = |field: &Option<skills_agents::skill::RecordField>| {
        field.as_ref().map(|it| it.text.to_string())
    };
    let directory = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let name = text(&record.name).unwrap_or(directory);
    Document::new(&name, text(&record.description).as_deref(), Some(&record))
}
