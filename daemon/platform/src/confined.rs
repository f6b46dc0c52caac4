//! Opening files below a directory, with links that lead out refused ([`ConfinedRoot`]), and paths
//! without links ([`open_without_links`]).
//!
//! Linux resolves such a path in the kernel, by `openat2`. The portable implementation, also used
//! where a kernel or sandbox has no such call, opens one component after the other with
//! `O_NOFOLLOW` and follows links itself, so a component that is swapped for a link meanwhile is
//! either refused or resolved like any other link. It differs in one point: it opens directories
//! for reading, so it needs permission to read each directory on the way, not only to search it.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::open_file;

/// Maximum number of links followed in one path, as in Linux.
const MAX_LINKS: usize = 40;

/// An open directory. Paths below it are resolved without ever leaving it.
#[derive(Debug)]
pub struct ConfinedRoot {
    directory: OwnedFd,
    path: PathBuf,
}

impl ConfinedRoot {
    /// Opens the directory, following links in its path.
    ///
    /// # Errors
    /// The system refuses.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let flags = search_flags() | OFlags::CLOEXEC;
        Ok(Self { directory: openat(CWD, path, flags, Mode::empty())?, path: path.to_owned() })
    }

    /// Returns the metadata of the directory.
    ///
    /// # Errors
    /// The system refuses.
    pub fn stat(&self) -> Result<Stat, Errno> {
        fstat(&self.directory)
    }

    /// Opens a path below the directory. Follows links that stay below it; the last component only
    /// without `NOFOLLOW`. Fails with `XDEV` if the path leads out.
    ///
    /// # Errors
    /// The system refuses, or the path leads out.
    pub fn open_at(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        if let Some(opened) = self.open_in_kernel(relative, flags) {
            return opened;
        }
        let found = self.walk(relative, !flags.contains(OFlags::NOFOLLOW))?;
        openat(found.parent(), &found.name, flags | NO_FOLLOW, Mode::empty())
    }

    /// Returns the metadata of an entry below the directory; of a final link itself only with
    /// [`OFlags::NOFOLLOW`].
    ///
    /// # Errors
    /// The system refuses, or the path leads out.
    pub fn stat_at(&self, relative: &Path, flags: OFlags) -> Result<Stat, Errno> {
        #[cfg(target_os = "linux")]
        if let Some(opened) = self.open_in_kernel(relative, OFlags::PATH | flags) {
            return fstat(opened?);
        }
        let found = self.walk(relative, !flags.contains(OFlags::NOFOLLOW))?;
        statat(found.parent(), &found.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens a path below the directory like [`Self::open_at`], and returns its canonical path.
    ///
    /// # Errors
    /// The system refuses, the path leads out, or the directory was moved meanwhile.
    pub fn open_named(&self, relative: &Path, flags: OFlags) -> io::Result<(OwnedFd, PathBuf)> {
        #[cfg(target_os = "linux")]
        if let Some(opened) = self.open_in_kernel(relative, flags) {
            let opened = opened?;
            let path = open_file::path_of(&opened, &self.path.join(relative))?;
            return Ok((opened, path));
        }
        let found = self.walk(relative, true)?;
        let opened = openat(found.parent(), &found.name, flags | NO_FOLLOW, Mode::empty())?;
        let path = self.canonical(&found)?;
        Ok((opened, path))
    }

    /// Returns the metadata and the canonical path of an entry below the directory.
    ///
    /// # Errors
    /// The system refuses, the path leads out, or the directory was moved meanwhile.
    pub fn stat_named(&self, relative: &Path) -> io::Result<(Stat, PathBuf)> {
        #[cfg(target_os = "linux")]
        if let Some(opened) = self.open_in_kernel(relative, OFlags::PATH) {
            let opened = opened?;
            return Ok((fstat(&opened)?, open_file::path_of(&opened, &self.path.join(relative))?));
        }
        let found = self.walk(relative, true)?;
        let stat = statat(found.parent(), &found.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((stat, self.canonical(&found)?))
    }

    fn canonical(&self, found: &Found<'_>) -> io::Result<PathBuf> {
        let mut path = open_file::path_of(&self.directory, &self.path)?;
        path.extend(found.opened.iter().map(|(_, name)| name));
        if found.name != OsStr::new(".") {
            path.push(&found.name);
        }
        Ok(path)
    }

    #[cfg(target_os = "linux")]
    fn open_in_kernel(&self, relative: &Path, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
        use rustix::fs::ResolveFlags;

        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        open_in_kernel(&self.directory, relative, flags, resolve)
    }

    fn walk(&self, relative: &Path, follow: bool) -> Result<Found<'_>, Errno> {
        let mut found =
            Found { root: self.directory.as_fd(), opened: Vec::new(), name: ".".into() };
        let last = if follow { LastLink::Followed } else { LastLink::Kept };
        found.walk(relative, Links::FollowedBelow, last)?;
        Ok(found)
    }
}

/// Opens a path if no component is a symbolic link; else fails with `LOOP`.
///
/// # Errors
/// The system refuses, or a component is a link.
pub fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = open_in_kernel(CWD, path, flags, rustix::fs::ResolveFlags::NO_SYMLINKS) {
        return opened;
    }
    let Ok(relative) = path.strip_prefix("/") else { return Err(Errno::INVAL) };
    let top = openat(CWD, "/", search_flags() | OFlags::CLOEXEC, Mode::empty())?;
    let mut found = Found { root: top.as_fd(), opened: Vec::new(), name: ".".into() };
    found.walk(relative, Links::Refused, LastLink::Kept)?;
    match openat(found.parent(), &found.name, flags | NO_FOLLOW, Mode::empty()) {
        // `O_DIRECTORY` reports a link as an entry that is no directory.
        Err(Errno::NOTDIR) if found.link().is_ok() => Err(Errno::LOOP),
        opened => opened,
    }
}

