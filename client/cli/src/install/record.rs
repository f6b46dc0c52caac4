//! Record of the installation ([`Record`]), a file in the state directory, so that `uninstall`
//! removes exactly what `install` added.
//!
//! Contains our own entries only, because the files around them may contain secrets.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skills_protocol::path::{PathEncoding, decode, encode, encoding_of};
use skills_protocol::wire::InstallPart;

use crate::agent_config::file;
use crate::agent_config::item::{ConfigEntry, FileFormat};
use crate::agent_config::state_record::{self, RecordedPath};

const NAME: &str = "installed.json";

/// File that a command locks while it changes the record, which itself is replaced.
const LOCK: &str = "installed.lock";

/// All installed entries.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    traces: Vec<Trace>,
}

/// Changes of one file for one part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Trace {
    path: String,
    path_encoding: Option<PathEncoding>,
    pub(super) part: InstallPart,
    pub(super) owner: String,
    /// Content of a file that is ours.
    pub(super) text: Option<String>,
    /// Format of a file of another program.
    pub(super) form: Option<FileFormat>,
    pub(super) items: Vec<ConfigEntry>,
    /// Paths of objects and lists that were created for the entries.
    pub(super) made: Vec<Vec<String>>,
    /// True if the file did not exist before.
    pub(super) created: bool,
    /// Directories that were created for the file, outermost first.
    dirs: Vec<RecordedPath>,
}

impl Trace {
    /// Returns the trace of an unchanged file.
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

    pub(super) fn path(&self) -> Option<PathBuf> {
        decode(&self.path, self.path_encoding).ok()
    }

    /// Adds directories that were created, outermost first.
    pub(super) fn note_dirs(&mut self, dirs: &[PathBuf]) {
        self.dirs.extend(RecordedPath::all(dirs));
    }

    /// Returns whether this records enabled units of a package, and no change of a file.
    pub(super) fn is_switch(&self) -> bool {
        self.part == InstallPart::Units && self.text.is_none()
    }

    /// Returns the directories that were created, innermost first.
    pub(super) fn dirs(&self) -> impl Iterator<Item = PathBuf> {
        self.dirs.iter().rev().filter_map(RecordedPath::path)
    }
}

impl Record {
    /// Reads the record; returns an empty one if there is no file.
    pub(super) fn read(state: &Path) -> io::Result<Self> {
        match file::read(&state.join(NAME))? {
            Some(text) => serde_json::from_str(&text).map_err(io::Error::from),
            None => Ok(Self::default()),
        }
    }

    /// Waits until no other command changes the record, and locks it until the file is dropped.
    pub(super) fn lock(state: &Path) -> io::Result<File> {
        state_record::create_directory(state)?;
        let file = File::options().create(true).append(true).mode(0o600).open(state.join(LOCK))?;
        file.lock().map(|()| file)
    }

    /// Writes the record, or removes the file if the record is empty.
    pub(super) fn write(&self, state: &Path) -> io::Result<()> {
        state_record::write(state, NAME, (!self.traces.is_empty()).then_some(self))
    }

    pub(super) fn of(&self, path: &Path, part: InstallPart) -> Option<&Trace> {
        self.traces.iter().find(|it| it.part == part && it.path().as_deref() == Some(path))
    }

    /// Returns the traces of these parts.
    pub(super) fn traces_of<'a>(
        &'a self,
        parts: &'a [InstallPart],
    ) -> impl Iterator<Item = &'a Trace> {
        self.traces.iter().filter(|it| parts.contains(&it.part))
    }

    pub(super) fn knows(&self, path: &Path) -> bool {
        self.traces.iter().any(|it| it.path().as_deref() == Some(path))
    }

    /// Adds a trace, and replaces the one of the same file and part.
    pub(super) fn keep(&mut self, trace: Trace) {
        self.drop(&trace);
        self.traces.push(trace);
    }

    /// Removes the trace of a file and part. A trace of another part of the same file inherits the
    /// created file and directories.
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
