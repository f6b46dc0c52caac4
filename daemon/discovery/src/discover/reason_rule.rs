//! Rule that decides on a skill or a path ([`ReasonRule`]), with its stable name.

use std::fmt;

use skills_agents::keyword::Keyword as _;
use skills_agents::loaders::LoadRule;
use skills_syntax::diagnostic::ProblemCode;

/// Declares [`ReasonRule`]: each rule of discovery with its stable name.
macro_rules! reason_rules {
    ($($rule:ident = $text:literal,)*) => {
        /// The rule that decides on a skill or a path.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ReasonRule {
            /// A rule by which an agent loads a file.
            Load(LoadRule),
            /// A problem in the text of a file.
            Problem(ProblemCode),
            $(#[doc = concat!("`", $text, "`")] $rule,)*
        }

        impl ReasonRule {
            /// Returns the stable name, as on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    Self::Load(rule) => rule.keyword(),
                    Self::Problem(code) => code.as_str(),
                    $(Self::$rule => $text,)*
                }
            }
        }
    };
}

reason_rules! {
    BuiltIn = "agent/built-in",
    DescriptionPlugin = "description/plugin",
    ExtensionEnabled = "extension/enabled",
    FileIdentity = "file/identity",
    FileName = "file/name",
    FileReadable = "file/readable",
    FileThere = "file/there",
    LinkOutside = "link/outside",
    LinkUntrusted = "link/untrusted",
    MetadataPolicy = "metadata/policy",
    ModelInvocation = "model-invocation",
    NameDuplicate = "name/duplicate",
    NameUnique = "name/unique",
    NestedIgnored = "nested/ignored",
    NestedTouched = "nested/touched",
    PathExists = "path/exists",
    Paths = "paths",
    PermissionDenied = "permission/denied",
    PermissionToolOff = "permission/tool-off",
    PluginEnabled = "plugin/enabled",
    PluginTrusted = "plugin/trusted",
    ProjectTrusted = "project/trusted",
    RootBounds = "root/bounds",
    RootKnown = "root/known",
    RootReadable = "root/readable",
    RootsSearched = "roots/searched",
    SettingsNameOnly = "settings/name-only",
    SettingsOff = "settings/off",
    SettingsUserOnly = "settings/user-only",
    SkillsdDenied = "skillsd/denied",
    SkillsdTrusted = "skillsd/trusted",
    WalkBounds = "walk/bounds",
    WalkBudget = "walk/budget",
    WalkDepth = "walk/depth",
    WalkDirectories = "walk/directories",
    WalkEntries = "walk/entries",
    WalkHidden = "walk/hidden",
    WalkLinks = "walk/links",
    WalkReserved = "walk/reserved",
    WalkRootSkill = "walk/root-skill",
    WalkSkipped = "walk/skipped",
    WalkWithinSkill = "walk/within-skill",
    WorktreeLinked = "worktree/linked",
    WorktreeOther = "worktree/other",
    WorktreeProven = "worktree/proven",
}

impl ReasonRule {
    /// Returns true for a rule of skillsd itself: limits and refusals that no agent has.
    pub fn is_of_skillsd(self) -> bool {
        matches!(
            self,
            Self::LinkOutside
                | Self::LinkUntrusted
                | Self::RootBounds
                | Self::WalkBounds
                | Self::WalkBudget
                | Self::WorktreeProven
                | Self::SkillsdDenied
                | Self::SkillsdTrusted
        )
    }
}

impl fmt::Display for ReasonRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
