//! Tracked paths, from git's index (`.git/index`).
//!
//! Git ignores no directory that contains a tracked file, for example one that was added with
//! `git add --force`. The reader knows versions 2 to 4 with SHA-1 and SHA-256, and split indexes.
//! It is bounded, and treats a file that it cannot read as an index without entries.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::patterns::{Links, text};
use crate::files::disk::{Disk as _, RealDisk};

/// Maximum size of an index, in bytes: about half a million files.
const MOST: u64 = 64 * 1024 * 1024;

/// Size of an object id: SHA-1, SHA-256.
const ID_SIZES: [usize; 2] = [20, 32];

/// Size of an entry before its object id: times, device, inode, mode, owner and size.
const STAT_SIZE: usize = 40;

/// Bit in an entry's flags: two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;

/// Name of the extension that refers to a shared index.
const LINK: &[u8] = b"link";

/// The contents of a worktree's index, with that of its shared index.
#[derive(Debug, Default)]
pub(super) struct Index {
    files: Vec<Vec<u8>>,
}

impl Index {
    /// Reads the index of the worktree at `top`.
    pub(super) fn read(top: &Path) -> Self {
        let Some(repository) = git_dir(top) else { return Self::default() };
        let mut files: Vec<_> = read(&repository.join("index")).into_iter().collect();
        let shared = files.first().and_then(|it| shared_index(it));
        files.extend(shared.and_then(|it| read(&repository.join(format!("sharedindex.{it}")))));
        Self { files }
    }

    /// Returns whether a file below a directory is tracked. `dir` is relative to the top.
    pub(super) fn tracks_below(&self, dir: &Path) -> bool {
        let mut prefix = dir.as_os_str().as_bytes().to_vec();
        prefix.push(b'/');
        self.files.iter().any(|it| {
            let mut is_below = false;
            read_entries(it, |path| is_below |= path.starts_with(&prefix));
            is_below
        })
    }
}

/// Returns the git directory of a worktree; that of a linked worktree is named in a file.
fn git_dir(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let file = text(&git, Links::Refused)?;
    Some(top.join(file.strip_prefix("gitdir:")?.trim()))
}

fn read(file: &Path) -> Option<Vec<u8>> {
    RealDisk.read(file, MOST).ok().filter(|it| !it.truncated).map(|it| it.bytes)
}

/// Calls `each` with the path of every entry. Returns the size of an object id, and the rest after
/// the entries.
fn read_entries(index: &[u8], mut each: impl FnMut(&[u8])) -> Option<(usize, &[u8])> {
    // The file does not state the size of its ids; with the wrong one the padding does not fit.
    let fits = |it: &&usize| entries(index, **it, |_| {}).is_some();
    let id_size = *ID_SIZES.iter().find(fits)?;
    Some((id_size, entries(index, id_size, &mut each)?))
}

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

/// Returns the id of the shared index that a split index refers to.
fn shared_index(index: &[u8]) -> Option<String> {
    let (id_size, mut rest) = read_entries(index, |_| {})?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an index with these paths.
    fn index(version: u32, id_size: usize, paths: &[&str], link: Option<u8>) -> Vec<u8> {
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

    #[test]
    fn tracked_directories_are_found_in_every_version() {
        let paths = ["a/b/c", "a/b/d", "build/x/SKILL.md", "z"];
        for version in 2..=4 {
            for id_size in ID_SIZES {
                let index = Index { files: vec![index(version, id_size, &paths, None)] };
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
        std::fs::write(git.join("index"), index(2, 20, &["own/x"], Some(0xab))).unwrap();
        let shared = git.join(format!("sharedindex.{}", "ab".repeat(20)));
        std::fs::write(shared, index(2, 20, &["far/x"], None)).unwrap();
        let index = Index::read(top.path());
        assert!(index.tracks_below(Path::new("own")) && index.tracks_below(Path::new("far")));
        // A linked worktree names its git directory in a file.
        let linked = tempfile::tempdir().unwrap();
        std::fs::write(linked.path().join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
        assert!(Index::read(linked.path()).tracks_below(Path::new("own")));
    }

    #[test]
    fn damaged_index_has_no_entries() {
        let whole = index(4, 20, &["a/b", "a/c"], None);
        for end in 0..whole.len() - 40 {
            let index = Index { files: vec![whole[..end].to_vec()] };
            assert!(!index.tracks_below(Path::new("a")), "{end}");
        }
        let mut endless = b"DIRC\0\0\0\x04\xff\xff\xff\xff".to_vec();
        endless.extend([0xff; 200]);
        assert!(!Index { files: vec![endless] }.tracks_below(Path::new("a")));
    }
}
