//! Random trees: discovery lists the same skills as each agent's published rules, read literally.
//!
//! A failing tree is shrunk by leaving out entries as long as it still fails, and printed as a
//! fixture. `LITERAL_SEED` runs a single seed, `LITERAL_ROUNDS` sets the number of seeds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skills_agents::profile::{self, DuplicatePolicy};
use skills_discovery::discover::{DiscoveryContext, Policy, SkillState, TrustDecisions};
use skills_engine::{Engine, Freshness, Options, View, ViewKey};
use skills_syntax::path::AbsPath;
use skills_testkit::literal::{self, AGENTS, AgentLocation, Listed};
use skills_testkit::random::Random;

/// Number of trees.
const ROUNDS: u64 = 6;

/// A file system entry.
#[derive(Clone, Debug)]
enum FsEntry {
    Dir,
    File(String),
    /// A link to a path below the top.
    Link(String),
}

/// A random tree, with the agent's home and working directory.
#[derive(Clone, Debug)]
struct Tree {
    entries: Vec<(String, FsEntry)>,
    home: &'static str,
    cwd: &'static str,
}

const ROOTS: [&str; 12] = [
    ".agents/skills",
    ".claude/skills",
    ".opencode/skills",
    ".opencode/skill",
    ".codex/skills",
    ".codex/skills/.system",
    ".gemini/skills",
    ".config/opencode/skills",
    ".github/skills",
    ".config/agents/skills",
    ".gemini/extensions/one/skills",
    ".gemini/extensions/two/skills",
];

const NAMES: [&str; 8] = ["a", "b", "Up", ".hid", "node_modules", "synced", "dup", "z"];

fn random_tree(random: &mut Random) -> Tree {
    // Home above the worktree, or next to it.
    let (home, work) = if random.chance(2) { ("h", "h/w") } else { ("h", "w") };
    let cwd = match (work, random.below(2)) {
        ("h/w", 0) => "h/w",
        ("h/w", _) => "h/w/pkg",
        (_, 0) => "w",
        _ => "w/pkg",
    };
    let pkg = format!("{work}/pkg");
    let bases = [home, work, &*pkg, &*pkg, "h/w/pkg/below", "."];
    let mut entries = vec![(home.to_owned(), FsEntry::Dir), (pkg.clone(), FsEntry::Dir)];
    match random.below(6) {
        // Linked to a main worktree, whose own skills are not listed here.
        5 => {
            let file = |path: &str, text: &str| (path.to_owned(), FsEntry::File(text.to_owned()));
            let back = format!("$TOP/{work}/.git\n");
            entries.extend([
                file(&format!("{work}/.git"), "gitdir: $TOP/main/.git/worktrees/it\n"),
                file("main/.git/HEAD", "ref: refs/heads/main\n"),
                file("main/.git/worktrees/it/gitdir", &back),
                file("main/.git/worktrees/it/commondir", "../..\n"),
            ]);
            let dir = format!("main/{}/there", random.pick(&ROOTS));
            entries.push((format!("{dir}/SKILL.md"), FsEntry::File(random_text(random, &dir))));
        }
        0 => {}
        1 => entries.push((format!("{work}/.git"), FsEntry::File("gitdir: /nowhere\n".into()))),
        2 => entries.push((format!("{pkg}/.git"), FsEntry::Dir)),
        _ => entries.push((format!("{work}/.git"), FsEntry::Dir)),
    }
    for extension in ["one", "two"] {
        let text = match random.below(3) {
            0 => continue,
            1 => format!("{{\"name\": \"{extension}\"}}"),
            _ => format!("{{\"name\": \"{extension}\", \"version\": \"1\"}}"),
        };
        let path = format!("{home}/.gemini/extensions/{extension}/gemini-extension.json");
        entries.push((path, FsEntry::File(text)));
    }
    let mut dirs: Vec<String> = Vec::new();
    for _ in 0..20 + random.below(20) {
        let mut dir = format!("{}/{}", random.pick(&bases), random.pick(&ROOTS));
        let depth = if random.chance(6) { random.below(9) } else { random.below(3) };
        for _ in 0..depth {
            dir = format!("{dir}/{}", random.pick(&NAMES));
        }
        let file = if random.chance(12) { "skill.md" } else { "SKILL.md" };
        entries.push((format!("{dir}/{file}"), FsEntry::File(random_text(random, &dir))));
        dirs.push(dir);
    }
    for _ in 0..random.below(5) {
        let target = match random.below(6) {
            // Links in a cycle, and dangling links.
            0 => dirs[random.below(dirs.len())].rsplit_once('/').unwrap().0.to_owned(),
            1 => "nowhere".to_owned(),
            _ => dirs[random.below(dirs.len())].clone(),
        };
        let root = format!("{}/{}", random.pick(&bases), random.pick(&ROOTS));
        let (at, target) = match random.below(5) {
            0 => (root, target),
            1 => (format!("{root}/{}/SKILL.md", random.pick(&NAMES)), format!("{target}/SKILL.md")),
            2 => (format!("{}/{}", dirs[random.below(dirs.len())], random.pick(&NAMES)), target),
            _ => (format!("{root}/{}", random.pick(&NAMES)), target),
        };
        // skillsd refuses a file link out of the worktree, while agents follow it.
        let area = [&*pkg, work].into_iter().find(|it| Path::new(&at).starts_with(it));
        if at.ends_with("SKILL.md") && area.is_some_and(|it| !Path::new(&target).starts_with(it)) {
            continue;
        }
        entries.push((at, FsEntry::Link(target)));
    }
    Tree { entries, home, cwd }
}

