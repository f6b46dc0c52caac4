//! Reading the disk: the only file of this crate that opens anything.
//!
//! Every call is by absolute path, never follows what it was not asked to follow, and never
//! blocks on what is not a regular file. [`Disk`] is a trait so that tests can stand in for
//! the real one; the engine is handed its disk.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use skills_agents::profile::WalkBudget;
use skills_discovery::discover::FileId;

/// How much of a SKILL.md is read, in bytes, unless the options say otherwise: 256 KiB.
pub const DEFAULT_READ_LIMIT: u64 = 256 * 1024;

/// What a directory entry is, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A named pipe, socket or device: the word for it.
    Special(&'static str),
}

/// A file's identity and the marks by which a change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Which file it is.
    pub id: FileId,
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed: seconds and nanoseconds.
    pub modified: (i64, i64),
    /// When it or its attributes last changed.
    pub changed: (i64, i64),
    /// Who owns it.
    pub owner: u32,
}

/// A directory as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The directory itself.
    pub stat: Stat,
    /// Its entries without `.` and `..`, in no order; where there are more than [`MOST_ENTRIES`],
    /// some of them, one more than that.
    pub entries: Vec<(OsString, Kind)>,
}

/// A regular file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The file as it was after reading.
    pub stat: Stat,
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// Whether there were more.
    pub truncated: bool,
}

/// Returns the hash by which a file's content is known: BLAKE3.
pub fn content_hash(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// Returns the same hash of all that a reader gives, without holding it.
///
/// # Errors
/// The reader fails.
pub fn content_hash_of(reader: impl io::Read) -> io::Result<[u8; 32]> {
    Ok(*blake3::Hasher::new().update_reader(reader)?.finalize().as_bytes())
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// It is not a regular file but this.
    NotRegular(Kind),
    /// It kept changing while it was read.
    Changing,
    /// A link leads to this file, which must not be read.
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

/// The disk, as the engine reads it.
pub trait Disk: Send + Sync {
    /// Returns what stands at `path`, a link itself where it is one.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Returns a symbolic link's target, as stored.
    fn target(&self, path: &Path) -> io::Result<PathBuf>;

    /// Reads a directory. `path` may end in a symbolic link.
    fn list(&self, path: &Path) -> io::Result<Directory>;

    /// Reads at most `limit` bytes of a regular file. `path` may end in a symbolic link.
    fn read(&self, path: &Path, limit: u64) -> Result<File, ReadError>;

    /// Reads a directory by its physical path: no link is followed on the way.
    fn list_physical(&self, path: &Path) -> io::Result<Directory> {
        self.list(path)
    }

    /// Reads a regular file in a directory that is named by its physical path, and tells which
    /// directory that was. No link is followed, neither on the way nor at the end.
    fn read_in(
        &self,
        dir: &Path,
        name: &OsStr,
        limit: u64,
    ) -> Result<(File, Option<FileId>), ReadError> {
        Ok((self.read(&dir.join(name), limit)?, self.stat(dir).ok().map(|it| it.id)))
    }

    /// Returns the kind of the file system that holds the directory, where others can change what
    /// is on it without this system's knowledge.
    fn doubt(&self, path: &Path) -> Option<&'static str>;
}

/// The machine's own disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

/// The most entries of one directory that are read.
pub const MOST_ENTRIES: usize = WalkBudget::DEFAULT.entries;

/// How often a file that changes while it is read is tried.
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
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        self.entries(path, fs::openat(fs::CWD, path, flags, Mode::empty())?)
    }

    fn list_physical(&self, path: &Path) -> io::Result<Directory> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        self.entries(path, open_physical(path, flags)?)
    }

    fn read_in(
        &self,
        dir: &Path,
        name: &OsStr,
        limit: u64,
    ) -> Result<(File, Option<FileId>), ReadError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = open_physical(dir, flags)?;
        let id = Stat::from_raw(&fs::fstat(&directory)?).id;
        let file = match open_regular(directory, Path::new(name), OFlags::NOFOLLOW) {
            // It was no link when it was looked at.
            Err(ReadError::Io(error))
                if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) =>
            {
                return Err(ReadError::Changing);
            }
            file => file?,
        };
        Ok((read_opened(file, limit)?, Some(id)))
    }

    fn doubt(&self, path: &Path) -> Option<&'static str> {
        doubtful_kind(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<File, ReadError> {
        read_opened(open(path)?, limit)
    }
}

impl RealDisk {
    /// Reads an open directory.
    fn entries(self, path: &Path, fd: OwnedFd) -> io::Result<Directory> {
        let stat = Stat::from_raw(&fs::fstat(&fd)?);
        let mut entries = Vec::new();
        for entry in Dir::new(fd)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsString::from_vec(name.to_vec());
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => match self.stat(&path.join(&name)) {
                    Ok(stat) => stat.kind,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                },
                known => Kind::from_raw(known),
            };
            entries.push((name, kind));
            if entries.len() > MOST_ENTRIES {
                break;
            }
        }
        Ok(Directory { stat, entries })
    }
}

