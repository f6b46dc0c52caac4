//! [`ConfigKey`]: one row of the key table, with its type and documentation.

/// The kind of configuration file, which decides the keys that it can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// The user's `config.toml`, with all keys.
    User,
    /// The `.skillsd.toml` at a worktree's top. It is not trusted: it only changes answers about
    /// that worktree, and never grants trust or execution.
    Repository,
}

/// The time at which a changed key takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    NextCall,
    NextConnection,
    /// From the daemon's next start.
    NextStart,
}

/// The values that a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of these words.
    Choices(&'static [&'static str]),
    Profile,
    /// `true` or `false`.
    Switch,
    /// A whole number from `min` to `max`.
    Number {
        min: u64,
        max: u64,
        unit: &'static str,
    },
    /// A list of profile ids.
    Profiles,
    /// A list of registry URLs.
    Addresses,
    /// A table of MCP servers by name.
    Servers,
    /// A table of profiles by name.
    CustomProfiles,
    /// A table of levels by rule.
    Rules,
    /// A table by glob of tables of levels.
    Paths,
    /// A table of actions by pattern of skill names.
    Permissions,
}

/// One configuration key: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey {
    /// Name with its tables, for example `log.level`.
    pub name: &'static str,
    /// Documentation; the first line is one sentence.
    pub doc: &'static str,
    pub kind: ValueKind,
    /// Default value in TOML; `None` if the documentation describes the default.
    pub default: Option<&'static str>,
    /// Value in TOML that differs from the default.
    pub example: &'static str,
    /// True if a repository can set the key.
    pub repository: bool,
    /// Time at which a change takes effect.
    pub applies: Applies,
}

impl ValueKind {
    /// Returns the words that a key of this kind accepts; empty for kinds without fixed words.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Self::Choice(words) | Self::Choices(words) => words.to_vec(),
            Self::Profile | Self::Profiles => {
                skills_agents::profile::builtin().iter().map(|it| &*it.id).collect()
            }
            Self::Switch
            | Self::Number { .. }
            | Self::Addresses
            | Self::Servers
            | Self::CustomProfiles
            | Self::Rules
            | Self::Paths
            | Self::Permissions => Vec::new(),
        }
    }
}
