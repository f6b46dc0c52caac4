//! Benchmark: SKILL.md files parsed per second, compared with plain deserialisation of the same
//! YAML.
//!
//! `tree` measures all of [`parse`]: delimiters, every key and value with its range, diagnostics.
//! `into_struct` measures a reader that needs values without positions: the YAML crate's
//! deserialisation of the frontmatter into a struct. The first should take at most twice as long as
//! the second. Files that the crate refuses are left out of both.
//!
//! Runs over built-in samples, and over every SKILL.md below the directory `SKILLSD_CORPUS_DIR`, if
//! it is set.

use std::path::Path;
use std::{env, fs};

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use serde::Deserialize;
use skills_agents::skill::parse;
use skills_syntax::text::decode;

fn main() {
    divan::main();
}

/// The usual fields as most agents declare them.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(dead_code, reason = "it is the deserialisation that is measured")]
struct Fields {
    name: Option<String>,
    description: Option<String>,
    license: Option<String>,
    allowed_tools: Option<serde_yaml::Value>,
    metadata: Option<serde_yaml::Value>,
    paths: Option<serde_yaml::Value>,
    hooks: Option<serde_yaml::Value>,
}

struct File {
    text: String,
    yaml: String,
}

const SAMPLES: &[&str] = &[
    "---\nname: commit-message\ndescription: Writes commit messages in the style of the repository. \
     Use when the user asks to commit or to describe a change.\n---\n\n# Commit messages\n\nRead the log.\n",
    "---\nname: pdf-forms\ndescription: >-\n  Reads, fills and flattens PDF forms.\n  Use when the user \
     mentions PDFs, forms, or document extraction.\nlicense: MIT\nallowed-tools: Read, Write, \
     Bash(pdftk *)\nmetadata:\n  author: someone\n  version: \"1.2\"\n  tags: [pdf, forms]\n---\n\n# PDF\n",
    "---\nname: migrations\ndescription: \"Checks database migrations: locks, defaults, and order.\"\npaths:\n  \
     - \"db/migrate/**/*.sql\"\n  - \"src/**/schema.{ts,rs}\"\nargument-hint: \"[file]\"\n\
     disable-model-invocation: true\n---\n\n# Migrations\n",
    "---\nname: guarded-shell\ndescription: Runs shell commands behind a check.\nhooks:\n  PreToolUse:\n    \
     - matcher: Bash\n      hooks:\n        - type: command\n          command: |\n            \
     scripts/check.sh \"$INPUT\"\n          timeout: 10\n---\n\n# Guarded\n",
    "---\nname: 用語集\ndescription: |\n  製品の用語を日本語と英語で揃える。\n  文書を書くとき、訳すときに使う。\n# kept by hand\n\
     license: CC0-1.0\n---\n\n# 用語集\n",
];

/// Loads and checks samples and corpus before anything is measured.
fn sets() -> Vec<(&'static str, Vec<File>)> {
    let mut sets = vec![("samples", SAMPLES.iter().filter_map(|it| file(it)).collect())];
    if let Some(folder) = env::var_os("SKILLSD_CORPUS_DIR") {
        let mut files = Vec::new();
        collect(Path::new(&folder), &mut files);
        sets.push(("corpus", files));
    }
    sets
}

fn file(text: &str) -> Option<File> {
    let yaml = parse(text).frontmatter?.content.slice(text).to_owned();
    serde_yaml::from_str::<Fields>(&yaml).is_ok().then(|| File { text: text.to_owned(), yaml })
}

fn collect(folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|it| it.is_dir()) {
            collect(&path, files);
        } else if path.file_name().is_some_and(|it| it == "SKILL.md") {
            files.extend(fs::read(&path).ok().and_then(|bytes| file(&decode(&bytes).text)));
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    let corpus = env::var_os("SKILLSD_CORPUS_DIR").map(|_| "corpus");
    ["samples"].into_iter().chain(corpus)
}

fn measure<T>(bencher: Bencher<'_, '_>, set: &str, read: impl Fn(&File) -> T + Sync) {
    let sets = sets();
    let files = &sets.iter().find(|(name, _)| *name == set).expect("names come from the sets").1;
    let bytes: usize = files.iter().map(|it| it.yaml.len()).sum();
    bencher
        .counter(ItemsCount::new(files.len()))
        .counter(BytesCount::new(bytes))
        .bench(|| files.iter().for_each(|it| drop(black_box(read(black_box(it))))));
}

#[divan::bench(args = names())]
fn tree(bencher: Bencher<'_, '_>, set: &str) {
    measure(bencher, set, |it| parse(&it.text));
}

#[divan::bench(args = names())]
fn into_struct(bencher: Bencher<'_, '_>, set: &str) {
    measure(bencher, set, |it| serde_yaml::from_str::<Fields>(&it.yaml));
}
