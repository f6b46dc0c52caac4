//! The configuration: every key once, as a field with its documentation.
//!
//! One table gives the struct, what may stand in a file ([`read()`]), the reference ([`page()`])
//! and the JSON Schema. A key is in the table when something reads it, and only then.
//! Where the files are and when they are read again is the daemon's business.

mod levels;
mod page;
mod permissions;
mod profile_page;
mod profiles;
mod read;
mod server;

use std::collections::BTreeMap;

use skills_agents::profile::ProfileSet;
use skills_discovery::permission::SkillRule;
use skills_discovery::remote::Address;

pub use levels::{LevelRow, PathLevels, RuleLevels, check_profiles, level_rows, levels_of};
pub use page::{page, schema};
pub use read::{Names, Parsed, Problem, read, read_knowing};
pub use server::McpServer;

/// Whose file a text is, and so what it may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user's own `config.toml`: all keys.
    User,
    /// The `.skillsd.toml` at a worktree's top, which anybody may have written: what only
    /// changes answers about that worktree, never trust and never execution.
    Repository,
}

/// When a change of a key counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// From the next call on.
    NextCall,
    /// For connections that are made after it.
    NextConnection,
    /// From the daemon's next start on.
    NextStart,
}

/// What values a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The id of a profile.
    Profile,
    /// `true` or `false`.
    Switch,
    /// A whole number from `min` to `max`.
    Number {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
        /// What is counted.
        unit: &'static str,
    },
    /// A list of ids of profiles.
    Profiles,
    /// A list of addresses of catalogs.
    Addresses,
    /// A table of MCP servers by their names.
    Servers,
    /// A table of profiles by their names.
    Own,
    /// A table of levels by rules.
    Rules,
    /// A table of tables of levels by globs.
    Paths,
    /// A table of actions by patterns of skills' names.
    Permissions,
}

/// A row of the table: one key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name with its tables, for example `log.level`.
    pub name: &'static str,
    /// What it does; the first line is one sentence.
    pub doc: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The value that counts when none is set, as in a file; none where the documentation says
    /// what happens then.
    pub default: Option<&'static str>,
    /// A value that differs from the default, as in a file.
    pub example: &'static str,
    /// Who may set it besides the user.
    pub repository: bool,
    /// When a change counts.
    pub applies: Applies,
}

impl Kind {
    /// Returns the words that a key of this kind takes; none for others.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Self::Choice(words) => words.to_vec(),
            Self::Profile | Self::Profiles => {
                skills_agents::profile::builtin().iter().map(|it| &*it.id).collect()
            }
            Self::Switch
            | Self::Number { .. }
            | Self::Addresses
            | Self::Servers
            | Self::Own
            | Self::Rules
            | Self::Paths
            | Self::Permissions => Vec::new(),
        }
    }
}

/// The words of `log.level`, the quietest first.
pub const LOG_LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

/// The words of `remote.http`.
const HTTP: &[&str] = &["loopback", "anywhere"];

/// A value of the right kind.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Scalar {
    Word(String),
    Number(u64),
    Words(Vec<String>),
    Addresses(Vec<Address>),
    Servers(BTreeMap<String, McpServer>),
    Own(ProfileSet),
    Rules(RuleLevels),
    Paths(PathLevels),
    Permissions(Vec<SkillRule>),
    Switch(bool),
}

/// A field that a value can be put into.
trait Slot {
    fn put(&mut self, scalar: Scalar);
}

impl Slot for Option<String> {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Word(word) = scalar {
            *self = Some(word);
        }
    }
}

impl Slot for Option<u64> {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Number(number) = scalar {
            *self = Some(number);
        }
    }
}

impl Slot for Vec<String> {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Words(words) = scalar {
            *self = words;
        }
    }
}

impl Slot for Vec<Address> {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Addresses(addresses) = scalar {
            *self = addresses;
        }
    }
}

impl Slot for BTreeMap<String, McpServer> {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Servers(servers) = scalar {
            *self = servers;
        }
    }
}

impl Slot for ProfileSet {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Own(profiles) = scalar {
            *self = profiles;
        }
    }
}

impl Slot for RuleLevels {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Rules(levels) = scalar {
            *self = levels;
        }
    }
}

impl Slot for PathLevels {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Paths(levels) = scalar {
            *self = levels;
        }
    }
}

