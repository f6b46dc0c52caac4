//! Recorded lists: discovery finds what each agent listed on the common fixture and on random
//! trees.
//!
//! A recording is a file with one tree on each line and the agent's list of it. The recordings are
//! compared everywhere. With `SKILLSD_MORE_AGENTS`, the directory of an installation by
//! `tests/agents/record`, the agents themselves run and `UPDATE_EXPECT=1` writes their lists.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_discovery::discover::{Candidate, SkillState};
use skills_testkit::random::Random;

use crate::agent_trees::{Found, Tree, Views, first_line, relative, tree_with_roots};
use crate::claude::{Entry, lay_out};
use crate::fixture_tree;
use crate::listing_agents::{ListingAgent, list, scripted};

/// Skills that an agent lists otherwise than we do, on purpose: pi reads `.gitignore`, for Droid a
/// dropped skill may shadow another one, OpenHands reads other types and byte order marks
/// otherwise, and Hermes Agent reads 4,000 characters of a file and takes a list for a description.
const LISTED_OTHERWISE: &[(&str, &str)] = &[
    ("pi", "/ignored/SKILL.md"),
    ("pi@0.74", "/ignored/SKILL.md"),
    ("droid", "/unknown/SKILL.md"),
    ("openhands", "/mark/SKILL.md"),
    ("openhands", "/list-block/SKILL.md"),
    ("openhands", "/tools-map/SKILL.md"),
    ("hermes", "/desc-5000/SKILL.md"),
    ("hermes", "/list-desc/SKILL.md"),
];

/// Random trees in a recording.
const TREES: u64 = 10;

fn recording(agent: &ListingAgent) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/agents");
    golden.join(agent.profile).join("lists.jsonl")
}

