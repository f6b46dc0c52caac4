//! Random trees: discovery finds the same skills as the running opencode, Codex and Gemini CLI, and
//! the listing for the model is the same.
//!
//! The agents' own commands list the skills, and a scripted model receives the listing.
//! `AGENT_TREES` sets the number of trees, `AGENT_FIRST` the first seed, `AGENT_SEED` runs a single
//! tree and shrinks it; all trees run before a test fails.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use skills_agents::profile;
use skills_discovery::discover::{
    Candidate, DiscoveryContext, Policy, SkillState, SkipReason, TrustDecisions,
};
use skills_engine::{Engine, Freshness, Options, View, ViewKey};
use skills_syntax::path::AbsPath;
use skills_testkit::random::Random;
use skills_testkit::{Daemon, Framing, Home, Model, Turn, Wire};

use crate::agent_fixture::{Agent, finish, scripted_provider};
use crate::catalogs::between;
use crate::claude::{Entry, lay_out};

/// Why these trees are not for an agent of `SKILLSD_MORE_AGENTS`.
const LISTED_ELSEWHERE: &str = "its random trees are those of `recorded_lists`";

/// Directories of skills below the top of a tree; `h` is HOME, `w` or `h/w` the worktree.
fn roots(agent: Agent, work: &str) -> Vec<String> {
    let mut roots = Vec::new();
    let mut at =
        |top: &str, dirs: &[&str]| roots.extend(dirs.iter().map(|it| format!("{top}{it}")));
    let pkg = format!("{work}/pkg/");
    let work = format!("{work}/");
    match agent {
        Agent::OpenCode => {
            let shared = [".claude/skills", ".agents/skills"];
            let own = [".opencode/skill", ".opencode/skills"];
            for top in ["h/", "", &work, &pkg] {
                at(top, &shared);
            }
            for top in ["h/", &work, &pkg] {
                at(top, &own);
            }
            at("h/", &[".config/opencode/skill", ".config/opencode/skills"]);
            at(&work, &["more"]);
        }
        Agent::Codex => {
            for top in ["h/", "", &work, &work, &pkg] {
                at(top, &[".agents/skills", ".codex/skills"]);
            }
        }
        Agent::GeminiCli => {
            for top in ["h/", "h/", &work, &pkg] {
                at(top, &[".agents/skills", ".gemini/skills"]);
            }
        }
        Agent::Cline | Agent::CopilotCli | Agent::Droid | Agent::Kilo | Agent::QwenCode => {
            unreachable!("{LISTED_ELSEWHERE}")
        }
    }
    roots
}

/// A random tree; `$TOP` in a file stands for its directory.
#[derive(Clone)]
pub(crate) struct Tree {
    pub(crate) entries: Vec<(String, Entry)>,
    pub(crate) cwd: String,
}

const DIRS: [&str; 13] =
    ["a", "b", "c", "d", "Up", "é", "e\u{301}", ".h", "a b", "node_modules", "_x", "a.b", "x-1"];

const NAMES: [&str; 16] = [
    "a", "b", "c", "d", "Up", "é", "e\u{301}", "e\u{301}a", "fb", "ea", "two words", "x:y",
    "under_score", "n-1", "'quoted'", "\"a\"",
];

struct Builder<'a> {
    random: &'a mut Random,
    entries: Vec<(String, Entry)>,
    n_texts: usize,
    is_recorded: bool,
}

