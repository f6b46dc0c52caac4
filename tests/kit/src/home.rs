//! Isolated home directories for tests.
//!
//! [`Home`] owns a temporary directory with a HOME, the XDG directories and a place for worktrees.
//! Its commands see only these in their environment, and its own paths can be replaced in output,
//! so that expected text can be written down. When dropped it ends the daemon that listens in it,
//! so that no test leaves a process behind.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::fixture::{lay_out, lay_out_by};
use crate::process::end_at;

/// Programs of agents, by which skillsd recognises that an agent is installed.
const AGENTS: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// A temporary HOME with everything a command reads from its environment.
#[derive(Debug)]
pub struct Home {
    /// Canonical, because skillsd returns canonical paths for some profiles.
    top: PathBuf,
    user: PathBuf,
    /// The user that commands run as; `None` is the user who runs the tests.
    uid: Option<u32>,
    /// Removes the tree when dropped; last, so that the paths above outlive it.
    _tree: tempfile::TempDir,
}

impl Default for Home {
    fn default() -> Self {
        Home::new()
    }
}

impl Home {
    /// Makes an empty home.
    pub fn new() -> Home {
        Home::build(None)
    }

    /// Creates an empty home owned by user `uid`, as whom its commands run; requires root.
    ///
    /// Root ignores file modes, so unreadable files can only be tested as another user.
    pub fn owned_by(uid: u32) -> Home {
        Home::build(Some(uid))
    }

