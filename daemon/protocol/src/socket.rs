//! Location of the daemon's socket, as a pure function of the environment.
//!
//! The caller reads the variables and the disk. Client and daemon both call [`choose`], so that
//! they agree. `$TMPDIR` is not used, because a sandboxed agent has a different one than its user.
//! Invariant: every path here is absolute and short enough for a socket address.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// File name of the socket in skillsd's directory; contains the protocol's major version.
pub const FILE_NAME: &str = "v1.sock";

/// Name of skillsd's directory in a runtime directory.
pub const DIRECTORY_NAME: &str = "skillsd";

/// Maximum length of a path in a socket address, without its final NUL.
pub const MAX_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Inputs of [`choose`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketEnvironment {
    /// The value of [`crate::env::SKILLSD_SOCKET`].
    pub skillsd_socket: Option<OsString>,
    /// The value of [`crate::env::XDG_RUNTIME_DIR`].
    pub xdg_runtime_dir: Option<OsString>,
    /// Id of the user.
    pub uid: u32,
    /// True if `/run/user/<uid>` is a directory that belongs to the user.
    pub run_user_is_ours: bool,
}

/// Rule that determines the socket's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketSource {
    /// [`crate::env::SKILLSD_SOCKET`] names the path. The directory belongs to the user and is only
    /// checked.
    Variable,
    /// Below [`crate::env::XDG_RUNTIME_DIR`].
    XdgRuntimeDir,
    /// Below `/run/user/<uid>`.
    RunUser,
    /// Below `/tmp`, in a directory that another user may have created first.
    Tmp,
}

/// Path of the socket, and the rule that determined it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketLocation {
    path: PathBuf,
    // Parent of `path`.
    directory: PathBuf,
    // File name of `path` without `.sock`.
    stem: OsString,
    source: SocketSource,
}

/// Reason why the socket has no usable path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// The variable has a relative path, which client and daemon would resolve differently.
    #[error("`{}` in SKILLSD_SOCKET is not the absolute path of a file", .path.display())]
    NotAFilePath {
        /// The value of the variable.
        path: PathBuf,
    },
    /// The path is too long for a socket address.
    #[error("socket path `{}` is longer than {MAX_PATH_BYTES} bytes", .path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
    },
}

impl SocketLocation {
    /// Returns the path of the protocol socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the rule that determined the path.
    pub fn source(&self) -> SocketSource {
        self.source
    }

    /// Returns the directory of the socket and the locks.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the path of the language server socket: `v1-lsp.sock`.
    pub fn lsp_path(&self) -> PathBuf {
        self.beside("-lsp.sock")
    }

    /// Returns the path of the socket that also accepts granting methods: `v1-consent.sock`.
    pub fn consent_path(&self) -> PathBuf {
        self.beside("-consent.sock")
    }

    /// Returns the path of the lock that a running daemon holds: `v1.lock`.
    pub fn daemon_lock(&self) -> PathBuf {
        self.beside(".lock")
    }

    /// Returns the path of the lock that a client holds while it starts a daemon: `v1.start.lock`.
    pub fn start_lock(&self) -> PathBuf {
        self.beside(".start.lock")
    }

    /// Returns the path of the log with the standard error of a daemon started by a client:
    /// `v1.start.log`.
    pub fn start_log(&self) -> PathBuf {
        self.beside(".start.log")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.stem.clone();
        name.push(suffix);
        self.directory.join(name)
    }
}

/// Determines the socket's path.
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
    let is_file = path.is_absolute() && !path.as_os_str().as_bytes().ends_with(b"/");
    let parts = path.parent().zip(path.file_name()).filter(|_| is_file);
    let Some((directory, name)) = parts else {
        return Err(SocketError::NotAFilePath { path });
    };
    let stem = name.as_bytes().strip_suffix(b".sock").unwrap_or(name.as_bytes());
    let stem = OsStr::from_bytes(stem).to_owned();
    let location = SocketLocation { directory: directory.to_owned(), stem, path, source };
    // The consent socket has the longest of the three names.
    let longest = location.path.as_os_str().len().max(location.consent_path().as_os_str().len());
    if longest > MAX_PATH_BYTES {
        return Err(SocketError::TooLong { path: location.path });
    }
    Ok(location)
}

/// Returns the runtime directory of a logged-in user.
pub fn run_user(uid: u32) -> PathBuf {
    PathBuf::from(format!("/run/user/{uid}"))
}

fn set(value: Option<&OsStr>) -> Option<&OsStr> {
    value.filter(|value| !value.is_empty())
}

// XDG specification: relative paths in these variables are ignored.
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
    fn first_applicable_rule_determines_the_socket() {
        check("/s/x.sock", "/xdg", true, "Variable /s/x.sock");
        check("-", "/xdg", true, "XdgRuntimeDir /xdg/skillsd/v1.sock");
        check("-", "/xdg", false, "XdgRuntimeDir /xdg/skillsd/v1.sock");
        check("-", "-", true, "RunUser /run/user/1000/skillsd/v1.sock");
        check("-", "-", false, "Tmp /tmp/skillsd-1000/v1.sock");
    }

    #[test]
    fn empty_variable_is_unset_and_relative_path_is_ignored() {
        check("", "/xdg", true, "XdgRuntimeDir /xdg/skillsd/v1.sock");
        check("-", "", true, "RunUser /run/user/1000/skillsd/v1.sock");
        check("-", "xdg", true, "RunUser /run/user/1000/skillsd/v1.sock");
        let message = "`x.sock` in SKILLSD_SOCKET is not the absolute path of a file";
        check("x.sock", "/xdg", true, message);
        check("/", "-", true, "`/` in SKILLSD_SOCKET is not the absolute path of a file");
        check("/s/", "-", true, "`/s/` in SKILLSD_SOCKET is not the absolute path of a file");
    }

    #[test]
    fn path_too_long_for_a_socket_address_is_refused() {
        let fits = format!("/{}.sock", "x".repeat(MAX_PATH_BYTES - 14));
        check(&fits, "-", true, &format!("Variable {fits}"));
        let long = format!("/{}.sock", "x".repeat(MAX_PATH_BYTES - 13));
        let message = format!("socket path `{long}` is longer than {MAX_PATH_BYTES} bytes");
        check(&long, "-", true, &message);
    }

    #[test]
    fn other_files_are_next_to_the_socket() {
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
