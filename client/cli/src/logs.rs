//! `skillsd logs`: prints the daemon's log files.
//!
//! Reads the files without the daemon, so that it works when the daemon does not.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::Args;
use rustix::process::Pid;
use serde_json::json;
use skills_client::environment::{socket_location, state_directory};
use skills_client::logs::files;
use skills_client::peer::is_spawned;

use crate::context::CommandContext;
use crate::doctor::daemon::holders;
use crate::exit::Exit;
use crate::failure::CommandError;
use crate::text::plain_exact;

/// Command that shows the log of a daemon that systemd runs.
const JOURNAL: &str = "journalctl --user -u skillsd";

/// Interval between checks for new lines.
const INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Args)]
pub struct LogsArgs {
    /// Keep printing new lines
    #[arg(long, short)]
    follow: bool,
    /// Number of last lines to print [default: 100]
    #[arg(long, short = 'n', value_name = "N")]
    lines: Option<usize>,
}

pub(super) fn run(cx: &CommandContext<'_>, args: &LogsArgs) -> Result<Exit, CommandError> {
    let Some(directory) = state_directory() else {
        return Err(CommandError::usage(
            "the log directory is unknown: neither XDG_STATE_HOME nor HOME is set",
        ));
    };
    if let Some(pid) = daemon_logging_elsewhere() {
        cx.terminal.print_notes(&[format!(
            "the running daemon (process {pid}) logs to its standard error, not here; if systemd runs it, use `{JOURNAL}`"
        )]);
    }
    let mut tail = Tail::default();
    let lines = tail.more(&directory).map_err(|error| unreadable(&directory, &error))?;
    if lines.is_empty() && !args.follow {
        return Err(none(&directory));
    }
    let skipped = lines.len().saturating_sub(args.lines.unwrap_or(100));
    let mut is_read = print(cx, &lines[skipped..])?;
    while is_read && args.follow {
        thread::sleep(INTERVAL);
        let lines = tail.more(&directory).map_err(|error| unreadable(&directory, &error))?;
        is_read = print(cx, &lines)?;
    }
    Ok(Exit::Fine)
}

fn print(cx: &CommandContext<'_>, lines: &[String]) -> Result<bool, CommandError> {
    let render = |line: &String| {
        if cx.global.json { format!("{}\n", json!({ "line": line })) } else { shown(line) }
    };
    cx.terminal.print_while_read(&lines.iter().map(render).collect::<String>())
}

fn shown(line: &str) -> String {
    format!("{}\n", plain_exact(line))
}

fn unreadable(directory: &Path, error: &io::Error) -> CommandError {
    CommandError::finding(format!("failed to read the log in `{}`", directory.display()))
        .because(error.to_string())
}

fn none(directory: &Path) -> CommandError {
    CommandError::finding(format!("there is no log in `{}`", directory.display())).with_hint(
        format!(
            "Only a daemon that a command started logs there. If systemd runs it, use `{JOURNAL}`."
        ),
    )
}

/// Returns the running daemon if it logs to standard error, without connecting to it: that would
/// start a daemon under systemd.
fn daemon_logging_elsewhere() -> Option<u32> {
    let location = socket_location().ok()?;
    holders(&location.daemon_lock()).into_iter().find(|it| logs_elsewhere(*it))
}

fn logs_elsewhere(pid: u32) -> bool {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let is_discarded = |it: PathBuf| it == Path::new("/dev/null");
    let standard_error = fs::read_link(format!("/proc/{pid}/fd/2"));
    !process.is_some_and(is_spawned) && !standard_error.is_ok_and(is_discarded)
}

#[derive(Debug, Default)]
struct Tail {
    file: Option<PathBuf>,
    offset: u64,
    /// Beginning of an unfinished line.
    begun: Vec<u8>,
}

impl Tail {
    /// Returns the lines that were completed since the last call, of all files.
    fn more(&mut self, directory: &Path) -> io::Result<Vec<String>> {
        let files = match files(directory) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut lines = Vec::new();
        for file in files {
            match &self.file {
                Some(known) if *known > file => continue,
                Some(known) if *known == file => {}
                Some(_) | None => {
                    (self.offset, self.file) = (0, Some(file.clone()));
                }
            }
            self.read(&file, &mut lines)?;
        }
        Ok(lines)
    }

    fn read(&mut self, path: &Path, lines: &mut Vec<String>) -> io::Result<()> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            // The daemon may remove its oldest files.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.offset))?;
        self.offset += file.read_to_end(&mut self.begun)? as u64;
        let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let rest = self.begun.split_off(end + 1);
        let whole = std::mem::replace(&mut self.begun, rest);
        lines.extend(String::from_utf8_lossy(&whole).lines().map(str::to_owned));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn complete_lines_are_read_once_across_files() {
        let top = tempfile::TempDir::new().expect("made");
        let mut tail = Tail::default();
        assert!(tail.more(&top.path().join("gone")).expect("nothing").is_empty());
        let first = top.path().join("skillsd.2026-01-01.log");
        fs::write(&first, "one\ntwo\nthr").expect("written");
        assert_eq!(tail.more(top.path()).expect("read"), ["one", "two"]);
        let mut file = fs::OpenOptions::new().append(true).open(&first).expect("opened");
        file.write_all(b"ee\n").expect("written");
        fs::write(top.path().join("skillsd.2026-01-02.log"), "four\n").expect("written");
        assert_eq!(tail.more(top.path()).expect("read"), ["three", "four"]);
        assert!(tail.more(top.path()).expect("read").is_empty());
    }

    #[test]
    fn control_characters_in_a_log_are_escaped() {
        assert_eq!(shown("a\u{1b}[31mb"), "a\\u{1b}[31mb\n");
    }
}
