//! How long a touch takes to find the skills that wait for it, beside simpler ways to ask the same.
//!
//! `matcher` is [`Matcher`]: one trie for all skills. `gitignore_each` is one compiled gitignore
//! file for each skill, which is what the patterns mean. `segments` is a trie that knows literal
//! segments and `**` and tries everything else, as a floor. The skills have one to five patterns
//! of the kinds that people write; few of them are hit.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use divan::{Bencher, black_box};
use globset::{Glob, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use skills_discovery::activate::Matcher;

fn main() {
    divan::main();
}

/// How many skills, and how many paths one call touches.
const SIZES: [(usize, usize); 4] = [(1_000, 1), (1_000, 100), (10_000, 1), (10_000, 100)];

/// Returns the patterns of each skill: always the same ones, without order.
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

/// Returns paths of which most concern nobody and some a skill or two.
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

/// A trie over literal segments; what is not literal is tried one after the other.
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
