//! Output of the commands ([`Terminal`]): width, colours, links and `~`.
//!
//! The only module that prints, except for `top`, which owns the whole screen. Commands build their
//! output first and write it at once. A closed pipe is not an error.

mod links;
mod progress;

use std::cell::{OnceCell, RefCell};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use anstream::stream::RawStream;
use skills_protocol::path::{PathEncoding, decode, encode, encoding_of};
use skills_protocol::wire::Health;

use crate::failure::CommandError;
use crate::global::{Color, GlobalArgs};
use crate::style::{self, paint};
use crate::text::{continued, hang, plain, plain_exact, plain_json, plain_lines, plain_painted};

pub(super) use progress::{CallProgress, Progress};

/// Standard output and standard error with their layout.
pub(super) struct Terminal {
    /// Width in columns; `None` if output is not cut or wrapped.
    pub(super) width: Option<usize>,
    // Home directory, shown as `~`.
    home: Option<PathBuf>,
    // Directory to which the paths below it are relative.
    base: OnceCell<PathBuf>,
    // True if shown paths are hyperlinks.
    links: bool,
    out: Sink,
    err: Sink,
}

/// One of the two output streams.
struct Sink {
    // Borrowed for one write at a time.
    stream: RefCell<Box<dyn Write>>,
    colored: bool,
    // On a terminal, control characters are escaped.
    is_terminal: bool,
    // JSON has its own escapes.
    is_json: bool,
}

impl Sink {
    fn new<S: Write + RawStream + 'static>(stream: S, color: Color, is_json: bool) -> Self {
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            // Respects NO_COLOR and similar variables.
            Color::Auto => anstream::AutoStream::choice(&stream) != ColorChoice::Never,
        };
        let is_terminal = stream.is_terminal();
        Self { stream: RefCell::new(Box::new(stream)), colored, is_terminal, is_json }
    }

    fn emit(&self, text: &str) -> io::Result<()> {
        self.emit_as(text, self.is_json)
    }

    fn emit_as(&self, text: &str, is_json: bool) -> io::Result<()> {
        // JSON has no colours; stripping escape sequences could remove other characters from it.
        let is_kept = self.colored || is_json && !text.contains('\u{1b}');
        let stripped;
        let text = if is_kept {
            text
        } else {
            stripped = anstream::adapter::strip_str(text).to_string();
            &stripped
        };
        let harmless;
        let text = if self.is_terminal {
            harmless = if is_json { plain_json(text) } else { plain_painted(text) };
            &harmless
        } else {
            text
        };
        self.write(text)
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut stream = self.stream.borrow_mut();
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }
}

impl Terminal {
    /// Detects the properties of the standard streams.
    pub(super) fn detect(global: &GlobalArgs) -> Self {
        let home = std::env::var_os(skills_protocol::env::HOME).map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
        let out = Sink::new(io::stdout(), global.color, global.json);
        let err = Sink::new(io::stderr(), global.color, false);
        let links = io::stdout().is_terminal() && out.colored && links::are_supported();
        Self { width: columns(), home, base: OnceCell::new(), links, out, err }
    }

    /// Returns a terminal that writes to these streams, without colour.
    #[cfg(test)]
    pub(super) fn over(
        out: impl Write + 'static,
        err: impl Write + 'static,
        width: Option<usize>,
        home: &str,
    ) -> Self {
        let sink = |stream| Sink {
            stream: RefCell::new(stream),
            colored: false,
            is_terminal: width.is_some(),
            is_json: false,
        };
        let (out, err) = (sink(Box::new(out) as Box<dyn Write>), sink(Box::new(err)));
        let base = OnceCell::new();
        Self { width, home: Some(home.into()), base, links: false, out, err }
    }

    /// Shows the paths below a directory relative to it from now on.
    pub(super) fn show_from(&self, dir: &Path) {
        if dir.parent().is_some() {
            // A command has one working directory.
            let _ = self.base.set(dir.to_owned());
        }
    }

    pub(super) fn is_colored(&self) -> bool {
        self.out.colored
    }

    /// Returns text that links to a path from the wire, if the terminal supports links. Measure the
    /// width of columns without it.
    pub(super) fn link(&self, path: &str, encoding: Option<PathEncoding>, text: String) -> String {
        match decode(path, encoding) {
            Ok(path) if self.links && path.is_absolute() => links::linked(&path, &text),
            Ok(_) | Err(_) => text,
        }
    }

