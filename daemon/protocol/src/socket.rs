//! Where the daemon's socket is: one pure function over the environment.
//!
//! The caller reads the variables and asks the disk; this decides. Client and daemon both call it,
//! so that they always agree. `$TMPDIR` is never considered: a sandboxed agent sees another one
//! than its user does.
//! Invariant: every path here is absolute and short enough for a socket address.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The file name of the socket in our own directory; only the protocol's major is in it.
pub const FILE_NAME: &str = "v1.sock";

/// The name of our directory in a runtime directory.
pub const DIRECTORY_NAME: &str = "skillsd";

/// The longest path that a socket address holds on Linux, without its final NUL.
pub const MAX_PATH_BYTES: usize = 107;

/// What the choice depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketEnvironment {
    /// The value of [`crate::env::SKILLSD_SOCKET`].
    pub skillsd_socket: Option<OsString>,
    /// The value of [`crate::env::XDG_RUNTIME_DIR`].
    pub xdg_runtime_dir: Option<OsString>,
    /// The user's id.
    pub uid: u32,
    /// Whether `/run/user/<uid>` is a directory that belongs to the user.
    pub run_user_is_ours: bool,
}

/// Which rule chose the socket's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketSource {
    /// [`crate::env::SKILLSD_SOCKET`] names it. The directory is the user's and is only checked.
    Variable,
    /// It is in [`crate::env::XDG_RUNTIME_DIR`].
    XdgRuntimeDir,
    /// It is in `/run/user/<uid>`.
    RunUser,
    /// It is in `/tmp`, in a directory that anybody may have made before us.
    Tmp,
}

/// Where the socket is, and which rule says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketLocation {
    path: PathBuf,
    // The parent of `path`.
    directory: PathBuf,
    // The file name of `path` without `.sock`.
    stem: OsString,
    source: SocketSource,
}

/// Why there is no place for the socket.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// The variable holds a relative path, which client and daemon would read differently.
    #[error("`{}` in SKILLSD_SOCKET is not an absolute path of a file", .path.display())]
    NotAFilePath {
        /// The value of the variable.
        path: PathBuf,
    },
    /// A socket address cannot hold the path.
    #[error("socket path `{}` is longer than {MAX_PATH_BYTES} bytes", .path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
    },
}

impl SocketLocation {
    /// The socket that speaks the protocol.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which rule chose the path.
    pub fn source(&self) -> SocketSource {
        self.source
    }

    /// The directory that holds the socket and the locks.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The socket beside it that speaks the language server protocol: `v1-lsp.sock`.
    pub fn lsp_path(&self) -> PathBuf {
        self.beside("-lsp.sock")
    }

    /// The socket beside it that answers what grants as well: `v1-consent.sock`.
    pub fn consent_path(&self) -> PathBuf {
        self.beside("-consent.sock")
    }

    /// The lock that a running daemon holds: `v1.lock`.
    pub fn daemon_lock(&self) -> PathBuf {
        self.beside(".lock")
    }

    /// The lock that a client holds while it starts a daemon: `v1.start.lock`.
    pub fn start_lock(&self) -> PathBuf {
        self.beside(".start.lock")
    }

    /// What a daemon that a client started says on its standard error: `v1.start.log`.
    pub fn start_log(&self) -> PathBuf {
        self.beside(".start.log")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.stem.clone();
        name.push(suffix);
        self.directory.join(name)
    }
}

/// Chooses the socket's path.
pub fn choose(environment: &SocketEnvironment) -> Result<SocketLocation, SocketError> {
    let (path, source) = if let Some(path) = set(environment.skillsd_socket.as_deref()) {
        (PathBuf::from(path), SocketSource::Variable)
    } else if let Some(runtime) = runtime_directory(environment.xdg_runtime_dir.as_deref()) {
        (runtime.join(DIRECTORY_NAME).join(FILE_NAME), SocketSource::XdgRuntimeDir)
    } else if environment.run_user_is_ours {
        let runtime = run_user(environment.uid);
        (runtime.join(DIRECTORY_NAME).join(FILE_NAME), SocketSource::RunUser)
    } else {
        let directory = format!("/tmp/{DIRECTORY_NAME}-{}", environment.uid);
        (Path::new(&directory).join(FILE_NAME), SocketSource::Tmp)
    };
    locate(path, source)
}

