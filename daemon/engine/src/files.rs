//! Disk access of the engine: reading, the directory index, the scanner that updates it, content
//! records and ignore rules.

pub(crate) mod counters;
pub(crate) mod dir_index;
pub(crate) mod ignored;
pub(crate) mod name_map;
pub mod near_miss;
pub(crate) mod pool;
pub(crate) mod records;
pub(crate) mod remote_fs_guard;
pub(crate) mod ripgrep_listing;
pub(crate) mod scanner;
pub(crate) mod skill_file;
