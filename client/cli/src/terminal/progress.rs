//! Progress line of a slow call ([`Progress`], [`CallProgress`]).
//!
//! On a terminal, one line on standard error that is erased when the work is done. Otherwise one
//! line, only if the call takes long, that says which process it waits for.

use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Time for an answer before the thread that draws the line starts. Most answers take less than
/// starting a thread does.
const THREAD_AFTER: Duration = Duration::from_millis(50);

/// Delay before the line appears.
const SHOW_AFTER: Duration = Duration::from_millis(500);

/// Delay before the line names the process that it waits for.
const DETAIL_AFTER: Duration = Duration::from_secs(2);

/// Interval of the animation.
const FRAME: Duration = Duration::from_millis(120);

const MARKS: [char; 8] = ['⣾', '⣽', '⣻', '⢿', '⡿', '⣟', '⣯', '⣷'];

/// Progress line that is shown until this is dropped.
pub(crate) struct Progress {
    // Dropped first, which ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts the timer. After [`DETAIL_AFTER`], `detail` replaces `what`.
    pub(crate) fn begin(what: &'static str, detail: Option<String>) -> Self {
        Self::begun_at(Instant::now(), what, detail)
    }

    fn begun_at(begun: Instant, what: &'static str, detail: Option<String>) -> Self {
        let (end, ended) = channel::<()>();
        let thread = if io::stderr().is_terminal() {
            thread::spawn(move || animate(&ended, begun, what, detail.as_deref()))
        } else if let Some(detail) = detail {
            thread::spawn(move || {
                if let Err(RecvTimeoutError::Timeout) =
                    ended.recv_timeout(until(begun, DETAIL_AFTER))
                {
                    show(&format!("note: {detail}\n"));
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
            // A panic of the thread would change nothing here.
            let _ = thread.join();
        }
    }
}

/// Progress line of a call, whose thread starts only if the answer takes [`THREAD_AFTER`].
pub(crate) struct CallProgress {
    begun: Instant,
    what: &'static str,
    detail: Option<String>,
    line: Option<Progress>,
}

impl CallProgress {
    /// Starts the timer like [`Progress::begin`].
    pub(crate) fn begin(what: &'static str, detail: Option<String>) -> Self {
        Self { begun: Instant::now(), what, detail, line: None }
    }

    /// Waits until the socket can be read, or the line's thread has started. Without a socket, the
    /// thread starts at once.
    pub(crate) fn before_read(&mut self, socket: Option<&UnixStream>) {
        let is_readable = |it| is_readable_within(it, until(self.begun, THREAD_AFTER));
        if self.line.is_none() && !socket.is_some_and(is_readable) {
            let detail = self.detail.take();
            self.line = Some(Progress::begun_at(self.begun, self.what, detail));
        }
    }
}

/// Returns the rest of a delay that began at this time.
fn until(begun: Instant, delay: Duration) -> Duration {
    delay.saturating_sub(begun.elapsed())
}

fn is_readable_within(socket: &UnixStream, wait: Duration) -> bool {
    let wait = Timespec::try_from(wait).ok();
    poll(&mut [PollFd::new(socket, PollFlags::IN)], wait.as_ref()).is_ok_and(|it| it > 0)
}

/// Draws the line until `ended` is closed.
fn animate(ended: &Receiver<()>, begun: Instant, what: &str, detail: Option<&str>) {
    let mut wait = until(begun, SHOW_AFTER);
    let mut marks = MARKS.iter().cycle();
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(wait) {
        let mark = marks.next().unwrap_or(&' ');
        let text = detail.filter(|_| begun.elapsed() >= DETAIL_AFTER).unwrap_or(what);
        show(&format!("\r\u{1b}[2K{mark} {text}"));
        wait = FRAME;
    }
    if wait == FRAME {
        show("\r\u{1b}[2K");
    }
}

fn show(text: &str) {
    // Errors of standard error cannot be reported anywhere.
    let _ = io::stderr().write_all(text.as_bytes());
}
