//! Search scores: splits a query into terms and rates how well a name matches it.
//!
//! Names are rated by spelling (here), texts by the terms they contain (a full-text index in the
//! engine). [`blend`] combines both on a scale from 0 to 1, so that an exactly typed name ranks
//! first.

use std::fmt;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// Maximum number of terms of a query.
const MAX_TERMS: usize = 32;

/// English words that carry no meaning in a query. Other languages are not included, because their
/// short words are rare in skills and do little harm.
const STOP_WORDS: [&str; 48] = [
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from",
    "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "not", "of", "on", "or",
    "our", "so", "someone", "something", "that", "the", "their", "them", "they", "this", "to",
    "want", "was", "what", "when", "which", "with", "you", "your",
];

/// Everyday words of requests, and the terms that skills use instead. Sorted by the word.
const ALTERNATIVES: [(&str, &[&str]); 33] = [
    ("broken", &["debug", "fix", "failing"]),
    ("changed", &["changelog"]),
    ("clean", &["refactor"]),
    ("cleanup", &["refactor"]),
    ("container", &["docker"]),
    ("crash", &["debug", "error"]),
    ("crashes", &["debug", "error"]),
    ("deps", &["dependencies"]),
    ("diff", &["changes"]),
    ("docs", &["documentation"]),
    ("excel", &["xlsx", "spreadsheet"]),
    ("fast", &["performance", "optimize"]),
    ("faster", &["performance", "optimize"]),
    ("good", &["review", "quality"]),
    ("hang", &["debug", "performance"]),
    ("hangs", &["debug", "performance"]),
    ("ideas", &["brainstorm"]),
    ("leak", &["memory", "performance"]),
    ("powerpoint", &["pptx", "slides"]),
    ("pr", &["pull request"]),
    ("red", &["failing"]),
    ("save", &["commit"]),
    ("secure", &["security"]),
    ("ship", &["deploy", "release"]),
    ("slow", &["performance", "optimize"]),
    ("sluggish", &["performance", "optimize"]),
    ("speed", &["performance", "optimize"]),
    ("tests", &["testing"]),
    ("ticket", &["issue", "jira"]),
    ("tickets", &["issue", "jira"]),
    ("tidy", &["refactor"]),
    ("wiki", &["documentation", "confluence"]),
    ("word", &["docx"]),
];

/// Returns the terms that skills use instead of an everyday word.
pub fn alternatives(term: &str) -> &'static [&'static str] {
    let found = ALTERNATIVES.binary_search_by_key(&term, |(word, _)| word);
    found.map_or(&[], |index| ALTERNATIVES[index].1)
}

/// Full-text score of a skill for a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextScore {
    /// Sum of the terms' BM25 scores, from 0.
    pub relevance: f64,
    /// Share of the query's terms that the text contains, from 0 to 1.
    pub covered: f64,
}

/// Returns the distinct terms of a query as phrases for the full-text index.
///
/// Scripts without spaces between words become pairs of characters, as [`indexed`] writes them.
/// Stop words are left out, unless there are no other words.
pub fn terms(query: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for word in query.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()) {
        for term in pairs(&word.to_lowercase()) {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
    }
    if terms.iter().any(|it| !is_stop_word(it)) {
        terms.retain(|it| !is_stop_word(it));
    }
    terms.truncate(MAX_TERMS);
    terms
}

fn is_stop_word(term: &str) -> bool {
    STOP_WORDS.binary_search(&term).is_ok()
}

/// Splits a word where the script changes, and scripts without spaces into pairs of characters.
fn pairs(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let dense = is_dense(first);
        let end = rest.find(|it| is_dense(it) != dense).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        rest = behind;
        if !dense {
            found.push(run.to_owned());
            continue;
        }
        let characters: Vec<char> = run.chars().collect();
        if let [single] = characters[..] {
            found.push(single.to_string());
        }
        found.extend(characters.windows(2).map(|it| format!("{} {}", it[0], it[1])));
    }
    found
}

/// Returns a text prepared for indexing: with spaces around each character of a script that has
/// none between words, and with the parts of a `camelCase` word appended.
pub fn indexed(text: &str) -> String {
    let mut indexed = String::with_capacity(text.len());
    for word in text.split_inclusive(|it: char| !it.is_alphanumeric()) {
        for character in word.chars() {
            if is_dense(character) {
                indexed.extend([' ', character, ' ']);
            } else {
                indexed.push(character);
            }
        }
        if camel_parts(word).nth(1).is_some() {
            for part in camel_parts(word) {
                indexed.push(' ');
                indexed.push_str(part);
            }
            indexed.push(' ');
        }
    }
    indexed
}

