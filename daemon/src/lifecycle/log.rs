//! Where the daemon's log goes, how it reads, and how much it says.
//!
//! To standard error, which is a terminal's or the journal's; when a client started us, to files
//! in the state directory from the moment we listen: one a day, seven kept, each of bounded size.
//! Lines name methods, durations and counts; they hold no text of messages or skills, and no
//! values of variables.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::DirBuilderExt;
use std::panic;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use skills_client::environment::state_directory;
use skills_client::logs::{PREFIX, SUFFIX, files};
use skills_config::Config;
use skills_protocol::env::SKILLSD_LOG;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, reload};

/// What is logged when nobody says how much.
///
/// The watcher's library warns of what we find out and tell ourselves.
const DEFAULT_LEVEL: &str = "info,notify=error";

/// Set by systemd for services whose standard error is the journal.
const JOURNAL_STREAM: &str = "JOURNAL_STREAM";

/// How many days are kept.
const DAYS: usize = 7;

/// How long one day's file may grow. A week of them is what a small disk can spare.
const DAY_BYTES: u64 = 8 * 1024 * 1024;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// The files that take the place of standard error, once they do.
static FILES: OnceLock<Mutex<Daily<RollingFileAppender>>> = OnceLock::new();

/// Sets the level, where neither flag nor variable has fixed it.
static LEVEL: OnceLock<SetLevel> = OnceLock::new();

type SetLevel = Box<dyn Fn(&str) + Send + Sync>;

/// Begins to log to standard error, as much as is asked for: by the flag, else by the variable,
/// else by the configuration.
pub(crate) fn init(flag: Option<&str>, config: &Config, spawned: bool) {
    let variable = env::var(SKILLSD_LOG).ok().filter(|it| !it.is_empty());
    let asked = flag.or(variable.as_deref());
    let configured = config.log_level.as_deref().unwrap_or(DEFAULT_LEVEL);
    let filter = EnvFilter::try_new(asked.unwrap_or(configured));
    let bad = filter.as_ref().err().map(ToString::to_string);
    let filter = filter.unwrap_or_else(|_| EnvFilter::new(configured));
    let (filter, handle) = reload::Layer::new(filter);
    if asked.is_none() {
        let set = move |level: &str| {
            // It fails when there is no subscriber any more, and so no log.
            let _ = handle.reload(EnvFilter::new(level));
        };
        // There is one log in a process.
        let _ = LEVEL.set(Box::new(set));
    }
    let ansi = !spawned && io::stderr().is_terminal();
    let lines = fmt::layer().with_writer(Output).with_ansi(ansi).with_target(false);
    // The journal has its own clock.
    let in_journal = !spawned && env::var_os(JOURNAL_STREAM).is_some();
    let lines = if in_journal { lines.without_time().boxed() } else { lines.boxed() };
    tracing_subscriber::registry().with(filter).with(lines).init();
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        // The message may quote a skill, which only somebody who looks for a bug should see.
        tracing::error!(place, "a thread panicked");
        tracing::debug!("{info}");
    }));
    if let Some(error) = bad {
        tracing::warn!(error, "not a filter of the log, and ignored");
    }
}

/// Follows a change of the configuration.
pub(crate) fn configure(config: &Config) {
    if let Some(set) = LEVEL.get() {
        set(config.log_level.as_deref().unwrap_or(DEFAULT_LEVEL));
    }
}

/// Logs to files of the state directory from now on.
///
/// Standard error stays what it was, for the last words of a process that is aborted.
pub(crate) fn move_to_state_directory() {
    let Some(directory) = state_directory() else {
        tracing::warn!("neither `XDG_STATE_HOME` nor `HOME` says where the log belongs");
        return;
    };
    match open(&directory) {
        // There is one log in a process.
        Ok(daily) => drop(FILES.set(Mutex::new(daily))),
        Err(error) => {
            tracing::warn!(%error, directory = %directory.display(), "failed to open the log");
        }
    }
}

fn open(directory: &Path) -> io::Result<Daily<RollingFileAppender>> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(PREFIX)
        .filename_suffix(SUFFIX)
        .max_log_files(DAYS)
        .build(directory)
        .map_err(io::Error::other)?;
    // The appender has opened today's file.
    let written = files(directory)?.last().and_then(|it| fs::metadata(it).ok());
    Ok(Daily { output: appender, day: today(), written: written.map_or(0, |it| it.len()) })
}

fn today() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs() / SECONDS_PER_DAY
}

/// A writer that takes a bounded number of bytes a day; the appender changes files at the same
/// moment, midnight in UTC.
struct Daily<W> {
    output: W,
    day: u64,
    written: u64,
}

impl<W: Write> Daily<W> {
    fn write_line(&mut self, line: &[u8], today: u64) -> io::Result<()> {
        const FULL: &[u8] = b"the log of this day is full; `log.level` makes it say less\n";
        if today != self.day {
            (self.day, self.written) = (today, 0);
        }
        if self.written > DAY_BYTES {
            return Ok(());
        }
        self.written += line.len() as u64;
        self.output.write_all(if self.written > DAY_BYTES { FULL } else { line })
    }
}

/// Standard error, or what has taken its place.
struct Output;

impl<'a> MakeWriter<'a> for Output {
    type Writer = Self;

    fn make_writer(&'a self) -> Self::Writer {
        Self
    }
}

impl Write for Output {
    // The log hands over whole lines.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match FILES.get() {
            Some(daily) => {
                let mut daily = daily.lock().unwrap_or_else(PoisonError::into_inner);
                daily.write_line(line, today())?;
                Ok(line.len())
            }
            None => io::stderr().write(line),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
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
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn default_filter_is_one_and_quiets_the_watcher() {
        let filter = EnvFilter::try_new(DEFAULT_LEVEL).unwrap().to_string();
        let mut directives: Vec<_> = filter.split(',').collect();
        directives.sort_unstable();
        assert_eq!(directives, ["info", "notify=error"]);
    }

    #[test]
    fn log_is_in_a_private_directory_and_kept() {
        let top = TempDir::new().unwrap();
        let directory = top.path().join("state/skillsd");
        for line in ["first\n", "second\n"] {
            open(&directory).unwrap().write_line(line.as_bytes(), today()).unwrap();
        }
        assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
        let files = files(&directory).unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(fs::read_to_string(&files[0]).unwrap(), "first\nsecond\n");
        assert_eq!(open(&directory).unwrap().written, 13);
    }

    #[test]
    fn of_many_days_seven_are_kept() {
        let top = TempDir::new().unwrap();
        for day in 1..=12 {
            fs::write(top.path().join(format!("skillsd.2024-01-{day:02}.log")), "x").unwrap();
        }
        open(top.path()).unwrap();
        assert_eq!(files(top.path()).unwrap().len(), DAYS);
    }

    #[test]
    fn a_day_is_bounded_and_the_next_begins_anew() {
        let mut daily = Daily { output: Vec::new(), day: 1, written: DAY_BYTES - 3 };
        for line in ["ab\n", "cd\n", "ef\n"] {
            daily.write_line(line.as_bytes(), 1).unwrap();
        }
        daily.write_line(b"gh\n", 2).unwrap();
        let text = String::from_utf8(daily.output).unwrap();
        let expected = "ab\nthe log of this day is full; `log.level` makes it say less\ngh\n";
        assert_eq!(text, expected);
    }
}
