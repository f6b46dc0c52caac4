//! Where the daemon's log goes, and how it reads.
//!
//! Always to standard error: of the terminal, of the service manager, or, when a client started
//! us, of a file in the state directory. Lines name methods, durations and counts; they hold no
//! text of messages or skills, and no values of variables.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{DirBuilder, File};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use skills_protocol::env::{HOME, SKILLSD_LOG};
use tracing_subscriber::EnvFilter;

/// Base of the user's state, `~/.local/state` when unset.
const XDG_STATE_HOME: &str = "XDG_STATE_HOME";

/// Set by systemd for services whose standard error is the journal.
const JOURNAL_STREAM: &str = "JOURNAL_STREAM";

/// Begins to log to standard error, as much as the user's variable says.
pub(crate) fn init() {
    let asked = env::var(SKILLSD_LOG).ok().filter(|it| !it.is_empty());
    let filter = EnvFilter::try_new(asked.as_deref().unwrap_or("info"));
    let bad = filter.as_ref().err().map(ToString::to_string);
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new("info")))
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false);
    if env::var_os(JOURNAL_STREAM).is_some() {
        // The journal has its own clock.
        builder.without_time().init();
    } else {
        builder.init();
    }
    if let Some(error) = bad {
        tracing::warn!(error, "`{SKILLSD_LOG}` is not a filter and is ignored");
    }
}

/// Logs to a file of the state directory from now on.
pub(crate) fn move_to_state_directory() {
    let Some(directory) = state_directory(
        env::var_os(XDG_STATE_HOME).map(Into::into),
        env::var_os(HOME).map(Into::into),
    ) else {
        tracing::warn!("neither `{XDG_STATE_HOME}` nor `{HOME}` says where the log belongs");
        return;
    };
    let moved = open(&directory).and_then(|file| Ok(rustix::stdio::dup2_stderr(file)?));
    if let Err(error) = moved {
        tracing::warn!(%error, directory = %directory.display(), "failed to open the log");
    }
}

fn state_directory(xdg_state_home: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    // The XDG specification: a relative path in its variable is to be ignored.
    let base = xdg_state_home.filter(|it| it.is_absolute());
    let base = base.or_else(|| Some(home.filter(|it| it.is_absolute())?.join(".local/state")))?;
    Some(base.join("skillsd"))
}

fn open(directory: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let flags =
        OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory.join("skillsd.log"), flags, Mode::RUSR | Mode::WUSR)?;
    Ok(file.into())
}

/// Says on standard error why the program ends, in the form of all its commands.
pub(crate) fn print_error(error: &dyn Error, hint: Option<&str>) {
    let mut text = format!("error: {error}\n");
    let mut source = error.source();
    while let Some(cause) = source {
        // Writing to a text does not fail.
        let _ = writeln!(text, "  because: {cause}");
        source = cause.source();
    }
    if let Some(hint) = hint {
        let _ = writeln!(text, "hint: {hint}");
    }
    // There is no other place to say that this one does not work.
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    #[track_caller]
    fn check(xdg_state_home: Option<&str>, home: Option<&str>, expected: Option<&str>) {
        let found = state_directory(xdg_state_home.map(Into::into), home.map(Into::into));
        assert_eq!(found.as_deref(), expected.map(Path::new));
    }

    #[test]
    fn state_is_where_xdg_says() {
        check(Some("/state"), Some("/home/u"), Some("/state/skillsd"));
        check(None, Some("/home/u"), Some("/home/u/.local/state/skillsd"));
        check(Some("relative"), Some("/home/u"), Some("/home/u/.local/state/skillsd"));
        check(Some(""), Some(""), None);
        check(None, None, None);
    }

    #[test]
    fn log_is_private_and_kept() {
        let top = TempDir::new().unwrap();
        let directory = top.path().join("state/skillsd");
        open(&directory).unwrap().write_all(b"first\n").unwrap();
        open(&directory).unwrap().write_all(b"second\n").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&directory), 0o700);
        assert_eq!(mode(&directory.join("skillsd.log")), 0o600);
        assert_eq!(fs::read_to_string(directory.join("skillsd.log")).unwrap(), "first\nsecond\n");
    }
}