impl Slot for Vec<SkillRule> {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Permissions(rules) = scalar {
            *self = rules;
        }
    }
}

impl Slot for bool {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Switch(on) = scalar {
            *self = on;
        }
    }
}

impl Slot for u64 {
    fn put(&mut self, scalar: Scalar) {
        if let Scalar::Number(number) = scalar {
            *self = number;
        }
    }
}

const REPOSITORY: bool = true;
const USER: bool = false;

macro_rules! config {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $ty:ty = $value:expr,
            $name:literal, $kind:expr, $default:expr, $example:literal, $who:ident, $applies:ident;
    )*) => {
        /// What the files decide; [`Default`] is what counts without any.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $field: $ty,)*
        }

        impl Default for Config {
            fn default() -> Self {
                Self { $($field: $value,)* }
            }
        }

        impl Config {
            // The row says which kind the value has, so it fits the field.
            fn set(&mut self, name: &str, scalar: Scalar) {
                match name {
                    $($name => self.$field.put(scalar),)*
                    _ => {}
                }
            }
        }

        /// Every key, in the order of the reference.
        pub const KEYS: &[Key] = &[$(Key {
            name: $name,
            doc: concat!($($doc, "\n"),+),
            kind: $kind,
            default: $default,
            example: $example,
            repository: $who,
            applies: Applies::$applies,
        },)*];
    };
}

/// The largest number that TOML can write, more or less.
const MOST: u64 = i64::MAX as u64;

