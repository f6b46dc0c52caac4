//! `paths` patterns and touched files: the same skills are activated as by the running Claude Code.
//!
//! `tests/golden/agents/claude-code/paths.jsonl` holds what the agent activated: on each line a
//! file that it read, and the numbers of the activated skills, which are those of [`cases`].
//! `CLAUDE_PATHS` sets the number of files that the agent itself reads; `UPDATE_EXPECT=1` records
//! all of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_testkit::Turn;
use skills_testkit::random::Random;

use crate::agent_fixture::claude_code;
use crate::claude::{Entry, Ours, Tree, listing, run};

/// Number of files that the agent reads by default.
const FILES_READ: usize = 8;

/// Number of generated cases.
const GENERATED: usize = 140;

const FILES: [&str; 40] = [
    "a.ts",
    "A.TS",
    "b.tsx",
    "README.md",
    "readme.md",
    ".env",
    "src/a.ts",
    "src/A.ts",
    "src/a.d.ts",
    "src/b.rs",
    "SRC/a.ts",
    "src/x/a.ts",
    "src/x/y/b.rs",
    "apps/web/src/f.ts",
    "apps/web/src/x/a.ts",
    "apps/src/a.rs",
    "web/a b.ts",
    "web/é.ts",
    "web/[id]/page.tsx",
    "web/i/page.tsx",
    "app/(home)/p.tsx",
    "docs/.hidden/a.md",
    "docs/a.md",
    "docs/x/a.md",
    ".github/a.yml",
    "a/b",
    "a/b/c",
    "x/a/b",
    "b/a/b/a",
    "ab/b.ts",
    "a{b/c",
    "a,b.ts",
    "!a",
    "#b",
    "a\\b",
    "src*",
    "a*b/c.ts",
    "srcs/a.ts",
    "b.ts/a.rs",
    "x/b/ba.rs",
];

/// Values of `paths`, as they stand in the frontmatter.
const WRITTEN: &[&str] = &[
    "src/**",
    "'src/**/*'",
    "src/*",
    "src/",
    "/src/",
    "/src/**",
    "src",
    "/src",
    "SRC",
    "src/**/*.ts",
    "'**/*.ts'",
    "'*.ts'",
    "'*.TS'",
    "'/*.ts'",
    "a.ts",
    "./a.ts",
    "./src/**",
    "'**'",
    "'**/**'",
    "'**/'",
    "'*'",
    "'/**'",
    "'*/'",
    "'**/src/**'",
    "'**/src/*'",
    "'*/src/*'",
    "'*/src/**'",
    "apps/**/src/**",
    "apps/*/src",
    "apps/**/*.ts",
    "apps/web/src/f.ts",
    "/apps/web",
    "web/src",
    "'*.{ts,tsx}'",
    "'src/*.{ts,rs}'",
    "'{src,docs}/**'",
    "'{src,docs}/**/*.{ts,md}'",
    "'{src}/a.ts'",
    "'{a..c}.ts'",
    "'{a,{b,README}}.*'",
    "'src/{a,b/c}.ts'",
    "src/**, docs/**",
    "'src/a.ts,docs/a.md'",
    "['src/a.ts, docs/a.md']",
    "[src/**, '!src/x/**']",
    "[src/**, '!src/a.ts']",
    "['src/*', '!src/a.ts']",
    "['src/*.ts', '!src/a.ts']",
    "['src/**/*.ts', '!src/a.ts']",
    "['*.ts', '!*.d.ts']",
    "['!*.d.ts', '*.ts']",
    "['*.ts', '!src/**', 'src/x/**']",
    "['**', '!src']",
    "['**', 'a.ts']",
    "['**/*', '!*.ts']",
    "['*', '!src', '!src/**']",
    "'!a.ts'",
    "'!**'",
    "'\\!a'",
    "'\\#b'",
    "'#b'",
    "'#'",
    "'a\\'",
    "'a\\\\b'",
    "'a\\b'",
    "'src\\*'",
    "'src\\a.ts'",
    "'a?b'",
    "'?.ts'",
    "'src/?.ts'",
    "'src?a.ts'",
    "'src*a.ts'",
    "'src**a.ts'",
    "'src**'",
    "'**src'",
    "'**.ts'",
    "'a**/c'",
    "'[ab].ts'",
    "'[!a].ts'",
    "'[^a].ts'",
    "'[a-c].ts'",
    "'[c-a].ts'",
    "'[A-C].ts'",
    "'web/[id]/*.tsx'",
    "'web/\\[id\\]/*.tsx'",
    "'web/[id/*.tsx'",
    "'app/(home)/*.tsx'",
    "'web/a b.ts'",
    "'web/a\\ b.ts'",
    "'  docs/**  '",
    "'docs/** '",
    "'docs/a.md\\ '",
    "web/é.ts",
    "web/É.ts",
    "'a{b/c'",
    "'a//b'",
    "'../w/src/**'",
    "$CWD/src/**",
    "'{a,}.ts'",
    "'a{,b}.ts'",
    "'{a, b}.ts'",
    "'\\{a,b}.ts'",
    "'a{}.ts'",
    "'a}, b.ts'",
    "'a{b, a.ts'",
    "['*.ts', '!/**']",
    "['*.ts', '!']",
    "['/**', a.ts]",
    "'!'",
    "'/'",
    "'  '",
    "''",
    "",
    "5",
    "true",
    "a: b",
    "[a.ts, 5, true, null]",
    "[[a.ts], b.tsx]",
    "|\n  a.ts\n  b.tsx\n",
    ">\n  a.ts,\n  b.tsx\n",
    "\"a.ts\\nb.tsx\"",
    "['a.ts ', ' b.tsx']",
    "&x a.ts",
    "!!str a.ts",
    "'\\d.ts'",
    "'\\w.ts'",
    "'web/a\\sb.ts'",
    "'[]a].ts'",
    "'[[:alpha:]].ts'",
    "'[a'",
    "'a\\?ts'",
    "'***/a.ts'",
    "'src/***'",
    "'a**'",
    "'src/**/'",
    "'src/*/**'",
    "'src/**/**'",
    "'**/a/**/b/**'",
    "'~/a.ts'",
    "'(a).ts'",
    "'a+(b).ts'",
    "'@(a|b).ts'",
    "'a|b'",
    "'a.ts$'",
    "'^a.ts'",
];

