//! Disk access: the only module of this crate that opens files for reading.
//!
//! Every call takes an absolute path, follows links only where documented, and never blocks on an
//! entry that is not a regular file. Tests replace the disk through the [`Disk`] trait.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use skills_agents::profile::WalkBudget;
use skills_discovery::discover::FileId;
use skills_platform::confined::{open_without_links, search_flags};
use skills_platform::directory;

/// Default limit on the bytes read from a SKILL.md: 256 KiB.
pub const DEFAULT_READ_LIMIT: u64 = 256 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    Directory,
    File,
    Link,
    /// A named pipe, socket or device, with its name.
    Special(&'static str),
}

/// A file's identity and the metadata that reveals a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Device and inode.
    pub id: FileId,
    /// Kind of entry.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of content: seconds and nanoseconds.
    pub modified: (i64, i64),
    /// Time of the last change of content or attributes.
    pub changed: (i64, i64),
    pub owner: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    pub stat: Stat,
    /// Entries without `.` and `..`, unordered. A directory with more than [`MOST_ENTRIES`] entries
    /// yields one entry more than that limit.
    pub entries: Vec<(OsString, EntryKind)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Metadata after the read.
    pub stat: Stat,
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// True if the file is longer than `bytes`.
    pub truncated: bool,
}

pub fn content_hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// Returns the same hash for a reader, without buffering its content.
///
/// # Errors
/// The reader fails.
pub fn content_hash_of(reader: impl io::Read) -> io::Result<[u8; 32]> {
    Ok(*blake3::Hasher::new().update_reader(reader)?.finalize().as_bytes())
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// The entry is not a regular file.
    NotRegular(EntryKind),
    /// The file changed during every attempt to read it.
    Changing,
    /// The link's target, which is outside the permitted directory.
    Outside(PathBuf),
    /// The operating system refused.
    Io(io::Error),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for ReadError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// A regular file, and the identity of the directory in which it was read.
pub type FileInDirectory = Result<(File, Option<FileId>), ReadError>;

/// File system operations that the engine needs.
pub trait Disk: Send + Sync {
    /// Returns the metadata of `path` without following a final link.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Returns a symbolic link's target, as stored.
    fn target(&self, path: &Path) -> io::Result<PathBuf>;

    /// Reads a directory. `path` may end in a symbolic link.
    fn list(&self, path: &Path) -> io::Result<Directory>;

    /// Reads at most `limit` bytes of a regular file. `path` may end in a symbolic link.
    fn read(&self, path: &Path, limit: u64) -> Result<File, ReadError>;

    /// Lists a directory by its physical path; fails if a component is a symbolic link.
    fn list_physical(&self, path: &Path) -> io::Result<Directory> {
        self.list(path)
    }

    /// Reads a regular file in a directory given by its physical path, and returns the directory's
    /// identity. No link is followed, neither on the way nor at the end.
    fn read_in(&self, dir: &Path, name: &OsStr, limit: u64) -> FileInDirectory {
        Ok((self.read(&dir.join(name), limit)?, self.stat(dir).ok().map(|it| it.id)))
    }

    /// Lists a directory by its physical path, and reads `name` in it as [`Self::read_in`] does if
    /// it is listed as a regular file.
    fn list_and_read(
        &self,
        dir: &Path,
        name: &OsStr,
        limit: u64,
    ) -> io::Result<(Directory, Option<FileInDirectory>)> {
        let directory = self.list_physical(dir)?;
        let file = directory.has_file(name).then(|| self.read_in(dir, name, limit));
        Ok((directory, file))
    }

    /// Returns the kind of file system at `path` if other machines or processes can change it
    /// without an event on this system.
    fn partly_watched_fs(&self, path: &Path) -> Option<&'static str>;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

/// Maximum number of entries read from one directory.
pub const MOST_ENTRIES: usize = WalkBudget::DEFAULT.entries;

/// Attempts to read a file that changes during the read.
const READ_TRIES: usize = 3;

impl Disk for RealDisk {
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let stat = fs::statat(fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stat::from_raw(&stat))
    }

    fn target(&self, path: &Path) -> io::Result<PathBuf> {
        let target = fs::readlinkat(fs::CWD, path, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    fn list(&self, path: &Path) -> io::Result<Directory> {
        self.entries(path, &fs::openat(fs::CWD, path, list_flags(), Mode::empty())?)
    }

    fn list_physical(&self, path: &Path) -> io::Result<Directory> {
        self.entries(path, &open_physical(path, list_flags())?)
    }

    fn read_in(&self, dir: &Path, name: &OsStr, limit: u64) -> FileInDirectory {
        let directory = open_physical(dir, search_flags())?;
        let id = Stat::from_raw(&fs::fstat(&directory)?).id;
        read_entry(&directory, id, name, limit)
    }

    fn list_and_read(
        &self,
        dir: &Path,
        name: &OsStr,
        limit: u64,
    ) -> io::Result<(Directory, Option<FileInDirectory>)> {
        let opened = open_physical(dir, list_flags())?;
        let directory = self.entries(dir, &opened)?;
        let id = directory.stat.id;
        let file = directory.has_file(name).then(|| read_entry(&opened, id, name, limit));
        Ok((directory, file))
    }

    fn partly_watched_fs(&self, path: &Path) -> Option<&'static str> {
        partly_watched_kind(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<File, ReadError> {
        let (file, stat) = open_regular(fs::CWD, path, OFlags::empty())?;
        read_since(&file, stat, limit)
    }
}

impl RealDisk {
    fn entries(self, path: &Path, opened: &OwnedFd) -> io::Result<Directory> {
        let stat = Stat::from_raw(&fs::fstat(opened)?);
        let listed = directory::entries(opened, MOST_ENTRIES + 1)?;
        let mut entries = Vec::with_capacity(listed.len());
        for (name, file_type) in listed {
            let kind = match file_type {
                // Some file systems do not report the type.
                FileType::Unknown => match self.stat(&path.join(&name)) {
                    Ok(stat) => stat.kind,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                },
                known => EntryKind::from_raw(known),
            };
            entries.push((name, kind));
        }
        Ok(Directory { stat, entries })
    }
}

impl Directory {
    fn has_file(&self, name: &OsStr) -> bool {
        self.entries.iter().any(|(it, kind)| it == name && *kind == EntryKind::File)
    }
}

/// Returns the flags for a directory that is listed.
fn list_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK
}

/// Reads a regular file in an open directory with this identity.
fn read_entry(directory: &OwnedFd, id: FileId, name: &OsStr, limit: u64) -> FileInDirectory {
    match open_regular(directory, Path::new(name), OFlags::NOFOLLOW) {
        // The entry was not a link when it was probed.
        Err(ReadError::Io(error)) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            Err(ReadError::Changing)
        }
        Err(error) => Err(error),
        Ok((file, stat)) => Ok((read_since(&file, stat, limit)?, Some(id))),
    }
}

/// Returns the metadata of `path`, links followed.
pub(crate) fn stat_target(path: &Path) -> io::Result<Stat> {
    Ok(Stat::from_raw(&fs::statat(fs::CWD, path, AtFlags::empty())?))
}

/// Returns the metadata of `path`, links followed, and true if the file has several hard links.
pub(crate) fn stat_hard_links(path: &Path) -> io::Result<(Stat, bool)> {
    let raw = fs::statat(fs::CWD, path, AtFlags::empty())?;
    Ok((Stat::from_raw(&raw), raw.st_nlink > 1))
}

/// Opens a directory by its physical path. Reports a path with a symbolic link as not found.
fn open_physical(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    match open_without_links(path, flags) {
        Err(Errno::LOOP) => Err(Errno::NOENT.into()),
        opened => Ok(opened?),
    }
}

/// Reads at most `limit` bytes of a file opened by [`open`].
///
/// # Errors
/// The system refuses, or the file changes during every attempt.
pub fn read_opened(file: std::fs::File, limit: u64) -> Result<File, ReadError> {
    let fd = OwnedFd::from(file);
    let stat = Stat::from_raw(&fs::fstat(&fd)?);
    read_since(&fd, stat, limit)
}

/// Reads at most `limit` bytes of a file that has not changed since its metadata was `before`.
fn read_since(fd: &OwnedFd, mut before: Stat, limit: u64) -> Result<File, ReadError> {
    let mut bytes = Vec::new();
    for _ in 0..READ_TRIES {
        bytes.clear();
        read_from_start(fd, limit, before.size, &mut bytes)?;
        let after = Stat::from_raw(&fs::fstat(fd)?);
        if before == after {
            let truncated = after.size > bytes.len() as u64;
            return Ok(File { stat: after, bytes, truncated });
        }
        before = after;
    }
    Err(ReadError::Changing)
}

/// Opens a regular file for reading and never blocks on other kinds. `path` may end in a symbolic
/// link.
///
/// # Errors
/// The system refuses, or the entry is not a regular file.
pub fn open(path: &Path) -> Result<std::fs::File, ReadError> {
    Ok(open_regular(fs::CWD, path, OFlags::empty())?.0.into())
}

fn open_regular(dir: impl AsFd, path: &Path, more: OFlags) -> Result<(OwnedFd, Stat), ReadError> {
    // NONBLOCK: opening a named pipe or a device must not wait.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = match fs::openat(dir, path, flags | more, Mode::empty()) {
        // Result of opening a socket.
        Err(Errno::NXIO) => return Err(ReadError::NotRegular(EntryKind::Special("socket"))),
        other => other?,
    };
    let stat = Stat::from_raw(&fs::fstat(&fd)?);
    if stat.kind == EntryKind::File {
        Ok((fd, stat))
    } else {
        Err(ReadError::NotRegular(stat.kind))
    }
}

/// File systems that other machines or processes can change without an inotify event, by their
/// magic numbers in `statfs(2)`. The lower layers of an overlay can change beneath it.
#[cfg(target_os = "linux")]
const PARTLY_WATCHED: [(u64, &str); 15] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9P"),
    (0x794c_7630, "overlay"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x7375_7245, "Coda"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x786f_4256, "a shared folder of VirtualBox"),
    (0x0116_1970, "GFS2"),
];

