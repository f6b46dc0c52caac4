//! Random trees: discovery lists the same skills as the running Claude Code.
//!
//! Each SKILL.md and command has its own description, so that the agent's listing names the winner.
//! A failing tree is printed as a fixture. `CLAUDE_TREES` sets the number of trees, `CLAUDE_SEED`
//! runs a single one and shrinks it; all trees run before the test fails.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_discovery::discover::SkillState;
use skills_testkit::Turn;
use skills_testkit::random::Random;

use crate::agent_fixture::claude_code;
use crate::claude::{Entry, Ours, Tree, listing, run};

/// Number of trees.
const TREES: u64 = 20;

/// Built-in skills that stay listed with `disableBundledSkills`.
const BUILT_IN: [&str; 2] = ["doctor", "plugin-authoring"];

/// The first slash command of the agent's own, after those of the tree.
const FIRST_OWN: &str = "agents";

/// A skill as listed: its name, and the description's word that is unique in the tree. Both lists
/// leave the word out for skills that only the user may invoke.
type Listed = BTreeSet<(String, String)>;

const NAMES: [&str; 15] = [
    "a",
    "b",
    "c",
    "a",
    "b",
    "Up",
    "é",
    ".h",
    "a b",
    "synced",
    "Synced",
    "node_modules",
    "x:a",
    "_x",
    "dup",
];

struct Builder<'a> {
    random: &'a mut Random,
    entries: Vec<(String, Entry)>,
    n_texts: usize,
}

impl Builder<'_> {
    fn file(&mut self, path: String, text: impl Into<String>) {
        self.entries.push((path, Entry::File(text.into())));
    }

    fn text(&mut self) -> String {
        self.n_texts += 1;
        let word = format!("d{}d", self.n_texts);
        match self.random.below(16) {
            0 => format!("Only a body {word}\n"),
            1 => format!("---\ndescription: {word}\ndisable-model-invocation: true\n---\nBody.\n"),
            2 => format!("---\ndescription: {word}\nuser-invocable: false\n---\nBody.\n"),
            3 => format!("---\ndescription: {word}\npaths: src/**\n---\nBody.\n"),
            4 => format!("---\ndescription: {word}\npaths: \"**\"\n---\nBody.\n"),
            5 => format!("---\nname: Label\ndescription: {word}\n---\nBody.\n"),
            6 => format!("---\ndescription: it does: {word}\n---\nBody.\n"),
            7 => format!("---\nname: [broken\n---\nBody {word}\n"),
            8 if self.random.chance(3) => {
                format!("---\ndescription: {word}\n---\n{}\n", "x".repeat(1_000_000))
            }
            _ => format!("---\ndescription: {word}\n---\nBody.\n"),
        }
    }

    fn skill(&mut self, base: &str) {
        let name = self.random.pick(&NAMES);
        let dir = format!("{base}/skills/{name}");
        match self.random.below(14) {
            0 => {
                let target = format!("{base}/skills/{}", self.random.pick(&NAMES));
                self.entries.push((dir, Entry::Link(target)));
            }
            1 => {
                let text = self.text();
                self.file(format!("{dir}/skill.md"), text);
            }
            2 => {
                let text = self.text();
                self.file(format!("{dir}/deep/SKILL.md"), text);
            }
            _ => {
                let text = self.text();
                self.file(format!("{dir}/SKILL.md"), text);
            }
        }
    }

    fn command(&mut self, base: &str) {
        let (name, text) = (self.random.pick(&NAMES), self.text());
        let below = match self.random.below(10) {
            0 => format!("{name}/SKILL.md"),
            1 => format!("{name}/skill.md"),
            2 | 3 => format!("sub/{name}.md"),
            4 => format!("{name}/sub/b.md"),
            5 => format!("{name}.MD"),
            6 if self.random.chance(4) => "SKILL.md".to_owned(),
            _ => format!("{name}.md"),
        };
        self.file(format!("{base}/commands/{below}"), text);
    }

    fn plugin(&mut self, base: &str) {
        // The file system's order decides between plugins with one name in one directory.
        let plugins = [("plg", "plg"), ("other", "plg2"), ("a", "with blank"), (".hid", "plg3")];
        let (dir, name) = plugins[self.random.below(plugins.len())];
        let dir = format!("{base}/skills/{dir}");
        let mut manifest = json!({"name": name});
        if self.random.chance(3) {
            manifest["skills"] = json!("./more");
        }
        if self.random.chance(3) {
            manifest["commands"] = json!(["./cmds"]);
        }
        let manifest = if self.random.chance(8) { "{".to_owned() } else { manifest.to_string() };
        self.file(format!("{dir}/.claude-plugin/plugin.json"), manifest);
        for below in ["skills/s", "more/m", "skills/.dot"] {
            if !self.random.chance(3) {
                let text = self.text();
                self.file(format!("{dir}/{below}/SKILL.md"), text);
            }
        }
        for below in ["commands/c", "cmds/k", "commands/s"] {
            if !self.random.chance(3) {
                let text = self.text();
                self.file(format!("{dir}/{below}.md"), text);
            }
        }
        if self.random.chance(3) {
            let text = self.text();
            self.file(format!("{dir}/SKILL.md"), text);
        }
    }

    fn settings(&mut self, path: String) {
        let values = ["on", "off", "off", "name-only", "user-invocable-only"];
        let mut overrides = serde_json::Map::new();
        for _ in 0..=self.random.below(3) {
            let (name, value) = (self.random.pick(&NAMES), self.random.pick(&values));
            overrides.insert(name.to_owned(), json!(value));
        }
        if self.random.chance(6) {
            overrides.insert("c".to_owned(), json!("unknown"));
        }
        let mut settings = json!({"skillOverrides": overrides});
        if self.random.chance(4) {
            settings["enabledPlugins"] = json!({"plg@skills-dir": self.random.chance(2)});
        }
        if self.random.chance(4) {
            let name = self.random.pick(&NAMES);
            settings["permissions"] = json!({"deny": [format!("Skill({name})")]});
        }
        let text = if self.random.chance(10) { "{,}".to_owned() } else { settings.to_string() };
        self.file(path, text);
    }
}