/// Returns the values of `paths`: written ones, then generated ones.
fn cases() -> Vec<String> {
    let random = &mut Random::new(1);
    let generated = (0..GENERATED).map(|_| {
        let n_patterns = 1 + random.below(5) / 2;
        let patterns: Vec<_> = (0..n_patterns).map(|_| pattern(random)).collect();
        json!(patterns).to_string()
    });
    WRITTEN.iter().map(|it| (*it).to_owned()).chain(generated).collect()
}

fn pattern(random: &mut Random) -> String {
    const PARTS: [&str; 28] = [
        "src", "apps", "web", "a", "b", "x", "docs", "SRC", "**", "**", "*", "*.ts", "*.rs",
        "*.d.ts", "*.md", "a.*", "a.ts", "{a,b}", "{src,apps}", "*.{ts,md}", "[ab]*", "[!a]*", "?",
        "a?", "**a", "s*c", "\\a", ".*",
    ];
    let parts: Vec<_> = (0..=random.below(4)).map(|_| random.pick(&PARTS)).collect();
    let negation = if random.chance(5) { "!" } else { "" };
    let start = if random.chance(6) { "/" } else { "" };
    let end = if random.chance(6) { "/" } else { "" };
    format!("{negation}{start}{}{end}", parts.join("/"))
}

/// Returns a tree with a skill for each case, and all files.
fn tree() -> Tree {
    let skill = |(number, paths): (usize, String)| {
        let text = format!("---\ndescription: d\npaths: {paths}\n---\nBody.\n");
        (
            format!("w/.claude/skills/p{number}/SKILL.md"),
            Entry::File(text.replace("$CWD", "$TOP/w")),
        )
    };
    let skills = cases().into_iter().enumerate().map(skill);
    let files = FILES.iter().map(|it| (format!("w/{it}"), Entry::File("x\n".to_owned())));
    let git = ("w/.git/HEAD".to_owned(), Entry::File("ref: refs/heads/main\n".to_owned()));
    let entries = skills.chain(files).chain([git, ("h".to_owned(), Entry::Dir)]).collect();
    Tree::plain(entries)
}

/// Skills by number.
type Numbers = BTreeSet<usize>;

