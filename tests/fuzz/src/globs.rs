//! Patterns of `paths:`: compiling, and matching against paths.

use std::path::Path;

use skills_discovery::activate::{
    Matcher, check as check_pattern, matches_all, overruling_pattern,
};

use super::parts;

/// Asserts that matching many skills at once equals matching each skill alone.
///
/// The first part holds patterns, one per line, with an empty line between skills; the second holds
/// paths.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let [patterns, paths] = parts(input);
    let skills: Vec<Vec<&str>> = patterns.split("\n\n").map(|it| it.lines().collect()).collect();
    let all = Matcher::new(skills.iter().map(|it| it.iter().copied()));
    let alone: Vec<Matcher> = skills.iter().map(|it| Matcher::new([it.iter().copied()])).collect();

    let is_refused =
        |skill, pattern| all.refused().iter().any(|it| it.skill == skill && it.pattern == pattern);
    for (skill, patterns) in skills.iter().enumerate() {
        for (nth, pattern) in patterns.iter().enumerate() {
            assert_eq!(check_pattern(pattern).is_err(), is_refused(skill, nth), "{pattern:?}");
            matches_all(pattern);
        }
        if patterns.len() <= 4 && patterns.iter().any(|it| it.starts_with('!')) {
            overruling_pattern(patterns, patterns.len() - 1);
        }
    }
    for path in paths.lines() {
        let path = Path::new(path);
        let hits = all.matches(path);
        assert!(hits.is_sorted_by(|a, b| a.skill < b.skill), "{hits:?} for {}", path.display());
        for hit in &hits {
            assert!(hit.pattern < skills[hit.skill].len(), "{hit:?}");
            assert!(!is_refused(hit.skill, hit.pattern), "{hit:?} is of a refused pattern");
        }
        for (skill, matcher) in alone.iter().enumerate() {
            let apart = matcher.matches(path).first().map(|it| it.pattern);
            let among = hits.iter().find(|it| it.skill == skill).map(|it| it.pattern);
            assert_eq!(apart, among, "skill {skill} for {}", path.display());
        }
        if path.components().any(|it| matches!(it, std::path::Component::ParentDir)) {
            assert!(hits.is_empty(), "{} climbs and matches {hits:?}", path.display());
        }
        // Everything below a match also matches.
        let below = path.join("below");
        let hits_below = all.matches(&below);
        for hit in &hits {
            assert!(
                hits_below.iter().any(|it| it.skill == hit.skill),
                "{} below {hit:?}",
                below.display()
            );
        }
    }
}
