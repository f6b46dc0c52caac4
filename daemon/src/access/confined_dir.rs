//! [`ConfinedDir`]: access to the files below one directory, and to nothing outside.
//!
//! [`ConfinedRoot`] resolves every path below an open descriptor of the directory: `..`, absolute
//! paths and links that lead out fail, also if a directory is swapped for a link meanwhile. Only
//! regular files are read, and opening never blocks.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;
use skills_discovery::discover::{Candidate, FileId};
use skills_engine::disk::content_hash_of;
use skills_engine::sessions::store::trust::Content;
use skills_engine::watch::stamp::FileVersion;
use skills_platform::confined::ConfinedRoot;
use skills_platform::directory;
use skills_render::resources::DirEntries;

/// Maximum size of a SKILL.md that is loaded.
pub(crate) const MAX_SKILL_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum depth of listed directories.
pub(super) const MAX_DEPTH: usize = 10;

/// Maximum number of directory entries visited. A skill has some ten files.
const MAX_ENTRIES: usize = 20_000;

/// Maximum attempts to read a file that changes meanwhile.
const MAX_ATTEMPTS: usize = 16;

/// Flags for reading a file without waiting for a pipe or a terminal.
const READ_FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Directories of tools, which contain nothing by the skill's author.
const SKIPPED: [&str; 4] = [".git", "node_modules", "__pycache__", ".venv"];

/// Levels of directories of tools that opencode-agent-skills lists, from the top of the skill.
const LISTED_TOOL_LEVELS: usize = 3;

/// Handling of links to directories in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryLinks {
    Skipped,
    /// Followed, as opencode-agent-skills does.
    Followed,
    /// Followed, and directories of tools are searched as far as opencode-agent-skills lists them.
    FollowedInTools,
}