/// Returns the flags for a directory whose entries are opened.
pub fn search_flags() -> OFlags {
    #[cfg(target_os = "linux")]
    if !crate::is_portable() {
        return OFlags::PATH | OFlags::DIRECTORY;
    }
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK
}

/// Opens a path by `openat2`; none if the portable implementation is to be used: it was chosen, or
/// the kernel is older than 5.6, or a sandbox blocks the call.
#[cfg(target_os = "linux")]
fn open_in_kernel(
    directory: impl AsFd,
    path: &Path,
    flags: OFlags,
    resolve: rustix::fs::ResolveFlags,
) -> Option<Result<OwnedFd, Errno>> {
    /// Attempts while the path changes during resolution, which keeps the kernel from proving where
    /// it leads.
    const TRIES: usize = 16;
    if crate::is_portable() {
        return None;
    }
    let flags = flags | OFlags::CLOEXEC;
    let open = || rustix::fs::openat2(&directory, path, flags, Mode::empty(), resolve);
    let mut opened = open();
    for _ in 1..TRIES {
        if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
        opened = open();
    }
    (!matches!(opened, Err(Errno::NOSYS | Errno::PERM))).then_some(opened)
}

const NO_FOLLOW: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Handling of links on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    FollowedBelow,
    Refused,
}

/// Handling of a link that is the last component.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastLink {
    Followed,
    Kept,
}

/// The place to which a path leads: an entry of the last opened directory, or of the root.
struct Found<'a> {
    root: std::os::fd::BorrowedFd<'a>,
    /// Directories below the root, each opened in the one before, with its name.
    opened: Vec<(OwnedFd, OsString)>,
    /// `.` if the path leads to the directory itself.
    name: OsString,
}

