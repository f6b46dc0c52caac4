//! Lint findings on real repositories: reviewed, counted, and without a false error.
//!
//! `tests/noise/` holds, for three repositories of the corpus, the count of each rule and every
//! error and warning; a change in it needs review. The corpus is not part of the repository:
//! `SKILLSD_CORPUS` is its folder. Without the variable the tests are skipped with a message; if
//! `CI` is set they fail. The corpus contains only SKILL.md files, so rules about nearby files are
//! not covered.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use skills_agents::field_table::{self, FieldStatus};
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_agents::tool_names::ToolNames;
use skills_ide::{Completion, FileKind, complete};
use skills_lint::{Finding, NoFs, Settings, Subject, apply_fixes};
use skills_syntax::diagnostic::Severity;
use skills_syntax::edit::apply;
use skills_syntax::markdown::Body;
use skills_syntax::path::AbsPath;
use skills_syntax::text::{LineIndex, decode};
use skills_testkit::Corpus;
use skills_testkit::corpus::skills_below;

/// Large repositories of different kinds: plugins, one tree of skills, and skills for several
/// agents.
const REPOSITORIES: [&str; 3] =
    ["wshobson__agents", "Jeffallan__claude-skills", "HoangNguyen0403__agent-skills-standard"];

#[test]
fn findings_on_real_repositories_match_the_review() {
    let Some(corpus) = Corpus::open("the findings on real repositories") else { return };
    let write = env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for repository in REPOSITORIES {
        let text = finding_table(&corpus.top().join("dev").join(repository));
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("noise/{repository}.txt"));
        if fs::read_to_string(&file).unwrap_or_default() == text {
            continue;
        }
        if write {
            fs::write(&file, &text).expect("our own tree can be written");
        } else {
            wrong.push(format!(
                "{repository} is no more as reviewed; with UPDATE_EXPECT it is written again"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn typing_real_skills_gives_completions_without_syntax_noise() {
    let Some(corpus) = Corpus::open("the typing of real skills") else { return };
    let is_short =
        |it: &&std::path::PathBuf| fs::metadata(it).is_ok_and(|it| (600..1600).contains(&it.len()));
    let all = skills_below(&corpus.top().join("dev"));
    let few: Vec<_> = all.iter().filter(is_short).collect();
    let mut n_offered = 0;
    // Five files, far apart.
    for path in few.iter().step_by(few.len().div_ceil(5)) {
        let whole = decode(&fs::read(path).expect("it was listed")).text;
        let place = AbsPath::new(path).expect("it is absolute");
        let ends = whole.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for end in std::iter::once(0).chain(ends) {
            let text = &whole[..end];
            let lines = LineIndex::new(text);
            let cursor = lines.position(end).line;
            let syntax = check(text, &place).into_iter().filter(|it| {
                it.rule.family() == "yaml"
                    && lines.position(it.diagnostic.span.start).line == cursor
            });
            let syntax: Vec<_> = syntax.map(|it| it.diagnostic.message).collect();
            assert!(syntax.len() <= 1, "{}: {text:?}: {syntax:?}", path.display());
            if let Some(found) = completion_at(text, end) {
                assert!(found.span.end == end && !found.items.is_empty(), "{text:?}");
                n_offered += 1;
            }
            // A partly typed key is offered, unless its place is in `metadata`.
            let line = text.rsplit('\n').next().unwrap_or_default();
            let key = whole[end - line.len()..].split([':', '\n']).next().unwrap_or_default();
            let is_begun = text.matches("---\n").count() == 1 && line.len() < key.len();
            let metadata = field_table::find("metadata").expect("a field");
            let is_read = field_table::find(key).is_some_and(|it| it.standing == FieldStatus::Read)
                && !metadata.keys.iter().any(|it| it.name == key);
            if is_begun && !line.is_empty() && is_read {
                let found = completion_at(text, end);
                let found = found.unwrap_or_else(|| panic!("nothing is offered: {text:?}"));
                assert!(found.items.iter().any(|it| it.label == key), "{key}: {text:?}");
            }
        }
    }
    assert!(n_offered > 100, "only {n_offered}");
}

#[test]
fn fixes_remove_injected_faults_from_real_files() {
    let Some(corpus) = Corpus::open("the fixes of real files") else { return };
    let (mut n_fixes, mut wrong) = (0, Vec::new());
    // Every fortieth file is enough, because files of one repository are similar.
    for path in skills_below(&corpus.top().join("dev")).iter().step_by(40) {
        let text = decode(&fs::read(path).expect("it was listed")).text;
        let path = AbsPath::new(path).expect("it is absolute");
        for (fault, broken) in
            std::iter::once(("none", text.clone())).chain(with_injected_faults(&text))
        {
            let before = check(&broken, &path);
            for finding in before.iter().filter(|it| it.only_fix().is_some()) {
                n_fixes += 1;
                let fix = finding.only_fix().expect("it was filtered");
                let mended = apply(&broken, &fix.edits);
                if let Some(what) = fix_fault(finding, &before, &check(&mended, &path)) {
                    let place = path.display();
                    wrong.push(format!(
                        "{place} ({fault}): {} {}: {what}",
                        finding.rule.id.as_str(),
                        fix.title
                    ));
                }
            }
            check_fix_all(&broken, &path, &mut wrong);
        }
    }
    println!("{n_fixes} fixes made");
    let n_wrong = wrong.len();
    wrong.truncate(20);
    assert!(wrong.is_empty(), "{n_wrong} of {n_fixes}:\n{}", wrong.join("\n"));
    assert!(n_fixes > 500, "the corpus is incomplete");
}

/// Returns the completion at the end of a text, with the tools of the field table only.
fn completion_at(text: &str, offset: usize) -> Option<Completion> {
    let document = parse(text);
    let body = Body::new(text, document.body);
    complete(text, &document, &body, offset, FileKind::Skill(None), &ToolNames::default())
}

/// Returns the fault of a fix: its finding remains, or a new one appears.
fn fix_fault(finding: &Finding, before: &[Finding], after: &[Finding]) -> Option<String> {
    let count =
        |all: &[Finding], id: &str| all.iter().filter(|it| it.rule.id.as_str() == id).count();
    let id = finding.rule.id.as_str();
    if count(after, id) >= count(before, id) {
        return Some("it is still there".to_owned());
    }
    let is_grave = |it: &&Finding| it.diagnostic.severity <= Severity::Warning;
    // These findings hide others in the unread frontmatter.
    let hides = matches!(
        id,
        "yaml/unclosed-frontmatter"
            | "yaml/missing-opening"
            | "yaml/text-before-frontmatter"
            | "yaml/odd-closing"
    );
    let new = after.iter().filter(is_grave).find(|it| {
        let told = before.iter().any(|old| old.rule.id.as_str() == it.rule.id.as_str());
        !told && !hides
    })?;
    Some(format!("it adds {}: {}", new.rule.id.as_str(), new.diagnostic.message))
}

/// Checks that fix-all leaves no fix, and that its edits produce its text.
fn check_fix_all(text: &str, path: &AbsPath, wrong: &mut Vec<String>) {
    let settled = apply_fixes(text, check(text, path), |text| check(text, path));
    if apply(text, &settled.edits) != settled.text {
        wrong.push(format!("{}: the edits are not what was done", path.display()));
    }
    let again = apply_fixes(&settled.text, check(&settled.text, path), |text| check(text, path));
    if !again.edits.is_empty() {
        wrong.push(format!("{}: all was fixed, and there is more: {again:?}", path.display()));
    }
}

/// Returns variants of a text with frontmatter, each with one injected fault.
fn with_injected_faults(text: &str) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    let mut replace = |name, from: &str, to: &str| {
        if let Some(at) = text.find(from) {
            faults.push((name, format!("{}{to}{}", &text[..at], &text[at + from.len()..])));
        }
    };
    replace("colon", "description: ", "description: Now: ");
    replace("bracket", "description: ", "description: [x] ");
    replace("key", "\nallowed-tools:", "\nallowed_tools:");
    replace("duplicate", "\nname:", "\nlicense: MIT\nlicense: MIT\nname:");
    replace("tab", "\nname:", "\nmetadata:\n\tauthor: me\nname:");
    replace("dots", "\n---\n", "\n...\n");
    replace("open", "---\n", "");
    replace("blank", "---\n", "\n---\n");
    replace("no name", "\nname:", "\nnome:");
    replace("number", "\nname: ", "\nname: 12 #");
    replace("effort", "\nname:", "\neffort: hihg\nname:");
    replace(
        "event",
        "\nname:",
        "\nhooks:\n  PreToolUs:\n    - hooks:\n        - type: comand\n          command: x\nname:",
    );
    replace("tools", "\nname:", "\nallowed-tools: Raed, Bash(git:*\nname:");
    replace("hidden", "\n# ", "\n# \u{200B}");
    faults
}

fn check(text: &str, path: &AbsPath) -> Vec<Finding> {
    let document = parse(text);
    let facts = FileFacts { size: text.len() as u64, truncated: false, hash: [0; 32] };
    let record = SkillRecord::from_document(text, &document, facts, DecodeFacts::default());
    let subject =
        Subject { text, document: &document, record: &record, path: Some(path), parts: None };
    skills_lint::check(&subject, &Settings::default(), &NoFs)
}

/// Counts the findings of a repository, and lists its errors and warnings.
fn finding_table(top: &Path) -> String {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut list = String::new();
    let files = skills_below(top);
    for file in &files {
        let text = decode(&fs::read(file).expect("it was listed")).text;
        let lines = LineIndex::new(&text);
        let path = AbsPath::new(file).expect("it is absolute");
        for finding in check(&text, &path) {
            let severity = match finding.diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information => "information",
                Severity::Hint => "hint",
            };
            *counts.entry((finding.rule.id.as_str(), severity)).or_default() += 1;
            if finding.diagnostic.severity <= Severity::Warning {
                let (line, column) = lines.display(&text, finding.diagnostic.span.start);
                let relative = file.strip_prefix(top).expect("it is below").display();
                let _ = writeln!(
                    list,
                    "{relative}:{line}:{column} {severity} {}",
                    finding.rule.id.as_str()
                );
            }
        }
    }
    let mut table = format!("{} skills\n\n", files.len());
    for ((id, severity), count) in counts {
        let _ = writeln!(table, "{count:>5} {severity:<11} {id}");
    }
    format!("{table}\n{list}")
}