/// Opens a directory by its physical path. One that a link has come into the way of is gone.
fn open_physical(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    match open_without_links(path, flags) {
        Err(Errno::LOOP) => Err(Errno::NOENT.into()),
        opened => Ok(opened?),
    }
}

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    /// Retries of a path that changed while the kernel followed it.
    const TRIES: usize = 16;
    let open = || fs::openat2(fs::CWD, path, flags, Mode::empty(), fs::ResolveFlags::NO_SYMLINKS);
    let mut opened = open();
    for _ in 1..TRIES {
        if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
        opened = open();
    }
    match opened {
        // Kernels before 5.6, and sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => {
            fs::openat(fs::CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())
        }
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    fs::openat(fs::CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())
}

/// Reads at most `limit` bytes of a file that [`open`] has opened.
///
/// # Errors
/// The system refuses, or the file keeps changing.
pub fn read_opened(file: std::fs::File, limit: u64) -> Result<File, ReadError> {
    let fd = OwnedFd::from(file);
    let mut before = Stat::from_raw(&fs::fstat(&fd)?);
    let mut bytes = Vec::new();
    for _ in 0..READ_TRIES {
        bytes.clear();
        read_from_start(&fd, limit, before.size, &mut bytes)?;
        let after = Stat::from_raw(&fs::fstat(&fd)?);
        if before == after {
            let truncated = after.size > bytes.len() as u64;
            return Ok(File { stat: after, bytes, truncated });
        }
        before = after;
    }
    Err(ReadError::Changing)
}

/// Opens a regular file for reading, whatever stood there a moment ago. `path` may end in a
/// symbolic link.
///
/// # Errors
/// The system refuses, or something else than a regular file stands there.
pub fn open(path: &Path) -> Result<std::fs::File, ReadError> {
    open_regular(fs::CWD, path, OFlags::empty())
}

fn open_regular(dir: impl AsFd, path: &Path, more: OFlags) -> Result<std::fs::File, ReadError> {
    // NONBLOCK: opening a named pipe or a device must not wait.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = match fs::openat(dir, path, flags | more, Mode::empty()) {
        // What a socket answers to being opened.
        Err(Errno::NXIO) => return Err(ReadError::NotRegular(Kind::Special("socket"))),
        other => other?,
    };
    let stat = Stat::from_raw(&fs::fstat(&fd)?);
    if stat.kind == Kind::File { Ok(fd.into()) } else { Err(ReadError::NotRegular(stat.kind)) }
}

/// The file systems whose content is kept elsewhere, by the numbers of `statfs(2)`: another machine
/// or another process changes it, and inotify is not told. Of an overlay the lower layers can be
/// changed beneath it.
#[cfg(target_os = "linux")]
const DOUBTFUL: [(u64, &str); 15] = [
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
fn doubtful_kind(path: &Path) -> Option<&'static str> {
    let found = fs::statfs(path).ok()?;
    // The numbers have 32 bits; some platforms extend their sign.
    #[expect(clippy::cast_sign_loss, reason = "as above")]
    let number = found.f_type as u64 & 0xffff_ffff;
    DOUBTFUL.iter().find(|(it, _)| *it == number).map(|(_, kind)| *kind)
}

/// Whether asking about a file, links followed, may wait for another machine or another process.
#[cfg(target_os = "linux")]
pub(crate) fn is_far(path: &Path) -> bool {
    // An overlay is made of what is here.
    doubtful_kind(path).is_some_and(|it| it != "overlay")
}

/// It is not known, so that nothing is asked on the spot.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_far(_: &Path) -> bool {
    true
}

/// What is not known is trusted: the watcher of such a system has its own way of knowing.
#[cfg(not(target_os = "linux"))]
fn doubtful_kind(_: &Path) -> Option<&'static str> {
    None
}

fn read_from_start(fd: &OwnedFd, limit: u64, size: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    // One byte more than the size, so that one read call sees the end.
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

impl Kind {
    fn from_raw(file_type: FileType) -> Self {
        match file_type {
            FileType::Directory => Self::Directory,
            FileType::RegularFile => Self::File,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Special("named pipe"),
            FileType::Socket => Self::Special("socket"),
            FileType::CharacterDevice | FileType::BlockDevice => Self::Special("device"),
            FileType::Unknown => Self::Special("thing of an unknown kind"),
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
            kind: Kind::from_raw(FileType::from_raw_mode(stat.st_mode)),
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            owner: stat.st_uid,
        }
    }
}

/// Returns whether a name is SKILL.md in any case.
pub(crate) fn is_skill_name(name: &std::ffi::OsStr) -> bool {
    name.as_bytes().eq_ignore_ascii_case(b"SKILL.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("SKILL.md");
        fs::mknodat(fs::CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let error = RealDisk.read(&path, 10).unwrap_err();
        assert!(matches!(error, ReadError::NotRegular(Kind::Special("named pipe"))));
    }

    #[test]
    fn only_the_limit_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let file = RealDisk.read(&path, 4).unwrap();
        assert_eq!((&file.bytes[..], file.truncated), (&b"0123"[..], true));
        let file = RealDisk.read(&path, 10).unwrap();
        assert_eq!((&file.bytes[..], file.truncated), (&b"0123456789"[..], false));
    }

    #[test]
    fn a_directory_lists_kinds_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("l")).unwrap();
        let mut listed = RealDisk.list(dir.path()).unwrap().entries;
        listed.sort();
        assert_eq!(listed, [("d".into(), Kind::Directory), ("l".into(), Kind::Link)]);
        assert_eq!(RealDisk.target(&dir.path().join("l")).unwrap(), Path::new("nowhere"));
    }
}
