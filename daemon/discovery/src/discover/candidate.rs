//! One SKILL.md or command file that was found, with its state and the reason for the state.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use skills_agents::skill::SkillRecord;
use skills_syntax::path::AbsPath;
use skills_syntax::text::LineColumn;

use super::disk::{FileId, SkillFile};
use super::reason_rule::ReasonRule;

/// File name that makes a directory a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// One SKILL.md and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The name as the agent reads it, or as skillsd reads it if the agent drops the file.
    pub name: String,
    /// The description as the agent reads it, or as skillsd reads it if the agent drops the file.
    pub description: Option<Arc<str>>,
    /// The path of the SKILL.md: as reached, or canonical if the agent resolves links.
    pub path: AbsPath,
    /// The index of its root in [`Resolution::roots`](super::Resolution::roots).
    pub root: usize,
    /// Identity of the directory that the file was found in; `None` if it has none. Files of the
    /// skill are served only from this directory, even if another one later appears at the path.
    pub directory: Option<FileId>,
    /// The parsed file; `None` if it could not be read.
    pub file: Option<SkillFile>,
    /// The skill's state.
    pub state: SkillState,
    /// The reason for the state; boxed, because most skills have none.
    pub reason: Option<Box<Reason>>,
    /// Repairs and warnings that do not change the state.
    pub notes: Vec<Reason>,
    /// The prefix that the agent puts before the name.
    pub namespace: Option<String>,
    /// True if the agent lists the name without a description.
    pub name_only: bool,
    /// The path that the agent shows its model, if it is not `path` below its root.
    pub shown: Option<Box<ShownPath>>,
}

/// A path that an agent shows its model.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownPath {
    /// The root, with links resolved.
    pub root: AbsPath,
    /// The path below that root by which discovery reached the file.
    pub path: AbsPath,
}

impl Candidate {
    /// Returns the skill's directory, reached by the same path as its SKILL.md.
    pub fn dir(&self) -> AbsPath {
        self.path.parent().unwrap_or_else(|| self.path.clone())
    }

    /// Returns true if this is a command file, which has no directory of its own.
    pub fn is_command(&self) -> bool {
        self.path.file_name().is_some_and(|it| it != SKILL_FILE)
    }

    /// Returns the name of the skill's directory, or the file's stem if it is a command.
    pub fn own_name(&self) -> Option<OsString> {
        if self.is_command() {
            return self.path.file_stem().map(OsStr::to_owned);
        }
        self.dir().file_name().map(OsStr::to_owned)
    }

    /// Returns the parsed record, if the file could be read.
    pub fn record(&self) -> Option<&SkillRecord> {
        self.file.as_ref().map(|it| &*it.record)
    }
}

/// State of a skill; each variant has the name used on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkillState {
    /// Shown to the model.
    Active,
    /// Has `paths`, and no touched file matches them yet.
    Conditional,
    /// Has `paths`, and a file touched in this session matches them.
    Activated,
    /// Another skill with the same name, or the same file by another path, wins.
    Shadowed,
    /// Dropped by the agent because the file is invalid.
    Invalid,
    /// Not shown to the model.
    Hidden,
    /// Not loaded until the project is trusted.
    Untrusted,
    /// Denied by a permission rule.
    Denied,
    /// Switched off by settings.
    Ignored,
    /// A link to a file that must not be read.
    Refused,
}

impl SkillState {
    /// All states, from the one closest to being shown. The wire ranks them in the reverse order.
    pub const ALL: [Self; 10] = [
        Self::Active,
        Self::Activated,
        Self::Conditional,
        Self::Untrusted,
        Self::Hidden,
        Self::Denied,
        Self::Shadowed,
        Self::Ignored,
        Self::Invalid,
        Self::Refused,
    ];

    /// Returns true if the file is dropped: it claims no name, and no setting or rule applies to
    /// it.
    pub const fn is_out(self) -> bool {
        matches!(self, Self::Invalid | Self::Ignored | Self::Refused)
    }

    /// Returns true if the agent shows skills in this state to the model.
    pub const fn is_listed(self) -> bool {
        matches!(self, Self::Active | Self::Activated)
    }

    /// Returns the name used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Conditional => "conditional",
            Self::Activated => "activated",
            Self::Shadowed => "shadowed",
            Self::Invalid => "invalid",
            Self::Hidden => "hidden",
            Self::Denied => "denied",
            Self::Untrusted => "untrusted",
            Self::Ignored => "ignored",
            Self::Refused => "refused",
        }
    }
}

/// Reason for the state of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The rule that decided.
    pub rule: ReasonRule,
    /// Description of the cause, as a sentence fragment.
    pub message: String,
    /// Position in the file, if there is one.
    pub at: Option<LineColumn>,
    /// The file of that position, if it is not the skill's own.
    pub file: Option<AbsPath>,
    /// Suggested action, as a sentence.
    pub next: String,
    /// The candidate that won the name, as an index into
    /// [`Resolution::candidates`](super::Resolution::candidates).
    pub winner: Option<usize>,
}
