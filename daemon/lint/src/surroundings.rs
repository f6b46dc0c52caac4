//! What a rule has to know about the world beside the text, answered by whoever owns the disk.
//!
//! Every answer may be "not known", and a rule is silent then: the same rules run in an editor
//! without a disk, in a test, and over a whole worktree.

use std::collections::BTreeMap;

use skills_discovery::discover::Fault;
use skills_syntax::path::AbsPath;

use super::company::SkillSet;

/// How many files of a worktree are named for a glob at the most: enough to know its directories by.
pub const ENOUGH: u32 = 10_000;

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Nothing.
    Missing,
    /// A file.
    File {
        /// Whether it can be executed.
        executable: bool,
        /// Whether it begins with `#!`.
        script: bool,
    },
    /// A directory.
    Directory,
}

/// What lies beside one skill on the disk, for whoever keeps it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// What is at each path that was asked about, relative to the skill's directory.
    pub looks: BTreeMap<String, Option<Look>>,
    /// The files of the skill beside its SKILL.md; nothing when they are not known or too many.
    pub files: Option<Vec<String>>,
    /// Where the skill really is, when it was reached by a link that leaves its root.
    pub link_target: Option<AbsPath>,
    /// Where the SKILL.md itself really is, when it is a symbolic link.
    pub file_target: Option<AbsPath>,
    /// Whether the skill's directory is the top of a worktree.
    pub is_top: bool,
    /// Whether git ignores the file.
    pub is_git_ignored: Option<bool>,
}

/// The world beside one text.
pub trait FsContext {
    /// Returns what is at a path relative to the skill's directory; nothing when it is not known.
    fn look(&self, relative: &str) -> Option<Look> {
        let _ = relative;
        None
    }

    /// Returns the files of the skill beside its SKILL.md, relative to its directory, sorted;
    /// nothing when they are not known or too many.
    fn files(&self) -> Option<&[String]> {
        None
    }

    /// Returns how many files of the worktree one glob of `paths` matches.
    fn matches(&self, glob: &str) -> Option<usize> {
        let _ = glob;
        None
    }

    /// Returns the first files of the worktree that a glob matches, as far as they are known; not
    /// more than [`ENOUGH`].
    fn first_matches(&self, glob: &str) -> Vec<String> {
        let _ = glob;
        Vec::new()
    }

    /// Returns the skills that can be seen together with this one, and what each active profile makes
    /// of the place, with this skill in it.
    fn company(&self) -> &SkillSet {
        SkillSet::none()
    }

    /// Returns whether git ignores the file.
    fn is_git_ignored(&self) -> Option<bool> {
        None
    }

    /// Returns where the skill really is, when it was reached by a link that leaves its root.
    fn link_target(&self) -> Option<&AbsPath> {
        None
    }

    /// Returns where the SKILL.md itself really is, when it is a symbolic link.
    fn file_target(&self) -> Option<&AbsPath> {
        None
    }

    /// Returns whether the skill's directory is the top of a worktree, whose name says nothing.
    fn is_top(&self) -> bool {
        false
    }

    /// Returns why the file cannot be read, so that its text is not known.
    fn fault(&self) -> Option<&Fault> {
        None
    }
}

/// A text of which nothing else is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFs;

impl FsContext for NoFs {}
