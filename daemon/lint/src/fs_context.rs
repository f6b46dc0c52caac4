//! [`FsContext`]: facts about the file system that rules ask for; the caller supplies them.
//!
//! Every answer can be unknown, and a rule then reports nothing. The same rules run in an editor
//! without disk access, in a test and over a whole worktree.

use std::collections::BTreeMap;

use skills_discovery::discover::Fault;
use skills_syntax::path::AbsPath;

use super::bundled_texts::BundledTexts;
use super::skill_set::SkillSet;

/// Maximum number of files returned for a glob: enough to derive the directories it matches.
pub const MAX_MATCHES: u32 = 10_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathKind {
    /// No entry.
    Missing,
    /// A regular file.
    File {
        executable: bool,
        /// True if the file starts with `#!`.
        script: bool,
    },
    Directory,
}

/// File-system facts about one skill, in a form that can be stored.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SkillDirFacts {
    /// Entry at each requested path, relative to the skill's directory.
    pub looks: BTreeMap<String, Option<PathKind>>,
    /// Files of the skill except its SKILL.md; `None` if unknown or too many.
    pub files: Option<Vec<String>>,
    /// Facts about the texts of these files; `None` if unknown.
    pub texts: Option<BundledTexts>,
    /// Real path of the skill, if a link that leaves its root leads to it.
    pub link_target: Option<AbsPath>,
    /// Target of the SKILL.md, if it is a symbolic link.
    pub file_target: Option<AbsPath>,
    /// True if the skill's directory is the top of a worktree.
    pub is_top: bool,
    /// Number of directories above the skill's in its worktree; `None` outside of worktrees.
    pub depth: Option<usize>,
    /// True if git ignores the file; `None` if unknown.
    pub is_git_ignored: Option<bool>,
    /// Name of the plugin that contains the file, if its manifest says it.
    pub plugin: Option<String>,
}

/// Reason for which an agent's discovery drops a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiscoveryDrop {
    pub profile: String,
    pub message: String,
    /// The remedy, as a sentence.
    pub next: String,
}

/// File-system facts about the text being checked.
pub trait FsContext {
    /// Returns the kind of entry at a path relative to the skill's directory; `None` if unknown.
    fn look(&self, relative: &str) -> Option<PathKind> {
        let _ = relative;
        None
    }

    /// Returns the files of the skill except its SKILL.md, sorted and relative to its directory;
    /// `None` if unknown or too many.
    fn files(&self) -> Option<&[String]> {
        None
    }

    /// Returns facts about the texts of these files; `None` if unknown.
    fn bundled_texts(&self) -> Option<&BundledTexts> {
        None
    }

    /// Returns the number of worktree files that a `paths` glob matches.
    fn matches(&self, glob: &str) -> Option<usize> {
        let _ = glob;
        None
    }

    /// Returns the first worktree files that a glob matches, as far as known, at most
    /// [`MAX_MATCHES`].
    fn first_matches(&self, glob: &str) -> Vec<String> {
        let _ = glob;
        Vec::new()
    }

    /// Returns the skills visible together with this one, itself included, and their rankings.
    fn skill_set(&self) -> &SkillSet {
        SkillSet::none()
    }

    /// Returns whether a text that agents read mentions a skill with this name; `None` if unknown.
    fn is_mentioned(&self, name: &str) -> Option<bool> {
        let _ = name;
        None
    }

    /// Returns whether git ignores the file; `None` if unknown.
    fn is_git_ignored(&self) -> Option<bool> {
        None
    }

    /// Returns the real path of the skill, if a link that leaves its root leads to it.
    fn link_target(&self) -> Option<&AbsPath> {
        None
    }

    /// Returns the target of the SKILL.md, if it is a symbolic link.
    fn file_target(&self) -> Option<&AbsPath> {
        None
    }

    /// Returns whether the file is no skill, but one of its texts that its SKILL.md links to.
    fn is_linked_text(&self) -> bool {
        false
    }

    /// Returns whether the skill's directory is the top of a worktree; its name then says nothing
    /// about the skill.
    fn is_top(&self) -> bool {
        false
    }

    /// Returns the number of directories above that of the file in the file's worktree; `None`
    /// outside of worktrees, or if unknown.
    fn depth(&self) -> Option<usize> {
        None
    }

    /// Returns the name of the plugin that contains the file, if known.
    fn plugin(&self) -> Option<&str> {
        None
    }

    /// Returns the profiles whose discovery drops the file, with the reasons, as far as known.
    fn drops(&self) -> &[DiscoveryDrop] {
        &[]
    }

    /// Returns the reason if the file cannot be read; its text is then unknown.
    fn fault(&self) -> Option<&Fault> {
        None
    }
}

/// An [`FsContext`] without any knowledge.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFs;

impl FsContext for NoFs {}
