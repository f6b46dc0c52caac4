//! What is shown while something takes longer than a person likes to wait without a word.
//!
//! One line on the error output of a terminal, which is taken back when the work is done. Where
//! something else reads the error output it is told once who is waited for, and only when that
//! takes long.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long nothing is said.
const SILENCE: Duration = Duration::from_millis(500);

/// How long it is not said who is waited for.
const LONG: Duration = Duration::from_secs(2);

/// How often the line shows that something goes on.
const BEAT: Duration = Duration::from_millis(120);

const MARKS: [char; 8] = ['⣾', '⣽', '⣻', '⢿', '⡿', '⣟', '⣯', '⣷'];

/// Work that is told of when it takes long; until it is dropped.
pub(crate) struct Progress {
    // Dropped first, which ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to count the time. After a while `who` is said in the place of `what`.
    pub(crate) fn begin(what: &'static str, who: Option<String>) -> Self {
        let (end, ended) = channel::<()>();
        let thread = if io::stderr().is_terminal() {
            thread::spawn(move || turn(&ended, what, who.as_deref()))
        } else if let Some(who) = who {
            thread::spawn(move || {
                if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LONG) {
                    show(&format!("note: {who}\n"));
                }
            })
        } else {
            return Self { end: None, thread: None };
        };
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

/// Shows that something goes on until it has ended.
fn turn(ended: &Receiver<()>, what: &str, who: Option<&str>) {
    let begun = Instant::now();
    let mut wait = SILENCE;
    let mut marks = MARKS.iter().cycle();
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
        let mark = marks.next().unwrap_or(&' ');
        let text = who.filter(|_| begun.elapsed() >= LONG).unwrap_or(what);
        show(&format!("\r\u{1b}[2K{mark} {text}"));
        wait = BEAT;
    }
    if wait == BEAT {
        show("\r\u{1b}[2K");
    }
}

fn show(text: &str) {
    // There is no other place to say that this one does not work.
    let _ = io::stderr().write_all(text.as_bytes());
}
