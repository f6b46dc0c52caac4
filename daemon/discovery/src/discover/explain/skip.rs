//! Rule name, message and suggested action for each reason to skip an entry.

use std::ffi::OsStr;

use skills_agents::loaders::LoadRule;
use skills_syntax::text::grouped;

use super::super::candidate::SKILL_FILE;
use super::super::reason_rule::ReasonRule;
use super::super::{Bound, SearchRoot, SkipReason, SkippedEntry};

impl SkippedEntry {
    /// Returns a suggested action, as a sentence. `root` is the root of the skipped entry.
    pub fn suggested_action(&self, root: &SearchRoot) -> String {
        let name = self.path.file_name().unwrap_or_default();
        let root = root.path.display();
        let path = self.path.display();
        let beside = |name: &str| match self.path.parent() {
            Some(it) => it.child(name).display().to_string(),
            None => name.to_owned(),
        };
        match &self.reason {
            SkipReason::Hidden => {
                let visible = name.to_string_lossy();
                format!("Rename `{path}` to `{}`.", beside(visible.trim_start_matches('.')))
            }
            SkipReason::TooLarge(most) => {
                let most = grouped(*most);
                format!("Shorten `{path}` to {most} bytes: move parts of it into other files.")
            }
            SkipReason::SkippedName | SkipReason::ReservedName => "Rename the directory.".into(),
            SkipReason::TooDeep(_) => {
                format!("Move `{path}` to `{root}/{}`.", name.display())
            }
            SkipReason::Link if name == OsStr::new(SKILL_FILE) => {
                format!("Replace the link `{path}` by the file itself.")
            }
            SkipReason::Link => format!("Replace the link `{path}` by the directory itself."),
            SkipReason::RootSkill => {
                format!("Move `{path}` to `{root}/NAME/{SKILL_FILE}`, with a name of your choice.")
            }
            SkipReason::WrongCase => format!("Rename `{path}` to `{}`.", beside(SKILL_FILE)),
            SkipReason::TooManyDirectories(..) | SkipReason::TooManyEntries(..) => {
                "Move directories without skills out of the root, or split the root.".into()
            }
            SkipReason::SameDirectory(_) => {
                "Nothing needs to be done: its skills are listed once.".into()
            }
            SkipReason::OverBudget(..) => {
                format!("Move directories without skills out of `{root}`, or reduce their depth.")
            }
            SkipReason::OutOfBounds(_) => "Remove the link.".into(),
            SkipReason::Fault(fault) => fault.next_for_directory(&self.path),
        }
    }
}

impl SkipReason {
    /// Returns the rule that decided.
    pub const fn rule(&self) -> ReasonRule {
        match self {
            Self::Hidden => ReasonRule::WalkHidden,
            Self::SkippedName => ReasonRule::WalkSkipped,
            Self::ReservedName => ReasonRule::WalkReserved,
            Self::TooDeep(_) => ReasonRule::WalkDepth,
            Self::Link => ReasonRule::WalkLinks,
            Self::RootSkill => ReasonRule::WalkRootSkill,
            Self::WrongCase => ReasonRule::FileName,
            Self::TooLarge(_) => ReasonRule::Load(LoadRule::FileSize),
            Self::SameDirectory(_) => ReasonRule::FileIdentity,
            Self::TooManyDirectories(..) => ReasonRule::WalkDirectories,
            Self::TooManyEntries(..) => ReasonRule::WalkEntries,
            Self::OverBudget(..) => ReasonRule::WalkBudget,
            Self::OutOfBounds(_) => ReasonRule::WalkBounds,
            Self::Fault(fault) => fault.rule(),
        }
    }

    /// Returns true for a limit of the whole root, for which nothing is skipped.
    pub const fn is_of_the_root(&self) -> bool {
        matches!(self, Self::TooManyDirectories(..) | Self::TooManyEntries(..))
    }

    /// Returns true if the root's budget is used up, so that everything after the entry is skipped
    /// too.
    pub const fn is_over_budget(&self) -> bool {
        matches!(self, Self::OverBudget(..))
    }

    /// Returns the reason, as a sentence fragment.
    pub fn message(&self) -> String {
        let too_many = |what: &str, max: &usize, found: &usize| {
            format!(
                "the agent silently stops after {max} {what} of a root; this root has {found}, so the agent may miss listed skills"
            )
        };
        match self {
            Self::Hidden => "directories whose names begin with a dot are not searched".into(),
            Self::SkippedName => "directories of this name are never searched".into(),
            Self::ReservedName => "the agent reserves this directory name".into(),
            Self::TooDeep(max) => {
                let levels = if *max == 1 { "level" } else { "levels" };
                format!(
                    "this is deeper than the {max} {levels} below the root that the agent searches"
                )
            }
            Self::Link => "the agent does not follow this symbolic link".into(),
            Self::RootSkill => {
                "a SKILL.md directly in the root is not a skill; a skill is a directory of its own"
                    .into()
            }
            Self::WrongCase => "the file must be called `SKILL.md`, in capitals".into(),
            Self::TooLarge(max) => {
                format!("the agent skips a SKILL.md of more than {} bytes", grouped(*max))
            }
            Self::TooManyDirectories(max, found) => too_many("directories", max, found),
            Self::TooManyEntries(max, found) => too_many("entries", max, found),
            Self::SameDirectory(path) => {
                format!(
                    "it is the same directory as `{}`, which was searched already",
                    path.display()
                )
            }
            Self::OverBudget(bound, most) => bound.message(*most),
            Self::OutOfBounds(why) => why.clone(),
            Self::Fault(fault) => format!("it {fault}"),
        }
    }
}

impl Bound {
    /// Describes the limit that was reached, as a sentence fragment.
    fn message(self, most: usize) -> String {
        let of = match self {
            Self::Depth => {
                return format!("this is deeper than the limit of {most} levels below a root");
            }
            Self::Directories => "directories",
            Self::Entries => "entries",
            Self::Files => "files that are read",
            Self::Links => "symbolic links",
        };
        format!("the limit of {} {of} for a root is reached here", grouped(most as u64))
    }
}