fn random_tree(random: &mut Random) -> Tree {
    let (home, work) = if random.chance(2) { ("h", "h/w") } else { ("h", "w") };
    let has_config_dir = random.chance(4);
    let own = if has_config_dir { "cfg" } else { "h/.claude" };
    let pkg = format!("{work}/pkg");
    let cwd = match random.below(8) {
        0 => home.to_owned(),
        1..4 => work.to_owned(),
        _ => pkg.clone(),
    };
    let mut tree = Builder { random, entries: Vec::new(), n_texts: 0 };
    tree.entries.extend([home.to_owned(), pkg.clone()].map(|it| (it, Entry::Dir)));
    let head = "ref: refs/heads/main\n";
    match tree.random.below(8) {
        0 | 1 => {}
        2 => tree.file(format!("{work}/.git"), "gitdir: /nowhere\n"),
        3 => tree.file(format!("{pkg}/.git/HEAD"), head),
        4 => tree.file("h/.git/HEAD".to_owned(), head),
        5 => {
            tree.file(format!("{work}/.git"), "gitdir: $TOP/main/.git/worktrees/it\n");
            tree.file("main/.git/HEAD".to_owned(), head);
            let git = "main/.git/worktrees/it";
            tree.file(format!("{git}/HEAD"), head);
            tree.file(format!("{git}/gitdir"), format!("$TOP/{work}/.git\n"));
            tree.file(format!("{git}/commondir"), "../..\n");
        }
        _ => tree.file(format!("{work}/.git/HEAD"), head),
    }
    let project = [work, &*pkg].map(|it| format!("{it}/.claude"));
    let all: Vec<&str> = [own, own, ".claude", "main/.claude", "x/.claude", "y/x/.claude"]
        .into_iter()
        .chain(project.iter().map(String::as_str))
        .chain(project.iter().map(String::as_str))
        .collect();
    for _ in 0..8 + tree.random.below(18) {
        let base = tree.random.pick(&all);
        match tree.random.below(10) {
            0 => tree.plugin(base),
            1..4 => tree.command(base),
            _ => tree.skill(base),
        }
    }
    let settings = [
        format!("{own}/settings.json"),
        format!("{cwd}/.claude/settings.json"),
        format!("{cwd}/.claude/settings.local.json"),
        format!("{work}/.claude/settings.json"),
        format!("{work}/.claude/settings.local.json"),
        "main/.claude/settings.local.json".to_owned(),
    ];
    for path in settings {
        if tree.random.chance(5) {
            tree.settings(path);
        }
    }
    let mut trusted = serde_json::Map::new();
    for dir in [work, &*pkg, "main", home] {
        if tree.random.chance(2) {
            trusted.insert(format!("$TOP/{dir}"), json!({"hasTrustDialogAccepted": true}));
        }
    }
    let own_file = if has_config_dir { "cfg/.claude.json" } else { "h/.claude.json" };
    tree.file(own_file.to_owned(), json!({"projects": trusted}).to_string());
    let mut additional = Vec::new();
    for dir in ["x", "y/x"] {
        if tree.random.chance(3) {
            tree.entries.push((dir.to_owned(), Entry::Dir));
            additional.push(dir);
        }
    }
    let entries = tree.entries;
    Tree { entries, home, cwd, has_config_dir, additional }
}

