//! Environment of the installation ([`InstallEnvironment`]): the program's path, home, and agents'
//! directories. All reads of the environment are here.

use std::borrow::Cow;
use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use skills_client::environment::state_directory;
use skills_protocol::env::{CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, HOME, XDG_CONFIG_HOME};
use skills_protocol::own_directory::OwnDirectory;
use skills_syntax::quote::quote_word;

use crate::agent_config::file;
use crate::failure::CommandError;

/// Variable in which the launcher of npm's package passes its own path.
const LAUNCHER: &str = "SKILLSD_LAUNCHER";

/// Paths that the installation depends on; all are absolute.
#[derive(Debug, Clone)]
pub(crate) struct InstallEnvironment {
    pub(crate) home: PathBuf,
    pub(crate) config: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) program: PathBuf,
    /// True if `skillsd` in the PATH of agents is this program.
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
        // If another program comes first in PATH, the absolute path has to be used.
        let Some(first) = found.first_in_path() else { return Ok(found) };
        let (ours, target) = (found.program.canonicalize().ok(), first.canonicalize().ok());
        if target == ours {
            found.on_path = true;
            // The path in PATH and not its link's target, so that updates of the link are followed.
            found.program = first;
        } else if ours.zip(target).is_some_and(|(ours, target)| is_npm_launcher(&target, &ours))
            || directory(LAUNCHER).is_some_and(|it| is_start_script(&first, &it))
        {
            // A service manager still needs the program itself: the launcher needs Node in PATH.
            found.on_path = true;
        }
        Ok(found)
    }

    /// Fails if the program is in a cache, such as that of `npx`: entries that name it would break
    /// once the cache is cleaned.
    pub(crate) fn check_lasting(&self) -> Result<(), CommandError> {
        if !is_cached(&self.program) {
            return Ok(());
        }
        let message = format!(
            "`{}` is in a cache, so agents cannot rely on it and nothing was changed",
            self.program.display()
        );
        Err(CommandError::usage(message)
            .with_hint("Install skillsd outside of a cache, then run `skillsd install`."))
    }

    /// Returns the directory of Claude Code.
    pub(crate) fn claude_dir(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    /// Returns the directory that a variable names, or else a path below home.
    pub(crate) fn directory_of(&self, variable: &str, below_home: &str) -> PathBuf {
        directory(variable).unwrap_or_else(|| self.home.join(below_home))
    }

    /// Returns the directory of the user's skills that are an agent's own; `None` if it has no
    /// skills of the user.
    pub(crate) fn user_directory(&self, own: &OwnDirectory) -> Option<PathBuf> {
        let base = self.directory_of(own.variable, own.below_home);
        (!own.user.is_empty()).then(|| base.join(own.user))
    }

    /// Returns the path of a program in PATH.
    pub(crate) fn which(&self, name: &str) -> Option<PathBuf> {
        self.find(name, |_| true)
    }

    /// Returns the path of the `skillsd` that agents start. A project's `node_modules/.bin` does
    /// not count: only `npx` and scripts of npm have it in PATH.
    pub(crate) fn first_in_path(&self) -> Option<PathBuf> {
        self.find("skillsd", |dir| !dir.ends_with("node_modules/.bin"))
    }

    fn find(&self, name: &str, counts: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        };
        env::split_paths(&self.path)
            .filter(|dir| dir.is_absolute() && counts(dir))
            .map(|dir| dir.join(name))
            .find(is_program)
    }

    /// Returns the program as an argument list element.
    pub(crate) fn word(&self) -> String {
        if self.on_path { "skillsd".to_owned() } else { self.program.display().to_string() }
    }

    /// Returns the program quoted for a shell.
    pub(crate) fn shell_word(&self) -> String {
        quote_word(&self.word())
    }
}

/// Returns whether a file is the launcher of npm's package that has this program in the package of
/// its platform.
fn is_npm_launcher(file: &Path, program: &Path) -> bool {
    let modules = file.ancestors().nth(3);
    file.ends_with("node_modules/skillsd/bin/skillsd.js")
        && modules.is_some_and(|it| program.starts_with(it))
        && program.components().any(|it| it.as_os_str() == "@skillsd")
}

