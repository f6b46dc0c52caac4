//! Records of our changes: JSON files in the state directory, and paths in them.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skills_protocol::path::{PathEncoding, decode, encode, encoding_of};

use super::file;

/// Writes a record, or removes the file for `None`.
pub(crate) fn write<T: Serialize>(state: &Path, name: &str, record: Option<&T>) -> io::Result<()> {
    let path = state.join(name);
    let Some(record) = record else { return file::remove(&path) };
    create_directory(state)?;
    file::write(&path, &serde_json::to_string_pretty(record)?).map(drop)
}

/// Creates the state directory. The daemon's logs and sessions come here too, so that it is closed
/// to others.
pub(crate) fn create_directory(state: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(state)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedPath(String, Option<PathEncoding>);

impl RecordedPath {
    pub(crate) fn new(path: &Path) -> Self {
        let encoding = encoding_of([path]);
        Self(encode(path, encoding), encoding)
    }

    pub(crate) fn all(paths: &[PathBuf]) -> Vec<Self> {
        paths.iter().map(|it| Self::new(it)).collect()
    }

    pub(crate) fn path(&self) -> Option<PathBuf> {
        decode(&self.0, self.1).ok()
    }
}
