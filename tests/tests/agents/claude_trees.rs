//! Random trees: our listing, commands and loads equal those of the running Claude Code.
//!
//! Each SKILL.md and command has its own description, so that the agent's listing names the winner.
//! Many long descriptions in some trees exceed the listing's budget.
//! A failing tree is printed as a fixture. `CLAUDE_TREES` sets the number of trees, `CLAUDE_SEED`
//! runs a single one and shrinks it; all trees run before the test fails.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skills_discovery::discover::SkillState;
use skills_testkit::Turn;
use skills_testkit::random::Random;

use crate::agent_fixture::claude_code;
use crate::claude::{Entry, OurDaemon, Ours, Tree, handed_out, listing, run};

/// Number of trees.
const TREES: u64 = 12;

/// A plugin's manifest, below the plugin's directory.
const PLUGIN_MANIFEST: &str = "/.claude-plugin/plugin.json";

/// The first slash command of the agent's own, after those of the tree.
const FIRST_OWN: &str = "agents";

const NAMES: [&str; 17] = [
    "a", "b", "c", "a", "b", "Up", "é", ".h", "a b", "synced", "Synced", "node_modules", "x:a",
    "_x", "dup", "a<b", "x: y",
];

const LABELS: [&str; 10] =
    ["Label", "b", "c", "Two words", "é", "x:y", "clear", "plg:s", "7", "e-mail_1"];

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
        let label = self.random.pick(&LABELS);
        match self.random.below(30) {
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
            9 => format!("---\nname: {label}\ndescription: {word}\n---\nBody.\n"),
            10 => format!("---\nname: {label}\n---\n\n# Head <b> {word}\n"),
            11 => format!("---\ndescription: <{word}> a\u{200B}b\n---\nBody.\n"),
            12 => format!("---\ndescription: |\n  {word}\n\n  - b: c\n---\n\nBody.\n"),
            13 => format!("---\ndescription: {word}\nwhen_to_use: {label} <x>\n---\nBody.\n"),
            14 => format!("---\nwhen_to_use: {label}\n---\nBody {word}\n"),
            15 => format!("---\ndescription: \"{word} \\t x  y \"\n---\nBody.\n"),
            16 => format!("---\ndescription: {word}\n---\n\nAll: $ARGUMENTS, first: $0.\n"),
            17 => format!(
                "---\ndescription: {word}\nname: \"{label}\"\n---\nIn ${{CLAUDE_SKILL_DIR}}\n"
            ),
            _ => format!("---\ndescription: {word}\n---\nBody.\n"),
        }
    }

    /// Returns a skill with a description that strains the listing's budget.
    fn long_text(&mut self) -> String {
        const WORDS: [&str; 6] = ["word ", "漢字", "é", "😀", "<b>", "x"];
        let length = if self.random.chance(4) { 20 } else { 1000 };
        let description = self.random.pick(&WORDS).repeat(self.random.below(length));
        let when = ["", "when_to_use: then\n", "name: Long\n"][self.random.below(3)];
        format!("---\ndescription: d{description}\n{when}---\nBody.\n")
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
        self.file(format!("{dir}{PLUGIN_MANIFEST}"), manifest);
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
    let is_model_small = tree.random.chance(2);
    if tree.random.chance(4) {
        for number in 0..tree.random.below(120) {
            let base = tree.random.pick(&all);
            let text = tree.long_text();
            tree.file(format!("{base}/skills/l{number}/SKILL.md"), text);
        }
    }
    let entries = tree.entries;
    Tree { entries, home, cwd, has_config_dir, additional, is_model_small }
}

/// A tree as the agent shows it: its listing, its commands, and a loaded skill.
#[derive(PartialEq)]
struct Shown {
    listing: String,
    commands: BTreeSet<String>,
    body: Option<Result<String, ()>>,
}

/// Runs the agent on a tree, and loads a skill.
fn theirs(program: &Path, tree: &Tree, top: &Path, skill: Option<&str>) -> Shown {
    let load = skill.map(|it| Turn::call("Skill", json!({"skill": it})));
    let script = load.into_iter().chain([Turn::say("Done.")]).collect();
    let run = run(program, tree, top, "hi", script);
    let commands = run.init["slash_commands"].as_array().unwrap().iter().filter_map(Value::as_str);
    Shown {
        listing: listing(&run.turns[0]),
        commands: commands.take_while(|it| *it != FIRST_OWN).map(str::to_owned).collect(),
        body: skill.map(|_| handed_out(&run.turns[1]).map_err(|_| ())),
    }
}