/// Returns whether a file is the start script that pnpm wrote for this launcher of npm's package. It
/// names the launcher by a path from its own directory.
fn is_start_script(file: &Path, launcher: &Path) -> bool {
    let Some((dir, Ok(Some(text)))) = file.parent().zip(Some(file::read(file))) else {
        return false;
    };
    let launcher = launcher.canonicalize().ok();
    let is_launcher = |word: &str| {
        let path = word.strip_prefix("$basedir/").unwrap_or(word);
        path.ends_with("/skillsd/bin/skillsd.js") && dir.join(path).canonicalize().ok() == launcher
    };
    launcher.is_some() && text.split(['"', '\n', ' ']).any(is_launcher)
}

/// Returns whether a path is in the cache of a program that runs packages without installing them,
/// such as `npx`, `bunx`, `pnpm dlx`, `yarn dlx`, `uvx` and `pipx run`.
fn is_cached(program: &Path) -> bool {
    let names: Vec<_> = program.components().map(|it| it.as_os_str().to_string_lossy()).collect();
    // The names alone are no caches: `uv` and `pipx` also keep installed programs in such
    // directories.
    let is_runner = |pair: &[Cow<'_, str>]| {
        matches!(
            (&*pair[0], &*pair[1]),
            (".cache" | "Caches", "uv" | "pipx") | ("pipx", ".cache") | ("pnpm", "dlx")
        )
    };
    let starts = ["bunx-", "dlx-", "archive-v"];
    let is_fetched =
        |it: &Cow<'_, str>| it == "_npx" || starts.iter().any(|start| it.starts_with(start));
    names.iter().any(is_fetched) || names.windows(2).any(is_runner)
}

fn directory(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|it| Path::is_absolute(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launcher_of_npm_belongs_to_the_program_of_its_own_installation() {
        let launcher = Path::new("/usr/lib/node_modules/skillsd/bin/skillsd.js");
        for (program, is_its) in [
            ("/usr/lib/node_modules/@skillsd/linux-x64/bin/skillsd", true),
            ("/usr/lib/node_modules/skillsd/node_modules/@skillsd/linux-x64/bin/skillsd", true),
            ("/opt/node_modules/@skillsd/linux-x64/bin/skillsd", false),
            ("/usr/bin/skillsd", false),
        ] {
            assert_eq!(is_npm_launcher(launcher, Path::new(program)), is_its, "{program}");
        }
        let other = Path::new("/usr/lib/node_modules/other/bin/skillsd.js");
        let program = Path::new("/usr/lib/node_modules/@skillsd/linux-x64/bin/skillsd");
        assert!(!is_npm_launcher(other, program));
    }

    #[test]
    fn program_that_a_package_runner_fetched_is_in_a_cache() {
        for program in [
            "/home/me/.npm/_npx/1f/node_modules/@skillsd/linux-x64/bin/skillsd",
            "/home/me/.cache/uv/archive-v0/x/bin/skillsd",
            "/home/me/.cache/pnpm/dlx/x/node_modules/@skillsd/linux-x64/bin/skillsd",
            "/tmp/bunx-1000-skillsd@latest/node_modules/@skillsd/linux-x64/bin/skillsd",
            "/tmp/xfs-1/dlx-2/node_modules/@skillsd/linux-x64/bin/skillsd",
            "/data/uv/archive-v0/x/bin/skillsd",
            "/home/me/.local/pipx/.cache/x/bin/skillsd",
            "/Users/me/Library/Caches/pipx/x/bin/skillsd",
        ] {
            assert!(is_cached(Path::new(program)), "{program}");
        }
        for program in [
            "/home/me/.cargo/bin/skillsd",
            "/home/me/.cache/cargo/bin/skillsd",
            "/home/me/.local/share/uv/tools/skillsd/bin/skillsd",
            "/home/me/.local/share/pipx/venvs/skillsd/bin/skillsd",
            "/usr/lib/node_modules/@skillsd/linux-x64/bin/skillsd",
        ] {
            assert!(!is_cached(Path::new(program)), "{program}");
        }
    }
}
