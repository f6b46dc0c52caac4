//! [`Matcher`]: the compiled patterns of a list of skills.

use std::path::{Component, Path};

use super::error::PatternError;
use super::fold::fold;
use super::limits::MOST_OF_SKILL;
use super::pattern::{self, Pattern};
use super::trie::{Trie, TrieBuilder};

/// The compiled patterns of a list of skills.
#[derive(Debug)]
pub struct Matcher {
    trie: Trie,
    /// Rules by pattern number.
    patterns: Box<[PatternRule]>,
    /// True if any pattern is negated.
    negates: bool,
    refused: Box<[RefusedPattern]>,
}

/// The rule of one expanded pattern.
#[derive(Clone, Copy, Debug)]
struct PatternRule {
    skill: u32,
    /// Index among the skill's patterns.
    index: u32,
    negated: bool,
    only_below: bool,
}

/// A skill that matches a path, and the pattern that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternHit {
    /// Index in the matcher's list of skills.
    pub skill: usize,
    /// Index among the skill's patterns.
    pub pattern: usize,
}

/// A pattern that can never match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedPattern {
    /// Index in the matcher's list of skills.
    pub skill: usize,
    /// Index among the skill's patterns.
    pub pattern: usize,
    /// Reason why it cannot match.
    pub error: PatternError,
}

/// Number of expanded patterns that one skill may still add.
#[derive(Debug)]
pub struct PatternBudget(usize);

impl Default for PatternBudget {
    fn default() -> Self {
        Self(MOST_OF_SKILL)
    }
}

impl PatternBudget {
    /// Checks the skill's next pattern like [`check`](super::check).
    ///
    /// # Errors
    /// Also returns an error if the skill's patterns together expand to too many.
    pub fn check(&mut self, pattern: &str) -> Result<(), PatternError> {
        self.read(pattern).map(drop)
    }

    fn read(&mut self, text: &str) -> Result<Vec<Pattern>, PatternError> {
        if self.0 == 0 {
            return Err(PatternError::Many);
        }
        let patterns = pattern::read(text)?;
        self.0 = self.0.checked_sub(patterns.len()).ok_or(PatternError::Many)?;
        Ok(patterns)
    }
}

impl Matcher {
    /// Compiles the patterns of each skill.
    pub fn new<'a, S, P>(skills: S) -> Self
    where
        S: IntoIterator<Item = P>,
        P: IntoIterator<Item = &'a str>,
    {
        let mut builder = TrieBuilder::default();
        let mut rules = Vec::new();
        let mut refused = Vec::new();
        let mut negates = false;
        for (skill, patterns) in skills.into_iter().enumerate() {
            let mut budget = PatternBudget::default();
            for (index, text) in patterns.into_iter().enumerate() {
                match budget.read(text) {
                    Err(error) => refused.push(RefusedPattern { skill, pattern: index, error }),
                    Ok(expanded) => {
                        for Pattern { segments, negated, only_below } in expanded {
                            negates |= negated;
                            builder.insert(&segments, rules.len() as u32);
                            let (skill, index) = (skill as u32, index as u32);
                            rules.push(PatternRule { skill, index, negated, only_below });
                        }
                    }
                }
            }
        }
        Self { trie: builder.build(), patterns: rules.into(), negates, refused: refused.into() }
    }

    /// Returns the patterns that can never match.
    pub fn refused(&self) -> &[RefusedPattern] {
        &self.refused
    }

    /// Returns true if there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the skills that match a path, in order, each once. `relative` is relative to the
    /// base directory of the patterns; a path that leads out of it matches nothing.
    pub fn matches(&self, relative: &Path) -> Vec<PatternHit> {
        let mut segments = Vec::with_capacity(16);
        for component in relative.components() {
            match component {
                Component::Normal(name) => segments.push(fold(name.as_encoded_bytes())),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Vec::new();
                }
            }
        }
        let mut found: Vec<LevelMatch> = Vec::new();
        let mut level: Vec<u32> = Vec::new();
        let segments: Vec<&[u8]> = segments.iter().map(|it| &**it).collect();
        self.trie.walk(&segments, |depth, accepted| {
            let is_last = depth + 1 == segments.len();
            level.clear();
            level.extend_from_slice(accepted);
            self.add_matches(depth, is_last, &mut level, &mut found);
        });
        // If several levels match, the one nearest to the file is returned.
        found.sort_unstable_by_key(|it| (it.skill, std::cmp::Reverse(it.depth), it.index));
        found.dedup_by_key(|it| it.skill);
        found
            .into_iter()
            .map(|it| PatternHit { skill: it.skill as usize, pattern: it.index as usize })
            .collect()
    }

    /// Adds the skills that match at one level. `level` holds the numbers of all patterns that
    /// match there.
    fn add_matches(
        &self,
        depth: usize,
        is_last: bool,
        level: &mut [u32],
        found: &mut Vec<LevelMatch>,
    ) {
        let rules = &self.patterns;
        let holds = |rule: &PatternRule| !(rule.only_below && is_last);
        if !self.negates {
            let all = level.iter().map(|it| rules[*it as usize]).filter(holds);
            found.extend(all.map(|it| LevelMatch { skill: it.skill, depth, index: it.index }));
            return;
        }
        // Pattern numbers are ordered by skill, then by the skill's pattern order.
        level.sort_unstable();
        let mut rest = level.iter().map(|it| rules[*it as usize]).filter(holds).peekable();
        while let Some(rule) = rest.next() {
            let is_decided = rest.peek().is_none_or(|next| next.skill != rule.skill);
            if is_decided && !rule.negated {
                found.push(LevelMatch { skill: rule.skill, depth, index: rule.index });
            }
        }
    }
}

/// A match at one level.
struct LevelMatch {
    skill: u32,
    depth: usize,
    index: u32,
}
