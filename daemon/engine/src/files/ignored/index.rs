//! Tracked paths, from git's index (`.git/index`).
//!
//! Git ignores no directory that contains a tracked file, for example one that was added with
//! `git add --force`. The reader knows versions 2 to 4 with SHA-1 and SHA-256, and split indexes.
//! It is bounded, and treats a file that it cannot read as an index without entries.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::disk::{Disk as _, RealDisk};

/// Maximum size of an index, in bytes: about half a million files.
const MAX_INDEX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum length of a path, in bytes; the kernel opens no longer one.
const MAX_PATH: usize = 4096;

/// Maximum number of directories.
const MAX_DIRS: usize = 100_000;

/// Size of an object id: SHA-1, SHA-256.
const ID_SIZES: [usize; 2] = [20, 32];

/// Size of an entry before its object id: times, device, inode, mode, owner and size.
const STAT_SIZE: usize = 40;

/// Bit in an entry's flags: two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;

/// Name of the extension that refers to a shared index.
const LINK: &[u8] = b"link";

/// Directories of a worktree that contain tracked files, relative to its top.
#[derive(Debug, Default)]
pub(super) struct Index {
    dirs: HashSet<Vec<u8>>,
}

impl Index {
    /// Reads the index in a worktree's git directory.
    pub(super) fn read(git_dir: &Path) -> Self {
        let mut index = Self::default();
        let own = read(&git_dir.join("index"));
        let shared = own.and_then(|it| index.add(&it));
        if let Some(shared) = shared.and_then(|it| read(&git_dir.join(format!("sharedindex.{it}"))))
        {
            index.add(&shared);
        }
        index
    }

    /// Returns whether a file below a directory is tracked. `dir` is relative to the top.
    pub(super) fn tracks_below(&self, dir: &Path) -> bool {
        self.dirs.contains(dir.as_os_str().as_bytes())
    }

    /// Returns the directories that contain tracked files, relative to the top.
    pub(super) fn dirs(&self) -> impl Iterator<Item = &Path> {
        self.dirs.iter().map(|it| Path::new(OsStr::from_bytes(it)))
    }

    /// Adds the entries of a file. Returns the id of the shared index that it refers to.
    fn add(&mut self, file: &[u8]) -> Option<String> {
        // The file does not state the size of its ids; with the wrong one the padding does not fit.
        let (id_size, dirs, rest) = ID_SIZES.iter().find_map(|id_size| {
            let mut dirs = HashSet::new();
            let rest = entries(file, *id_size, |path| add_parents(path, &mut dirs))?;
            Some((*id_size, dirs, rest))
        })?;
        self.dirs.extend(dirs);
        shared_index(rest, id_size)
    }
}

/// Adds the directories that contain a path, if it is one that git would write.
fn add_parents(mut path: &[u8], dirs: &mut HashSet<Vec<u8>>) {
    let is_odd = |part: &[u8]| matches!(part, b"" | b"." | b".." | b".git");
    if path.len() > MAX_PATH || path.split(|it| *it == b'/').any(is_odd) {
        return;
    }
    while let Some(end) = path.iter().rposition(|it| *it == b'/') {
        path = &path[..end];
        if dirs.len() >= MAX_DIRS || dirs.contains(path) {
            return;
        }
        dirs.insert(path.to_owned());
    }
}

fn read(file: &Path) -> Option<Vec<u8>> {
    RealDisk.read(file, MAX_INDEX_BYTES).ok().filter(|it| !it.truncated).map(|it| it.bytes)
}

/// Calls `each` with the path of every entry. Returns the rest after the entries; `None` if an
/// entry is damaged.
fn entries(index: &[u8], id_size: usize, mut each: impl FnMut(&[u8])) -> Option<&[u8]> {
    let rest = index.strip_prefix(b"DIRC")?;
    let (version, rest) = number(rest)?;
    let (n_entries, mut rest) = number(rest)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut path = Vec::new();
    for _ in 0..n_entries {
        let flags = rest.get(STAT_SIZE + id_size..)?.first_chunk()?;
        let is_extended = version > 2 && u16::from_be_bytes(*flags) & EXTENDED != 0;
        let size = STAT_SIZE + id_size + if is_extended { 4 } else { 2 };
        let mut name = rest.get(size..)?;
        if version == 4 {
            // Paths share their start with the path before.
            let (n_dropped, suffix) = offset(name)?;
            path.truncate(path.len().checked_sub(n_dropped)?);
            name = suffix;
        } else {
            path.clear();
        }
        let length = name.iter().position(|it| *it == 0)?;
        path.extend_from_slice(&name[..length]);
        each(&path);
        let padding = if version == 4 { 1 } else { 8 - (size + length) % 8 };
        let (nuls, after) = name[length..].split_at_checked(padding)?;
        if nuls.iter().any(|it| *it != 0) {
            return None;
        }
        rest = after;
    }
    (rest.len() >= id_size).then_some(rest)
}

