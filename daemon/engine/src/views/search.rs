//! [`SearchIndex`]: full-text index of one view's skills, in SQLite's FTS5 in memory.
//!
//! Built by the first search of a view and dropped with the view. It stores words, not texts.
//! [`skills_discovery::search`] parses queries and weighs names against texts.

use std::sync::Mutex;

use rusqlite::{Connection, params};
use skills_agents::skill::SkillRecord;
use skills_discovery::search::{NameRating, TextScore, alternatives, blend, indexed, terms};
use skills_platform::lock::lock;
use skills_syntax::parse::{Frontmatter, Value};

/// Searchable texts of one skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The skill's name.
    pub name: String,
    /// The skill's description.
    pub description: String,
    /// Text of `when_to_use`.
    pub when_to_use: String,
    /// Texts of `tags`, `keywords` and `category`.
    pub tags: String,
}

impl Document {
    /// Takes name and description as the agent reads them, and the rest from the file.
    pub fn new(name: &str, description: Option<&str>, record: Option<&SkillRecord>) -> Self {
        let document = record.map(SkillRecord::document);
        let frontmatter = document.as_ref().and_then(|it| it.frontmatter.as_ref());
        let joined = |keys: &[&str]| {
            let mut words = Vec::new();
            for key in keys {
                words.extend(frontmatter.iter().flat_map(|it| found(it, key)));
            }
            words.join(" ")
        };
        Self {
            name: name.to_owned(),
            description: description.unwrap_or_default().to_owned(),
            when_to_use: joined(&["when_to_use", "when-to-use"]),
            tags: joined(&["tags", "keywords", "category"]),
        }
    }
}

/// Returns the texts under a key, at the top level or in `metadata`.
fn found<'a>(frontmatter: &'a Frontmatter, key: &str) -> Vec<&'a str> {
    let metadata =
        frontmatter.get("metadata").and_then(|it| it.value.entries()).unwrap_or_default();
    let beneath = metadata.iter().filter(|it| it.key.text == key);
    let mut texts = Vec::new();
    for entry in frontmatter.get(key).into_iter().chain(beneath) {
        push_texts(frontmatter, &entry.value, &mut texts);
    }
    texts
}

fn push_texts<'a>(frontmatter: &'a Frontmatter, value: &'a Value, texts: &mut Vec<&'a str>) {
    let value = frontmatter.resolve(value);
    texts.extend(value.as_str());
    for item in value.items().unwrap_or_default() {
        // Nested lists are ignored; an alias may lead back here.
        texts.extend(frontmatter.resolve(item).as_str());
    }
}

/// Fields of a document, in the order of the index's columns, by their names on the wire.
pub const FIELDS: [&str; 4] = ["name", "description", "when_to_use", "tags"];

/// Weight of a word in each of [`FIELDS`].
const WEIGHTS: [f64; 4] = [3.0, 1.0, 1.0, 2.0];

/// A skill that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedHit {
    /// Index of the document in the indexed sequence.
    pub document: usize,
    /// Score from 0 to 1.
    pub score: f64,
    /// The [`FIELDS`] that match the query.
    pub matched: Vec<&'static str>,
}

/// Failure of the full-text index.
#[derive(Debug, thiserror::Error)]
#[error("the search index failed")]
pub struct SearchError(#[from] rusqlite::Error);

/// Full-text index of one view's skills.
#[derive(Debug)]
pub struct SearchIndex {
    /// A connection serves one thread at a time; a query takes a millisecond.
    texts: Mutex<Connection>,
    names: Box<[Box<str>]>,
}

impl SearchIndex {
    /// Indexes these skills. Blocks for about a millisecond per hundred.
    pub fn new(documents: impl IntoIterator<Item = Document>) -> Result<Self, SearchError> {
        let mut texts = Connection::open_in_memory()?;
        // `content=''` stores words only, because the texts are never read back.
        texts.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             CREATE VIRTUAL TABLE skill USING fts5(
                 name, description, when_to_use, tags,
                 content='', tokenize='porter unicode61 remove_diacritics 2'
             );",
        )?;
        let mut names = Vec::new();
        let transaction = texts.transaction()?;
        {
            let mut insert = transaction
                .prepare("INSERT INTO skill(rowid, name, description, when_to_use, tags) VALUES (?, ?, ?, ?, ?)")?;
            for (index, it) in documents.into_iter().enumerate() {
                let [description, when_to_use, tags] =
                    [&it.description, &it.when_to_use, &it.tags].map(|it| indexed(it));
                let name = indexed(&it.name);
                insert.execute(params![rowid(index), name, description, when_to_use, tags])?;
                names.push(it.name.into_boxed_str());
            }
        }
        transaction.commit()?;
        Ok(Self { texts: Mutex::new(texts), names: names.into() })
    }

    /// Returns the best matches among the documents that `wanted` accepts, the best first.
    ///
    /// Matches with equal scores are ordered by `use_score`, the highest first, and then keep the
    /// order of the documents.
    pub fn search(
        &self,
        query: &str,
        limit: usize,
        wanted: &dyn Fn(usize) -> bool,
        use_score: &dyn Fn(usize) -> f64,
    ) -> Result<Vec<RankedHit>, SearchError> {
        let texts = lock(&self.texts);
        let terms = terms(query);
        let share = 1.0 / f64::from(u32::try_from(terms.len().max(1)).unwrap_or(u32::MAX));
        let mut found: Vec<Option<TextScore>> = vec![None; self.names.len()];
        let [name, description, when_to_use, tags] = WEIGHTS;
        let mut select = texts.prepare(&format!(
            "SELECT rowid, bm25(skill, {name}, {description}, {when_to_use}, {tags})
             FROM skill WHERE skill MATCH ?"
        ))?;
        for (at, term) in terms.iter().enumerate() {
            let phrase = phrase(term, at + 1 == terms.len());
            let mut rows = select.query([phrase])?;
            while let Some(row) = rows.next()? {
                let score = found[document(row.get(0)?)]
                    .get_or_insert(TextScore { relevance: 0.0, covered: 0.0 });
                // SQLite's scores are negative; smaller is better.
                score.relevance -= row.get::<_, f64>(1)?;
                score.covered += share;
            }
        }
        let mut by_name = NameRating::new(query);
        let hits = (0..self.names.len()).filter(|it| wanted(*it)).filter_map(|document| {
            let name = by_name.score(&self.names[document]);
            let text = found[document];
            let hit = || RankedHit {
                document,
                score: blend(name, text),
                matched: name.iter().map(|_| FIELDS[0]).collect(),
            };
            (name.is_some() || text.is_some()).then(|| (hit(), use_score(document)))
        });
        let mut hits: Vec<_> = hits.collect();
        hits.sort_by(|(a, a_use), (b, b_use)| {
            let by_score = b.score.total_cmp(&a.score).then_with(|| b_use.total_cmp(a_use));
            by_score.then(a.document.cmp(&b.document))
        });
        let mut hits: Vec<_> = hits.into_iter().take(limit).map(|it| it.0).collect();
        for field in FIELDS {
            let mut select =
                texts.prepare_cached("SELECT 1 FROM skill WHERE skill MATCH ? AND rowid = ?")?;
            for hit in hits.iter_mut().filter(|it| found[it.document].is_some()) {
                let in_field = terms.iter().enumerate().map(|(at, term)| {
                    let phrase = phrase(term, at + 1 == terms.len());
                    select.exists(params![format!("{field} : {phrase}"), rowid(hit.document)])
                });
                let is_in = in_field.collect::<Result<Vec<_>, _>>()?.contains(&true);
                if is_in && !hit.matched.contains(&field) {
                    hit.matched.push(field);
                }
            }
        }
        Ok(hits)
    }
}

