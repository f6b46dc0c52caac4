//! The terminal, or whatever is in its place: how wide, coloured or not, where `~` is.
//!
//! The only file here that prints. Commands build their whole output first, so it leaves in one
//! write, and one that nobody reads any more is no error.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use skills_protocol::path::{PathEncoding, decode, encode, encoding_of};
use skills_protocol::wire::Health;

use crate::cli::Color;
use crate::cli::failure::CommandError;
use crate::cli::style::{self, paint};
use crate::cli::text::{plain, plain_exact};

/// How output is laid out.
#[derive(Debug, Clone)]
pub(super) struct Terminal {
    /// Its columns; `None` where nothing is to be cut or wrapped.
    pub(super) width: Option<usize>,
    /// What is written as `~`.
    home: Option<PathBuf>,
    color: Color,
}

impl Terminal {
    /// Looks at standard output and the environment.
    pub(super) fn detect(color: Color) -> Self {
        let home = std::env::var_os(skills_protocol::env::HOME).map(PathBuf::from);
        let home = home.filter(|home| home.is_absolute() && home.parent().is_some());
        Self { width: columns(), home, color }
    }

    /// Returns a terminal for tests.
    #[cfg(test)]
    pub(super) fn fixed(width: Option<usize>, home: &str) -> Self {
        Self { width, home: Some(home.into()), color: Color::Never }
    }

    /// Returns a path from the wire as a person writes it, harmless and with `~`.
    pub(super) fn path(&self, text: &str, encoding: Option<PathEncoding>) -> String {
        match decode(text, encoding) {
            Ok(path) => self.local_path(&path),
            Err(_) => plain_exact(text),
        }
    }

    /// Returns a path of this machine as a person writes it, harmless and with `~`.
    pub(super) fn local_path(&self, path: &Path) -> String {
        let beneath = self.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
        let shown = match beneath {
            Some(rest) if rest.as_os_str().is_empty() => PathBuf::from("~"),
            Some(rest) => Path::new("~").join(rest),
            None => path.to_owned(),
        };
        plain_exact(&encode(&shown, encoding_of([path])))
    }

    /// Writes a command's output to standard output.
    ///
    /// A reader that has gone (`skillsd list | head -1`) wants no more, and that is its right.
    pub(super) fn print(&self, text: &str) -> Result<(), CommandError> {
        match emit(&mut io::stdout().lock(), &self.colored(text, &io::stdout())) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandError::output(&error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes a failed command's reasons to standard error.
    pub(super) fn print_error(&self, error: &CommandError) {
        self.eprint(&render_error(error));
    }

    /// Writes what is unwell to standard error.
    pub(super) fn print_health(&self, health: &[Health]) {
        if !health.is_empty() {
            self.eprint(&render_health(health, self));
        }
    }

    fn eprint(&self, text: &str) {
        // There is no other place to say that this one does not work.
        let _ = emit(&mut io::stderr().lock(), &self.colored(text, &io::stderr()));
    }

    fn colored(&self, text: &str, stream: &impl anstream::stream::RawStream) -> String {
        let wanted = match self.color {
            Color::Always => true,
            Color::Never => false,
            // Knows NO_COLOR and its relatives.
            Color::Auto => anstream::AutoStream::choice(stream) != ColorChoice::Never,
        };
        if wanted { text.to_owned() } else { anstream::adapter::strip_str(text).to_string() }
    }
}

/// Returns the lines for what is unwell.
pub(super) fn render_health(health: &[Health], terminal: &Terminal) -> String {
    let mut text = String::new();
    for unwell in health {
        let path = unwell.path.as_deref().map(|path| terminal.path(path, unwell.path_encoding));
        let place = path.map(|path| format!(" ({path})")).unwrap_or_default();
        let message = plain(&unwell.message);
        let _ = writeln!(text, "{} {message}{place}", paint(style::WARNING, "warning:"));
        if let Some(hint) = &unwell.hint {
            let _ = writeln!(text, "   {} {}", paint(style::HINT, "hint:"), plain(hint));
        }
    }
    text
}

/// Returns the lines for a failed command.
pub(super) fn render_error(error: &CommandError) -> String {
    let mut text = format!("{} {}\n", paint(style::ERROR, "error:"), plain(error.message()));
    for cause in error.causes() {
        let _ = writeln!(text, "  {} {}", paint(style::FAINT, "because:"), plain(cause));
    }
    for hint in error.hints() {
        let _ = writeln!(text, "{} {}", paint(style::HINT, "hint:"), plain(hint));
    }
    text
}

fn emit(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

fn columns() -> Option<usize> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok()?;
    // Some terminals of build systems say that they have none.
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}
