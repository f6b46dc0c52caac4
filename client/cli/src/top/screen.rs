//! The whole terminal as drawing area ([`Screen`]).

use std::io::{self, Stdout, Write as _};
use std::panic;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap,
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{execute, queue};

/// The terminal in raw mode on its alternate screen, until drop or a panic.
pub(super) struct Screen(Stdout);

impl Screen {
    /// Takes the terminal over.
    pub(super) fn open() -> io::Result<Self> {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // The message must stay readable, on the main screen.
            let _ = restore();
            report(info);
        }));
        enable_raw_mode()?;
        // Restores the terminal if the next call fails.
        let mut screen = Self(io::stdout());
        // Lines that are too long are cut instead of wrapped.
        execute!(screen.0, EnterAlternateScreen, Hide, DisableLineWrap)?;
        Ok(screen)
    }

    /// Draws the lines of a frame, which gets the columns and rows of the terminal.
    pub(super) fn draw(
        &mut self,
        frame: impl FnOnce(usize, usize) -> Vec<String>,
    ) -> io::Result<()> {
        let (columns, rows) = size()?;
        let lines = frame(columns.into(), rows.into());
        let mut output = Vec::new();
        queue!(output, BeginSynchronizedUpdate)?;
        let blank = std::iter::repeat(String::new());
        for (row, line) in (0..rows).zip(lines.into_iter().chain(blank)) {
            queue!(output, MoveTo(0, row), Clear(ClearType::CurrentLine), Print(line))?;
        }
        queue!(output, EndSynchronizedUpdate)?;
        self.0.write_all(&output)?;
        self.0.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The caller reports the error that ended the command.
        let _ = restore();
    }
}

fn restore() -> io::Result<()> {
    disable_raw_mode()?;
    execute!(io::stdout(), EnableLineWrap, Show, LeaveAlternateScreen)
}
