//! Remote catalogs: what an address must look like, and what an index may say.
//!
//! The pure half of fetching skills by URL: text in, values out. An index comes from somebody
//! else's machine, so every name in it is checked here before it becomes a path or an address;
//! what fetches, and where it is kept, is the engine's business.

mod address;
mod index;
mod name;

pub use address::{Address, AddressError};
pub use index::{Index, IndexError, MAX_FILES, MAX_SKILLS, Offer, read};
pub use name::{check_file, check_skill};