fn random_text(random: &mut Random, dir: &str) -> String {
    let own = dir.rsplit('/').next().unwrap();
    let name = match random.below(4) {
        0 => "dup",
        1 => "ns:x",
        _ => own,
    };
    // A leading dot is valid text, only a name that few accept.
    match random.below(10) {
        0 => "Only a body.\n".to_owned(),
        1 => format!("---\nname: {name}\n---\nBody.\n"),
        2 => "---\ndescription: it does\n---\nBody.\n".to_owned(),
        3 => format!("---\nname: {name}\ndescription: it does\npaths: src/**\n---\nBody.\n"),
        _ => format!("---\nname: {name}\ndescription: it does\n---\nBody.\n"),
    }
}

impl Tree {
    /// Lays out the tree; conflicting entries are skipped, because only the disk counts.
    fn lay_out(&self, top: &Path) {
        for (path, entry) in &self.entries {
            let path = top.join(path);
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = match entry {
                FsEntry::Dir => fs::create_dir_all(&path),
                FsEntry::File(text) => {
                    fs::write(&path, text.replace("$TOP", top.to_str().expect("it is UTF-8")))
                }
                FsEntry::Link(target) => symlink(top.join(target), &path),
            };
        }
        fs::create_dir_all(top.join(self.cwd)).unwrap();
    }

    /// Returns every tree with one entry less.
    fn smaller(&self) -> impl Iterator<Item = Self> + '_ {
        (0..self.entries.len()).map(|left_out| {
            let mut entries = self.entries.clone();
            entries.remove(left_out);
            Self { entries, ..*self }
        })
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "HOME is /{}, the working directory /{}", self.home, self.cwd)?;
        for (path, entry) in &self.entries {
            match entry {
                FsEntry::Dir => writeln!(f, "//- /{path} dir")?,
                FsEntry::File(text) => write!(f, "//- /{path}\n{text}")?,
                FsEntry::Link(target) => writeln!(f, "//- /{path} link=/{target}")?,
            }
        }
        Ok(())
    }
}

/// One engine for all trees; each tree has its own directory.
struct ListChecker {
    engine: Engine,
    runtime: tokio::runtime::Runtime,
}

