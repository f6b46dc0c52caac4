//! Kinds of frontmatter: our listing, commands and loads equal those of the running Claude Code.

mod kinds;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use skills_testkit::Turn;

use crate::agent_fixture::claude_code;
use crate::claude::{Entry, OurDaemon, Tree, handed_out, listing, run};
use kinds::{BLOCKS, FILES};

/// Texts that are too long to write down.
fn large() -> Vec<String> {
    let block = |block: String| format!("---\n{block}\n---\nBody.\n");
    vec![
        block(format!("description: {}", "x".repeat(1536))),
        block(format!("description: {}", "x".repeat(1537))),
        block(format!("description: {}", "漢😀".repeat(600))),
        block(format!("description: {}", "<".repeat(500))),
        block(format!("description: d\nwhen_to_use: {}", "w".repeat(1600))),
        block(format!("name: {}\ndescription: d", "n".repeat(256))),
        block(format!("name: {}\ndescription: d", "n".repeat(257))),
        block(format!("description: d\nx: {}", "y".repeat(100_000))),
        block(
            (0..2000)
                .fold("description: many keys".to_owned(), |all, it| format!("{all}\nk{it}: v")),
        ),
        block(format!("description: d\nx: {}{}", "[".repeat(200), "]".repeat(200))),
        format!("---\nname: n\n---\n{}\n", "b".repeat(101)),
        format!("---\nname: n\n---\n# {}\n", "😀".repeat(60)),
    ]
}

/// Returns the files of all kinds.
fn files() -> Vec<String> {
    let block = |it: &&str| format!("---\n{it}\n---\nBody $x.\n");
    let blocks = BLOCKS.iter().map(block);
    blocks.chain(FILES.iter().map(|it| (*it).to_owned())).chain(large()).collect()
}

/// Kinds that differ on purpose, each with its row in the reference of profiles.
const KEPT: &[(&str, &str)] = &[
    ("\u{FEFF}Body only\n", MARK),
    ("\u{FEFF}\u{FEFF}---\ndescription: two marks\n---\nBody\n", MARK),
];

const MARK: &str = "A byte order mark before a text without frontmatter goes to the model with it.";

fn name(number: usize) -> String {
    format!("k{number:03}")
}

/// A kind as it is shown: its line, whether it is a command, and its text.
#[derive(Clone, Debug, Default, PartialEq)]
struct Kind {
    line: Option<String>,
    is_command: bool,
    body: Option<String>,
}

/// Returns the lines of a listing by name.
fn lines(listing: &str) -> BTreeMap<&str, &str> {
    listing.lines().filter_map(|line| Some((line.get(2..6)?, line))).collect()
}

/// Runs the agent on a tree, which loads every skill.
fn theirs(program: &Path, tree: &Tree, top: &Path, count: usize) -> Vec<Kind> {
    let load = |it| Turn::call("Skill", json!({"skill": name(it), "args": "ARG"}));
    let script = (0..count).map(load).chain([Turn::say("Done.")]).collect();
    let run = run(program, tree, top, "hi", script);
    let listing = listing(&run.turns[0]);
    let commands = run.init["slash_commands"].as_array().unwrap();
    let kind = |it: usize| Kind {
        line: lines(&listing).get(&*name(it)).map(|it| (*it).to_owned()),
        is_command: commands.contains(&Value::String(name(it))),
        body: handed_out(&run.turns[it + 1]).ok(),
    };
    (0..count).map(kind).collect()
}

fn ours(tree: &Tree, top: &Path, count: usize) -> Vec<Kind> {
    let mut daemon = OurDaemon::start();
    daemon.trust(top);
    let budget = json!({"contextTokens": 1_000_000});
    let listing = daemon.call("catalog/render", tree, top, budget)["text"].take();
    let listing = listing.as_str().unwrap();
    let states = json!({"include": ["all"], "limit": 1000});
    let list = daemon.call("skills/list", tree, top, states);
    let is_command = |it: usize| {
        let skill =
            list["skills"].as_array().unwrap().iter().find(|skill| skill["name"] == name(it));
        skill.is_some_and(|it| {
            matches!(it["state"].as_str(), Some("active" | "hidden"))
                && it["userInvocable"] != false
        })
    };
    let mut kind = |it: usize| Kind {
        line: lines(listing).get(&*name(it)).map(|it| (*it).to_owned()),
        is_command: is_command(it),
        body: {
            let loaded =
                daemon.call("skills/load", tree, top, json!({"name": name(it), "args": "ARG"}));
            loaded["output"].as_str().map(str::to_owned)
        },
    };
    (0..count).map(&mut kind).collect()
}

#[test]
fn claude_code_reads_kinds_of_frontmatter_as_we_do() {
    let Some(program) = claude_code() else { return };
    let all = files();
    assert!(all.len() >= 181, "{} kinds", all.len());
    let (mut faults, mut n_equal) = (String::new(), 0);
    // Fewer than the listing's budget cuts.
    let page =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/profiles.md")).unwrap();
    for (text, statement) in KEPT {
        assert!(
            page.contains(&format!("| {statement} |")),
            "docs/profiles.md has no {statement:?}"
        );
        assert!(all.iter().any(|it| it == text), "{text:?}");
    }
    for (chunk, texts) in all.chunks(120).enumerate() {
        let skill = |(it, text): (usize, &String)| {
            (format!("w/.claude/skills/{}/SKILL.md", name(it)), Entry::File(text.clone()))
        };
        let git = ("w/.git/HEAD".to_owned(), Entry::File("ref: refs/heads/main\n".to_owned()));
        // The agent gets this rule on its command line.
        let allowed = json!({"permissions": {"allow": ["Skill"]}}).to_string();
        let home = ("h/.claude/settings.json".to_owned(), Entry::File(allowed));
        let entries = texts.iter().enumerate().map(skill).chain([git, home]).collect();
        let (cwd, additional) = ("w".to_owned(), Vec::new());
        let tree = Tree {
            entries,
            home: "h",
            cwd,
            has_config_dir: false,
            additional,
            is_model_small: false,
        };
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        tree.lay_out(&top);
        let (theirs, ours) =
            (theirs(&program, &tree, &top, texts.len()), ours(&tree, &top, texts.len()));
        for (number, text) in texts.iter().enumerate() {
            let short: String = text.chars().take(200).collect();
            let is_kept = KEPT.iter().any(|it| it.0 == text);
            let is_equal = theirs[number] == ours[number];
            n_equal += usize::from(is_equal);
            if is_equal == is_kept {
                let at = chunk * 120 + number;
                let (theirs, ours) = (&theirs[number], &ours[number]);
                let _ = write!(faults, "{at}: {short:?}\n  agent: {theirs:?}\n  we:    {ours:?}\n");
            }
        }
    }
    println!("{n_equal} of {} kinds are equal", all.len());
    assert!(faults.is_empty(), "{n_equal} of {} kinds are equal\n{faults}", all.len());
}
