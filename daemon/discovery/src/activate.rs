//! Activation: which conditional skills a touched path concerns.
//!
//! A [`Matcher`] holds the `paths` of all conditional skills of a view as one trie over path
//! segments, so that a touch costs what it hits and not what there is: a literal segment and an
//! extension are each one look into a table. It is made once and shared by all views that have
//! the same conditional skills.
//!
//! The rules are those of gitignore files, for the path relative to where the patterns count from:
//! a slash anywhere but at the end anchors a pattern, else it counts at any depth; what lies below
//! a match matches; of the patterns of one skill the last that matches decides, at each level for
//! itself, so that `!child` takes nothing out of a directory that matches. `src/` matches only
//! what is below `src`. Braces are expanded first. Upper and lower case differ.

mod glob;
mod pattern;
mod probe;
mod trie;

use std::path::{Component, Path};

use crate::activate::pattern::Pattern;
use crate::activate::trie::{Builder, Trie};

pub use crate::activate::pattern::PatternError;
pub use crate::activate::probe::{matches_all, overruling};

/// The patterns of many skills, compiled.
#[derive(Debug)]
pub struct Matcher {
    trie: Trie,
    /// By pattern number.
    patterns: Box<[Rule]>,
    /// By skill: whether one of its patterns is negated.
    negates: bool,
    refused: Box<[Refused]>,
}

/// What a pattern number stands for.
#[derive(Clone, Copy, Debug)]
struct Rule {
    skill: u32,
    /// Its index among the skill's patterns.
    index: u32,
    negated: bool,
    only_below: bool,
}

/// A skill that a path concerns, and by which of its patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The skill, by its place among those that the matcher was made of.
    pub skill: usize,
    /// The pattern, by its place among the skill's.
    pub pattern: usize,
}

/// A pattern that can never match, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The skill, by its place among those that the matcher was made of.
    pub skill: usize,
    /// The pattern, by its place among the skill's.
    pub pattern: usize,
    /// Why it cannot match.
    pub error: PatternError,
}

/// Says why a pattern can never match; nothing where it can.
///
/// # Errors
/// It is a comment, ends in a backslash, has a bracket that is not closed, stands for too many
/// patterns, or wants a name that no path has, as `./a` does.
pub fn check(pattern: &str) -> Result<(), PatternError> {
    pattern::read(pattern).map(drop)
}

/// The number of patterns that one skill may still have.
#[derive(Debug)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(pattern::MOST_OF_SKILL)
    }
}

impl Budget {
    /// Says as [`check`] does why the next pattern of the skill can never match.
    ///
    /// # Errors
    /// Also where the patterns so far stand for as many as a skill may have.
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
        let mut builder = Builder::default();
        let mut rules = Vec::new();
        let mut refused = Vec::new();
        let mut negates = false;
        for (skill, patterns) in skills.into_iter().enumerate() {
            let mut budget = Budget::default();
            for (index, text) in patterns.into_iter().enumerate() {
                match budget.read(text) {
                    Err(error) => refused.push(Refused { skill, pattern: index, error }),
                    Ok(expanded) => {
                        for Pattern { segments, negated, only_below } in expanded {
                            negates |= negated;
                            builder.insert(&segments, rules.len() as u32);
                            let (skill, index) = (skill as u32, index as u32);
                            rules.push(Rule { skill, index, negated, only_below });
                        }
                    }
                }
            }
        }
        Self { trie: builder.build(), patterns: rules.into(), negates, refused: refused.into() }
    }

    /// Returns the patterns that can never match.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// Returns whether there is nothing to match.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the skills that a path concerns, in their order, each once. `relative` begins
    /// where the patterns count from; one that climbs out of there concerns nobody.
    pub fn matches(&self, relative: &Path) -> Vec<Hit> {
        let mut segments = Vec::with_capacity(16);
        for component in relative.components() {
            match component {
                Component::Normal(name) => segments.push(name.as_encoded_bytes()),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Vec::new();
                }
            }
        }
        let mut found: Vec<Found> = Vec::new();
        let mut level: Vec<u32> = Vec::new();
        self.trie.walk(&segments, |depth, accepted| {
            let is_last = depth + 1 == segments.len();
            level.clear();
            level.extend_from_slice(accepted);
            self.settle(depth, is_last, &mut level, &mut found);
        });
        // Of several levels the one nearest to the file is told.
        found.sort_unstable_by_key(|it| (it.skill, std::cmp::Reverse(it.depth), it.index));
        found.dedup_by_key(|it| it.skill);
        found
            .into_iter()
            .map(|it| Hit { skill: it.skill as usize, pattern: it.index as usize })
            .collect()
    }

    /// Takes up what decides at one level. `level` holds the numbers of all that match there.
    fn settle(&self, depth: usize, is_last: bool, level: &mut [u32], found: &mut Vec<Found>) {
        let rules = &self.patterns;
        let holds = |rule: &Rule| !(rule.only_below && is_last);
        if !self.negates {
            let all = level.iter().map(|it| rules[*it as usize]).filter(holds);
            found.extend(all.map(|it| Found { skill: it.skill, depth, index: it.index }));
            return;
        }
        // Numbers go by skill, and in a skill by the order of its patterns.
        level.sort_unstable();
        let mut rest = level.iter().map(|it| rules[*it as usize]).filter(holds).peekable();
        while let Some(rule) = rest.next() {
            let is_decided = rest.peek().is_none_or(|next| next.skill != rule.skill);
            if is_decided && !rule.negated {
                found.push(Found { skill: rule.skill, depth, index: rule.index });
            }
        }
    }
}

/// A match at one level.
struct Found {
    skill: u32,
    depth: usize,
    index: u32,
}

#[cfg(test)]
mod tests;