impl ListChecker {
    fn new() -> Self {
        let engine = Engine::start(Options::new("literal".to_owned())).unwrap();
        // With trust, linked directories are followed as the agents do.
        let trusts = TrustDecisions::new([(AbsPath::new(Path::new("/")).unwrap(), true)]);
        engine.set_policy(Policy { trusts, ..Policy::default() });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { engine, runtime }
    }

    fn view(&self, profile: &str, cwd: &Path, home: &Path) -> Arc<View> {
        let profile = profile::find(profile).unwrap();
        let cwd = AbsPath::new(cwd).unwrap();
        let environment: BTreeMap<String, OsString> = [
            ("HOME".to_owned(), home.as_os_str().to_owned()),
            ("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "true".into()),
        ]
        .into();
        let key = ViewKey {
            cwd: cwd.clone(),
            profile: profile.key(),
            environment: environment.clone(),
            additional: Vec::new(),
            overlay: Arc::default(),
            agent: None,
        };
        let (additional, overlay, agent) = (Vec::new(), Arc::default(), None);
        let profile = Arc::clone(profile);
        let ctx = DiscoveryContext { profile, cwd, additional, environment, overlay, agent };
        self.runtime.block_on(self.engine.view(key, || ctx, Freshness::Synced)).unwrap()
    }

    /// Returns the difference between our list and an agent's, if any.
    fn fault(&self, tree: &Tree, agent: &str) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        tree.lay_out(&top);
        let (cwd, home) = (top.join(tree.cwd), top.join(tree.home));
        let view = self.view(agent, &cwd, &home);
        // Built-in skills have no file.
        let in_files = view.resolution.candidates.iter().filter(|it| !it.is_built_in());
        let active = in_files.filter(|it| it.state == SkillState::Active);
        let mut ours: Vec<Listed> =
            active.map(|it| (it.name.clone(), fs::canonicalize(&*it.path).unwrap())).collect();
        let mut theirs = literal::listed(agent, &AgentLocation { cwd, home });
        // Unless the first wins, the order of the remaining skills is unspecified.
        if view.ctx.profile.duplicates != DuplicatePolicy::FirstWins {
            ours.sort();
            theirs.sort();
        }
        let shown = |all: &[Listed]| -> String {
            let below = |path: &PathBuf| path.strip_prefix(&top).unwrap_or(path).to_owned();
            let line = |it: &Listed| format!("    {} /{}", it.0, below(&it.1).display());
            all.iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
        };
        (ours != theirs)
            .then(|| format!("{agent} lists:\n{}we list:\n{}", shown(&theirs), shown(&ours)))
    }

    /// Shrinks a failing tree.
    fn shrunk(&self, mut tree: Tree, agent: &str) -> Tree {
        loop {
            let smaller = tree.smaller().find(|it| self.fault(it, agent).is_some());
            let Some(smaller) = smaller else { return tree };
            tree = smaller;
        }
    }
}

#[test]
fn lists_of_random_trees_equal_the_published_rules() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let only = number("LITERAL_SEED");
    let rounds = number("LITERAL_ROUNDS").unwrap_or(ROUNDS);
    let seeds = only.map_or(0..rounds, |seed| seed..seed + 1);
    let checker = ListChecker::new();
    let mut n_listed = 0;
    for seed in seeds {
        let tree = random_tree(&mut Random::new(seed));
        for agent in AGENTS {
            if let Some(fault) = checker.fault(&tree, agent) {
                let small = checker.shrunk(tree, agent);
                let fault = checker.fault(&small, agent).unwrap_or(fault);
                checker.engine.stop();
                panic!("seed {seed}: {fault}\n{small}");
            }
        }
        let dir = tempfile::tempdir().unwrap();
        tree.lay_out(dir.path());
        let location =
            AgentLocation { cwd: dir.path().join(tree.cwd), home: dir.path().join(tree.home) };
        n_listed += AGENTS.iter().map(|it| literal::listed(it, &location).len()).sum::<usize>();
    }
    checker.engine.stop();
    assert!(only.is_some() || n_listed as u64 > rounds * 4, "{n_listed} skills are too few");
}
