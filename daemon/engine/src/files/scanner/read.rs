//! Disk reads of the scanner: listings, file contents, and the mapping of errors to faults.
//!
//! The functions take paths only, not the index, so that the pool can run many at a time. Each read
//! takes its start time first ([`ReadStat::after_read_started`]).

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rustix::io::Errno;
use skills_agents::skill::FileFacts;
use skills_discovery::discover::{
    Fault, FaultKind, ListedItem, Listing, SkillFile, TEXT_LIMIT, TextFile,
};

use crate::disk::{
    Directory, Disk, EntryKind, FileInDirectory, MOST_ENTRIES, ReadError, content_hash,
    is_skill_name,
};
use crate::files::dir_index::{DirNode, FileState, Probe, ReadStat};
use crate::files::records::Records;

/// Result of a directory job: the listing, and the SKILL.md if it is a regular file.
pub(super) struct Listed {
    listing: Result<(ReadStat, Arc<Listing>), Fault>,
    pub(super) skill: Option<FileState<SkillFile>>,
}

impl DirNode {
    /// Stores a listing. Cached file answers stay: a hint or a sweep decides whether they still
    /// hold, so that dependent views are updated.
    pub(super) fn take_listing(&mut self, listed: Listed) {
        let name = OsStr::new("SKILL.md");
        if let Some(skill) = listed.skill
            && self.files.get(name).is_none()
        {
            self.files.insert(name.to_owned(), skill);
        }
        if let Ok((seen, _)) = &listed.listing {
            self.seen.get_or_insert(*seen);
        }
        self.listing = Some(listed.listing.map(|it| it.1));
    }
}

impl FileState<SkillFile> {
    /// Keeps the last good content, marked stale, if this read failed for a temporary reason.
    pub(super) fn or_keep(self, old: &Self) -> Self {
        match (&self.result, &old.result) {
            (Err(fault), Ok(good)) if matches!(fault.kind, FaultKind::Changing | FaultKind::Io) => {
                let stale = SkillFile { stale: Some(fault.clone()), ..good.clone() };
                Self { seen: None, result: Ok(stale) }
            }
            _ => self,
        }
    }
}

/// Returns the metadata of a path; a final link is not followed.
pub(super) fn see(disk: &dyn Disk, path: &OsStr) -> Option<ReadStat> {
    let at = SystemTime::now();
    disk.stat(Path::new(path)).ok().map(|it| ReadStat::after_read_started(at, it))
}

pub(super) fn list_directory(
    disk: &dyn Disk,
    records: &Records,
    dir: &OsStr,
    limit: u64,
) -> Listed {
    let at = SystemTime::now();
    let name = OsStr::new("SKILL.md");
    match disk.list_and_read(Path::new(dir), name, limit) {
        Ok((directory, skill)) => Listed {
            listing: Ok(keep_listed(at, dir, directory)),
            skill: skill.map(|it| file_state(at, records, it)),
        },
        Err(error) => Listed { listing: Err(fault(&error)), skill: None },
    }
}

pub(super) fn list_entries(
    disk: &dyn Disk,
    dir: &OsStr,
) -> Result<(ReadStat, Arc<Listing>), Fault> {
    let at = SystemTime::now();
    let directory = disk.list_physical(Path::new(dir)).map_err(|error| fault(&error))?;
    Ok(keep_listed(at, dir, directory))
}

/// Returns the listing of a directory read at `at`, with the entries that some agent may read.
fn keep_listed(at: SystemTime, dir: &OsStr, directory: Directory) -> (ReadStat, Arc<Listing>) {
    let entries = directory.entries.len();
    // Directories of settings files that an agent merges, such as `managed-settings.d`.
    let has_settings = dir.as_bytes().ends_with(b".d");
    let is_kept = |name: &OsStr| {
        let name = name.as_bytes();
        name.ends_with(b".md") || (has_settings && name.ends_with(b".json"))
    };
    let mut items: Vec<ListedItem> = directory
        .entries
        .into_iter()
        // A partial listing of a huge directory would be arbitrary.
        .filter(|_| entries <= MOST_ENTRIES)
        .filter(|(name, kind)| {
            matches!(kind, EntryKind::Directory | EntryKind::Link)
                || is_skill_name(name)
                || (*kind == EntryKind::File && is_kept(name))
        })
        .map(|(name, kind)| ListedItem { name, kind: kind.into() })
        .collect();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    let seen = ReadStat::after_read_started(at, directory.stat);
    (seen, Arc::new(Listing { id: directory.stat.id, items: items.into(), entries }))
}

