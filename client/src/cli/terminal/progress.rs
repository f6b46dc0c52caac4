//! What is shown while something takes longer than a person likes to wait without a word.
//!
//! One line on the error output, and only on a terminal; it is taken back when the work is done.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long nothing is said.
const SILENCE: Duration = Duration::from_millis(500);

/// How often the line shows that something goes on.
const BEAT: Duration = Duration::from_millis(120);

const MARKS: [char; 8] = ['⣾', '⣽', '⣻', '⢿', '⡿', '⣟', '⣯', '⣷'];

/// Work that is told of when it takes long; until it is dropped.
pub(in crate::cli) struct Progress {
    // Dropped first, which ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to count the time, where somebody sees it.
    pub(in crate::cli) fn begin(what: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self { end: None, thread: None };
        }
        let (end, ended) = channel::<()>();
        let thread = thread::spawn(move || {
            let mut wait = SILENCE;
            let mut marks = MARKS.iter().cycle();
            let mut is_shown = false;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
                let mark = marks.next().unwrap_or(&' ');
                show(&format!("\r\u{1b}[2K{mark} {what}"));
                is_shown = true;
                wait = BEAT;
            }
            if is_shown {
                show("\r\u{1b}[2K");
            }
        });
        Self { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It does nothing that could panic, and there is nothing to be done about it.
            let _ = thread.join();
        }
    }
}

fn show(text: &str) {
    // There is no other place to say that this one does not work.
    let _ = io::stderr().write_all(text.as_bytes());
}