impl Builder<'_> {
    fn file(&mut self, path: String, text: impl Into<String>) {
        self.entries.push((path, Entry::File(text.into())));
    }

    /// Returns the text of a skill with its own description.
    fn text(&mut self) -> String {
        self.n_texts += 1;
        let word = format!("d{}d", self.n_texts);
        let mut name = self.random.pick(&NAMES).to_owned();
        if !name.ends_with(['"', '\'']) && !self.random.chance(3) {
            let _ = write!(name, "{}", self.n_texts);
        }
        let plain = format!("---\nname: {name}\ndescription: {word}\n---\nBody.\n");
        // Recorded trees keep their kinds.
        let kinds = if self.is_recorded { 40 } else { 50 };
        match self.random.below(kinds) {
            0 => format!("---\nname: {name}\n---\nBody {word}\n"),
            1 => format!("---\ndescription: {word}\n---\nBody.\n"),
            2 => format!("No frontmatter {word}\n"),
            3 => format!("---\nname: {name}\ndescription: {word}\n"),
            4 => format!("---\nname: {name}\ndescription: it does: {word}\n---\nBody.\n"),
            5 => format!("---\nname: [broken\ndescription: {word}\n---\nBody.\n"),
            6 => format!("---\nname: 12\ndescription: {word}\n---\nBody.\n"),
            7 => format!("---\nname: {name}\ndescription: >\n  {word}\n  more\n---\nBody.\n"),
            8 => format!("---\nname: {name}\ndescription: \"\"\n---\nBody.\n"),
            9 => format!("\u{feff}{plain}"),
            10 => plain.replace('\n', "\r\n"),
            11 => format!("\n{plain}"),
            12 => plain.replace("---\nname", "--- \nname"),
            13 => plain.replace("---\nBody", "--- \nBody"),
            14 => plain.replace("---\nBody", "...\nBody"),
            15 => format!("---\nname: {name}\nname: other\ndescription: {word}\n---\nBody.\n"),
            16 => format!("---\nname: {name}\ndescription: [{word}]\n---\nBody.\n"),
            17 => format!("---\nname: {name}\ndescription: 7\n---\nBody.\n"),
            18 => format!("---\nname: {name}\n\tdescription: {word}\n---\nBody.\n"),
            19 => format!("---\nname: {name}\ndescription: {word} # comment\n---\nBody.\n"),
            20 => format!("---\nname: {name}\ndescription: {word} {}\n---\n", "x".repeat(1100)),
            21 => format!("---\nname: {}\ndescription: {word}\n---\nBody.\n", "n".repeat(65)),
            22 => format!("---\n  name: {name}\n  description: {word}\n---\nBody.\n"),
            23 => format!("---\nname: {name}\ndescription: {word}\u{2028}x\n---\nBody.\n"),
            24 => format!("---\nname: {name}\ndescription: {word}\n---"),
            25 => format!("---\nname: {name}\ndescription: &x {word}\nother: *x\n---\nBody.\n"),
            26 => format!("---\nName: {name}\nDescription: {word}\n---\nBody.\n"),
            27 => format!("---\nname: null\ndescription: {word}\n---\nBody.\n"),
            28 => "---\n---\nBody.\n".to_owned(),
            29 => format!("---\nname: {name}\ndescription: <{word}> & 'x'\n---\nBody.\n"),
            30 => format!("---\nname: {name}\ndescription: {word}\n ---\n---\nBody.\n"),
            31 => format!("---\nname: {name}\ndescription: \"{word}\"#x\n---\nBody.\n"),
            32 => format!("---\n...\nname: {name}\ndescription: {word}\n---\nBody.\n"),
            33 => format!("---\nname: {name}\n\"description\": 7\n---\nBody {word}\n"),
            34 => format!("---\nname: {name}\ndescription: !!str\n---\nBody {word}\n"),
            35 => format!("---\nname: {name}\n{{a: b}}: c\ndescription: {word}\n---\nBody.\n"),
            36 => format!("---\nname: {name}: x\ndescription: '{word}\n---\nBody.\n"),
            37 => format!("---\u{A0}\nname: {name}\ndescription: {word}\n---\nBody.\n"),
            38 => format!("---\nname: {name}\ndescription: |\n  {word}\n---\nBody.\n"),
            39 => format!("---\nname: {name}\n---\t\nBody {word}\n"),
            _ => plain,
        }
    }

    fn skill(&mut self, root: &str, all: &[String]) {
        let name = self.random.pick(&DIRS);
        let dir = format!("{root}/{name}");
        let text = self.text();
        match self.random.below(24) {
            0 => self.file(format!("{root}/SKILL.md"), text),
            1 => self.file(format!("{dir}/skill.md"), text),
            2 => self.file(format!("{dir}/x/SKILL.md"), text),
            3 => self.file(format!("{dir}/x/y/z/SKILL.md"), text),
            4 => self.file(format!("{dir}/1/2/3/4/5/6/7/SKILL.md"), text),
            5 => self.file(format!("{dir}/SKILL.md/SKILL.md"), text),
            6 => self.file(format!("{dir}.md"), text),
            7 => self.file(format!("{dir}/node_modules/m/SKILL.md"), text),
            8 | 9 => {
                let other = &all[self.random.below(all.len())];
                let target = format!("{other}/{}", self.random.pick(&DIRS));
                self.entries.push((dir, Entry::Link(target)));
            }
            10 => {
                self.file(format!("ext/{name}/SKILL.md"), text);
                self.entries.push((dir, Entry::Link(format!("ext/{name}"))));
            }
            // A link to a file outside of the worktree is refused on purpose.
            11 => {
                self.file(format!("{dir}/text.md"), text);
                let link = Entry::Link(format!("{dir}/text.md"));
                self.entries.push((format!("{dir}/SKILL.md"), link));
            }
            12 => {
                let other = &all[self.random.below(all.len())];
                self.entries.push((dir, Entry::Link(other.clone())));
            }
            13 => self.entries.push((dir, Entry::Link("nowhere".to_owned()))),
            _ => self.file(format!("{dir}/SKILL.md"), text),
        }
    }
}