impl Found<'_> {
    fn parent(&self) -> std::os::fd::BorrowedFd<'_> {
        self.opened.last().map_or(self.root, |(it, _)| it.as_fd())
    }

    fn link(&self) -> Result<PathBuf, Errno> {
        let target = readlinkat(self.parent(), &self.name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    fn walk(&mut self, path: &Path, links: Links, last: LastLink) -> Result<(), Errno> {
        if path.as_os_str().is_empty() && links == Links::FollowedBelow {
            return Err(Errno::NOENT);
        }
        let mut waiting = parts(path)?;
        let mut n_links = 0;
        while let Some(name) = waiting.pop_front() {
            // The entry before was a directory.
            self.name = ".".into();
            if name == OsStr::new("..") {
                self.opened.pop().ok_or(Errno::XDEV)?;
                continue;
            }
            if name == OsStr::new(".") {
                continue;
            }
            self.name = name;
            let is_last = waiting.is_empty();
            if is_last && last == LastLink::Kept {
                return Ok(());
            }
            let target = match self.link() {
                Ok(target) if links == Links::FollowedBelow => Some(target),
                Ok(_) => return Err(Errno::LOOP),
                // The entry is no link.
                Err(Errno::INVAL) => None,
                Err(error) => return Err(error),
            };
            if let Some(target) = target {
                n_links += 1;
                if n_links > MAX_LINKS {
                    return Err(Errno::LOOP);
                }
                let mut next = parts(&target)?;
                next.append(&mut waiting);
                waiting = next;
                // If the target is `.`, the path leads to the directory of the link.
                self.name = ".".into();
            } else if !is_last {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | NO_FOLLOW;
                // A link that was put here meanwhile is refused.
                let directory = openat(self.parent(), &self.name, flags, Mode::empty())?;
                self.opened.push((directory, std::mem::take(&mut self.name)));
            }
        }
        Ok(())
    }
}

/// Splits a path that must be relative. Fails with `XDEV` if it is absolute.
fn parts(path: &Path) -> Result<VecDeque<OsString>, Errno> {
    let mut parts = VecDeque::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push_back(name.to_owned()),
            Component::ParentDir => parts.push_back("..".into()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(Errno::XDEV),
        }
    }
    // A trailing slash demands a directory.
    if path.as_os_str().as_bytes().ends_with(b"/") {
        parts.push_back(".".into());
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// Returns the canonical path to which a walk leads, below the root.
    fn walked(root: &ConfinedRoot, relative: &str, follow: bool) -> Result<String, Errno> {
        let top = root.path.canonicalize().unwrap();
        let found = root.walk(Path::new(relative), follow)?;
        statat(found.parent(), &found.name, AtFlags::SYMLINK_NOFOLLOW)?;
        let path = root.canonical(&found).unwrap();
        Ok(path.strip_prefix(&top).unwrap().display().to_string())
    }

    fn tree() -> (TempDir, ConfinedRoot) {
        let top = TempDir::new().unwrap();
        let root = top.path().join("skill");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/f"), "").unwrap();
        fs::write(top.path().join("secret"), "").unwrap();
        for (target, link) in [
            ("a/b", "dir"),
            ("dir/f", "file"),
            ("./a/./b/", "slash"),
            (".", "itself"),
            ("..", "up"),
            ("../secret", "out"),
            ("/etc", "absolute"),
            ("loop", "loop"),
            ("a/../../skill/a", "back"),
            ("none", "dangling"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let root = ConfinedRoot::open(&root).unwrap();
        (top, root)
    }

    #[test]
    fn walk_resolves_like_the_kernel() {
        let (_top, root) = tree();
        for (relative, expected) in [
            ("a/b/f", Ok("a/b/f")),
            ("a/../a/./b/f", Ok("a/b/f")),
            ("dir/f", Ok("a/b/f")),
            ("file", Ok("a/b/f")),
            ("slash/f", Ok("a/b/f")),
            ("slash", Ok("a/b")),
            ("itself/itself/a", Ok("a")),
            ("dir/..", Ok("a")),
            (".", Ok("")),
            ("", Err(Errno::NOENT)),
            ("up/secret", Err(Errno::XDEV)),
            ("up/skill/a", Err(Errno::XDEV)),
            ("out", Err(Errno::XDEV)),
            ("absolute/hostname", Err(Errno::XDEV)),
            ("../secret", Err(Errno::XDEV)),
            ("a/../../secret", Err(Errno::XDEV)),
            ("back", Err(Errno::XDEV)),
            ("/etc/hostname", Err(Errno::XDEV)),
            ("loop", Err(Errno::LOOP)),
            ("dangling", Err(Errno::NOENT)),
            ("none/f", Err(Errno::NOENT)),
            ("a/b/f/x", Err(Errno::NOTDIR)),
            ("a/b/f/", Err(Errno::NOTDIR)),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(walked(&root, relative, true), expected, "{relative}");
            #[cfg(target_os = "linux")]
            if let Some(kernel) = root.open_in_kernel(Path::new(relative), OFlags::PATH) {
                assert_eq!(kernel.map(drop), expected.map(drop), "{relative} by the kernel");
            }
        }
        assert_eq!(walked(&root, "file", false).as_deref(), Ok("file"));
        assert_eq!(walked(&root, "dir/f", false).as_deref(), Ok("a/b/f"));
    }

    #[test]
    fn path_with_a_link_is_not_opened_without_links() {
        let (top, _root) = tree();
        let top = top.path().canonicalize().unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        assert!(open_without_links(&top.join("skill/a/b"), flags).is_ok());
        for relative in ["skill/dir", "skill/itself/a"] {
            let refused = open_without_links(&top.join(relative), flags);
            assert_eq!(refused.unwrap_err(), Errno::LOOP, "{relative}");
        }
        let missing = open_without_links(&top.join("skill/none"), flags);
        assert_eq!(missing.unwrap_err(), Errno::NOENT);
    }
}