config! {
    /// The profile whose rules apply when a call names none.
    ///
    /// A repository's choice counts before the user's, and `--profile` before both.
    profile: Option<String> = None,
        "profile", Kind::Profile, Some("\"agentskills\""), "\"claude-code\"", REPOSITORY, NextCall;
    /// Profiles of your own, and what you change of the built-in ones.
    ///
    /// The keys are below, at `[profiles.NAME]`.
    profiles: ProfileSet = ProfileSet::default(),
        "profiles", Kind::Own, None,
        r#"{ "house" = { "base" = "claude-code", "duplicates" = "last-wins" } }"#, USER, NextCall;
    /// Whether what comes with a worktree waits until you trust it (`skillsd trust`).
    ///
    /// Running anything of it always waits for that, whatever this says; with it, nothing of it is
    /// listed or loaded before either. Gemini CLI asks for that by itself.
    require_trust: bool = false,
        "require_trust", Kind::Switch, Some("false"), "true", USER, NextCall;
    /// How much of a SKILL.md is read.
    ///
    /// What is beyond it is left out, with a finding that says so.
    read_limit: u64 = 256 * 1024,
        "read_limit", Kind::Number { min: 1024, max: 64 * 1024 * 1024, unit: "bytes" },
        Some("262144"), "1048576", USER, NextCall;
    /// The profiles whose agents count for `skillsd check` and in editors.
    ///
    /// What one of them drops is an error, what none of them minds is said as a hint at most.
    /// `--profile` of `skillsd check` counts before it.
    check_profiles: Vec<String> = Vec::new(),
        "check.profiles", Kind::Profiles,
        Some(r#"["agentskills", "claude-code", "opencode", "codex", "gemini-cli"]"#),
        "[\"claude-code\", \"codex\"]", REPOSITORY, NextCall;
    /// How much rules matter: `off`, `hint`, `information`, `warning` or `error`.
    ///
    /// A rule is named as in [rules.md](rules.md); `family/*` stands for a family and `*` for all.
    /// The narrowest name counts, and a repository's choice before the user's.
    check_rules: RuleLevels = RuleLevels::default(),
        "check.rules", Kind::Rules, None,
        r#"{ "yaml/alias" = "error", "security/*" = "warning" }"#, REPOSITORY, NextCall;
    /// How much rules matter in some files, by globs.
    ///
    /// A glob is compared with the path from the worktree's top, or with the absolute path of a
    /// file outside of it. It counts before `check.rules`, and of two globs the lower one.
    check_paths: PathLevels = PathLevels::default(),
        "check.paths", Kind::Paths, None,
        r#"{ "vendor/**" = { "*" = "off" } }"#, REPOSITORY, NextCall;
    /// How much the log says.
    ///
    /// The option `--log` of `skillsd serve` and the variable `SKILLSD_LOG` count before it, and
    /// can say more: they take the filters of `tracing`, for example `warn,skillsd=debug`.
    log_level: Option<String> = None,
        "log.level", Kind::Choice(LOG_LEVELS), Some("\"info\""), "\"debug\"", USER, NextCall;
    /// After how many days without use a session is forgotten.
    ///
    /// With it goes what was found, activated, announced and loaded in it.
    sessions_keep: u64 = 30,
        "sessions.keep", Kind::Number { min: 1, max: 36_500, unit: "days" },
        Some("30"), "7", USER, NextCall;
    /// Which skills may be used: an action for each pattern of names.
    ///
    /// `*` and `?` are wildcards, and of several patterns that match the last one counts.
    /// `"deny"` takes a skill away, `"ask"` has you asked before it is loaded or run, `"allow"`
    /// loads it where the agent's own rules would ask.
    /// What an agent's own rules deny stays denied.
    /// A repository can only deny and ask.
    permission_skill: Vec<SkillRule> = Vec::new(),
        "permission.skill", Kind::Permissions, None,
        r#"{ "deploy-*" = "ask", "internal-*" = "deny" }"#, REPOSITORY, NextCall;
    /// How long a question whether a skill may be used waits for its answer.
    ///
    /// One that nobody has answered by then is answered with no.
    permission_timeout: u64 = 600,
        "permission.timeout", Kind::Number { min: 1, max: 86_400, unit: "seconds" },
        Some("600"), "60", USER, NextCall;
    /// After how long without a connection the daemon ends; 0 is never.
    ///
    /// Without it a daemon that a command started ends after half an hour, and one that
    /// `skillsd serve` or systemd runs never does.
    /// A worktree that somebody opened to keep (`worktree/open`) keeps the daemon as well.
    idle_exit: Option<u64> = None,
        "daemon.idle_exit", Kind::Number { min: 0, max: MOST, unit: "seconds" },
        None, "7200", USER, NextCall;
    /// Whether `skills/run` runs scripts of skills.
    ///
    /// It needs a skill that is trusted besides. Whoever loads a skill can run its scripts without
    /// this, under an agent's own rules.
    run_scripts: bool = false,
        "run.scripts", Kind::Switch, Some("false"), "true", USER, NextCall;
    /// Whether `skills/load` may run the commands in a skill's body when it is asked to.
    ///
    /// It needs a skill that is trusted besides. Without it the commands are given back, to be run
    /// under an agent's own rules.
    run_shell: bool = false,
        "run.shell", Kind::Switch, Some("false"), "true", USER, NextCall;
    /// How long a script or a command may run.
    run_timeout: u64 = 120,
        "run.timeout", Kind::Number { min: 1, max: 3600, unit: "seconds" },
        Some("120"), "30", USER, NextCall;
    /// How much of what a script or a command prints is kept.
    run_output: u64 = 256 * 1024,
        "run.output", Kind::Number { min: 1024, max: 2 * 1024 * 1024, unit: "bytes" },
        Some("262144"), "65536", USER, NextCall;
    /// How many connections are served at the same time.
    connections: u64 = 128,
        "limits.connections", Kind::Number { min: 4, max: 65_536, unit: "connections" },
        Some("128"), "512", USER, NextConnection;
    /// How many requests of one connection may be under way.
    ///
    /// With so many under way the daemon reads no more from it until one is answered.
    requests_in_flight: u64 = 32,
        "limits.requests_in_flight", Kind::Number { min: 1, max: 4096, unit: "requests" },
        Some("32"), "64", USER, NextConnection;
    /// How long one message to the daemon may be.
    message_bytes_in: u64 = 1024 * 1024,
        "limits.message_bytes_in",
        Kind::Number { min: 64 * 1024, max: 1024 * 1024 * 1024, unit: "bytes" },
        Some("1048576"), "4194304", USER, NextConnection;
    /// How long one message from the daemon may be.
    message_bytes_out: u64 = 8 * 1024 * 1024,
        "limits.message_bytes_out",
        Kind::Number { min: 8 * 1024 * 1024, max: 1024 * 1024 * 1024, unit: "bytes" },
        Some("8388608"), "16777216", USER, NextConnection;
    /// The profiles that list skillsd's own skills as well.
    ///
    /// They help to write skills and to find out why one is not seen.
    /// Their files are put into the cache directory when one is first used.
    bundled_profiles: Vec<String> = Vec::new(),
        "bundled.profiles", Kind::Profiles, Some("[]"), "[\"agentskills\"]", USER, NextCall;
    /// Catalogs of skills to fetch, by their addresses.
    ///
    /// An address begins with `https://`, or with `http://` for this machine itself; below it
    /// there is an `index.json`.
    remote_urls: Vec<Address> = Vec::new(),
        "remote.urls", Kind::Addresses, Some("[]"), "[\"https://example.org/skills\"]",
        USER, NextCall;
    /// The profiles that list the skills of `remote.urls`.
    ///
    /// What an agent's own configuration names is listed in that agent's profile in any case.
    remote_profiles: Vec<String> = vec!["agentskills".to_owned()],
        "remote.profiles", Kind::Profiles, Some("[\"agentskills\"]"),
        "[\"agentskills\", \"codex\"]", USER, NextCall;
    /// How often catalogs are asked whether they have changed.
    remote_interval: u64 = 3600,
        "remote.interval", Kind::Number { min: 10, max: 31_536_000, unit: "seconds" },
        Some("3600"), "86400", USER, NextCall;
    /// Where catalogs may be fetched from without encryption.
    remote_http: Option<String> = None,
        "remote.http", Kind::Choice(HTTP), Some("\"loopback\""), "\"anywhere\"", USER, NextCall;
    /// MCP servers whose prompts are listed as skills, by names of your choice.
    ///
    /// Each has a `command`, and may have `args` and `env`. It is started when a list needs it
    /// and talks on its standard input and output. A prompt is listed as `mcp__SERVER__PROMPT`.
    mcp_servers: BTreeMap<String, McpServer> = BTreeMap::new(),
        "mcp.servers", Kind::Servers, None,
        r#"{ "notes" = { "command" = "notes-mcp", "args" = ["--stdio"] } }"#, USER, NextCall;
    /// The profiles that list the prompts of `mcp.servers`.
    mcp_profiles: Vec<String> = vec!["agentskills".to_owned(), "claude-code".to_owned()],
        "mcp.profiles", Kind::Profiles, Some("[\"agentskills\", \"claude-code\"]"),
        "[\"opencode\"]", USER, NextCall;
    /// How long an MCP server may take to start, and to answer.
    mcp_timeout: u64 = 10,
        "mcp.timeout", Kind::Number { min: 1, max: 600, unit: "seconds" },
        Some("10"), "30", USER, NextCall;
    /// After how long without use an MCP server is stopped; its prompts stay listed.
    mcp_idle: u64 = 600,
        "mcp.idle", Kind::Number { min: 1, max: 31_536_000, unit: "seconds" },
        Some("600"), "60", USER, NextCall;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toml(key: &Key, value: &str) -> String {
        format!("{} = {value}\n", key.name)
    }

    #[test]
    fn each_documented_default_is_the_default() {
        for key in KEYS.iter().filter(|key| key.default.is_some()) {
            let text = toml(key, key.default.expect("filtered"));
            let parsed = read(text.as_bytes(), Source::User);
            assert!(parsed.problems.is_empty(), "{text}{:?}", parsed.problems);
            // A choice that is not set is none; what counts then is for whoever reads it.
            if matches!(key.kind, Kind::Number { .. } | Kind::Switch) {
                assert_eq!(parsed.config, Config::default(), "{text}");
            }
        }
        assert_eq!(skills_agents::profile::DEFAULT, "agentskills");
    }

    #[test]
    fn each_example_changes_something() {
        for key in KEYS {
            let text = toml(key, key.example);
            let parsed = read(text.as_bytes(), Source::User);
            assert!(parsed.problems.is_empty(), "{text}{:?}", parsed.problems);
            assert_ne!(parsed.config, Config::default(), "{text}");
            let repository = read(text.as_bytes(), Source::Repository);
            assert_eq!(repository.problems.is_empty(), key.repository, "{text}");
        }
    }

    #[test]
    fn each_key_begins_with_a_sentence() {
        for key in KEYS {
            let first = key.doc.lines().next().unwrap_or_default().trim();
            assert!(first.ends_with('.') && first.len() > 10, "{}: {first}", key.name);
        }
    }
}