/// Returns the skills in a listing.
fn numbers(listing: &str) -> Numbers {
    let number = |line: &str| line.strip_prefix("- p")?.strip_suffix(": d")?.parse().ok();
    listing.lines().filter_map(number).collect()
}

/// Returns the skills that the agent lists from the start, and those that it adds after reading a
/// file.
fn theirs(program: &Path, tree: &Tree, top: &Path, file: &str) -> (Numbers, Numbers) {
    let path = top.join("w").join(file);
    let script = vec![Turn::call("Read", json!({"file_path": path})), Turn::say("Done.")];
    let run = run(program, tree, top, "hi", script);
    let [before, after] = [&run.turns[0], &run.turns[1]].map(|it| numbers(&listing(it)));
    // Without an addition the last list is still the first one.
    let added = after.difference(&before).copied().collect();
    (before, added)
}

fn recording() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/agents/claude-code/paths.jsonl")
}

/// Returns what the agent activated when it was recorded; no file stands for the start.
fn recorded() -> Vec<(String, Numbers)> {
    let text = fs::read_to_string(recording()).unwrap_or_default();
    let line = |it: &str| {
        let line: Value = serde_json::from_str(it).unwrap();
        (
            line["file"].as_str().unwrap().to_owned(),
            serde_json::from_value(line["skills"].clone()).unwrap(),
        )
    };
    text.lines().map(line).collect()
}

/// Lays the tree out in a directory of its own.
fn laid_out() -> (tempfile::TempDir, PathBuf, Tree) {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let tree = tree();
    tree.lay_out(&top);
    (dir, top, tree)
}

/// Describes the skills in one set only.
fn only(one: &Numbers, other: &Numbers) -> String {
    let cases = cases();
    one.difference(other)
        .fold(String::new(), |all, it| format!("{all}      p{it} {}\n", cases[*it]))
}

#[test]
fn claude_code_activates_recorded_skills() {
    let Some(program) = claude_code() else { return };
    let is_update = std::env::var_os("UPDATE_EXPECT").is_some();
    let n_files = std::env::var("CLAUDE_PATHS").ok().and_then(|it| it.parse().ok());
    let n_files = if is_update { FILES.len() } else { n_files.unwrap_or(FILES_READ) };
    let (_dir, top, tree) = laid_out();
    let mut found = Vec::new();
    for file in FILES.iter().take(n_files) {
        let (before, added) = theirs(&program, &tree, &top, file);
        if found.is_empty() {
            found.push((String::new(), before));
        }
        found.push(((*file).to_owned(), added));
    }
    if is_update {
        let line = |(file, skills): &(String, Numbers)| {
            format!("{}\n", json!({"file": file, "skills": skills}))
        };
        fs::write(recording(), found.iter().map(line).collect::<String>()).unwrap();
    }
    let recorded = recorded();
    assert!(recorded.starts_with(&found), "recorded:\n{recorded:?}\nnow:\n{found:?}");
}

#[test]
fn recorded_skills_of_claude_code_are_activated() {
    let (_dir, top, tree) = laid_out();
    let ours = Ours::new();
    let view = ours.view(&tree, &top);
    let candidates = &view.resolution.candidates;
    let number = |index: usize| candidates[index].name.strip_prefix('p')?.parse().ok();
    let listed = candidates.iter().enumerate().filter(|it| it.1.state.is_listed());
    let listed: Numbers = listed.filter_map(|it| number(it.0)).collect();
    let activation = ours.engine.activation(&view);
    let (mut faults, mut n_equal, mut n_pairs) = (String::new(), 0, 0);
    for (file, theirs) in recorded() {
        let hits = || activation.hits(Path::new(&file)).into_iter().filter_map(|it| number(it.0));
        let ours = if file.is_empty() { listed.clone() } else { hits().collect() };
        n_pairs += cases().len();
        n_equal += cases().len() - ours.symmetric_difference(&theirs).count();
        if ours != theirs {
            let (theirs, ours) = (only(&theirs, &ours), only(&ours, &theirs));
            let _ = write!(faults, "  {file}\n    only the agent:\n{theirs}    only we:\n{ours}");
        }
    }
    ours.engine.stop();
    println!("{n_equal} of {n_pairs} pairs are equal");
    assert!(faults.is_empty(), "{n_equal} of {n_pairs} pairs are equal\n{faults}");
}