/// A directory whose files are served.
#[derive(Debug)]
pub(crate) struct ConfinedDir {
    root: ConfinedRoot,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfinedFile {
    pub(crate) relative: PathBuf,
    pub(crate) size: u64,
    pub(crate) executable: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ConfinedFiles {
    /// Sorted by path.
    pub(crate) files: Vec<ConfinedFile>,
    /// True if a limit was reached.
    pub(crate) truncated: bool,
    /// The first path, in order, through which a program could reach files that are not listed: a
    /// directory of tools, or a link.
    pub(crate) left_out: Option<PathBuf>,
}

#[derive(Debug, Default)]
pub(crate) struct ConfinedNames {
    /// Sorted.
    pub(crate) names: Vec<PathBuf>,
    /// True if a limit was reached.
    pub(crate) truncated: bool,
}

#[derive(Debug)]
pub(crate) struct FileRange {
    pub(crate) bytes: Vec<u8>,
    /// Size of the whole file in bytes.
    pub(crate) size: u64,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfinedDirError {
    #[error("the path leads out of the directory")]
    Outside,
    #[error("there is no such file")]
    Missing,
    #[error("it has {0} bytes, more than are read")]
    TooLarge(u64),
    /// A different directory or file than the indexed one is at the path.
    #[error("it was replaced by another file")]
    Replaced,
    /// It kept changing while it was read.
    #[error("it kept changing while it was read")]
    Changing,
    #[error("it is {0}, not a regular file")]
    NotAFile(&'static str),
    #[error("failed to read it")]
    Io(#[source] io::Error),
}

impl From<Errno> for ConfinedDirError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::XDEV => Self::Outside,
            // A name too long for the file system cannot exist.
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Self::Missing,
            // A loop of links, or a link of `/proc`.
            Errno::LOOP => Self::NotAFile("a symbolic link that cannot be followed"),
            // Returned by open for a socket.
            Errno::NXIO => Self::NotAFile("a socket or device"),
            _ => Self::Io(error.into()),
        }
    }
}

impl ConfinedDirError {
    fn of(error: io::Error) -> Self {
        Errno::from_io_error(&error).map_or(Self::Io(error), Self::from)
    }
}

impl ConfinedDir {
    /// Opens the directory, following links in its path.
    pub(crate) fn open(directory: &Path) -> Result<Self, ConfinedDirError> {
        Ok(Self { root: ConfinedRoot::open(directory)? })
    }

    /// Opens the directory of a skill, which must be the one in its view.
    pub(crate) fn of(candidate: &Candidate) -> Result<Self, ConfinedDirError> {
        Self::open_known(&candidate.dir(), candidate.directory)
    }

    /// Opens the directory, which must be `known` if that is given.
    pub(crate) fn open_known(
        directory: &Path,
        known: Option<FileId>,
    ) -> Result<Self, ConfinedDirError> {
        let beneath = Self::open(directory)?;
        let found = beneath.root.stat()?;
        let is_known = known.is_none_or(|it| it == id_of(&found));
        if is_known { Ok(beneath) } else { Err(ConfinedDirError::Replaced) }
    }

    /// Reads a part of a file: at most `length` bytes from `offset`.
    pub(crate) fn read(
        &self,
        relative: &Path,
        offset: u64,
        length: u64,
    ) -> Result<FileRange, ConfinedDirError> {
        let file = self.root.open_at(relative, READ_FILE)?;
        let stat = regular(&file)?;
        let mut file = File::from(file);
        let mut bytes = Vec::new();
        let size = stat.st_size.cast_unsigned();
        // Seeking beyond the maximum file size fails, so offsets past the end are not passed on.
        if offset < size {
            file.seek(SeekFrom::Start(offset)).map_err(ConfinedDirError::Io)?;
            file.take(length).read_to_end(&mut bytes).map_err(ConfinedDirError::Io)?;
        }
        Ok(FileRange { bytes, size })
    }

    /// Reads a whole file of at most `most` bytes, unchanged during the read.
    pub(crate) fn whole(&self, relative: &Path, most: u64) -> Result<Vec<u8>, ConfinedDirError> {
        self.whole_known(relative, most, None)
    }

    /// Like [`Self::whole`], for a file that must be `known` if that is given.
    pub(crate) fn whole_known(
        &self,
        relative: &Path,
        most: u64,
        known: Option<FileId>,
    ) -> Result<Vec<u8>, ConfinedDirError> {
        let mut file = File::from(self.root.open_at(relative, READ_FILE)?);
        let found = regular(&file)?;
        if known.is_some_and(|it| it != id_of(&found)) {
            return Err(ConfinedDirError::Replaced);
        }
        let mut before = file.metadata().map_err(ConfinedDirError::Io)?;
        for nth in 0..MAX_ATTEMPTS {
            if before.len() > most {
                return Err(ConfinedDirError::TooLarge(before.len()));
            }
            if nth > 0 {
                file.seek(SeekFrom::Start(0)).map_err(ConfinedDirError::Io)?;
            }
            // Usually a single read. Later growth shows in the mark.
            let mut bytes = vec![0; before.len() as usize];
            let is_whole = match file.read_exact(&mut bytes) {
                Ok(()) => true,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(ConfinedDirError::Io(error)),
            };
            let after = file.metadata().map_err(ConfinedDirError::Io)?;
            let is_same = FileVersion::from_metadata(&before) == FileVersion::from_metadata(&after);
            if is_same && is_whole {
                return Ok(bytes);
            }
            before = after;
        }
        Err(ConfinedDirError::Changing)
    }

    /// Returns the regular files and directories in a directory, without links.
    pub(crate) fn children(&self, relative: &Path) -> Result<DirEntries, ConfinedDirError> {
        let mut found = DirEntries::default();
        for (name, file_type) in self.entries(relative, DirectoryLinks::Skipped, MAX_ENTRIES)? {
            let kind = self.kind(&relative.join(&name), file_type);
            let name = name.to_string_lossy().into_owned();
            match kind {
                FileType::Directory => found.directories.push(name),
                FileType::RegularFile => found.files.push(name),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Hashes a whole file and returns it with its real path.
    pub(crate) fn content(&self, relative: &Path) -> Result<Content, ConfinedDirError> {
        let opened = self.root.open_named(relative, READ_FILE);
        let (file, path) = opened.map_err(ConfinedDirError::of)?;
        let size = size_up_to(Content::LARGEST, &file)?;
        Ok(Content { path, hash: hash_of(file, size)? })
    }

    /// Returns the hash and size of a whole file of at most `most` bytes, without keeping it in
    /// memory.
    pub(crate) fn hash(
        &self,
        relative: &Path,
        most: u64,
    ) -> Result<([u8; 32], u64), ConfinedDirError> {
        let file = self.root.open_at(relative, READ_FILE)?;
        let size = size_up_to(most, &file)?;
        Ok((hash_of(file, size)?, size))
    }

    pub(crate) fn located(&self, relative: &Path) -> Result<(PathBuf, bool), ConfinedDirError> {
        let (stat, path) = self.root.stat_named(relative).map_err(ConfinedDirError::of)?;
        Ok((path, regular_stat(stat)?.st_mode & 0o111 != 0))
    }

    /// Lists the regular files. Follows links to files below the directory, and those to
    /// directories below it as `links` says.
    pub(crate) fn list(&self, links: DirectoryLinks) -> Result<ConfinedFiles, ConfinedDirError> {
        let mut files = Vec::new();
        let mut left_out = Vec::new();
        let truncated = self.walk(links, |relative, kind| {
            let found = match kind {
                FileType::Directory => None,
                _ => self.found(relative.clone()),
            };
            match found {
                Some(file) => files.push(file),
                None => left_out.push(relative),
            }
        })?;
        files.sort_unstable_by(|a: &ConfinedFile, b| a.relative.cmp(&b.relative));
        Ok(ConfinedFiles { files, truncated, left_out: left_out.into_iter().min() })
    }

    /// Lists the same files as with [`DirectoryLinks::Skipped`] by name, without a `stat` of each.
    pub(crate) fn names(&self) -> Result<ConfinedNames, ConfinedDirError> {
        let mut names = Vec::new();
        let truncated = self.walk(DirectoryLinks::Skipped, |relative, kind| {
            let is_file = match kind {
                FileType::RegularFile => true,
                FileType::Directory => false,
                _ => self.found(relative.clone()).is_some(),
            };
            if is_file {
                names.push(relative);
            }
        })?;
        names.sort_unstable();
        Ok(ConfinedNames { names, truncated })
    }

    /// Visits the regular files, the links and the directories that are not searched, in no order.
    /// Returns whether a limit was reached.
    fn walk(
        &self,
        links: DirectoryLinks,
        mut each: impl FnMut(PathBuf, FileType),
    ) -> Result<bool, ConfinedDirError> {
        let mut truncated = false;
        let mut left = MAX_ENTRIES;
        let mut directories = vec![PathBuf::new()];
        while let Some(directory) = directories.pop() {
            let mut entries = match self.entries(&directory, links, left + 1) {
                Ok(entries) => entries,
                // Removed, swapped or unreadable meanwhile; the others are still listed.
                Err(_) if !directory.as_os_str().is_empty() => {
                    each(directory, FileType::Directory);
                    continue;
                }
                Err(error) => return Err(error),
            };
            truncated |= entries.len() > left;
            entries.truncate(left);
            left -= entries.len();
            for (name, file_type) in entries {
                let relative = directory.join(name);
                let kind = match self.kind(&relative, file_type) {
                    FileType::Symlink if links != DirectoryLinks::Skipped => {
                        let target = self.root.stat_at(&relative, OFlags::empty());
                        let is_directory =
                            target.is_ok_and(|it| kind_of(&it) == FileType::Directory);
                        if is_directory { FileType::Directory } else { FileType::Symlink }
                    }
                    kind => kind,
                };
                match kind {
                    FileType::Directory if is_of_tools(&relative) => {
                        let levels = relative.components().count();
                        if links == DirectoryLinks::FollowedInTools && levels <= LISTED_TOOL_LEVELS
                        {
                            // Last, so that the limit cuts no file of the skill itself.
                            directories.insert(0, relative);
                        } else {
                            each(relative, FileType::Directory);
                        }
                    }
                    FileType::Directory if relative.components().count() > MAX_DEPTH => {
                        truncated = true;
                    }
                    FileType::Directory => directories.push(relative),
                    kind @ (FileType::RegularFile | FileType::Symlink) => each(relative, kind),
                    _ => {}
                }
            }
        }
        Ok(truncated)
    }

    fn entries(
        &self,
        directory: &Path,
        links: DirectoryLinks,
        most: usize,
    ) -> Result<Vec<(OsString, FileType)>, ConfinedDirError> {
        let no_follow = match links {
            DirectoryLinks::Skipped => OFlags::NOFOLLOW,
            DirectoryLinks::Followed | DirectoryLinks::FollowedInTools => OFlags::empty(),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | no_follow;
        let relative = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        Ok(directory::entries(self.root.open_at(relative, flags)?, most)?)
    }

    /// Returns an entry's type. Some file systems do not report it in directory listings.
    fn kind(&self, relative: &Path, said: FileType) -> FileType {
        if said != FileType::Unknown {
            return said;
        }
        self.root.stat_at(relative, OFlags::NOFOLLOW).map_or(FileType::Unknown, |it| kind_of(&it))
    }

    fn found(&self, relative: PathBuf) -> Option<ConfinedFile> {
        let stat = regular_stat(self.root.stat_at(&relative, OFlags::empty()).ok()?).ok()?;
        let executable = stat.st_mode & 0o111 != 0;
        Some(ConfinedFile { relative, size: stat.st_size.cast_unsigned(), executable })
    }
}

/// Returns whether a directory of tools is on the path.
fn is_of_tools(relative: &Path) -> bool {
    relative.iter().any(|name| SKIPPED.iter().any(|it| name == *it))
}

#[expect(clippy::unnecessary_cast, reason = "platform types")]
fn id_of(stat: &Stat) -> FileId {
    FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
}

/// Returns the size of a regular file, which must be at most `most` bytes.
fn size_up_to(most: u64, file: &OwnedFd) -> Result<u64, ConfinedDirError> {
    let size = regular(file)?.st_size.cast_unsigned();
    if size > most { Err(ConfinedDirError::TooLarge(size)) } else { Ok(size) }
}

/// Hashes a file, up to its size when it was opened, since a growing file may have no end.
fn hash_of(file: OwnedFd, size: u64) -> Result<[u8; 32], ConfinedDirError> {
    content_hash_of(File::from(file).take(size)).map_err(ConfinedDirError::Io)
}

fn regular(file: impl AsFd) -> Result<Stat, ConfinedDirError> {
    regular_stat(rustix::fs::fstat(file)?)
}

fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn regular_stat(stat: Stat) -> Result<Stat, ConfinedDirError> {
    match kind_of(&stat) {
        FileType::RegularFile => Ok(stat),
        FileType::Directory => Err(ConfinedDirError::NotAFile("a directory")),
        FileType::Fifo => Err(ConfinedDirError::NotAFile("a named pipe")),
        FileType::Socket => Err(ConfinedDirError::NotAFile("a socket")),
        FileType::CharacterDevice | FileType::BlockDevice => {
            Err(ConfinedDirError::NotAFile("a device"))
        }
        FileType::Symlink | FileType::Unknown => Err(ConfinedDirError::NotAFile("something else")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, Mode, mkfifoat};
    use tempfile::TempDir;

    use super::*;

    /// Returns a skill directory `s` with files, and a secret beside it.
    fn tree() -> (TempDir, ConfinedDir) {
        let top = TempDir::new().unwrap();
        let skill = top.path().join("s");
        fs::create_dir_all(skill.join("scripts/deep")).unwrap();
        fs::write(top.path().join("secret"), "secret").unwrap();
        fs::write(skill.join("SKILL.md"), "0123456789").unwrap();
        fs::write(skill.join("scripts/run.sh"), "#!").unwrap();
        fs::set_permissions(skill.join("scripts/run.sh"), Permissions::from_mode(0o755)).unwrap();
        fs::write(skill.join("scripts/deep/a"), "").unwrap();
        symlink("scripts/run.sh", skill.join("inside")).unwrap();
        symlink("../secret", skill.join("outside")).unwrap();
        symlink("/proc/self/exe", skill.join("magic")).unwrap();
        symlink("scripts", skill.join("again")).unwrap();
        symlink("..", skill.join("up")).unwrap();
        mkfifoat(CWD, skill.join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let beneath = ConfinedDir::open(&skill).unwrap();
        (top, beneath)
    }

    #[track_caller]
    fn check(relative: &str, expected: &str) {
        let (_top, beneath) = tree();
        let shown = match beneath.read(Path::new(relative), 0, 100) {
            Ok(part) => String::from_utf8(part.bytes).unwrap(),
            Err(error) => format!("({error})"),
        };
        assert_eq!(shown, expected, "{relative}");
    }

    #[test]
    fn files_below_are_read_also_through_links() {
        check("SKILL.md", "0123456789");
        check("scripts/../SKILL.md", "0123456789");
        check("inside", "#!");
        check("again/run.sh", "#!");
    }

    #[test]
    fn nothing_outside_is_read() {
        for relative in
            ["outside", "../secret", "up/secret", "scripts/../../secret", "/etc/hostname", "magic"]
        {
            check(relative, "(the path leads out of the directory)");
        }
    }

    #[test]
    fn only_regular_files_are_read() {
        check("scripts", "(it is a directory, not a regular file)");
        check("pipe", "(it is a named pipe, not a regular file)");
        check("none", "(there is no such file)");
        check("SKILL.md/x", "(there is no such file)");
        check("", "(there is no such file)");
    }

    #[test]
    fn link_to_itself_is_no_regular_file() {
        let (top, beneath) = tree();
        symlink("loop", top.path().join("s/loop")).unwrap();
        let error = beneath.read(Path::new("loop"), 0, 100).unwrap_err();
        let expected = "it is a symbolic link that cannot be followed, not a regular file";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn parts_are_bounded_by_offset_and_length() {
        let (_top, beneath) = tree();
        let read = |offset, length| beneath.read(Path::new("SKILL.md"), offset, length).unwrap();
        assert_eq!(read(3, 4).bytes, b"3456");
        assert_eq!(read(8, 100).bytes, b"89");
        assert_eq!((read(50, 1).bytes, read(50, 1).size), (vec![], 10));
    }

    #[test]
    fn file_over_the_limit_is_not_read_partially() {
        let (_top, beneath) = tree();
        let read = |relative: &str, most| {
            let result = beneath.whole(Path::new(relative), most);
            result.map_err(|it| it.to_string()).map(|it| String::from_utf8(it).unwrap())
        };
        assert_eq!(read("SKILL.md", 10).as_deref(), Ok("0123456789"));
        assert_eq!(read("SKILL.md", 9).unwrap_err(), "it has 10 bytes, more than are read");
        assert_eq!(read("outside", 9).unwrap_err(), "the path leads out of the directory");
        assert!(read("pipe", 9).is_err());
    }

    #[test]
    fn children_are_files_and_directories() {
        let (_top, beneath) = tree();
        let found = beneath.children(Path::new("")).unwrap();
        assert_eq!(
            (found.files, found.directories),
            (vec!["SKILL.md".into()], vec!["scripts".into()])
        );
        assert!(beneath.children(Path::new("up")).is_err());
    }

    #[test]
    fn a_script_is_located_by_its_real_path() {
        let (top, beneath) = tree();
        let path = top.path().canonicalize().unwrap().join("s/scripts/run.sh");
        assert_eq!(beneath.located(Path::new("inside")).unwrap(), (path, true));
        assert!(!beneath.located(Path::new("SKILL.md")).unwrap().1);
        assert!(beneath.located(Path::new("outside")).is_err());
    }

    #[test]
    fn listing_contains_regular_files_in_order() {
        let (_top, beneath) = tree();
        let listing = beneath.list(DirectoryLinks::Skipped).unwrap();
        let files: Vec<_> = listing.files.iter().map(|it| it.relative.to_str().unwrap()).collect();
        assert_eq!(files, ["SKILL.md", "inside", "scripts/deep/a", "scripts/run.sh"]);
        let executable: Vec<_> = listing.files.iter().map(|it| it.executable).collect();
        assert_eq!(executable, [false, true, false, true]);
        assert_eq!(listing.files[0].size, 10);
        let files: Vec<_> = listing.files.iter().map(|it| it.relative.clone()).collect();
        assert_eq!(beneath.names().unwrap().names, files);
        assert!(!listing.truncated);
    }

    #[test]
    fn listing_through_links_stays_below_the_directory_and_within_ten_levels() {
        let (top, beneath) = tree();
        let skill = top.path().join("s");
        fs::create_dir_all(skill.join("1/2/3/4/5/6/7/8/9/10/11")).unwrap();
        fs::write(skill.join("1/2/3/4/5/6/7/8/9/10/last"), "").unwrap();
        fs::write(skill.join("1/2/3/4/5/6/7/8/9/10/11/beyond"), "").unwrap();
        let listing = beneath.list(DirectoryLinks::Followed).unwrap();
        let files: Vec<_> = listing.files.iter().map(|it| it.relative.to_str().unwrap()).collect();
        assert_eq!(
            files,
            [
                "1/2/3/4/5/6/7/8/9/10/last",
                "SKILL.md",
                "again/deep/a",
                "again/run.sh",
                "inside",
                "scripts/deep/a",
                "scripts/run.sh"
            ]
        );
        assert!(listing.truncated);
    }

    #[test]
    fn listing_with_tools_has_their_files_to_three_levels() {
        let (top, beneath) = tree();
        let skill = top.path().join("s");
        for dir in [".git", ".venv/bin", "__pycache__", "a/node_modules/b/c"] {
            fs::create_dir_all(skill.join(dir)).unwrap();
            fs::write(skill.join(dir).join("f"), "").unwrap();
        }
        fs::write(skill.join("a/node_modules/b/f"), "").unwrap();
        let names = |listing: ConfinedFiles| {
            let all = listing.files.into_iter().map(|it| it.relative.to_str().unwrap().to_owned());
            all.filter(|it| it.ends_with("/f")).collect::<Vec<_>>()
        };
        assert_eq!(
            names(beneath.list(DirectoryLinks::FollowedInTools).unwrap()),
            [".git/f", ".venv/bin/f", "__pycache__/f", "a/node_modules/b/f"]
        );
        assert_eq!(names(beneath.list(DirectoryLinks::Followed).unwrap()), [""; 0]);
        assert_eq!(names(beneath.list(DirectoryLinks::Skipped).unwrap()), [""; 0]);
    }

    #[test]
    fn directory_swapped_for_a_link_never_leads_out() {
        let (top, beneath) = tree();
        let skill = top.path().join("s");
        fs::create_dir(top.path().join("scripts")).unwrap();
        fs::write(top.path().join("scripts/run.sh"), "secret").unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    fs::rename(skill.join("scripts"), skill.join("aside")).unwrap();
                    symlink("../scripts", skill.join("scripts")).unwrap();
                    fs::remove_file(skill.join("scripts")).unwrap();
                    fs::rename(skill.join("aside"), skill.join("scripts")).unwrap();
                }
            });
            for _ in 0..2000 {
                if let Ok(part) = beneath.read(Path::new("scripts/run.sh"), 0, 100) {
                    assert_eq!(part.bytes, b"#!");
                }
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn offset_past_the_end_and_overlong_name_are_no_io_errors() {
        let (_top, beneath) = tree();
        for offset in [10, 11, i64::MAX as u64, u64::MAX] {
            let part = beneath.read(Path::new("SKILL.md"), offset, 4).unwrap();
            assert_eq!((part.bytes.len(), part.size), (0, 10), "{offset}");
        }
        let long = "x".repeat(300);
        let outcome = beneath.read(Path::new(&long), 0, 4);
        assert!(matches!(outcome, Err(ConfinedDirError::Missing)));
    }
}
