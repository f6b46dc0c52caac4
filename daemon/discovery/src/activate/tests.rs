//! Tests of activation: hand-written cases, and a comparison with one gitignore file per skill.

use std::collections::BTreeMap;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use proptest::prelude::*;

use super::*;

/// Returns the matching pattern of each skill for a path.
fn hits(skills: &[&[&str]], path: &str) -> BTreeMap<usize, usize> {
    let matcher = Matcher::new(skills.iter().map(|it| it.iter().copied()));
    matcher.matches(Path::new(path)).into_iter().map(|it| (it.skill, it.pattern)).collect()
}

#[track_caller]
fn check(patterns: &[&str], matching: &[&str], others: &[&str]) {
    for path in matching {
        assert!(!hits(&[patterns], path).is_empty(), "{patterns:?} matches {path}");
    }
    for path in others {
        assert!(hits(&[patterns], path).is_empty(), "{patterns:?} does not match {path}");
    }
}

#[test]
fn patterns_match_like_gitignore() {
    check(&["*.md"], &["a.md", "x/y/a.md", ".md", "a.md/b"], &["a.mdx", "md"]);
    check(&["/*.md"], &["a.md"], &["x/a.md"]);
    check(&["src/**/*.rs"], &["src/a.rs", "src/x/y/a.rs"], &["x/src/a.rs", "src/a.c"]);
    check(&["src/**"], &["src/a", "src/x/y", "src", "x/src/a"], &["srcs"]);
    check(&["/src/**"], &["src/a"], &["x/src/a"]);
    check(&["src/**/"], &["src/a", "src/x/y"], &["src", "x/src/a"]);
    check(&["src/"], &["src/a", "x/src/y/a"], &["src", "srcs/a"]);
    check(&["src"], &["src", "src/a", "x/src/a"], &["srcs"]);
    check(&["a/b"], &["a/b", "a/b/c"], &["x/a/b", "a/x/b"]);
    check(&["**/a/b"], &["a/b", "x/y/a/b/c"], &["a/x/b"]);
    check(&["**"], &["a", "a/b"], &[]);
    check(&["**/"], &["a/b"], &["a"]);
    check(&["a/**/b/**/c"], &["a/b/c", "a/x/b/y/z/c"], &["a/c"]);
    check(&["**/x/**/x/*.q"], &["x/x/x/x/a.q", "x/x/a.q"], &["x/a.q"]);
    check(&["*.{ts,tsx}"], &["a.ts", "x/a.tsx"], &["a.tsy"]);
    check(&["{src,lib}/*.c"], &["src/a.c", "lib/a.c"], &["a.c", "x/src/a.c"]);
    check(&["app/(home)/[id]/*.tsx"], &["app/(home)/i/p.tsx"], &["app/(home)/[id]/p.tsx"]);
    check(&["*.test.ts"], &["a.test.ts"], &["test.ts", "a.ts"]);
    check(&["README.md"], &["README.md", "readme.md"], &["README.mdx"]);
    check(&["a b"], &["a b"], &["a"]);
    check(&["\\!a", "\\#b"], &["!a", "#b"], &["a", "b"]);
}

#[test]
fn last_matching_pattern_decides_per_level() {
    check(&["*.ts", "!*.d.ts"], &["a.ts"], &["a.d.ts", "x/a.d.ts"]);
    check(&["!*.d.ts", "*.ts"], &["a.d.ts"], &[]);
    check(&["src/", "!src/a"], &["src/a", "src/b"], &[]);
    check(&["src/*", "!src/a"], &["src/b", "src/b/a"], &["src/a", "src/a/b"]);
    check(&["!a"], &[], &["a", "b"]);
}