/// Returns the unique word of a description.
fn word(text: &str) -> String {
    let is_word = |it: &&str| {
        let digits = it.strip_prefix('d').and_then(|it| it.strip_suffix('d'));
        digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
    };
    text.split([' ', '\n']).find(is_word).unwrap_or_default().to_owned()
}

/// Runs the agent on a tree.
fn theirs(program: &Path, tree: &Tree, top: &Path) -> Listed {
    let run = run(program, tree, top, "hi", vec![Turn::say("Done.")]);
    let listing = run.turns.first().map(listing).unwrap_or_default();
    let mut listed = Listed::new();
    let mut names = BTreeSet::new();
    for line in listing.lines().filter_map(|it| it.strip_prefix("- ")) {
        let name = line.split_once(": ").map_or(line, |it| it.0);
        let name = name.split_once(" (").map_or(name, |it| it.0);
        if !BUILT_IN.contains(&name) {
            names.insert(name.to_owned());
            listed.insert((name.to_owned(), word(line)));
        }
    }
    let slash = run.init["slash_commands"].as_array().unwrap().iter().filter_map(Value::as_str);
    for name in slash.take_while(|it| *it != FIRST_OWN) {
        if !BUILT_IN.contains(&name) && !names.contains(name) {
            listed.insert((name.to_owned(), String::new()));
        }
    }
    listed
}

/// Returns our list of a tree.
fn listed(ours: &Ours, tree: &Tree, top: &Path) -> Listed {
    let view = ours.view(tree, top);
    let shown = view.resolution.candidates.iter().filter_map(|it| {
        let record = it.record()?;
        let is_hidden = it.state == SkillState::Hidden && record.user_invocable;
        let text = it.description.as_deref().filter(|_| !is_hidden && !it.name_only);
        // A denied skill stays in the listing, and is refused.
        let is_listed = it.state.is_listed() || it.state == SkillState::Denied;
        (is_listed || is_hidden).then(|| (it.name.clone(), word(text.unwrap_or_default())))
    });
    shown.collect()
}

/// Returns the difference between the agent's list and ours, if any.
fn difference(ours: &Ours, program: &Path, tree: &Tree) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    tree.lay_out(&top);
    let (theirs, ours) = (theirs(program, tree, &top), listed(ours, tree, &top));
    let only = |one: &Listed, other: &Listed| -> String {
        one.difference(other)
            .fold(String::new(), |all, (name, word)| format!("{all}    {name:?} {word}\n"))
    };
    (theirs != ours).then(|| {
        format!("only the agent:\n{}only we:\n{}", only(&theirs, &ours), only(&ours, &theirs))
    })
}

/// Leaves out entries as long as the tree still differs.
fn shrunk(ours: &Ours, program: &Path, mut tree: Tree) -> Tree {
    loop {
        let smaller = tree.smaller().find(|it| difference(ours, program, it).is_some());
        let Some(smaller) = smaller else { return tree };
        tree = smaller;
    }
}

#[test]
fn claude_code_lists_of_random_trees_equal_ours() {
    let Some(program) = claude_code() else { return };
    let program: PathBuf = program;
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let only = number("CLAUDE_SEED");
    let n_trees = number("CLAUDE_TREES").unwrap_or(TREES);
    let ours = Ours::new();
    let (mut faults, mut n_seen) = (Vec::new(), 0);
    for seed in only.map_or(0..n_trees, |seed| seed..seed + 1) {
        n_seen += 1;
        let mut tree = random_tree(&mut Random::new(seed));
        let Some(mut fault) = difference(&ours, &program, &tree) else { continue };
        if only.is_some() {
            tree = shrunk(&ours, &program, tree);
            fault = difference(&ours, &program, &tree).unwrap_or(fault);
        }
        faults.push(format!("seed {seed}: {fault}{}", tree.shown()));
    }
    ours.engine.stop();
    println!("{} of {n_seen} trees are equal", n_seen - faults.len());
    assert!(faults.is_empty(), "{} trees differ\n{}", faults.len(), faults.join("\n"));
}
