//! A pseudo-terminal for tests, with a terminal emulator for its content.
//!
//! The program has it as controlling terminal, so that it receives size changes. A thread reads its
//! output continuously; tests wait until the screen shows a text.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::wait::{DEADLINE, within};

/// Time to wait for the remaining output of an exited program.
const REST: Duration = Duration::from_secs(1);

/// A program running on its own terminal.
pub struct Screen {
    child: Child,
    main: File,
    state: Arc<Mutex<ScreenState>>,
    // Ends when the other side is closed.
    reader: JoinHandle<()>,
}

/// The written bytes, and the emulator's state.
struct ScreenState {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

impl Screen {
    /// Starts a program on a terminal of this size.
    #[track_caller]
    pub fn start(command: &Command, rows: u16, columns: u16) -> Screen {
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal can be had");
        grantpt(&main).expect("a terminal can be had");
        unlockpt(&main).expect("a terminal can be had");
        tcsetwinsize(&main, size(rows, columns)).expect("a terminal can be had");
        let name = ptsname(&main, Vec::new()).expect("a terminal can be had");
        let side = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())
            .expect("a terminal can be had");
        let stream = |side: &OwnedFd| Stdio::from(side.try_clone().expect("a terminal can be had"));
        // `setsid` makes standard input the controlling terminal and executes the program.
        let mut on_terminal = Command::new(on_path("setsid"));
        on_terminal.arg("--ctty").arg(command.get_program()).args(command.get_args());
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        on_terminal.env_clear().envs(variables).env("TERM", "xterm-256color");
        if let Some(dir) = command.get_current_dir() {
            on_terminal.current_dir(dir);
        }
        on_terminal.stdin(stream(&side)).stdout(stream(&side)).stderr(stream(&side));
        let child = on_terminal.spawn().expect("a terminal can be had");
        drop(side);
        let main = File::from(main);
        let parser = vt100::Parser::new(cells(rows), cells(columns), 0);
        let state = Arc::new(Mutex::new(ScreenState { parser, bytes: Vec::new() }));
        let (mut source, sink) =
            (main.try_clone().expect("a terminal can be had"), Arc::clone(&state));
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Fails when the other side is closed.
            while let Ok(length @ 1..) = source.read(&mut buffer) {
                let mut state = sink.lock().expect("the lock is not poisoned");
                state.parser.process(&buffer[..length]);
                state.bytes.extend_from_slice(&buffer[..length]);
            }
        });
        Screen { child, main, state, reader }
    }

    /// Types keys.
    pub fn type_in(&mut self, keys: &str) {
        self.main.write_all(keys.as_bytes()).expect("a terminal can be had");
    }

    /// Resizes the window.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        self.state
            .lock()
            .expect("the lock is not poisoned")
            .parser
            .screen_mut()
            .set_size(cells(rows), cells(columns));
        tcsetwinsize(&self.main, size(rows, columns)).expect("a terminal can be had");
    }

    /// Returns the screen's text.
    pub fn text(&self) -> String {
        self.state.lock().expect("the lock is not poisoned").parser.screen().contents()
    }

    /// Returns everything written to the terminal.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.state.lock().expect("the lock is not poisoned").bytes)
            .into_owned()
    }

    /// Gives access to the screen's cells.
    pub fn look<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.state.lock().expect("the lock is not poisoned").parser.screen())
    }

    /// Returns whether the program uses the alternate screen.
    pub fn is_taken_over(&self) -> bool {
        self.state.lock().expect("the lock is not poisoned").parser.screen().alternate_screen()
    }

    /// Waits until the screen shows this text, and returns the whole text.
    #[track_caller]
    pub fn wait_for(&self, shown: &str) -> String {
        let found = within(DEADLINE, || Some(self.text()).filter(|it| it.contains(shown)));
        found.unwrap_or_else(|| panic!("`{shown}` is not on the screen:\n{}", self.text()))
    }

    /// Waits until the program has exited and its output was read.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        let ended = within(DEADLINE, || self.child.try_wait().expect("a terminal can be had"));
        let status = ended.unwrap_or_else(|| panic!("it goes on:\n{}", self.text()));
        // A daemon started by the program may keep the terminal open; all output has arrived long
        // before.
        within(REST, || self.reader.is_finished().then_some(()));
        status
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Both fail if the process has already exited, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

// The command's own `PATH` may differ.
fn on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a terminal can be had");
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|it| it.is_file())
        .expect("a terminal can be had")
}

fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal can be had")
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