/// Returns the common fixture, with the shapes in the agent's own project directory, then random
/// trees. The trees of an existing recording stay, so that a directory that is added to the fixture
/// changes no recording.
fn trees(agent: &ListingAgent) -> Vec<Tree> {
    let recorded = fs::read_to_string(recording(agent)).unwrap_or_default();
    let recorded: Vec<_> = recorded.lines().map(|line| parsed(line).0).collect();
    let tree = |nth: u64| match recorded.get(usize::try_from(nth).unwrap()) {
        Some(tree) => tree.clone(),
        None if nth == 0 => fixture_tree::fixture(agent.own),
        None => tree_with_roots(&mut Random::new(nth - 1), |work| roots(agent, work)),
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    match number("AGENT_SEED") {
        Some(seed) => vec![tree(seed + 1)],
        None => (0..=number("AGENT_TREES").unwrap_or(TREES)).map(tree).collect(),
    }
}

/// Returns the directories of an agent's skills below the top of a tree.
fn roots(agent: &ListingAgent, work: &str) -> Vec<String> {
    let pkg = format!("{work}/pkg/");
    let work = format!("{work}/");
    let mut roots = Vec::new();
    for (tops, dirs) in [
        (&["h/"][..], agent.home),
        (&["", &work, &pkg, &work, &pkg], agent.project),
        (&["h/", &work], &[".claude/skills", ".agents/skills"]),
    ] {
        roots.extend(tops.iter().flat_map(|top| dirs.iter().map(move |it| format!("{top}{it}"))));
    }
    roots
}

pub(crate) fn entry_json((path, entry): &(String, Entry)) -> Value {
    match entry {
        Entry::Dir => json!([path]),
        Entry::File(text) => json!([path, text]),
        Entry::Link(target) => json!([path, null, target]),
    }
}

pub(crate) fn entry_from(value: &Value) -> (String, Entry) {
    let text = |nth: usize| value[nth].as_str().map(str::to_owned);
    let entry = match (text(1), text(2)) {
        (Some(text), _) => Entry::File(text),
        (None, Some(target)) => Entry::Link(target),
        (None, None) => Entry::Dir,
    };
    (text(0).unwrap(), entry)
}

fn line(tree: &Tree, found: &Found) -> String {
    let entries: Vec<_> = tree.entries.iter().map(entry_json).collect();
    json!({"cwd": tree.cwd, "entries": entries, "found": found}).to_string()
}

fn parsed(line: &str) -> (Tree, Found) {
    let value: Value = serde_json::from_str(line).unwrap();
    let entries = value["entries"].as_array().unwrap().iter().map(entry_from).collect();
    let cwd = value["cwd"].as_str().unwrap().to_owned();
    (Tree { entries, cwd }, serde_json::from_value(value["found"].clone()).unwrap())
}

/// Returns our list of a tree, and the difference from the agent's, if any.
fn difference(ours: &Views, agent: &ListingAgent, tree: &Tree, theirs: &Found) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    lay_out(&tree.entries, &tree.cwd, &top);
    let view = ours.view(tree, &top);
    let description = |it: &Candidate| {
        let own = it.description.as_deref().filter(|_| agent.has_descriptions);
        first_line(own.unwrap_or_default())
    };
    let candidates = view.resolution.candidates.iter().filter(|it| !it.is_built_in());
    let all = candidates.clone();
    let is_listed = |it: &&Candidate| {
        it.state == SkillState::Active
            || it.state == SkillState::Hidden && agent.lists_hidden
            || it.state == SkillState::Conditional && agent.lists_conditional
    };
    let found = candidates.filter(is_listed).map(|it| {
        (it.name.clone(), description(it), relative(it.path.to_str().unwrap_or_default(), &top))
    });
    let is_compared = |it: &(String, String, String)| {
        let is_it =
            |(profile, path): &(&str, &str)| *profile == agent.profile && it.2.ends_with(path);
        !LISTED_OTHERWISE.iter().any(is_it)
    };
    let ours: Found = found.filter(is_compared).collect();
    // Markdown files beside the directories of skills are skills of some agents, not here.
    let is_skill = |it: &&(String, String, String)| it.2.is_empty() || it.2.ends_with("/SKILL.md");
    let theirs: Found =
        theirs.iter().filter(is_skill).filter(|it| is_compared(it)).cloned().collect();
    // Links may lead to one file by several paths, of which the file system's order chooses.
    let real = |path: &str| fs::canonicalize(top.join(path.trim_start_matches('/'))).ok();
    // An agent may cut a description.
    let is_text = |theirs: &str, ours: &str| {
        let cut = ["…", "..."].iter().find_map(|it| theirs.strip_suffix(it));
        theirs == ours || cut.is_some_and(|it| ours.starts_with(it))
    };
    let is_same = |a: &(String, String, String), b: &(String, String, String)| {
        is_text(&a.1, &b.1) && if a.2.is_empty() { a.0 == b.0 } else { real(&a.2) == real(&b.2) }
    };
    // In a race each skill of a name may win.
    let is_raced = |it: &(String, String, String)| {
        let is_known = |other: &Candidate| {
            other.name == it.0
                && fs::canonicalize(&other.path).ok() == real(&it.2)
                && other.state != SkillState::Invalid
        };
        agent.is_race && all.clone().any(is_known)
    };
    let settled: Found = theirs
        .iter()
        .map(|it| {
            let same = ours.iter().find(|own| *own == it || is_same(it, own));
            let winner = || ours.iter().find(|own| own.0 == it.0).filter(|_| is_raced(it));
            same.or_else(winner).unwrap_or(it).clone()
        })
        .collect();
    let only = |one: &Found, other: &Found| -> String {
        one.difference(other).fold(String::new(), |all, it| format!("{all}    {it:?}\n"))
    };
    let (theirs, ours) = (only(&settled, &ours), only(&ours, &settled));
    let is_equal = theirs.is_empty() && ours.is_empty();
    (!is_equal).then(|| format!("only the agent:\n{theirs}only we:\n{ours}"))
}

/// Runs the agent on a tree.
fn run(agent: &ListingAgent, program: &Path, tree: &Tree) -> Found {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    lay_out(&tree.entries, &tree.cwd, &top);
    list(agent, program, &tree.cwd, &top)
}

/// Leaves out entries as long as the tree still differs.
fn shrunk(
    ours: &Views,
    agent: &ListingAgent,
    program: &Path,
    mut tree: Tree,
    mut fault: String,
) -> (Tree, String) {
    let differs = |it: Tree| {
        let found = difference(ours, agent, &it, &run(agent, program, &it))?;
        Some((it, found))
    };
    loop {
        let smaller = tree.smaller().find_map(differs);
        let Some(smaller) = smaller else { return (tree, fault) };
        (tree, fault) = smaller;
    }
}

