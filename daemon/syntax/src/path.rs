//! [`AbsPath`]: an absolute path without `.` and `..`, and the reasons to refuse other paths.
//!
//! Every path that enters this crate is absolute and free of `.` and `..`; the current directory is
//! not used after start-up. Nothing here accesses the disk.

use std::ffi::OsStr;
use std::fmt;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};

/// An absolute path without `.` and `..` components.
///
/// Symbolic links are not resolved: the path is the one by which the file was reached.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsPath(PathBuf);

/// The reason why a path is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    Relative(PathBuf),
    /// The path contains `..`, which is ambiguous until links are resolved.
    Climbs(PathBuf),
    /// The path is longer than the system allows, in bytes.
    TooLong(usize),
}

/// Maximum length of a path in bytes, as on Linux (`PATH_MAX`). The limit also bounds the number of
/// ancestors.
const MAX_BYTES: usize = 4096;

/// Checks a name that becomes one component of a path.
///
/// # Errors
/// The name is empty, is `.` or `..`, or contains a slash, a backslash or a NUL. The error is a
/// sentence fragment with the name as its subject.
pub fn check_component(name: impl AsRef<OsStr>) -> Result<(), &'static str> {
    match name.as_ref().as_encoded_bytes() {
        b"" => Err("is empty"),
        b"." | b".." => Err("contains `.` or `..`"),
        name if name.contains(&b'/') => Err("contains a slash"),
        name if name.contains(&b'\\') => Err("contains a backslash"),
        name if name.contains(&0) => Err("contains a NUL"),
        _ => Ok(()),
    }
}

impl AbsPath {
    /// Returns `path` as an absolute path, with `.` components and doubled slashes removed.
    ///
    /// # Errors
    /// The path is relative, contains `..`, or is longer than 4096 bytes.
    pub fn new(path: &Path) -> Result<Self, PathError> {
        let length = path.as_os_str().len();
        if length > MAX_BYTES {
            return Err(PathError::TooLong(length));
        }
        if !path.is_absolute() {
            return Err(PathError::Relative(path.to_owned()));
        }
        if path.components().any(|it| it == Component::ParentDir) {
            return Err(PathError::Climbs(path.to_owned()));
        }
        Ok(Self(path.components().collect()))
    }

    /// Returns this path joined with `name`; the path itself if the name is empty.
    #[must_use]
    pub fn child(&self, name: impl AsRef<Path>) -> Self {
        let name = name.as_ref();
        if name.as_os_str().is_empty() { self.clone() } else { Self(self.0.join(name)) }
    }

    /// Resolves `text` relative to this path. `.` and `..` are resolved lexically, without
    /// following links, as most languages' path libraries do.
    #[must_use]
    pub fn join_lexically(&self, text: impl AsRef<Path>) -> Self {
        let mut path = self.0.clone();
        for component in text.as_ref().components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::ParentDir => {
                    path.pop();
                }
                Component::RootDir => path = PathBuf::from("/"),
                Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Self(path)
    }

    /// Returns the path and its ancestors, up to the root directory.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + '_ {
        self.0.ancestors().map(|it| Self(it.to_owned()))
    }

    /// Returns the parent directory; `None` for the root directory.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|it| Self(it.to_owned()))
    }

    /// Returns the name of the parent directory, if it is UTF-8.
    pub fn parent_name(&self) -> Option<&str> {
        self.0.parent()?.file_name()?.to_str()
    }

    /// Returns the path as an owned [`PathBuf`].
    pub fn into_path_buf(self) -> PathBuf {
        self.0
    }
}

impl Deref for AbsPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for AbsPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Debug for AbsPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(path) => write!(f, "path `{}` is not absolute", path.display()),
            Self::Climbs(path) => write!(f, "path `{}` contains `..`", path.display()),
            Self::TooLong(length) => {
                write!(f, "the path is {length} bytes long; the limit is {MAX_BYTES}")
            }
        }
    }
}

impl std::error::Error for PathError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_doubled_slashes_are_removed() {
        let path = AbsPath::new(Path::new("/a/.//b/")).unwrap();
        assert_eq!(&*path, Path::new("/a/b"));
    }

    #[test]
    fn relative_and_climbing_paths_are_refused() {
        let relative = AbsPath::new(Path::new("a/b")).unwrap_err();
        assert_eq!(relative.to_string(), "path `a/b` is not absolute");
        let climbing = AbsPath::new(Path::new("/a/../b")).unwrap_err();
        assert_eq!(climbing.to_string(), "path `/a/../b` contains `..`");
    }

    #[test]
    fn path_over_the_length_limit_is_refused() {
        let path = |length: usize| format!("/{}", "a".repeat(length - 1));
        assert!(AbsPath::new(Path::new(&path(4096))).is_ok());
        let error = AbsPath::new(Path::new(&path(4097))).unwrap_err();
        assert_eq!(error, PathError::TooLong(4097));
    }

    #[test]
    fn join_lexically_resolves_parent_and_root_components() {
        let path = AbsPath::new(Path::new("/a/b")).unwrap();
        assert_eq!(&*path.join_lexically("../c/./d"), Path::new("/a/c/d"));
        assert_eq!(&*path.join_lexically("/x/../../y"), Path::new("/y"));
        assert_eq!(&*path.child(""), Path::new("/a/b"));
    }

    #[test]
    fn check_component_refuses_separators_and_dots() {
        for name in ["", ".", "..", "/", "a/b", "../a", "a/", "a\\b", "a\0"] {
            assert!(check_component(name).is_err(), "{name:?}");
        }
        for name in ["a", "...", ".a", "a b", "a.b-c_d", "ä"] {
            assert_eq!(check_component(name), Ok(()), "{name:?}");
        }
    }

    #[test]
    fn ancestors_end_at_the_root() {
        let path = AbsPath::new(Path::new("/a/b")).unwrap();
        let all: Vec<_> = path.ancestors().map(AbsPath::into_path_buf).collect();
        assert_eq!(all, [Path::new("/a/b"), Path::new("/a"), Path::new("/")]);
    }
}
