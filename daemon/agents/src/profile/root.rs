//! Search roots of a profile, as data that `skills_discovery::discover` acts on.

use super::{ExtensionRule, PluginRule, RootContent, Text};

/// One place, or one family of places, where an agent looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootRule {
    /// Where the relative paths start.
    pub base: RootBase,
    /// Paths below the base, in scan order. At each level of [`RootBase::Ancestors`] all are tried.
    pub relative: Vec<Text>,
    /// What an entry found here is called.
    pub scope: Scope,
    /// How the directory is walked.
    pub walk: WalkRule,
    /// What takes this root, or one of its paths, out of the list.
    pub switches: Vec<DisableSwitch>,
    /// What makes a skill there.
    pub seeks: RootContent,
    /// What the agent calls skills from here beside their names.
    pub label: Option<Text>,
}

/// A variable that switches a root off when it is `1` or `true`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisableSwitch {
    /// The variable's name.
    pub variable: Text,
    /// The one relative path it is about; none for all of them.
    pub relative: Option<Text>,
}

/// Where a root's relative path starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootBase {
    /// The user's home directory (`HOME`).
    Home,
    /// A directory named by an environment variable, else a path below home.
    Variable {
        /// The variable's name.
        name: Text,
        /// Used when the variable is unset or empty.
        below_home: Text,
    },
    /// A directory named by an environment variable; without it there is no such root.
    IfSet {
        /// The variable's name.
        name: Text,
    },
    /// The working directory and its ancestors, nearest first.
    Ancestors {
        /// The last directory that is looked at.
        stop: AncestorStop,
    },
    /// An absolute path.
    Absolute(Text),
    /// Each directory the caller added, in its order.
    Additional,
    /// What comes from elsewhere than the directories of a machine; it has no relative paths.
    Provided(Provider),
    /// Each directory that the agent's configuration files name, see [`super::Reads::SkillPaths`].
    Settings,
    /// The installed plugins of Claude Code; the relative path is not used.
    Plugins(PluginRule),
    /// Each installed extension of Gemini CLI; the relative path is below its directory.
    Extensions(ExtensionRule),
    /// What is part of the agent's program; it has no relative paths.
    BuiltIn(Vec<BuiltInSkill>),
}

/// A skill that is part of an agent's program. Its text is the agent's own: it alone hands that
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltInSkill {
    /// Its name.
    pub name: Text,
    /// What the agent says of it.
    pub description: Text,
}

/// Who provides skills that are in none of an agent's directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// skillsd itself.
    Bundled,
    /// Catalogs that are fetched by their addresses.
    Remote,
    /// The prompts of MCP servers.
    Mcp,
}

/// Where a walk towards the root directory ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AncestorStop {
    /// The working directory itself.
    Cwd,
    /// The top of the git worktree; outside git the working directory.
    Worktree,
    /// The last directory below the user's home, which itself is the user's own; elsewhere the
    /// file system's root.
    Home,
    /// The top of the git worktree; outside git the file system's root.
    WorktreeElseFilesystem,
    /// The file system's root.
    Filesystem,
}

/// Which of a repository's worktrees an agent reads, where it works in a linked one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkedWorktrees {
    /// The linked one alone.
    Alone,
    /// The linked one alone, though its documents say that the main one counts as well.
    AloneAgainstWord,
    /// Behind the linked one the same directories of the main one.
    WithMain,
}

/// Where an entry comes from, as the wire calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Set up by an administrator.
    Managed,
    /// The user's own.
    User,
    /// The worktree's.
    Project,
    /// Below the working directory, found by touching a file.
    Nested,
    /// In a directory the caller added.
    Additional,
    /// Part of the agent, or of skillsd.
    Bundled,
    /// From a catalog that was fetched.
    Remote,
    /// A prompt of an MCP server.
    Mcp,
    /// Part of a plugin of the agent.
    Plugin,
    /// A command file, which the agent takes for a skill.
    Command,
}

impl Scope {
    /// Returns the word used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Nested => "nested",
            Self::Additional => "additional",
            Self::Bundled => "bundled",
            Self::Remote => "remote",
            Self::Mcp => "mcp",
            Self::Plugin => "plugin",
            Self::Command => "command",
        }
    }

    /// Returns whether it comes with a worktree, which anybody may have written.
    pub const fn is_from_worktree(self) -> bool {
        match self {
            Self::Project | Self::Nested | Self::Additional => true,
            Self::Managed
            | Self::User
            | Self::Bundled
            | Self::Remote
            | Self::Mcp
            | Self::Plugin
            | Self::Command => false,
        }
    }
}

/// How a root directory is walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkRule {
    /// How many directories below the root a skill's directory may be; none is unlimited.
    pub max_depth: Option<u16>,
    /// Whether a SKILL.md directly in the root counts.
    pub root_skill: bool,
    /// Whether directories whose names begin with a dot are entered.
    pub hidden: bool,
    /// Directory names that are never entered, at any depth.
    pub skipped: Vec<Text>,
    /// Directory names directly below the root that the agent keeps for itself.
    pub reserved: Vec<Text>,
    /// Whether directories inside a skill's directory are searched for more skills.
    pub into_skills: bool,
    /// Which symbolic links to directories are followed.
    pub directory_links: LinkPolicy,
    /// Whether a SKILL.md may be a symbolic link.
    pub file_links: bool,
    /// Whether directories that are reached by a link come after all others beside them.
    pub links_last: bool,
    /// Whether a directory is walked each time it is reached, not once. For roots with a
    /// `max_depth`: else links could make the walk endless.
    pub repeats: bool,
    /// How many directories of one root the agent reads; none for all. We list what is in the
    /// others as well, and `explain` tells of it.
    pub most_directories: Option<usize>,
    /// How many entries of the directories of one root it reads, in the same way.
    pub most_entries: Option<usize>,
    /// Our own bounds on one root, beside the agent's.
    pub budget: WalkBudget,
}

/// Bounds on the reading of one root. The rest is left out, and the root counts as incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkBudget {
    /// The most levels below the root.
    pub depth: u16,
    /// The most directories.
    pub directories: usize,
    /// The most directories, links and Markdown files in all of them, and the most entries of any
    /// kind in one.
    pub entries: usize,
    /// The most SKILL.md and command files.
    pub files: usize,
    /// The most symbolic links.
    pub links: usize,
}

impl WalkBudget {
    /// The budget of every root whose row says nothing else.
    pub const DEFAULT: Self =
        Self { depth: 64, directories: 20_000, entries: 100_000, files: 20_000, links: 2_000 };
}

impl WalkRule {
    /// Returns what most agents do: any depth, links followed, hidden directories passed over.
    pub fn plain() -> Self {
        Self {
            max_depth: None,
            root_skill: false,
            hidden: false,
            skipped: Vec::new(),
            reserved: Vec::new(),
            into_skills: false,
            directory_links: LinkPolicy::Always,
            file_links: true,
            links_last: false,
            repeats: false,
            most_directories: None,
            most_entries: None,
            budget: WalkBudget::DEFAULT,
        }
    }
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPolicy {
    /// None.
    Never,
    /// Only those directly below the root.
    FirstLevel,
    /// All; each real directory counts once.
    Always,
}