/// Returns a random tree with skills in the directories that `roots` gives for a worktree.
pub(crate) fn tree_with_roots(random: &mut Random, roots: impl Fn(&str) -> Vec<String>) -> Tree {
    let (tree, _, cwd) = build(random, true, roots);
    Tree { entries: tree.entries, cwd }
}

/// Builds a random tree; returns it with the worktree and the working directory.
fn build(
    random: &mut Random,
    is_recorded: bool,
    roots: impl Fn(&str) -> Vec<String>,
) -> (Builder<'_>, &'static str, String) {
    let work = if random.chance(2) { "h/w" } else { "w" };
    let pkg = format!("{work}/pkg");
    let cwd = match random.below(8) {
        0 => "h".to_owned(),
        1..4 => work.to_owned(),
        _ => pkg.clone(),
    };
    let mut tree = Builder { random, entries: Vec::new(), n_texts: 0, is_recorded };
    tree.entries.extend(["h".to_owned(), pkg.clone()].map(|it| (it, Entry::Dir)));
    let git = |top: &str| [format!("{top}/.git/objects"), format!("{top}/.git/refs")];
    let repository = match tree.random.below(6) {
        0 => None,
        1 => Some(pkg),
        _ => Some(work.to_owned()),
    };
    if let Some(top) = repository {
        tree.entries.extend(git(&top).map(|it| (it, Entry::Dir)));
        tree.file(format!("{top}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    let all = roots(work);
    for _ in 0..6 + tree.random.below(16) {
        let root = &all[tree.random.below(all.len())];
        tree.skill(root, &all);
    }
    if tree.random.chance(8) {
        let (link, target) = (&all[tree.random.below(all.len())], "ext/whole");
        let text = tree.text();
        tree.file(format!("{target}/s/SKILL.md"), text);
        tree.entries.insert(0, (link.clone(), Entry::Link(target.to_owned())));
    }
    (tree, work, cwd)
}

fn random_tree(agent: Agent, random: &mut Random) -> Tree {
    let (mut tree, work, cwd) = build(random, false, |work| roots(agent, work));
    match agent {
        Agent::OpenCode if tree.random.chance(3) => {
            let config = json!({"skills": {"paths": [format!("$TOP/{work}/more"), "more"]}});
            tree.file(format!("{work}/opencode.json"), config.to_string());
        }
        Agent::Codex => {
            let config = "[skills.bundled]\nenabled = false\n";
            tree.file("h/.codex/config.toml".to_owned(), config);
        }
        Agent::GeminiCli => {
            let settings = json!({
                "security": {"auth": {"selectedType": "gemini-api-key"},
                    "folderTrust": {"enabled": false}},
                "skills": {"disabled": ["skill-creator", "antigravity-support"]},
            });
            tree.file("h/.gemini/settings.json".to_owned(), settings.to_string());
        }
        Agent::OpenCode => {}
        Agent::Cline | Agent::CopilotCli | Agent::Droid | Agent::Kilo | Agent::QwenCode => {
            unreachable!("{LISTED_ELSEWHERE}")
        }
    }
    Tree { entries: tree.entries, cwd }
}

impl Tree {
    pub(crate) fn shown(&self) -> String {
        let mut text = format!("the working directory is /{}\n", self.cwd);
        for (path, entry) in &self.entries {
            let _ = match entry {
                Entry::Dir => writeln!(text, "//- /{path} dir"),
                Entry::File(it) if it.len() > 1000 => writeln!(text, "//- /{path}\n(large)"),
                Entry::File(it) => writeln!(text, "//- /{path}\n{it:?}"),
                Entry::Link(target) => writeln!(text, "//- /{path} link=/{target}"),
            };
        }
        text
    }

    /// Returns every tree with one entry less.
    pub(crate) fn smaller(&self) -> impl Iterator<Item = Self> + '_ {
        (0..self.entries.len()).map(|left_out| {
            let mut tree = self.clone();
            tree.entries.remove(left_out);
            tree
        })
    }
}

/// A skill as found: its name, its description and its path below the top.
pub(crate) type Found = BTreeSet<(String, String, String)>;

pub(crate) fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().trim().to_owned()
}

pub(crate) fn relative(path: &str, top: &Path) -> String {
    path.strip_prefix(top.to_str().unwrap()).unwrap_or(path).to_owned()
}

/// Returns true if links lead a path through one directory twice, which skillsd does not follow.
fn is_circular(path: &Path) -> bool {
    let mut met = BTreeSet::new();
    path.ancestors().filter_map(|it| fs::canonicalize(it).ok()).any(|it| !met.insert(it))
}

/// Returns the agent's command on a tree.
fn command(agent: Agent, program: &[PathBuf], tree: &Tree, top: &Path) -> Command {
    let (first, rest) = program.split_first().unwrap();
    let mut command = Command::new(first);
    let mut path: Vec<_> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    if agent == Agent::OpenCode {
        let tools = Agent::Codex.program().unwrap().remove(0);
        path.insert(0, tools.parent().unwrap().parent().unwrap().join("codex-path"));
    }
    command.args(rest).env_clear().env("PATH", std::env::join_paths(path).unwrap());
    command.env("HOME", top.join("h")).current_dir(top.join(&tree.cwd)).stdin(Stdio::null());
    match agent {
        Agent::OpenCode => {
            for switch in ["AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "SHARE"]
            {
                command.env(format!("OPENCODE_DISABLE_{switch}"), "1");
            }
        }
        Agent::Codex
        | Agent::Cline
        | Agent::CopilotCli
        | Agent::Droid
        | Agent::Kilo
        | Agent::QwenCode => {}
        Agent::GeminiCli => {
            command.env("GEMINI_API_KEY", "none").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        }
    }
    command
}

/// Takes out of a listing what differs between two runs of opencode: skills with one name, and the
/// locations if links lead in a circle.
fn without_races(view: &View, listing: &str) -> String {
    let resolution = &view.resolution;
    // Names that are equal to the agent's comparison are listed in the order of the race.
    let folded = |name: &str| name.replace("e\u{301}", "é");
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for it in resolution.candidates.iter().filter(|it| it.state != SkillState::Invalid) {
        *names.entry(folded(&it.name)).or_default() += 1;
    }
    let is_raced = |skill: &str| {
        let name = between(skill, "<name>", "</name>");
        let name = name.trim_start_matches("<name>").trim_end_matches("</name>");
        names.get(&folded(name)).is_some_and(|it| *it > 1)
    };
    let skips = resolution.roots.iter().flat_map(|it| it.skips.iter());
    let is_circular = skips.clone().any(|it| matches!(it.reason, SkipReason::SameDirectory(_)));
    let skills = listing.split_inclusive("  </skill>\n").filter(|it| !is_raced(it));
    let lines = skills.flat_map(str::lines);
    let is_shown = |it: &&str| !is_circular || !it.starts_with("    <location>");
    lines.filter(is_shown).fold(String::new(), |all, it| all + it + "\n")
}

/// Runs the agent on a tree; returns the skills that it lists.
fn theirs(agent: Agent, program: &[PathBuf], tree: &Tree, top: &Path) -> Found {
    let mut command = command(agent, program, tree, top);
    match agent {
        Agent::OpenCode => opencode(&mut command, top),
        Agent::Codex => codex(&mut command, &top.join(&tree.cwd), top),
        Agent::GeminiCli => gemini(&mut command, top),
        Agent::Cline | Agent::CopilotCli | Agent::Droid | Agent::Kilo | Agent::QwenCode => {
            unreachable!("{LISTED_ELSEWHERE}")
        }
    }
}

/// Runs the agent on a tree; returns the listing that its model receives, or an empty text.
fn their_listing(agent: Agent, program: &[PathBuf], tree: &Tree, top: &Path) -> String {
    let model = Model::start(vec![Turn::say("Done.")]);
    let mut command = command(agent, program, tree, top);
    let (start, end) = match agent {
        Agent::OpenCode => {
            let config = scripted_provider(&model.url()).to_string();
            command.env("OPENCODE_CONFIG_CONTENT", config).args(["run", "hi"]);
            ("Skills provide specialized instructions", "</available_skills>")
        }
        Agent::Codex => {
            let provider = format!(
                "model_providers.scripted={{name = \"Scripted\", base_url = \"{}/v1\", wire_api = \"responses\"}}",
                model.url()
            );
            let settings = ["model=\"scripted\"", "model_provider=\"scripted\"", &provider];
            command.args(["exec", "--skip-git-repo-check"]);
            command.args(settings.iter().flat_map(|it| ["-c", it])).arg("hi");
            ("<skills_instructions>", "</skills_instructions>")
        }
        Agent::GeminiCli => {
            command.env("GOOGLE_GEMINI_BASE_URL", model.url());
            command.args(["--yolo", "--model", "gemini-2.5-pro", "--prompt", "hi"]);
            ("# Available Agent Skills", "</available_skills>")
        }
        Agent::Cline | Agent::CopilotCli | Agent::Droid | Agent::Kilo | Agent::QwenCode => {
            unreachable!("{LISTED_ELSEWHERE}")
        }
    };
    let output = finish(&mut command);
    let turns = model.turns();
    let first = turns.first().unwrap_or_else(|| panic!("no request: {output:?}"));
    between(&first.text(), start, end).to_owned()
}

fn opencode(command: &mut Command, top: &Path) -> Found {
    let output = finish(command.args(["debug", "skill"]));
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {output:?}");
    });
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let skills = listed.as_array().unwrap().iter().map(|it| {
        let description = first_line(&text(&it["description"]));
        (text(&it["name"]), description, relative(&text(&it["location"]), top))
    });
    skills.filter(|it| it.2 != "<built-in>").collect()
}