/// Returns the id of the shared index that the extensions after the entries refer to.
fn shared_index(mut rest: &[u8], id_size: usize) -> Option<String> {
    while let Some((name, after)) = rest.split_at_checked(4) {
        let (size, after) = number(after)?;
        if name == LINK {
            let id = after.get(..id_size)?;
            let mut name = String::new();
            for byte in id {
                // Writing to a `String` cannot fail.
                let _ = write!(name, "{byte:02x}");
            }
            return Some(name);
        }
        rest = after.get(usize::try_from(size).ok()?..)?;
    }
    None
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*number), rest))
}

/// Reads a number of variable length, as in pack files.
fn offset(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        value = value << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
        value += 1;
    }
    None
}

/// Returns the contents of an index with these paths.
#[cfg(test)]
pub(crate) fn file(version: u32, id_size: usize, paths: &[&str], link: Option<u8>) -> Vec<u8> {
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(u32::try_from(paths.len()).unwrap().to_be_bytes());
    let mut before = "";
    for path in paths {
        bytes.extend(vec![7; STAT_SIZE + id_size]);
        bytes.extend((if version == 3 { EXTENDED } else { 0 }).to_be_bytes());
        bytes.extend(vec![0; if version == 3 { 2 } else { 0 }]);
        let size = STAT_SIZE + id_size + if version == 3 { 4 } else { 2 };
        let mut suffix = *path;
        if version == 4 {
            let shared = before.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
            bytes.push(u8::try_from(before.len() - shared).unwrap());
            suffix = &path[shared..];
        }
        bytes.extend(suffix.bytes());
        bytes.extend(vec![0; if version == 4 { 1 } else { 8 - (size + path.len()) % 8 }]);
        before = path;
    }
    bytes.extend(b"TREE\0\0\0\x01x");
    if let Some(id) = link {
        bytes.extend(LINK);
        bytes.extend(u32::try_from(id_size).unwrap().to_be_bytes());
        bytes.extend(vec![id; id_size]);
    }
    bytes.extend(vec![9; id_size]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(file: &[u8]) -> Index {
        let mut index = Index::default();
        index.add(file);
        index
    }

    #[test]
    fn tracked_directories_are_found_in_every_version() {
        let paths = ["a/b/c", "a/b/d", "build/x/SKILL.md", "z"];
        for version in 2..=4 {
            for id_size in ID_SIZES {
                let index = parsed(&file(version, id_size, &paths, None));
                for (dir, expected) in
                    [("a", true), ("a/b", true), ("build/x", true), ("bui", false), ("z", false)]
                {
                    let found = index.tracks_below(Path::new(dir));
                    assert_eq!(found, expected, "{dir} in version {version} with {id_size}");
                }
            }
        }
    }

    #[test]
    fn shared_index_counts() {
        let top = tempfile::tempdir().unwrap();
        let git = top.path().join(".git");
        std::fs::create_dir(&git).unwrap();
        std::fs::write(git.join("index"), file(2, 20, &["own/x"], Some(0xab))).unwrap();
        let shared = git.join(format!("sharedindex.{}", "ab".repeat(20)));
        std::fs::write(shared, file(2, 20, &["far/x"], None)).unwrap();
        let index = Index::read(&git);
        assert!(index.tracks_below(Path::new("own")) && index.tracks_below(Path::new("far")));
    }

    #[test]
    fn paths_that_git_does_not_write_are_left_out() {
        let long = format!("{}f", "a/".repeat(MAX_PATH / 2));
        let paths = [&*long, ".git/hooks/x", "b/../c/x", "d//x", "e/x"];
        let index = parsed(&file(2, 20, &paths, None));
        assert_eq!(index.dirs().collect::<Vec<_>>(), [Path::new("e")]);
    }

    #[test]
    fn damaged_index_has_no_entries() {
        let whole = file(4, 20, &["a/b", "a/c"], None);
        for end in 0..whole.len() - 40 {
            assert!(!parsed(&whole[..end]).tracks_below(Path::new("a")), "{end}");
        }
        let mut endless = b"DIRC\0\0\0\x04\xff\xff\xff\xff".to_vec();
        endless.extend([0xff; 200]);
        assert!(!parsed(&endless).tracks_below(Path::new("a")));
    }
}
