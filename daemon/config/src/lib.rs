//! Configuration keys: one table defines each key with its type, default and documentation.
//!
//! The table generates [`Config`], the reader ([`read()`]), and in a test of the tree the reference
//! page and the JSON Schemas. Every key in the table is used. The daemon locates the files and
//! reloads them.

mod key;
mod level_rows;
mod levels;
mod permissions;
mod profiles;
mod read;
mod reader;
mod server;
mod table;
mod value;

pub use key::{Applies, ConfigKey, ConfigSource, ValueKind};
pub use level_rows::{LevelRow, check_profiles, level_rows, levels_of};
pub use levels::{PathLevels, RuleLevels, rule_patterns};
pub use permissions::ACTIONS;
pub use profiles::PROFILE_KEYS;
pub use profiles::key::{ProfileKey, ProfileKeyKind};
pub use profiles::root::{ANY_DEPTH, DEEPEST, ROOT_KEYS, walk_keys};
pub use read::{read, read_with_names};
pub use reader::{KnownNames, Parsed, Problem};
pub use server::{McpServer, SERVER_KEYS};
pub use table::{BUNDLED_SKILLS, Config, KEYS, LOG_LEVELS, MAX_INTEGER};
