//! Time that a touch takes to find the conditional skills it activates, compared with simpler
//! implementations.
//!
//! `matcher` is [`Matcher`]: one trie for all skills. `gitignore_each` is one compiled gitignore
//! file per skill, the reference semantics. `segments` is a trie that handles literal segments and
//! `**` and tries all other patterns one by one, as a lower bound. Each skill has one to five
//! typical patterns; few of them match.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use divan::{Bencher, black_box};
use globset::{Glob, GlobMatcher};
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

/// A trie over literal segments; other segments are tried one by one.
#[derive(Default)]
struct Segments {
    named: HashMap<String, Segments>,
    tried: Vec<GlobMatcher>,
}

impl Segments {
    fn insert(&mut self, pattern: &str) {
        let mut node = self;
        for part in pattern.split('/') {
            if part.contains(['*', '{', '?']) {
                break;
            }
            node = node.named.entry(part.to_owned()).or_default();
        }
        node.tried.push(Glob::new(pattern).expect("the patterns are good").compile_matcher());
    }

    fn hits(&self, path: &Path) -> usize {
        let mut node = self;
        let mut hits = 0;
        let mut parts = path.iter();
        loop {
            hits += node.tried.iter().filter(|it| it.is_match(path)).count();
            let next = parts.next().and_then(|it| node.named.get(it.to_str()?));
            let Some(next) = next else { return hits };
            node = next;
        }
    }
}

#[divan::bench(args = [(1_000, 1), (10_000, 1)], sample_count = 10)]
fn segments(bencher: Bencher<'_, '_>, (count, touched): (usize, usize)) {
    let mut trie = Segments::default();
    for pattern in skills(count).iter().flatten() {
        trie.insert(pattern);
    }
    let paths = paths(touched);
    bencher.bench_local(|| paths.iter().map(|it| trie.hits(black_box(it))).sum::<usize>());
}
