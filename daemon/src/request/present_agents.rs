//! Agents that are present: installed for the user, or with files of their own in the worktree.
//!
//! The signs are data in the profile table; this module looks for them on the disk. Nothing is
//! kept between calls, because agents come and go without a change in a watched directory.

use std::collections::HashSet;
use std::env::split_paths;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use skills_agents::profile::{self, Evidence, PresenceRule};
use skills_discovery::discover::Environment;
use skills_protocol::env::{HOME, PATH};
use skills_protocol::wire::PresentAgent;

use crate::convert::to_wire;

/// Names of directories with skills, which other agents also read and install to.
const SHARED: [&str; 2] = ["skills", "skill"];

/// Returns the agents that are present, the most likely one first: installed with files in the
/// worktree, installed, others; among equals in the order of the profiles. Agents whose rules are
/// only documented come last, and only if they are installed, because a repository may have files
/// for agents that the user does not run. Blocks on the disk.
pub(super) fn present_agents(environment: &Environment, cwd: &Path) -> Vec<PresentAgent> {
    let worktree = cwd.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok());
    let home = absolute(environment, HOME);
    // The user's own directories lie below home.
    let dirs = [Some(cwd), worktree.filter(|it| *it != cwd)].into_iter().flatten();
    let dirs: Vec<_> = dirs.filter(|it| home.as_deref() != Some(it)).collect();
    let program_dirs = program_dirs(environment);
    let mut found = Vec::new();
    for agent in profile::agents() {
        let Some(rule) = &agent.presence else { continue };
        let installed = installed(rule, environment, home.as_deref(), &program_dirs);
        let is_documented = agent.evidence == Evidence::Documentation;
        let in_worktree =
            in_worktree(rule, &dirs).filter(|_| !is_documented || installed.is_some());
        let rank = (is_documented, installed.is_none(), in_worktree.is_none());
        if let Some(sign) = installed.or(in_worktree) {
            let confidence = Some(to_wire::evidence(agent.confidence()));
            let (profile, agent) = (agent.id.to_string(), agent.agent.to_string());
            found.push((rank, PresentAgent { profile, agent, confidence, sign }));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, agent)| agent).collect()
}

/// A directory of programs.
struct ProgramDir {
    path: PathBuf,
    /// The names of its entries if they are few. Reading them takes less time than looking for each
    /// program.
    names: Option<HashSet<OsString>>,
}

impl ProgramDir {
    fn has(&self, program: &str) -> bool {
        let may_have = |it: &HashSet<OsString>| it.contains(OsStr::new(program));
        self.names.as_ref().is_none_or(may_have) && is_program(&self.path.join(program))
    }
}

/// Size of a directory up to which it has few entries: one block of most file systems.
const FEW_ENTRIES_SIZE: u64 = 4096;

/// Returns the directories of `PATH` that exist, each once.
fn program_dirs(environment: &Environment) -> Vec<ProgramDir> {
    let mut seen = HashSet::new();
    let open = |path: PathBuf| {
        let stat = path.metadata().ok().filter(Metadata::is_dir)?;
        if !seen.insert((stat.dev(), stat.ino())) {
            return None;
        }
        let is_small = stat.len() <= FEW_ENTRIES_SIZE;
        let entries = is_small.then(|| fs::read_dir(&path).ok()).flatten();
        let names = entries.map(|it| it.flatten().map(|it| it.file_name()).collect());
        Some(ProgramDir { path, names })
    };
    let dirs = environment.get(PATH).into_iter().flat_map(split_paths);
    dirs.filter(|it| it.is_absolute()).filter_map(open).collect()
}

/// Returns the sign that an agent is installed.
fn installed(
    rule: &PresenceRule,
    environment: &Environment,
    home: Option<&Path>,
    program_dirs: &[ProgramDir],
) -> Option<String> {
    let base =
        absolute(environment, &rule.variable).or_else(|| home.map(|it| it.join(&*rule.below_home)));
    let directory = base.map(|it| match &*rule.directory {
        "" => it,
        below => it.join(below),
    });
    if let Some(directory) = directory.filter(|it| is_sign(it)) {
        return Some(exists(&directory));
    }
    program_dirs
        .iter()
        .any(|dir| dir.has(&rule.program))
        .then(|| format!("`{}` is in PATH", rule.program))
}

/// Returns the sign that the worktree is set up for an agent.
fn in_worktree(rule: &PresenceRule, dirs: &[&Path]) -> Option<String> {
    let all = dirs.iter().flat_map(|dir| rule.in_worktree.iter().map(|it| dir.join(&**it)));
    all.into_iter().find(|it| is_sign(it)).map(|it| exists(&it))
}

fn exists(path: &Path) -> String {
    format!("`{}` exists", path.display())
}

/// Returns whether this is a file, or a directory that holds more than skills.
fn is_sign(path: &Path) -> bool {
    // First, because most do not exist.
    match path.metadata() {
        Ok(it) if it.is_dir() => {
            let mut names = fs::read_dir(path).into_iter().flatten().flatten();
            names.any(|entry| !SHARED.iter().any(|it| entry.file_name() == *it))
        }
        stat => stat.is_ok_and(|it| it.is_file()),
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

fn absolute(environment: &Environment, name: &str) -> Option<PathBuf> {
    environment.get(name).map(PathBuf::from).filter(|it| it.is_absolute())
}