#[cfg(target_os = "linux")]
fn partly_watched_kind(path: &Path) -> Option<&'static str> {
    let found = fs::statfs(path).ok()?;
    // The numbers have 32 bits; some platforms extend their sign.
    #[expect(clippy::cast_sign_loss, reason = "as above")]
    let number = found.f_type as u64 & 0xffff_ffff;
    PARTLY_WATCHED.iter().find(|(it, _)| *it == number).map(|(_, kind)| *kind)
}

/// Returns true if a query of a file, links followed, may wait for another machine or process.
#[cfg(target_os = "linux")]
pub(crate) fn is_remote(path: &Path) -> bool {
    // The layers of an overlay are local.
    partly_watched_kind(path).is_some_and(|it| it != "overlay")
}

/// Returns true if a query of a file, links followed, may wait for another machine or process.
#[cfg(target_os = "macos")]
pub(crate) fn is_remote(path: &Path) -> bool {
    /// `MNT_LOCAL` in `sys/mount.h`.
    const LOCAL: u32 = 0x1000;
    fs::statfs(path).is_ok_and(|it| it.f_flags & LOCAL == 0)
}

/// The file system kind is unknown here, so every path counts as remote.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn is_remote(_: &Path) -> bool {
    true
}

/// A remote file system reports only the changes made here.
#[cfg(not(target_os = "linux"))]
fn partly_watched_kind(path: &Path) -> Option<&'static str> {
    (cfg!(target_os = "macos") && is_remote(path)).then_some("a network file system")
}

