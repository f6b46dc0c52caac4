//! Time that a touch takes to find the conditional skills it activates, compared with simpler
//! implementations.
//!
//! `matcher` is [`Matcher`]: one trie for all skills. `gitignore_each` is one compiled gitignore
//! file per skill, the reference semantics. `glob_set` is one [`GlobSet`] of all patterns: the trie
//! is kept only while it is at least three times as fast at 1,000 skills. A set of 10,000 skills
//! exceeds the size limit of its regex. Each skill has one to five typical patterns; few match.

use std::path::PathBuf;

use divan::{Bencher, black_box};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use skills_discovery::activate::Matcher;

fn main() {
    divan::main();
}

/// Number of skills, and number of paths touched per call.
const SIZES: [(usize, usize); 4] = [(1_000, 1), (1_000, 100), (10_000, 1), (10_000, 100)];

/// Returns the patterns of each skill from a fixed pseudo-random sequence.
fn skills(count: usize) -> Vec<Vec<String>> {
    let skill = |n: usize| {
        let kinds = [
            format!("packages/p{n}/**/*.ts"),
            format!("services/s{n}/src/*.rs"),
            format!("*.kind{}", n % 500),
            format!("docs/area{}/**", n % 900),
            format!("**/unit{n}/*.{{tsx,jsx}}"),
        ];
        (0..=n % 5).map(|it| kinds[(n + it) % kinds.len()].clone()).collect()
    };
    (0..count).map(skill).collect()
}

/// Returns paths of which most match no skill and some match one or two.
fn paths(count: usize) -> Vec<PathBuf> {
    let path = |n: usize| match n % 4 {
        0 => format!("packages/p{}/src/deep/er/file{n}.ts", n * 37),
        1 => format!("lib/module/part{n}/file.py"),
        2 => format!("services/s{}/src/main.rs", n * 11),
        _ => format!("assets/images/icon{n}.png"),
    };
    (0..count).map(|n| path(n).into()).collect()
}

#[divan::bench(args = SIZES)]
fn matcher(bencher: Bencher<'_, '_>, (count, touched): (usize, usize)) {
    let skills = skills(count);
    let matcher = Matcher::new(skills.iter().map(|it| it.iter().map(String::as_str)));
    let paths = paths(touched);
    bencher
        .bench_local(|| paths.iter().map(|it| matcher.matches(black_box(it)).len()).sum::<usize>());
}

#[divan::bench(args = [1_000, 10_000])]
fn matcher_made(bencher: Bencher<'_, '_>, count: usize) {
    let skills = skills(count);
    bencher.bench_local(|| Matcher::new(skills.iter().map(|it| it.iter().map(String::as_str))));
}

#[divan::bench(args = [(1_000, 1), (10_000, 1)], sample_count = 10)]
fn gitignore_each(bencher: Bencher<'_, '_>, (count, touched): (usize, usize)) {
    let compile = |patterns: Vec<String>| -> Gitignore {
        let mut builder = GitignoreBuilder::new("/w");
        for pattern in &patterns {
            builder.add_line(None, pattern).expect("the patterns are good");
        }
        builder.build().expect("as above")
    };
    let all: Vec<_> = skills(count).into_iter().map(compile).collect();
    let paths = paths(touched);
    let hits = |path: &PathBuf| {
        all.iter().filter(|it| it.matched_path_or_any_parents(path, false).is_ignore()).count()
    };
    bencher.bench_local(|| paths.iter().map(|it| hits(black_box(it))).sum::<usize>());
}

/// Returns one set with the globs of all patterns, and the skill of each glob. A pattern without a
/// slash matches at any depth, and everything below a match matches.
fn compile_set(skills: &[Vec<String>]) -> (GlobSet, Vec<usize>) {
    let mut builder = GlobSetBuilder::new();
    let mut owners = Vec::new();
    for (skill, patterns) in skills.iter().enumerate() {
        for pattern in patterns {
            let anchored =
                if pattern.contains('/') { pattern.clone() } else { format!("**/{pattern}") };
            for text in [format!("{anchored}/**"), anchored] {
                let glob = GlobBuilder::new(&text).literal_separator(true).build();
                builder.add(glob.expect("the pattern is a glob"));
                owners.push(skill);
            }
        }
    }
    (builder.build().expect("the globs are a set"), owners)
}

#[divan::bench(args = [(1_000, 1), (1_000, 100)], sample_count = 10)]
fn glob_set(bencher: Bencher<'_, '_>, (count, touched): (usize, usize)) {
    let skills = skills(count);
    let (set, owners) = compile_set(&skills);
    let paths = paths(touched);
    let hits = |path: &PathBuf| {
        let mut found: Vec<usize> = set.matches(path).into_iter().map(|at| owners[at]).collect();
        found.dedup();
        found.len()
    };
    let matcher = Matcher::new(skills.iter().map(|it| it.iter().map(String::as_str)));
    assert!(paths.iter().all(|it| hits(it) == matcher.matches(it).len()));
    bencher.bench_local(|| paths.iter().map(|it| hits(black_box(it))).sum::<usize>());
}

#[divan::bench(args = [1_000], sample_count = 10)]
fn glob_set_made(bencher: Bencher<'_, '_>, count: usize) {
    let skills = skills(count);
    bencher.bench_local(|| compile_set(black_box(&skills)));
}
