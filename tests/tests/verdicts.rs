//! Verdicts of every profile on every file of the corpus, and comparison of our strict load
//! strategy with the agents' YAML libraries.
//!
//! The corpus is not part of the repository, see `corpus.rs`. `dev-expected.jsonl` records for each
//! file which libraries accepted the text between its `---` lines. Every disagreement must be in
//! [`DIFFERENCES`], with the library's message.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value as Json;
use skills_agents::keyword::Keyword as _;
use skills_agents::loaders::{LoadVerdict, load_for_all_agents, parse_strict};
use skills_agents::profile;
use skills_agents::skill::{FileFacts, SkillRecord, parse};
use skills_agents::yaml_library::YamlLibrary;
use skills_syntax::parse::OpeningKind;
use skills_syntax::text::decode;
use skills_testkit::Corpus;
use skills_testkit::corpus::Recorded;

/// The agents' YAML libraries, by their names in the record.
const LIBRARIES: &[(&str, YamlLibrary)] = &[
    ("js3", YamlLibrary::JsYaml3),
    ("js4", YamlLibrary::JsYaml4),
    ("syt", YamlLibrary::SerdeYaml),
    ("y", YamlLibrary::NpmYaml),
];

/// Files on which a library disagrees with our strict strategy: the file, the library, its message,
/// and why we differ.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[];

/// Maximum number of [`DIFFERENCES`].
const MAX_DIFFERENCES: usize = 5;

#[test]
fn strict_strategy_agrees_with_agent_yaml_libraries() {
    let Some(cases) = &*CASES else { return };
    let mut wrong = Vec::new();
    let mut compared = 0;
    for case in cases {
        let document = parse(&case.text);
        let Some(frontmatter) =
            document.frontmatter.filter(|it| it.opening == OpeningKind::FirstLine)
        else {
            continue;
        };
        let content = frontmatter.content.slice(&case.text);
        for (name, library) in LIBRARIES {
            let Some(recorded) = case.accepted_by(name) else { continue };
            compared += 1;
            let read = parse_strict(content, *library);
            let known = DIFFERENCES.iter().any(|it| it.0 == case.path && it.1 == *name);
            if read.is_ok() == recorded {
                assert!(!known, "{} and {name} agree: strike it from the list", case.path);
            } else if !known {
                let ours = read.map_or_else(|it| it.message, |it| format!("{} keys", it.len()));
                wrong.push(format!("{} {name}: recorded {recorded}, ours: {ours}", case.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 12_000, "the corpus is incomplete: {compared}");
    assert!(DIFFERENCES.len() <= MAX_DIFFERENCES);
}

#[test]
fn every_profile_accepts_most_real_files() {
    let Some(cases) = &*CASES else { return };
    let mut counts: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    for case in cases {
        let directory = Path::new(&case.path).parent().and_then(Path::file_name);
        let directory = directory.map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        for (profile, reading) in load_for_all_agents(&case.record, &directory) {
            let verdict = match reading.verdict {
                LoadVerdict::Accepted => "accepted".to_owned(),
                LoadVerdict::Repaired(rung) => format!("repaired by {rung:?}"),
                LoadVerdict::WithoutFields => "without its fields".to_owned(),
                LoadVerdict::Dropped => {
                    let rule = reading.dropped.as_ref().map_or("", |it| it.rule.keyword());
                    assert!(!rule.is_empty(), "{} {}", profile.id, case.path);
                    format!("dropped for {rule}")
                }
            };
            *counts.entry(&profile.id).or_default().entry(verdict).or_default() += 1;
        }
    }
    let mut table = String::new();
    for (profile, verdicts) in &counts {
        for (verdict, files) in verdicts {
            writeln!(table, "{profile:<22} {files:>5} {verdict}").expect("a string takes it");
        }
    }
    eprintln!("{} files\n{table}", cases.len());
    assert_eq!(counts.len(), profile::agents().count());
    for (profile, verdicts) in &counts {
        let accepted = verdicts.get("accepted").copied().unwrap_or_default();
        // Nine in ten real files are valid; a profile that accepts fewer has a wrong rule, except
        // for the plugin, which rejects the standard's own form of `allowed-tools`, and Qwen Code,
        // Mistral Vibe, Factory Droid and VS Code, which reject names with spaces or capitals, and
        // OpenHands, which also rejects those that differ from their directory's.
        let least = match *profile {
            "opencode-agent-skills" => 6,
            "qwen-code" | "mistral-vibe" | "droid" | "openhands" | "vscode" => 8,
            _ => 9,
        };
        assert!(accepted * 10 >= cases.len() * least, "{profile}: {accepted}\n{table}");
    }
}

static CASES: LazyLock<Option<Vec<Case>>> = LazyLock::new(|| {
    let corpus = Corpus::open("the verdicts on real files")?;
    Some(corpus.recorded().into_iter().map(Case::read).collect())
});

struct Case {
    path: String,
    text: String,
    record: SkillRecord,
    expected: Json,
}

impl Case {
    fn read(file: Recorded) -> Self {
        let Recorded { path, bytes, expected } = file;
        let facts = FileFacts { size: bytes.len() as u64, truncated: false, hash: [0; 32] };
        let record = SkillRecord::read(&bytes, facts);
        Self { path, text: decode(&bytes).text, record, expected }
    }

    /// Returns whether a library accepted the text; `None` if it was not tried.
    fn accepted_by(&self, library: &str) -> Option<bool> {
        let names = |key: &str| self.expected.get(key)?.as_array();
        let has = |list: &Vec<Json>| list.iter().any(|it| it == library);
        if has(names("accepted_by")?) {
            return Some(true);
        }
        has(names("rejected_by")?).then_some(false)
    }
}
