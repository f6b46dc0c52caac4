//! Search quality on the corpus: the share of judged queries with the expected skill in the top
//! three.
//!
//! The queries and their answers are in `search/queries.tsv` and `search/everyday.tsv`, written
//! from the descriptions before the ranker was tuned. The corpus is not part of the repository:
//! without `SKILLSD_CORPUS` the test is skipped with a message; if `CI` is set it fails.

#![expect(clippy::unwrap_used, reason = "a failing step of a test is its result")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use skills_agents::skill::{FileFacts, SkillRecord};
use skills_engine::views::search::{Document, SearchIndex};
use skills_testkit::Corpus;
use skills_testkit::corpus::skills_below;

const QUERIES: &str = include_str!("../search/queries.tsv");

/// Requests as people type them to an agent, for a worktree with the skills that serve them.
const EVERYDAY: &str = include_str!("../search/everyday.tsv");

/// Required share of queries with their skill in the top three.
const BAR: f64 = 0.9;

#[test]
fn ninety_percent_of_queries_rank_their_skill_in_top_three() {
    let Some(corpus) = Corpus::open("the judged queries") else { return };
    let top = corpus.top().join("dev");
    let judged = judge(QUERIES, &skills_below(&top), &top);
    for (query, name) in &judged.names {
        assert!(!contains_name(query, name), "`{query}` names its skill");
    }
    judged.check();
}

#[test]
fn everyday_requests_rank_their_skill_in_top_three() {
    let Some(corpus) = Corpus::open("the everyday requests") else { return };
    let top = corpus.top().join("dev");
    let skills: BTreeSet<_> =
        queries(EVERYDAY).map(|(_, dir)| top.join(dir).join("SKILL.md")).collect();
    let judged = judge(EVERYDAY, &Vec::from_iter(skills), &top);
    assert_eq!(judged.places["make a pull request"], Some(0));
    judged.check();
}

/// Places of the expected skills among the hits of their queries.
struct Judged {
    n_skills: usize,
    /// Place by query, from 0; `None` beyond the first 20 hits.
    places: BTreeMap<&'static str, Option<usize>>,
    /// The name of each query's skill.
    names: Vec<(&'static str, String)>,
    missed: String,
}

/// Searches these skills for each query. `top` contains the directories of the expected ones.
fn judge(judged: &'static str, skills: &[PathBuf], top: &Path) -> Judged {
    let documents: Vec<_> = skills.iter().map(|it| document(it)).collect();
    let names: Vec<_> = documents.iter().map(|it| it.name.clone()).collect();
    let index = SearchIndex::new(documents).unwrap();
    let (mut places, mut names_of, mut missed) = (BTreeMap::new(), Vec::new(), String::new());
    for (query, expected) in queries(judged) {
        let wanted = top.join(expected).join("SKILL.md");
        let expected = skills.iter().position(|it| *it == wanted).unwrap();
        let hits = index.search(query, 20, &|_| true, &|_| 0.0).unwrap();
        let place = hits.iter().position(|it| it.document == expected);
        if !matches!(place, Some(0..3)) {
            let ahead: Vec<_> = hits.iter().take(3).map(|it| &*names[it.document]).collect();
            let name = &names[expected];
            let _ = writeln!(missed, "  {query}: {name} is {place:?}, first {ahead:?}");
        }
        places.insert(query, place);
        names_of.push((query, names[expected].clone()));
    }
    Judged { n_skills: skills.len(), places, names: names_of, missed }
}

impl Judged {
    /// Reports the figures, and fails if too few skills are among the first three.
    fn check(&self) {
        let count = |wanted: fn(usize) -> bool| {
            self.places.values().filter(|it| it.is_some_and(wanted)).count()
        };
        let (first, among_three, all) =
            (count(|it| it == 0), count(|it| it < 3), self.places.len());
        let (n_skills, missed) = (self.n_skills, &self.missed);
        let summary =
            format!("{all} queries over {n_skills} skills: {first} first, {among_three} in three");
        assert!(all >= 20, "too few queries");
        let bar = BAR * f64::from(u32::try_from(all).unwrap());
        assert!(
            f64::from(u32::try_from(among_three).unwrap()) >= bar,
            "{summary}; missed:\n{missed}"
        );
        report(&format!("{summary}; missed:\n{missed}"));
    }
}

#[expect(clippy::print_stderr, reason = "figures are shown with --nocapture")]
fn report(text: &str) {
    eprintln!("{text}");
}

fn queries(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = text.lines().filter(|it| !it.starts_with('#'));
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