/// Splits a word before each capital that follows a lower-case letter.
fn camel_parts(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let mut after_lowercase = false;
        let cut = rest.char_indices().find_map(|(at, it)| {
            let is_start = after_lowercase && it.is_uppercase();
            after_lowercase = it.is_lowercase();
            is_start.then_some(at)
        });
        let (part, behind) = rest.split_at(cut.unwrap_or(rest.len()));
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

/// Returns true for scripts written without spaces between words: Thai, Lao, Khmer, Japanese and
/// Chinese.
fn is_dense(character: char) -> bool {
    matches!(
        character,
        '\u{0e00}'..='\u{0eff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Rates names against one query.
pub struct NameRating {
    /// The query in the form of a name.
    wanted: String,
    fuzzy: Atom,
    matcher: Matcher,
    /// Fuzzy score of the query against itself.
    best: u16,
}

impl fmt::Debug for NameRating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameRating").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl NameRating {
    /// Prepares a query.
    pub fn new(query: &str) -> Self {
        let wanted = as_name(query);
        let (case, accents) = (CaseMatching::Ignore, Normalization::Smart);
        let fuzzy = Atom::new(&wanted, case, accents, AtomKind::Fuzzy, false);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut buffer = Vec::new();
        let best = fuzzy.score(Utf32Str::new(&wanted, &mut buffer), &mut matcher).unwrap_or(0);
        Self { wanted, fuzzy, matcher, best }
    }

    /// Returns a score from 0 to 1; `None` if the name does not match.
    ///
    /// An equal name scores 1, a name that starts with the query at least 0.9, a name with a word
    /// that starts with the query at least 0.8; a name with a few typing errors, or with the
    /// query's letters in order, scores less.
    #[expect(clippy::cast_precision_loss, reason = "names are far shorter than 2^52 characters")]
    pub fn score(&mut self, name: &str) -> Option<f64> {
        let wanted = self.wanted.as_str();
        if wanted.is_empty() {
            return None;
        }
        let name = as_name(name);
        if name == wanted {
            return Some(1.0);
        }
        let share = wanted.chars().count() as f64 / name.chars().count().max(1) as f64;
        if name.starts_with(wanted) {
            return Some(0.9 + 0.09 * share);
        }
        if name.match_indices(wanted).any(|(at, _)| at == 0 || name[..at].ends_with('-')) {
            return Some(0.8 + 0.09 * share);
        }
        let similarity = strsim::normalized_damerau_levenshtein(wanted, &name);
        if similarity >= 0.7 {
            return Some(0.8 * similarity);
        }
        let mut buffer = Vec::new();
        let found = self.fuzzy.score(Utf32Str::new(&name, &mut buffer), &mut self.matcher)?;
        let likeness = f64::from(found) / f64::from(self.best.max(1));
        // Long names contain the letters in order by chance.
        (likeness >= 0.6 && share >= 0.25).then_some(0.6 * likeness.min(1.0))
    }
}

/// Returns a text in the form of a name: lower case, words joined by hyphens.
fn as_name(text: &str) -> String {
    let lower = text.trim().trim_start_matches(['/', '$']).to_lowercase();
    let words = lower.split(|it: char| it.is_whitespace() || matches!(it, '-' | '_' | ':' | '/'));
    words.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("-")
}

/// Combines the scores of a skill's name and texts on a scale from 0 to 1.
pub fn blend(name: Option<f64>, text: Option<TextScore>) -> f64 {
    // Relevance of one rare word, at which half of the scale is reached.
    const HALF: f64 = 6.0;
    let text = text.map_or(0.0, |it| {
        let weighed = it.relevance * it.covered;
        0.5 * it.covered * it.covered * 0.5 + 0.55 * weighed / (weighed + HALF)
    });
    let name = name.unwrap_or(0.0);
    let (high, low) = if name > text { (name, text) } else { (text, name) };
    high + (1.0 - high) * low * 0.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn alternatives_are_found_by_their_word() {
        assert!(ALTERNATIVES.is_sorted_by_key(|(word, _)| word));
        assert_eq!(alternatives("pr"), ["pull request"]);
        assert_eq!(alternatives("review"), [""; 0]);
    }

    #[test]
    fn query_terms_exclude_stop_words_and_duplicates() {
        assert_eq!(terms("How do I review a PR?"), ["review", "pr"]);
        assert_eq!(terms("next.js next"), ["next", "js"]);
        assert_eq!(terms("to be or not to be"), ["to", "be", "or", "not"]);
        assert_eq!(terms("  --  "), [""; 0]);
    }

    #[test]
    fn scripts_without_spaces_become_character_pairs() {
        assert_eq!(terms("企画書をPDFに"), ["企 画", "画 書", "書 を", "pdf", "に"]);
        assert_eq!(indexed("a企画b"), "a 企  画 b");
    }

    #[test]
    fn camel_case_words_are_indexed_whole_and_in_parts() {
        assert_eq!(indexed("the FloatingClock."), "the FloatingClock. Floating Clock. ");
        assert_eq!(indexed("PDF, iOS"), "PDF, iOS i OS ");
    }

    #[test]
    fn closer_names_score_higher() {
        let mut names = NameRating::new("code review");
        let mut score = |name| names.score(name);
        assert_eq!(score("code-review"), Some(1.0));
        assert_eq!(score("Code_Review"), Some(1.0));
        let ladder =
            ["code-review", "code-review-bot", "my-code-review", "cod-reviw"].map(&mut score);
        assert!(ladder.is_sorted_by(|a, b| a > b), "{ladder:?}");
        assert_eq!(score("deploy"), None);
        assert_eq!(NameRating::new(" / ").score("x"), None);
    }

    #[test]
    fn letters_in_order_match_short_names_only() {
        assert!(NameRating::new("cmit").score("commit").is_some());
        assert_eq!(NameRating::new("cmt").score("a-very-long-name-with-c-and-m-and-t"), None);
    }

    #[test]
    fn exact_name_scores_above_any_text() {
        let text = |relevance, covered| Some(TextScore { relevance, covered });
        let best = blend(None, text(1e9, 1.0));
        assert!(best < blend(Some(0.9), None), "{best}");
        assert!(blend(None, text(5.0, 1.0)) > blend(None, text(5.0, 0.5)));
        assert!(blend(None, text(9.0, 1.0)) > blend(None, text(5.0, 1.0)));
        assert!(blend(Some(1.0), text(9.0, 1.0)) <= 1.0);
    }
}
