//! What is around the program that is installed: its own path, the home, and which programs are
//! there. All that installing reads of the environment is read here.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use skills_protocol::env::{CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, HOME, XDG_CONFIG_HOME};

use crate::failure::CommandError;
use skills_client::environment::state_directory;

/// The surroundings, all paths absolute.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    /// The user's home.
    pub(super) home: PathBuf,
    /// Where configuration lies.
    pub(super) config: PathBuf,
    /// Where skillsd keeps its state.
    pub(super) state: PathBuf,
    /// This program.
    pub(super) program: PathBuf,
    /// Whether `skillsd` on the path is this program.
    pub(super) on_path: bool,
    /// Where Claude Code was told to keep its files.
    pub(super) claude: Option<PathBuf>,
    /// Where Codex keeps its files.
    pub(super) codex: PathBuf,
    /// Where Gemini CLI keeps its `.gemini`.
    pub(super) gemini: PathBuf,
    path: OsString,
}

impl Surroundings {
    /// Looks at the environment.
    pub(super) fn look() -> Result<Self, CommandError> {
        let no_home = || {
            CommandError::usage("HOME is not set to an absolute path").with_hint(
                "Set HOME: agents and systemd look for their files below it, and so does `install`.",
            )
        };
        let home = directory(HOME).ok_or_else(no_home)?;
        let state = state_directory().ok_or_else(no_home)?;
        let program = env::current_exe().map_err(|error| {
            CommandError::finding("the path of this program cannot be told")
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
        // Where another one comes first, that one would be run.
        if let Some(first) = first.filter(|it| it.canonicalize().ok() == ours) {
            found.on_path = true;
            // As it is found, so that an update of the link's target is followed.
            found.program = first;
        }
        Ok(found)
    }

    /// Returns where a program is on the path.
    pub(super) fn which(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        };
        env::split_paths(&self.path)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join(name))
            .find(is_program)
    }

    /// Returns the program as a word for a list of arguments.
    pub(super) fn word(&self) -> String {
        if self.on_path { "skillsd".to_owned() } else { self.program.display().to_string() }
    }

    /// Returns the program as a word for a shell.
    pub(super) fn shell_word(&self) -> String {
        let word = self.word();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@".contains(c);
        if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    }
}

fn directory(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|it| Path::is_absolute(it))
}