    /// Returns a path from the wire for display, escaped and with `~`.
    pub(super) fn path(&self, text: &str, encoding: Option<PathEncoding>) -> String {
        match decode(text, encoding) {
            Ok(path) => self.local_path(&path),
            Err(_) => plain_exact(text),
        }
    }

    /// Returns a path from the wire for display, relative to the working directory if it is below.
    pub(super) fn path_from(
        &self,
        cwd: &Path,
        text: &str,
        encoding: Option<PathEncoding>,
    ) -> String {
        match decode(text, encoding).as_deref().map(|it| it.strip_prefix(cwd)) {
            Ok(Ok(below)) if !below.as_os_str().is_empty() => {
                plain_exact(&encode(below, encoding_of([below])))
            }
            Ok(_) | Err(_) => self.path(text, encoding),
        }
    }

    /// Returns a sentence from the wire for display, escaped and with short paths.
    pub(super) fn prose(&self, text: &str) -> String {
        match self.base.get() {
            Some(base) => self.prose_from(base, text),
            None => self.with_tilde(text),
        }
    }

    fn with_tilde(&self, text: &str) -> String {
        let text = plain(text);
        match self.home.as_deref().and_then(Path::to_str) {
            Some(home) => with_short_paths(&text, home, "~", "~/"),
            None => text,
        }
    }

    /// Returns a sentence from the wire for display, escaped and with short paths: those below a
    /// directory are relative to it.
    pub(super) fn prose_from(&self, dir: &Path, text: &str) -> String {
        match dir.to_str().filter(|_| dir.parent().is_some()) {
            Some(dir) => self.with_tilde(&with_short_paths(text, dir, ".", "")),
            None => self.with_tilde(text),
        }
    }

    /// Returns true if a directory is the home directory or contains it.
    pub(super) fn is_around_home(&self, dir: &Path) -> bool {
        self.home.as_deref().is_some_and(|home| home.starts_with(dir))
    }

    /// Returns a local path for display, escaped and short.
    pub(super) fn local_path(&self, path: &Path) -> String {
        let below = self.base.get().and_then(|base| path.strip_prefix(base).ok());
        if let Some(below) = below.filter(|it| !it.as_os_str().is_empty()) {
            return plain_exact(&encode(below, encoding_of([below])));
        }
        let beneath = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        let shown = match beneath {
            Some(rest) if rest.as_os_str().is_empty() => PathBuf::from("~"),
            Some(rest) => Path::new("~").join(rest),
            // The daemon names a root below the home directory with `~` if `HOME` is not set.
            None => match path.strip_prefix("/~") {
                Ok(rest) => Path::new("~").join(rest),
                Err(_) => path.to_owned(),
            },
        };
        plain_exact(&encode(&shown, encoding_of([path])))
    }

    /// Writes a command's output to standard output. A closed pipe (`skillsd list | head -1`) is no
    /// error.
    pub(super) fn print(&self, text: &str) -> Result<(), CommandError> {
        self.print_while_read(text).map(drop)
    }

    /// Writes JSON to standard output, even without `--json`.
    pub(super) fn print_json(&self, text: &str) -> Result<(), CommandError> {
        Self::pipe_open(self.out.emit_as(text, true)).map(drop)
    }

    /// Writes a file's contents: unchanged to a pipe, with escaped control characters to a
    /// terminal.
    pub(super) fn print_exact(&self, text: &str) -> Result<(), CommandError> {
        let written = if self.out.is_terminal {
            self.out.write(&plain_lines(text))
        } else {
            self.out.write(text)
        };
        Self::pipe_open(written).map(drop)
    }

    /// Writes a part of a command's output, and returns false if the pipe is closed.
    pub(super) fn print_while_read(&self, text: &str) -> Result<bool, CommandError> {
        Self::pipe_open(self.out.emit(text))
    }

    fn pipe_open(written: io::Result<()>) -> Result<bool, CommandError> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(CommandError::output(&error)),
            Ok(()) => Ok(true),
        }
    }

    /// Writes a command's error, its causes and its hints to standard error.
    pub(super) fn print_error(&self, error: &CommandError) {
        self.eprint(&render_error(error));
    }

    pub(super) fn print_usage(&self, text: &str) {
        self.eprint(text);
    }

    pub(super) fn print_notes(&self, notes: &[String]) {
        let line = |it: &String| {
            let note = format!("{} {it}", paint(style::HINT, "note:"));
            continued(&note, 6, self.width) + "\n"
        };
        let lines = notes.iter().map(line);
        let text: String = lines.collect();
        if !text.is_empty() {
            self.eprint(&text);
        }
    }

    pub(super) fn print_health(&self, health: &[Health]) {
        if !health.is_empty() {
            self.eprint(&render_health(health, self));
        }
    }

    /// Writes a question, or text that belongs to it, to standard error.
    pub(super) fn prompt(&self, text: &str) {
        self.eprint(text);
    }

    fn eprint(&self, text: &str) {
        // Errors of standard error cannot be reported anywhere.
        let _ = self.err.emit(text);
    }
}

