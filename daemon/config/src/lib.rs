//! Configuration keys: one table defines each key with its type, default and documentation.
//!
//! The table generates [`Config`], the reader ([`read()`]), the reference page ([`page()`]) and the
//! JSON Schema. Every key in the table is used. The daemon locates the files and reloads them.

mod key;
mod level_rows;
mod levels;
mod page;
mod permissions;
mod profile_page;
mod profiles;
mod read;
mod reader;
mod server;
mod table;
mod value;

pub use key::{Applies, ConfigKey, ConfigSource, ValueKind};
pub use level_rows::{LevelRow, check_profiles, level_rows, levels_of};
pub use levels::{PathLevels, RuleLevels};
pub use page::{page, schema};
pub use read::{read, read_with_names};
pub use reader::{KnownNames, Parsed, Problem};
pub use server::McpServer;
pub use table::{BUNDLED_SKILLS, Config, KEYS, LOG_LEVELS};
