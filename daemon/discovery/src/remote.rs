//! Registries: parsing of their URLs and indexes.
//!
//! The pure half of fetching skills by URL. An index comes from another machine, so every name in
//! it is checked here before it becomes a path or a URL. The engine fetches and stores the files.

mod address;
mod index;
mod name;

pub use address::{Address, AddressError, redact};
pub use index::{Index, IndexError, MAX_FILES, MAX_SKILLS, RegistrySkill, read};
pub use name::{check_file, check_skill};