#[test]
fn hit_names_the_matching_pattern_of_each_skill() {
    let skills: &[&[&str]] = &[&["*.rs", "src/*"], &["!*.rs"], &["*.c"], &["src", "*.rs"]];
    assert_eq!(hits(skills, "src/a.rs"), [(0, 1), (3, 1)].into());
    assert_eq!(hits(skills, "a.rs"), [(0, 0), (3, 1)].into());
    assert_eq!(hits(skills, "../a.rs"), [].into());
    assert_eq!(hits(skills, ""), [].into());
}

#[test]
fn refused_pattern_does_not_affect_other_patterns() {
    let matcher = Matcher::new([vec!["a[", "*.rs"], vec!["#x"]]);
    assert_eq!(matcher.matches(Path::new("a.rs")), [PatternHit { skill: 0, pattern: 1 }]);
    let refused: Vec<_> = matcher.refused().iter().map(|it| (it.skill, it.pattern)).collect();
    assert_eq!(refused, [(0, 0), (1, 0)]);
    assert!(super::check("a[").is_err() && super::check("a[b]").is_ok());
}

/// A gitignore file evaluated for each directory on the path, as git does.
struct Plain(Gitignore);

impl Plain {
    fn new(patterns: &[String]) -> Self {
        let mut builder = GitignoreBuilder::new("/w");
        builder.case_insensitive(true).unwrap();
        for pattern in patterns {
            let pattern = match pattern.strip_suffix("/**") {
                // Without a name it excludes everything, or nothing.
                Some("!") => "!*",
                Some(rest) => rest,
                None => pattern,
            };
            builder.add_line(None, pattern).unwrap();
        }
        Self(builder.build().unwrap())
    }

    fn matches(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| (at, true));
        ends.chain([(path.len(), false)])
            .any(|(end, is_dir)| self.0.matched(&path[..end], is_dir).is_ignore())
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[abAB]{1,2}", "[ab]\\.(rs|ts)", "[ab]\\.d\\.ts", Just(".a".to_owned()),]
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => name(),
        2 => Just("**".to_owned()),
        2 => Just("*".to_owned()),
        2 => "\\*\\.(rs|ts|d\\.ts)",
        1 => "\\*\\.\\{rs,ts\\}",
        1 => "\\{a,b\\}",
        1 => "[ab]\\*",
        1 => "\\*[ab]",
        1 => "[ab]\\?",
        1 => "\\[(a|b|ab|a-b|a-)\\]",
        1 => "[ab]\\*\\*[ab]",
        1 => "\\\\[acA.*]x",
        1 => "\\*\\*[ab]",
    ]
}

fn pattern() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(part(), 1..4);
    ("!?", "/?", parts, "/?").prop_map(|(negation, start, parts, end)| {
        // Git takes a directory out of `a/**/` that the agent leaves in.
        let end = if parts.last().is_some_and(|it| it == "**") { "" } else { &end };
        format!("{negation}{start}{}{end}", parts.join("/"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn matcher_equals_one_gitignore_per_skill(
        skills in prop::collection::vec(prop::collection::vec(pattern(), 1..5), 1..8),
        paths in prop::collection::vec(prop::collection::vec(name(), 1..5), 1..12),
    ) {
        let matcher = Matcher::new(skills.iter().map(|it| it.iter().map(String::as_str)));
        let plain: Vec<_> = skills.iter().map(|it| Plain::new(it)).collect();
        for path in paths.iter().map(|it| it.join("/")) {
            let expected: Vec<_> =
                (0..skills.len()).filter(|it| plain[*it].matches(&path)).collect();
            let found: Vec<_> =
                matcher.matches(Path::new(&path)).into_iter().map(|it| it.skill).collect();
            prop_assert_eq!(found, expected, "{} in {:?}", path, skills);
        }
    }

    #[test]
    fn any_text_parses_or_is_refused(text in "\\PC{0,20}", path in "[ab/.]{0,12}") {
        let matcher = Matcher::new([[text.as_str()]]);
        prop_assert_eq!(super::check(&text).is_err(), matcher.is_empty());
        matcher.matches(Path::new(&path));
    }
}