/// Returns a sentence with `alone` for a directory, and `above` before the paths below it, for
/// example `~` and `~/`. Paths in single quotes are kept, because a shell does not expand `~`
/// there.
fn with_short_paths(text: &str, dir: &str, alone: &str, above: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(dir) {
        let (before, after) = (&rest[..at], &rest[at + dir.len()..]);
        shown.push_str(before);
        let begins = shown.chars().next_back().is_none_or(|it| matches!(it, ' ' | '`' | '('));
        let ends =
            after.chars().next().is_none_or(|it| matches!(it, '/' | ' ' | '`' | ')' | ':' | ','));
        let below = after.strip_prefix('/').filter(|_| begins);
        // A command must not read the path as an option or a name.
        let end = below.and_then(|it| it.find(['`', ' ', ')', ':', ',']));
        let word = below.map_or("", |it| &it[..end.unwrap_or(it.len())]);
        let is_argument = shown.ends_with(' ');
        let is_bare =
            word.is_empty() || is_argument && !word.contains('/') || word.starts_with('-');
        shown.push_str(match below {
            Some(_) if above.is_empty() && is_bare => "./",
            Some(_) => above,
            None if begins && ends => alone,
            None => dir,
        });
        rest = below.unwrap_or(after);
    }
    shown + rest
}

pub(super) fn render_health(health: &[Health], terminal: &Terminal) -> String {
    let mut text = String::new();
    for entry in health {
        let path = entry.path.as_deref().map(|path| terminal.path(path, entry.path_encoding));
        let place = path.map(|path| format!(" ({path})")).unwrap_or_default();
        let message = terminal.prose(&entry.message);
        let said = format!("{} {message}{place}", paint(style::WARNING, "warning:"));
        let _ = writeln!(text, "{}", continued(&said, 3, terminal.width));
        if let Some(hint) = &entry.hint {
            let lead = format!("   {} ", paint(style::HINT, "hint:"));
            let _ = writeln!(text, "{}", hang(&lead, &terminal.prose(hint), terminal.width));
        }
    }
    text
}

pub(super) fn render_error(error: &CommandError) -> String {
    let mut text = format!("{} {}\n", paint(style::ERROR, "error:"), plain(error.message()));
    for cause in error.causes() {
        let _ = writeln!(text, "  {} {}", paint(style::FAINT, "cause:"), plain(cause));
    }
    for hint in error.hints() {
        let _ = writeln!(text, "{} {}", paint(style::HINT, "hint:"), plain(hint));
    }
    text
}

fn columns() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    // Terminals of some build systems report zero columns.
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_directory_is_shown_as_tilde_at_path_start() {
        let shown = |text: &str| with_short_paths(text, "/home/ann", "~", "~/");
        assert_eq!(shown("`/home/ann/.codex/config.toml`"), "`~/.codex/config.toml`");
        assert_eq!(
            shown("switched off by /home/ann/.codex/config.toml:1:1 (/home/ann)"),
            "switched off by ~/.codex/config.toml:1:1 (~)"
        );
        let relative = |text: &str| with_short_paths(text, "/home/ann", ".", "");
        assert_eq!(relative("Move `/home/ann/a` to `/home/ann/-b/c`."), "Move `a` to `./-b/c`.");
        assert_eq!(relative("Run `skillsd link /home/ann/a`."), "Run `skillsd link ./a`.");
        assert_eq!(relative("Run `skillsd trust /home/ann`."), "Run `skillsd trust .`.");
        assert_eq!(relative("Search `/home/ann/`."), "Search `./`.");
        assert_eq!(
            relative("Run `chmod u+r '/home/ann/a b'`."),
            "Run `chmod u+r '/home/ann/a b'`."
        );
        for other in ["/home/anna/x", "/mnt/home/ann/x", "cd '/home/ann/x'", "/home/ann.old"] {
            assert_eq!(shown(other), other);
        }
    }
}