fn locate(path: PathBuf, source: SocketSource) -> Result<SocketLocation, SocketError> {
    let parts = path.parent().zip(path.file_name()).filter(|_| path.is_absolute());
    let Some((directory, name)) = parts else {
        return Err(SocketError::NotAFilePath { path });
    };
    let stem = name.as_bytes().strip_suffix(b".sock").unwrap_or(name.as_bytes());
    let stem = OsStr::from_bytes(stem).to_owned();
    let location = SocketLocation { directory: directory.to_owned(), stem, path, source };
    // The consent socket's name is the longest of the three.
    let longest = location.path.as_os_str().len().max(location.consent_path().as_os_str().len());
    if longest > MAX_PATH_BYTES {
        return Err(SocketError::TooLong { path: location.path });
    }
    Ok(location)
}

/// Returns the runtime directory that the system gives a user who is logged in.
pub fn run_user(uid: u32) -> PathBuf {
    PathBuf::from(format!("/run/user/{uid}"))
}

fn set(value: Option<&OsStr>) -> Option<&OsStr> {
    value.filter(|value| !value.is_empty())
}

// The XDG specification: relative paths in its variables are to be ignored.
fn runtime_directory(value: Option<&OsStr>) -> Option<&Path> {
    set(value).map(Path::new).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variable: &str, xdg: &str, run_user_is_ours: bool, expected: &str) {
        let environment = SocketEnvironment {
            skillsd_socket: (variable != "-").then(|| variable.into()),
            xdg_runtime_dir: (xdg != "-").then(|| xdg.into()),
            uid: 1000,
            run_user_is_ours,
        };
        let text = match choose(&environment) {
            Ok(location) => format!("{:?} {}", location.source, location.path.display()),
            Err(error) => error.to_string(),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn the_first_rule_that_applies_wins() {
        check("/s/x.sock", "/xdg", true, "Variable /s/x.sock");
        check("-", "/xdg", true, "XdgRuntimeDir /xdg/skillsd/v1.sock");
        check("-", "/xdg", false, "XdgRuntimeDir /xdg/skillsd/v1.sock");
        check("-", "-", true, "RunUser /run/user/1000/skillsd/v1.sock");
        check("-", "-", false, "Tmp /tmp/skillsd-1000/v1.sock");
    }

    #[test]
    fn empty_counts_as_unset_and_relative_is_not_followed() {
        check("", "/xdg", true, "XdgRuntimeDir /xdg/skillsd/v1.sock");
        check("-", "", true, "RunUser /run/user/1000/skillsd/v1.sock");
        check("-", "xdg", true, "RunUser /run/user/1000/skillsd/v1.sock");
        let message = "`x.sock` in SKILLSD_SOCKET is not an absolute path of a file";
        check("x.sock", "/xdg", true, message);
        check("/", "-", true, "`/` in SKILLSD_SOCKET is not an absolute path of a file");
    }

    #[test]
    fn a_path_that_no_address_holds_is_refused() {
        let fits = format!("/{}.sock", "x".repeat(MAX_PATH_BYTES - 14));
        check(&fits, "-", true, &format!("Variable {fits}"));
        let long = format!("/{}.sock", "x".repeat(MAX_PATH_BYTES - 13));
        let message = format!("socket path `{long}` is longer than 107 bytes");
        check(&long, "-", true, &message);
    }

    #[test]
    fn the_other_files_are_beside_the_socket() {
        let names = |variable: &str| {
            let skillsd_socket = Some(variable.into());
            let environment = SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() };
            let location = choose(&environment).expect("absolute");
            assert_eq!(location.directory(), Path::new("/d"));
            [
                location.lsp_path(),
                location.consent_path(),
                location.daemon_lock(),
                location.start_lock(),
            ]
        };
        let expected = ["/d/v1-lsp.sock", "/d/v1-consent.sock", "/d/v1.lock", "/d/v1.start.lock"];
        let expected = expected.map(PathBuf::from);
        assert_eq!(names("/d/v1.sock"), expected);
        let expected = ["/d/x-lsp.sock", "/d/x-consent.sock", "/d/x.lock", "/d/x.start.lock"];
        let expected = expected.map(PathBuf::from);
        assert_eq!(names("/d/x"), expected);
    }
}
