//! Environment of the installation ([`InstallEnvironment`]): the program's path, home, and agents'
//! directories. All reads of the environment are here.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use skills_protocol::env::{CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, HOME, XDG_CONFIG_HOME};
use skills_protocol::own_directory::OwnDirectory;

use crate::failure::CommandError;
use skills_client::directory::shell_word;
use skills_client::environment::state_directory;

/// Paths that the installation depends on; all are absolute.
#[derive(Debug, Clone)]
pub(crate) struct InstallEnvironment {
    pub(crate) home: PathBuf,
    pub(crate) config: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) program: PathBuf,
    /// True if `skillsd` in PATH is this program.
    pub(crate) on_path: bool,
    pub(crate) claude: Option<PathBuf>,
    pub(crate) codex: PathBuf,
    /// Parent directory of Gemini CLI's `.gemini`.
    pub(crate) gemini: PathBuf,
    path: OsString,
}

impl InstallEnvironment {
    pub(crate) fn read() -> Result<Self, CommandError> {
        let no_home = || {
            CommandError::usage("HOME is not set to an absolute path")
                .with_hint("Set HOME: agents and systemd keep their files below it.")
        };
        let home = directory(HOME).ok_or_else(no_home)?;
        let state = state_directory().ok_or_else(no_home)?;
        let program = env::current_exe().map_err(|error| {
            CommandError::finding("failed to get the path of this program")
                .because(error.to_string())
        })?;
        let path = env::var_os("PATH").unwrap_or_default();
        let mut found = Self {
            config: directory(XDG_CONFIG_HOME).unwrap_or_else(|| home.join(".config")),
            claude: directory(CLAUDE_CONFIG_DIR),
            codex: directory(CODEX_HOME).unwrap_or_else(|| home.join(".codex")),
            gemini: directory(GEMINI_CLI_HOME).unwrap_or_else(|| home.clone()),
            home,
            state,
            program,
            on_path: false,
            path,
        };
        let ours = found.program.canonicalize().ok();
        let first = found.which("skillsd");
        // If another program comes first in PATH, the absolute path has to be used.
        if let Some(first) = first.filter(|it| it.canonicalize().ok() == ours) {
            found.on_path = true;
            // The path in PATH and not its link's target, so that updates of the link are followed.
            found.program = first;
        }
        Ok(found)
    }

    /// Returns the directory of Claude Code.
    pub(crate) fn claude_dir(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    /// Returns the directory that a variable names, or else a path below home.
    pub(crate) fn directory_of(&self, variable: &str, below_home: &str) -> PathBuf {
        directory(variable).unwrap_or_else(|| self.home.join(below_home))
    }

    /// Returns the directory of the user's skills that are an agent's own; `None` if it has no skills
    /// of the user.
    pub(crate) fn user_directory(&self, own: &OwnDirectory) -> Option<PathBuf> {
        let base = self.directory_of(own.variable, own.below_home);
        (!own.user.is_empty()).then(|| base.join(own.user))
    }

    /// Returns the path of a program in PATH.
    pub(crate) fn which(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        };
        env::split_paths(&self.path)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(name))
            .find(is_program)
    }

    /// Returns the program as an argument list element.
    pub(crate) fn word(&self) -> String {
        if self.on_path { "skillsd".to_owned() } else { self.program.display().to_string() }
    }

    /// Returns the program quoted for a shell.
    pub(crate) fn shell_word(&self) -> String {
        shell_word(&self.word())
    }
}

fn directory(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|it| Path::is_absolute(it))
}