pub(super) fn read_skill(
    disk: &dyn Disk,
    records: &Records,
    (dir, name): (&OsStr, &OsStr),
    limit: u64,
) -> FileState<SkillFile> {
    let at = SystemTime::now();
    file_state(at, records, disk.read_in(Path::new(dir), name, limit))
}

/// Returns the state of a SKILL.md that was read, beginning at `at`.
fn file_state(at: SystemTime, records: &Records, file: FileInDirectory) -> FileState<SkillFile> {
    match file {
        Ok((file, directory)) => {
            let facts = FileFacts {
                size: file.stat.size,
                truncated: file.truncated,
                hash: content_hash(&file.bytes),
            };
            let record = records.of(&file.bytes, facts);
            let result = Ok(SkillFile { id: file.stat.id, directory, record, stale: None });
            FileState { seen: Some(ReadStat::after_read_started(at, file.stat)), result }
        }
        Err(error) => FileState { seen: None, result: Err(read_fault(&error)) },
    }
}

/// Claude Code's file of trusted folders, which also holds its history and so outgrows settings.
const STATE_FILE: &str = ".claude.json";

/// Maximum size of [`STATE_FILE`], in bytes.
const STATE_LIMIT: u64 = 16 * TEXT_LIMIT;

pub(super) fn read_text(disk: &dyn Disk, dir: &OsStr, name: &OsStr) -> FileState<Arc<TextFile>> {
    let at = SystemTime::now();
    let limit = if name == STATE_FILE { STATE_LIMIT } else { TEXT_LIMIT };
    match disk.read_in(Path::new(dir), name, limit).map(|it| it.0) {
        Ok(file) if file.truncated => {
            let detail = format!("{} bytes; the limit is {limit}", file.stat.size);
            let fault = Fault { kind: FaultKind::TooLarge, detail };
            FileState {
                seen: Some(ReadStat::after_read_started(at, file.stat)),
                result: Err(fault),
            }
        }
        Ok(file) => {
            let text = Arc::new(TextFile::new(&file.bytes));
            FileState { seen: Some(ReadStat::after_read_started(at, file.stat)), result: Ok(text) }
        }
        Err(error) => FileState { seen: None, result: Err(read_fault(&error)) },
    }
}

pub(crate) fn read_fault(error: &ReadError) -> Fault {
    match error {
        ReadError::NotRegular(EntryKind::Directory) => FaultKind::IsDirectory.into(),
        ReadError::NotRegular(EntryKind::Special(word)) => {
            Fault { kind: FaultKind::Special, detail: (*word).to_owned() }
        }
        ReadError::NotRegular(EntryKind::File | EntryKind::Link) | ReadError::Changing => {
            FaultKind::Changing.into()
        }
        ReadError::Outside(target) => {
            let detail = format!("`{}`, outside of the worktree", target.display());
            Fault { kind: FaultKind::Outside, detail }
        }
        ReadError::Io(error) => fault(error),
    }
}

pub(super) fn fault(error: &io::Error) -> Fault {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FaultKind::Vanished,
        io::ErrorKind::PermissionDenied => FaultKind::Denied,
        io::ErrorKind::NotADirectory => FaultKind::NotDirectory,
        io::ErrorKind::InvalidFilename => FaultKind::TooLong,
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => FaultKind::Loop,
        _ => FaultKind::Io,
    };
    let detail = if kind == FaultKind::Io { error.to_string() } else { String::new() };
    Fault { kind, detail }
}

pub(super) fn missing_or(error: &io::Error) -> Probe {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Probe::Missing,
        _ => Probe::Fault(fault(error)),
    }
}