/// Returns our answers for a tree.
fn ours(ours: &mut Both, tree: &Tree, top: &Path, skill: Option<&str>) -> Shown {
    let view = ours.engine.view(tree, top);
    let commands = view.resolution.candidates.iter().filter(|it| {
        // A denied skill stays in the listing, and is refused.
        let is_shown = matches!(it.state, SkillState::Hidden | SkillState::Denied);
        (is_shown || it.state.is_listed()) && it.record().is_some_and(|it| it.user_invocable)
    });
    let commands = commands.map(|it| it.name.clone()).collect();
    let tokens = if tree.is_model_small { 200_000 } else { 1_000_000 };
    let budget = json!({"contextTokens": tokens});
    let listing = ours.daemon.call("catalog/render", tree, top, budget)["text"].take();
    let body = skill.map(|it| {
        let loaded = ours.daemon.call("skills/load", tree, top, json!({"name": it}));
        loaded["output"].as_str().map(str::to_owned).ok_or(())
    });
    Shown { listing: listing.as_str().unwrap_or("an error").to_owned(), commands, body }
}

/// Our engine and our daemon.
pub(crate) struct Both {
    engine: Ours,
    daemon: OurDaemon,
}

impl Both {
    pub(crate) fn start() -> Self {
        Self { engine: Ours::new(), daemon: OurDaemon::start() }
    }

    /// Starts both for the user whose home directory this is.
    pub(crate) fn start_with_home(dir: &Path) -> Self {
        Self { engine: Ours::new(), daemon: OurDaemon::start_with_home(dir) }
    }

    pub(crate) fn stop(self) {
        self.engine.engine.stop();
    }
}

/// Returns the difference between the agent's answers and ours, if any.
fn difference(both: &mut Both, program: &Path, tree: &Tree) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    tree.lay_out(&top);
    difference_at(both, program, tree, &top)
}

/// Returns the difference on a tree that is laid out at `top`.
pub(crate) fn difference_at(
    both: &mut Both,
    program: &Path,
    tree: &Tree,
    top: &Path,
) -> Option<String> {
    both.daemon.trust(top);
    let view = both.engine.view(tree, top);
    let skills: Vec<_> = view.resolution.listed().map(|it| it.name.as_str()).collect();
    let skill = skills.get(tree.entries.len() % skills.len().max(1)).copied();
    let (mut theirs, mut ours) = (theirs(program, tree, top, skill), ours(both, tree, top, skill));
    if has_plugins_side_by_side(tree) {
        // The file system's order decides the agent's order of these plugins.
        for listing in [&mut theirs.listing, &mut ours.listing] {
            let mut lines: Vec<_> = listing.lines().collect();
            lines.sort_unstable();
            *listing = lines.join("\n");
        }
    }
    (theirs != ours).then(|| {
        let mut fault = String::new();
        if theirs.listing != ours.listing {
            let lines = |it: &Shown| it.listing.lines().map(str::to_owned).collect();
            fault += &only(&lines(&theirs), &lines(&ours));
            let is_order = lines(&theirs) == lines(&ours);
            if is_order {
                let _ = write!(fault, "  order\n{}\n---\n{}\n", theirs.listing, ours.listing);
            }
        }
        fault += &only(&theirs.commands, &ours.commands);
        if theirs.body != ours.body {
            let _ = write!(fault, "  {skill:?}\n  {:?}\n  {:?}\n", theirs.body, ours.body);
        }
        fault
    })
}

/// Returns true if a directory of skills has two plugins.
fn has_plugins_side_by_side(tree: &Tree) -> bool {
    let plugins = tree.entries.iter().filter_map(|it| it.0.strip_suffix(PLUGIN_MANIFEST));
    let mut dirs = BTreeSet::new();
    let plugins: BTreeSet<_> = plugins.collect();
    plugins.iter().filter_map(|it| it.rsplit_once('/')).any(|it| !dirs.insert(it.0))
}

/// Describes the lines that only one side has.
fn only(theirs: &BTreeSet<String>, ours: &BTreeSet<String>) -> String {
    let lines = |one: &BTreeSet<String>, other: &BTreeSet<String>, name: &str| -> String {
        let lines = one.difference(other).map(|it| {
            let short: String = it.chars().take(300).collect();
            format!("  only {name}: {short:?} ({})\n", it.len())
        });
        lines.collect()
    };
    lines(theirs, ours, "the agent") + &lines(ours, theirs, "we")
}

/// Leaves out entries as long as the tree still differs.
fn shrunk(both: &mut Both, program: &Path, mut tree: Tree) -> Tree {
    loop {
        let smaller = tree.smaller().find(|it| difference(both, program, it).is_some());
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
    let mut both = Both::start();
    let (mut faults, mut n_seen) = (Vec::new(), 0);
    for seed in only.map_or(0..n_trees, |seed| seed..seed + 1) {
        n_seen += 1;
        let mut tree = random_tree(&mut Random::new(seed));
        let Some(mut fault) = difference(&mut both, &program, &tree) else { continue };
        if only.is_some() {
            tree = shrunk(&mut both, &program, tree);
            fault = difference(&mut both, &program, &tree).unwrap_or(fault);
        }
        faults.push(format!("seed {seed}: {fault}{}", tree.shown()));
    }
    both.stop();
    println!("{} of {n_seen} trees are equal", n_seen - faults.len());
    assert!(faults.is_empty(), "{} trees differ\n{}", faults.len(), faults.join("\n"));
}