/// Prints which skills the agent lists now and not in its recording, and the reverse.
fn print_changes(agent: &ListingAgent, recorded: &str, now: &[(Tree, Found)]) {
    let recorded: Vec<_> = recorded.lines().map(parsed).collect();
    println!("{}: {} trees recorded, {} before", agent.profile, now.len(), recorded.len());
    for (nth, ((_, before), (_, now))) in recorded.iter().zip(now).enumerate() {
        for (name, description, path) in now.difference(before) {
            println!("{}: tree {nth} + {name} ({path}): {description}", agent.profile);
        }
        for (name, description, path) in before.difference(now) {
            println!("{}: tree {nth} - {name} ({path}): {description}", agent.profile);
        }
    }
}

/// Compares an agent's recording, or the agent itself, with discovery.
#[track_caller]
pub(crate) fn compare(agent: &ListingAgent) {
    let ours = Views::new(agent.profile);
    let program = agent.program();
    let compared: Vec<_> = match &program {
        Some(program) => {
            let found = |tree: Tree| {
                let theirs = run(agent, program, &tree);
                (tree, theirs)
            };
            trees(agent).into_iter().map(found).collect()
        }
        None => fs::read_to_string(recording(agent)).unwrap().lines().map(parsed).collect(),
    };
    let mut faults: Vec<String> = Vec::new();
    for (nth, (tree, theirs)) in compared.iter().enumerate() {
        let Some(mut fault) = difference(&ours, agent, tree, theirs) else { continue };
        let mut tree = tree.clone();
        if let Some(program) = program.as_ref().filter(|_| std::env::var_os("AGENT_SEED").is_some())
        {
            (tree, fault) = shrunk(&ours, agent, program, tree, fault);
        }
        let shown = if tree.entries.len() < 60 { tree.shown() } else { String::new() };
        let _ = write!(fault, "{shown}");
        faults.push(format!("tree {nth}: {fault}"));
    }
    ours.stop();
    println!(
        "{}: {} of {} trees are equal",
        agent.profile,
        compared.len() - faults.len(),
        compared.len()
    );
    if program.is_some() && std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = recording(agent);
        print_changes(agent, &fs::read_to_string(&path).unwrap_or_default(), &compared);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines = compared.iter().map(|it| line(&it.0, &it.1) + "\n");
        fs::write(path, lines.collect::<String>()).unwrap();
    }
    assert!(faults.is_empty(), "{} trees differ\n{}", faults.len(), faults.join("\n"));
}

macro_rules! agents {
    ($($name:ident = $agent:expr,)*) => {
        /// The agents whose lists are not those of their prompts.
        const WITH_OWN_LIST: &[&ListingAgent] = &[$(&$agent,)*];

        $(#[test]
        fn $name() {
            compare(&$agent);
        })*
    };
}

agents! {
    qwen_code_lists_what_we_find = crate::listing_agents::QWEN_CODE,
    mistral_vibe_lists_what_we_find = crate::listing_agents::MISTRAL_VIBE,
    cline_lists_what_we_find = crate::listing_agents::CLINE,
    continue_lists_what_we_find = crate::listing_agents::CONTINUE,
    qoder_lists_what_we_find = crate::listing_agents::QODER,
    kimi_code_lists_what_we_find = crate::listing_agents::KIMI_CODE,
    openhands_lists_what_we_find = crate::listing_agents::OPENHANDS,
    hermes_lists_what_we_find = crate::listing_agents::HERMES,
    droid_lists_what_we_find = crate::listing_agents::DROID,
    openclaw_lists_what_we_find = crate::listing_agents::OPENCLAW,
    kilo_lists_what_we_find = crate::listing_agents::KILO,
    copilot_cli_lists_what_we_find = crate::listing_agents::COPILOT_CLI,
}

#[test]
fn scripted_agent_lists_what_we_find() {
    for agent in scripted::agents() {
        if !WITH_OWN_LIST.iter().any(|it| it.profile == agent.profile) {
            compare(&agent);
        }
    }
}
