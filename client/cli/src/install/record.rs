//! What was installed, so that exactly that is removed: a file in the state directory.
//!
//! It holds what was put in and nothing of the files around it, which may hold secrets.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skills_protocol::path::{PathEncoding, decode, encode, encoding_of};
use skills_protocol::wire::InstallPart;

use crate::install::file;
use crate::install::item::{Form, Item};

const NAME: &str = "installed.json";

/// All that is installed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    traces: Vec<Trace>,
}

/// What was done to one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Trace {
    path: String,
    path_encoding: Option<PathEncoding>,
    pub(super) part: InstallPart,
    pub(super) owner: String,
    /// The whole text of a file that is ours alone.
    pub(super) text: Option<String>,
    /// The language of a file that is somebody else's.
    pub(super) form: Option<Form>,
    /// What was put into it.
    pub(super) items: Vec<Item>,
    /// The objects and lists that were made to hold it.
    pub(super) made: Vec<Vec<String>>,
    /// Whether the file was not there before.
    pub(super) created: bool,
    /// The directories that were made for it, the outer first.
    dirs: Vec<(String, Option<PathEncoding>)>,
}

impl Trace {
    /// Returns the trace of a file that nothing was done to yet.
    pub(super) fn new(path: &Path, part: InstallPart, owner: &str) -> Self {
        let path_encoding = encoding_of([path]);
        Self {
            path: encode(path, path_encoding),
            path_encoding,
            part,
            owner: owner.to_owned(),
            text: None,
            form: None,
            items: Vec::new(),
            made: Vec::new(),
            created: false,
            dirs: Vec::new(),
        }
    }

    /// Returns the file.
    pub(super) fn path(&self) -> Option<PathBuf> {
        decode(&self.path, self.path_encoding).ok()
    }

    /// Notes directories that were made, the outer first.
    pub(super) fn note_dirs(&mut self, dirs: &[PathBuf]) {
        let dirs = dirs.iter().map(|it| (encode(it, encoding_of([&**it])), encoding_of([&**it])));
        self.dirs.extend(dirs);
    }

    /// Returns the directories that were made, the inner first.
    pub(super) fn dirs(&self) -> impl Iterator<Item = PathBuf> {
        self.dirs.iter().rev().filter_map(|(path, encoding)| decode(path, *encoding).ok())
    }
}

impl Record {
    /// Reads the record; none yet is an empty one.
    pub(super) fn read(state: &Path) -> io::Result<Self> {
        match file::read(&state.join(NAME))? {
            Some(text) => serde_json::from_str(&text).map_err(io::Error::from),
            None => Ok(Self::default()),
        }
    }

    /// Writes the record, or removes it where nothing is installed any more.
    pub(super) fn write(&self, state: &Path) -> io::Result<()> {
        let path = state.join(NAME);
        if self.traces.is_empty() {
            return file::remove(&path);
        }
        file::write(&path, &serde_json::to_string_pretty(self)?).map(drop)
    }

    /// Returns what was done to a file for a part.
    pub(super) fn of(&self, path: &Path, part: InstallPart) -> Option<&Trace> {
        self.traces.iter().find(|it| it.part == part && it.path().as_deref() == Some(path))
    }

    /// Returns what was done for some parts.
    pub(super) fn of_parts<'a>(
        &'a self,
        parts: &'a [InstallPart],
    ) -> impl Iterator<Item = &'a Trace> {
        self.traces.iter().filter(|it| parts.contains(&it.part))
    }

    /// Tells whether anything was done to a file.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.traces.iter().any(|it| it.path().as_deref() == Some(path))
    }

    /// Keeps a trace in place of the one of the same file and part.
    pub(super) fn keep(&mut self, trace: Trace) {
        self.drop(&trace);
        self.traces.push(trace);
    }

    /// Forgets what was done to a file for a part. What another part has done to it stays, and with
    /// it whether the file was there before.
    pub(super) fn forget(&mut self, trace: &Trace) {
        self.drop(trace);
        if let Some(other) = self.traces.iter_mut().find(|it| it.path() == trace.path()) {
            other.created |= trace.created;
            other.dirs.extend(trace.dirs.iter().cloned());
        }
    }

    fn drop(&mut self, trace: &Trace) {
        self.traces.retain(|it| it.part != trace.part || it.path() != trace.path());
    }
}