    fn build(uid: Option<u32>) -> Home {
        let tree = tempfile::Builder::new()
            .prefix("skillsd-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir()
            .expect("a temporary directory can be made");
        let top = fs::canonicalize(tree.path()).expect("the directory was just made");
        let home = Home { user: top.join("home"), top, uid, _tree: tree };
        let dirs = [
            home.work(),
            home.user.clone(),
            home.config_dir(),
            home.user.join(".local"),
            home.state_dir(),
            home.cache_dir(),
            home.runtime_dir(),
        ];
        for dir in dirs {
            fs::create_dir_all(&dir).expect("a directory in a new home can be made");
            chown(&dir, uid, None).expect("only root asks for another user's home");
        }
        fs::set_permissions(home.runtime_dir(), fs::Permissions::from_mode(0o700))
            .expect("our own directory takes a mode");
        home
    }

    /// Returns the value of HOME.
    ///
    /// Worktrees lie next to it, not in it, so that a walk from a worktree up to `/` does not meet
    /// HOME.
    pub fn path(&self) -> &Path {
        &self.user
    }

    /// Returns the directory that worktrees are laid out in.
    pub fn work(&self) -> PathBuf {
        self.top.join("work")
    }

    /// Returns the value of XDG_CONFIG_HOME.
    pub fn config_dir(&self) -> PathBuf {
        self.user.join(".config")
    }

    /// Returns the value of XDG_STATE_HOME.
    pub fn state_dir(&self) -> PathBuf {
        self.user.join(".local/state")
    }

    /// Returns the value of XDG_CACHE_HOME.
    pub fn cache_dir(&self) -> PathBuf {
        self.user.join(".cache")
    }

    /// Returns the value of XDG_RUNTIME_DIR, a directory of mode 0700.
    pub fn runtime_dir(&self) -> PathBuf {
        self.top.join("run")
    }

    /// Returns the socket of this home's daemon.
    pub fn socket(&self) -> PathBuf {
        self.runtime_dir().join("skillsd/v1.sock")
    }

    /// Returns the consent socket of this home's daemon.
    pub fn consent_socket(&self) -> PathBuf {
        self.socket().with_file_name("v1-consent.sock")
    }

    /// Lays `text` out (see [`fixture`](crate::fixture)) as worktree `name` with its own `.git`,
    /// and returns its top.
    #[track_caller]
    pub fn worktree(&self, name: &str, text: &str) -> PathBuf {
        let top = self.work().join(name);
        fs::create_dir_all(&top).expect("a worktree can be made");
        self.git(&top, &["init", "-q", "-b", "main", "--template="]);
        lay_out(&top, text);
        top
    }

    /// Lays `text` out with the user's files below `/home/` and each worktree below its name:
    /// `/proj/README.md` lies in the worktree `proj`.
    #[track_caller]
    pub fn lay_out(&self, text: &str) {
        // The home directory itself is named `home`.
        let top = self.top.as_path();
        let work = self.work();
        lay_out_by(text, |path| if path.starts_with("home") { top } else { &work });
    }

    /// Runs git in `dir` with this home's environment, and asserts that it succeeds.
    #[track_caller]
    pub fn git(&self, dir: &Path, args: &[&str]) {
        // Runs as the test's user, who owns the worktrees even in another user's home.
        let output = self.plain_command("git").current_dir(dir).args(args).output();
        let output = output.expect("git can be run");
        assert!(
            output.status.success(),
            "git {args:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Returns a command of `program` that sees this home and nothing of the real one.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.plain_command(program.as_ref());
        if let Some(uid) = self.uid {
            command.uid(uid);
        }
        command
    }

    fn plain_command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(self.environment()).current_dir(&self.top).stdin(Stdio::null());
        // An agent installed on this machine is none of the home's.
        if program.as_ref().as_encoded_bytes().ends_with(b"skillsd")
            && let Some(path) = std::env::var_os("PATH")
        {
            let has_agent = |dir: &PathBuf| AGENTS.iter().any(|it| dir.join(it).exists());
            let dirs = std::env::split_paths(&path).filter(|dir| !has_agent(dir));
            command.env("PATH", std::env::join_paths(dirs).expect("parts of a path can be joined"));
        }
        command
    }

    /// Returns the whole environment of this home's commands.
    ///
    /// `SKILLSD_SOCKET` is not set, so that the socket is located as for users.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut vars: Vec<(OsString, OsString)> = vec![
            ("HOME".into(), self.user.clone().into()),
            ("XDG_CONFIG_HOME".into(), self.config_dir().into()),
            ("XDG_STATE_HOME".into(), self.state_dir().into()),
            ("XDG_CACHE_HOME".into(), self.cache_dir().into()),
            ("XDG_DATA_HOME".into(), self.user.join(".local/share").into()),
            ("XDG_RUNTIME_DIR".into(), self.runtime_dir().into()),
            ("TZ".into(), "UTC".into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("GIT_AUTHOR_NAME".into(), "Test".into()),
            ("GIT_AUTHOR_EMAIL".into(), "test@example.org".into()),
            ("GIT_COMMITTER_NAME".into(), "Test".into()),
            ("GIT_COMMITTER_EMAIL".into(), "test@example.org".into()),
        ];
        // Variables that programs need to start, or that a person debugging a test may have set.
        for key in ["PATH", "RUST_BACKTRACE", "SKILLSD_LOG", "SKILLSD_PORTABLE"] {
            if let Some(value) = std::env::var_os(key) {
                vars.push((key.into(), value));
            }
        }
        vars
    }

    /// Returns `text` with this home's paths replaced: `$HOME`, `$WORK`, `$RUN`.
    pub fn redact(&self, text: &str) -> String {
        let places =
            [(self.work(), "$WORK"), (self.runtime_dir(), "$RUN"), (self.user.clone(), "$HOME")];
        places.into_iter().fold(text.to_owned(), |text, (path, name)| {
            text.replace(path.to_str().expect("a temporary directory has a plain name"), name)
        })
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        end_at(&self.socket());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_environment_contains_only_the_test_home() {
        let home = Home::new();
        let output = home.command("env").output().expect("env can be run");
        let seen = home.redact(&String::from_utf8_lossy(&output.stdout));
        assert!(seen.contains("HOME=$HOME\n"), "{seen}");
        assert!(seen.contains("XDG_RUNTIME_DIR=$RUN\n"), "{seen}");
        assert!(!seen.contains("SKILLSD_SOCKET") && !seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
    }

    #[test]
    fn runtime_dir_of_a_home_is_private() {
        let home = Home::new();
        let mode = fs::metadata(home.runtime_dir()).expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn dropped_home_leaves_no_files() {
        let home = Home::new();
        let top = home.top.clone();
        drop(home);
        assert!(!top.exists());
    }
}
