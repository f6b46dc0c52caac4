//! What lies on the disk around a thing that somebody asks about and discovery does not know.
//!
//! A resolution knows what it met and nothing else. Why a path is no skill, or where one of a
//! name lies that nobody found, takes a look at the disk: the engine has it when an explanation
//! needs it, and never for a list.

use std::ffi::OsString;

use skills_agents::profile::agents;
use skills_syntax::path::AbsPath;

use super::super::roots::root_paths;
use super::super::{DiscoveryContext, Resolution, Worktree};

/// What was found, the likeliest first. Of a path there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// The things that may be meant.
    pub met: Vec<Stray>,
}

/// Something that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Where it is, or would be.
    pub path: AbsPath,
    /// What is there.
    pub thing: Thing,
    /// The directory of the innermost skill that it is or belongs to, whoever finds that.
    pub skill: Option<AbsPath>,
    /// The top of the git worktree that it is in.
    pub worktree: Option<AbsPath>,
    /// What makes git ignore it.
    pub ignored: Option<Ignored>,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// Nothing; perhaps something of nearly the same path.
    Nothing(Option<AbsPath>),
    /// A file.
    File,
    /// A directory, with the name of the file in it that is called SKILL.md in whatever case.
    Directory(Option<OsString>),
}

/// A line that makes git ignore something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The directory that it is about.
    pub dir: AbsPath,
    /// The file that it is in.
    pub file: AbsPath,
    /// Its number, from 1.
    pub line: u32,
    /// The pattern.
    pub pattern: String,
}

/// Returns every directory in which some agent would look for skills from a site's place, those
/// of the site's own profile first.
pub fn places(ctx: &DiscoveryContext, resolution: &Resolution) -> Vec<AbsPath> {
    let mut places: Vec<_> = resolution.roots.iter().map(|it| it.path.clone()).collect();
    let worktree = Worktree::known(resolution);
    for profile in agents() {
        let rules = profile.roots.iter().filter(|it| it.has_skill_directories());
        let paths = rules.flat_map(|rule| root_paths(ctx, rule, &worktree, &[]));
        places.extend(paths.filter_map(Result::ok));
    }
    if let Some(main) = resolution.repository.main() {
        let within =
            |it: &AbsPath| it.strip_prefix(&resolution.worktree).ok().map(|it| main.child(it));
        let there: Vec<_> = places.iter().filter_map(within).collect();
        places.extend(there);
    }
    let mut met = std::collections::HashSet::new();
    places.retain(|it| met.insert(it.clone()));
    places
}