/// Returns the FTS5 expression of a term and its alternatives; the last term matches as a prefix
/// because it may be incomplete.
fn phrase(term: &str, is_last: bool) -> String {
    // Terms contain only letters, digits and spaces.
    let own = if is_last { format!("\"{term}\" *") } else { format!("\"{term}\"") };
    let others = alternatives(term).iter().map(|it| format!(" OR \"{it}\""));
    format!("({own}{})", others.collect::<String>())
}

fn rowid(document: usize) -> i64 {
    i64::try_from(document).map_or(i64::MAX, |it| it + 1)
}

fn document(rowid: i64) -> usize {
    usize::try_from(rowid - 1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, description: &str) -> Document {
        Document { name: name.into(), description: description.into(), ..Document::default() }
    }

    fn index() -> SearchIndex {
        SearchIndex::new([
            skill("commit", "Writes commit messages from the staged diff."),
            skill("commit-lint", "Checks messages."),
            Document {
                tags: "git, history".into(),
                ..skill("rebase", "Rewrites what was recorded.")
            },
            Document {
                when_to_use: "Before a release.".into(),
                ..skill("notes", "Collects changes.")
            },
            skill("planner", "\u{4f01}\u{753b}\u{66f8}\u{3092}\u{66f8}\u{304f}"),
        ])
        .expect("an index in memory")
    }

    #[track_caller]
    fn check(query: &str, expected: &[(&str, &[&str])]) {
        let index = index();
        let hits = index.search(query, 10, &|_| true, &|_| 0.0).expect("a search");
        let found: Vec<_> =
            hits.iter().map(|it| (&*index.names[it.document], &*it.matched)).collect();
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn name_matches_rank_before_text_matches() {
        check("commit", &[("commit", &["name", "description"]), ("commit-lint", &["name"])]);
        check("comit", &[("commit", &["name"]), ("commit-lint", &["name"])]);
    }

    #[test]
    fn every_field_is_searched_and_reported() {
        check("git", &[("rebase", &["tags"])]);
        check("releases", &[("notes", &["when_to_use"])]);
        check("staged", &[("commit", &["description"])]);
    }

    #[test]
    fn last_word_matches_as_prefix() {
        check("rewrite rec", &[("rebase", &["description"])]);
    }

    #[test]
    fn scripts_without_spaces_are_searched_by_pairs() {
        check("\u{753b}\u{66f8}", &[("planner", &["description"])]);
    }

    #[test]
    fn query_with_fts_syntax_is_plain_text() {
        for query in
            ["\"", "name : x", "a AND OR NOT", "(", "*", "-", "", "NEAR(a b)", "{x}: y", "\0"]
        {
            index().search(query, 10, &|_| true, &|_| 0.0).expect("any text is a query");
        }
    }

    #[test]
    fn search_respects_filter_and_limit() {
        let index = index();
        let hits = index.search("messages", 10, &|it| it != 0, &|_| 0.0).expect("a search");
        assert_eq!(hits.iter().map(|it| it.document).collect::<Vec<_>>(), [1]);
        assert_eq!(index.search("messages", 1, &|_| true, &|_| 0.0).expect("a search").len(), 1);
    }
}