fn read_from_start(fd: &OwnedFd, limit: u64, size: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    // One byte more than the size, so that a single read call detects the end of file.
    let wanted = usize::try_from(limit.min(size.saturating_add(1))).unwrap_or(usize::MAX);
    bytes.resize(wanted, 0);
    let mut filled = 0;
    while filled < wanted {
        match rustix::io::pread(fd, &mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(filled);
    Ok(())
}

impl EntryKind {
    fn from_raw(file_type: FileType) -> Self {
        match file_type {
            FileType::Directory => Self::Directory,
            FileType::RegularFile => Self::File,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Special("named pipe"),
            FileType::Socket => Self::Special("socket"),
            FileType::CharacterDevice | FileType::BlockDevice => Self::Special("device"),
            FileType::Unknown => Self::Special("file of an unknown type"),
        }
    }
}

impl Stat {
    // The fields' types differ between platforms.
    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "platform types"
    )]
    fn from_raw(stat: &fs::Stat) -> Self {
        Self {
            id: FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
            kind: EntryKind::from_raw(FileType::from_raw_mode(stat.st_mode)),
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            owner: stat.st_uid,
        }
    }
}

pub(crate) fn is_skill_name(name: &std::ffi::OsStr) -> bool {
    name.as_bytes().eq_ignore_ascii_case(b"SKILL.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_pipe_fails_without_blocking() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("SKILL.md");
        fs::mknodat(fs::CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let error = RealDisk.read(&path, 10).unwrap_err();
        assert!(matches!(error, ReadError::NotRegular(EntryKind::Special("named pipe"))));
    }

    #[test]
    fn read_stops_at_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let file = RealDisk.read(&path, 4).unwrap();
        assert_eq!((&file.bytes[..], file.truncated), (&b"0123"[..], true));
        let file = RealDisk.read(&path, 10).unwrap();
        assert_eq!((&file.bytes[..], file.truncated), (&b"0123456789"[..], false));
    }

    #[test]
    fn list_reports_kinds_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("l")).unwrap();
        let mut listed = RealDisk.list(dir.path()).unwrap().entries;
        listed.sort();
        assert_eq!(listed, [("d".into(), EntryKind::Directory), ("l".into(), EntryKind::Link)]);
        assert_eq!(RealDisk.target(&dir.path().join("l")).unwrap(), Path::new("nowhere"));
    }
}