fn codex(command: &mut Command, cwd: &Path, top: &Path) -> Found {
    command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for message in [
        json!({"id": 1, "method": "initialize",
            "params": {"clientInfo": {"name": "test", "version": "1"}}}),
        json!({"method": "initialized"}),
        json!({"id": 2, "method": "skills/list", "params": {"cwds": [cwd]}}),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut answers = lines.filter_map(|it| serde_json::from_str::<Value>(&it).ok());
    let answer = answers.find(|it| it["id"] == 2).expect("the agent answers");
    child.kill().unwrap();
    child.wait().unwrap();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let skills = answer["result"]["data"][0]["skills"].as_array().unwrap().iter();
    skills
        .map(|it| {
            let description = first_line(&text(&it["description"]));
            (text(&it["name"]), description, relative(&text(&it["path"]), top))
        })
        .collect()
}

fn gemini(command: &mut Command, top: &Path) -> Found {
    let output = finish(command.args(["skills", "list"]));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = Found::new();
    let (mut name, mut description) = (String::new(), String::new());
    for line in text.lines() {
        if let Some(it) = line.strip_suffix(" [Enabled]") {
            it.clone_into(&mut name);
        } else if let Some(it) = line.strip_prefix("  Description: ") {
            description = first_line(it);
        } else if let Some(it) = line.strip_prefix("  Location:    ") {
            found.insert((name.clone(), description.clone(), relative(it, top)));
        }
    }
    found
}

/// Returns the lines of a listing in alphabetical order.
fn sorted(listing: &str) -> Vec<&str> {
    let mut lines: Vec<_> = listing.lines().collect();
    lines.sort_unstable();
    lines
}

/// One engine and one daemon for all trees; each tree has its own directory.
struct Ours {
    _home: Home,
    _daemon: Daemon,
    wire: Wire,
    views: Views,
    agent: Agent,
}

/// An engine that answers for one profile, and trusts every directory.
pub(crate) struct Views {
    engine: Engine,
    runtime: tokio::runtime::Runtime,
    profile: &'static str,
}

impl Views {
    pub(crate) fn new(profile: &'static str) -> Self {
        let engine = Engine::start(Options::new("agent trees".to_owned())).unwrap();
        // The agent follows a repository's links and settings without trust.
        let trusts = TrustDecisions::new([(AbsPath::new(Path::new("/")).unwrap(), true)]);
        engine.set_policy(Policy { trusts, ..Policy::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { engine, runtime, profile }
    }

    pub(crate) fn stop(self) {
        self.engine.stop();
    }

    pub(crate) fn view(&self, tree: &Tree, top: &Path) -> Arc<View> {
        let profile = Arc::clone(profile::find(self.profile).unwrap());
        let cwd = AbsPath::new(&top.join(&tree.cwd)).unwrap();
        let home: OsString = top.join("h").into();
        let environment = BTreeMap::from([("HOME".to_owned(), home)]);
        let key = ViewKey {
            cwd: cwd.clone(),
            profile: profile.key(),
            environment: environment.clone(),
            additional: Vec::new(),
            overlay: Arc::default(),
            agent: None,
        };
        let (additional, overlay) = (Vec::new(), Arc::default());
        let ctx = DiscoveryContext { profile, cwd, additional, environment, overlay, agent: None };
        self.runtime.block_on(self.engine.view(key, || ctx, Freshness::Synced)).unwrap()
    }
}

impl Ours {
    fn new(agent: Agent) -> Self {
        let home = Home::new();
        let daemon = Daemon::start(&home, env!("CARGO_BIN_EXE_test-skillsd"));
        let wire = daemon.connect(Framing::Header);
        Self { _home: home, _daemon: daemon, wire, views: Views::new(agent.name()), agent }
    }

    /// Returns our listing of a tree for the model.
    fn listing(&mut self, tree: &Tree, top: &Path) -> String {
        self.wire.grant("trust/set", &json!({"dir": top, "trusted": true}));
        let params = json!({"cwd": top.join(&tree.cwd), "profile": self.agent.name(),
            "environment": {"HOME": top.join("h")}});
        let listing = self.wire.call("catalog/render", &params);
        let text = listing["text"].as_str().unwrap();
        // Without skills, opencode has a sentence instead of the list.
        let is_list = self.agent != Agent::OpenCode || text.ends_with("</available_skills>");
        text.to_owned().split_off(if is_list { 0 } else { text.len() })
    }

    /// Returns the difference between the agent's skills and ours, if any.
    fn difference(&mut self, program: &[PathBuf], tree: &Tree) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        lay_out(&tree.entries, &tree.cwd, &top);
        let view = self.views.view(tree, &top);
        let found = |it: &Candidate| {
            let description = first_line(it.description.as_deref().unwrap_or_default());
            (it.name.clone(), description, relative(it.path.to_str().unwrap_or_default(), &top))
        };
        let candidates = view.resolution.candidates.iter().filter(|it| !it.is_built_in());
        let of = |states: &[SkillState]| -> Found {
            let some = candidates.clone().filter(|it| states.contains(&it.state));
            some.map(found).collect()
        };
        let ours = of(&[SkillState::Active, SkillState::Hidden]);
        let mut theirs = theirs(self.agent, program, tree, &top);
        if self.agent == Agent::OpenCode {
            // The agent reads files concurrently, so any skill of a name may win it.
            let settled = theirs.iter().map(|it| {
                let winner = ours.iter().find(|own| own.0 == it.0);
                let their_path = top.join(it.2.trim_start_matches('/'));
                let is_circular = is_circular(&their_path);
                let is_same = |path: &Path| {
                    path == their_path
                        || is_circular
                            && fs::canonicalize(path).ok() == fs::canonicalize(&their_path).ok()
                };
                let is_known = |other: &Candidate| other.name == it.0 && is_same(&other.path);
                winner.filter(|_| candidates.clone().any(is_known)).unwrap_or(it).clone()
            });
            theirs = settled.collect();
        }
        let only = |one: &Found, other: &Found| -> String {
            one.difference(other).fold(String::new(), |all, it| format!("{all}    {it:?}\n"))
        };
        let mut fault = String::new();
        if theirs != ours {
            let (theirs, ours) = (only(&theirs, &ours), only(&ours, &theirs));
            let _ = write!(fault, "only the agent:\n{theirs}only we:\n{ours}");
        }
        let agent = self.agent;
        let settle = |text: String| match agent {
            Agent::OpenCode => without_races(&view, &text),
            _ => text,
        };
        let ours = settle(self.listing(tree, &top));
        let mut theirs = settle(their_listing(agent, program, tree, &top));
        for _ in 0..2 {
            // Gemini CLI lists skills in the order in which its reads of linked directories end.
            if agent == Agent::GeminiCli && theirs != ours && sorted(&theirs) == sorted(&ours) {
                theirs = settle(their_listing(agent, program, tree, &top));
            }
        }
        if theirs != ours {
            let _ = write!(fault, "the agent's listing:\n{theirs}\nours:\n{ours}\n");
        }
        (!fault.is_empty()).then_some(fault)
    }

    /// Leaves out entries as long as the tree still differs.
    fn shrunk(&mut self, program: &[PathBuf], mut tree: Tree) -> Tree {
        loop {
            let smaller = tree.smaller().find(|it| self.difference(program, it).is_some());
            let Some(smaller) = smaller else { return tree };
            tree = smaller;
        }
    }
}

/// Compares random trees; `default` is the number of trees without `AGENT_TREES`.
#[track_caller]
fn compare(agent: Agent, default: u64) {
    let Some(program) = agent.program() else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let only = number("AGENT_SEED");
    let first = number("AGENT_FIRST").unwrap_or(0);
    let n_trees = number("AGENT_TREES").unwrap_or(default);
    let mut ours = Ours::new(agent);
    let (mut faults, mut n_seen) = (Vec::new(), 0);
    for seed in only.map_or(first..first + n_trees, |seed| seed..seed + 1) {
        n_seen += 1;
        // A run of hours shows how far it is.
        println!("{}: seed {seed}, {} differ so far", agent.name(), faults.len());
        let mut tree = random_tree(agent, &mut Random::new(seed));
        let Some(mut fault) = ours.difference(&program, &tree) else { continue };
        if only.is_some() {
            tree = ours.shrunk(&program, tree);
            fault = ours.difference(&program, &tree).unwrap_or(fault);
        }
        faults.push(format!("seed {seed}: {fault}{}", tree.shown()));
    }
    ours.views.stop();
    println!("{}: {} of {n_seen} trees are equal", agent.name(), n_seen - faults.len());
    assert!(faults.is_empty(), "{} trees differ\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn opencode_finds_the_skills_of_random_trees_as_we_do() {
    compare(Agent::OpenCode, 2);
}

#[test]
fn codex_finds_the_skills_of_random_trees_as_we_do() {
    compare(Agent::Codex, 10);
}

#[test]
fn gemini_cli_finds_the_skills_of_random_trees_as_we_do() {
    compare(Agent::GeminiCli, 3);
}
