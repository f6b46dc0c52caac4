//! Input of a command ([`CommandContext`]): its flags, its terminal, and functions that the program
//! passes in.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use skills_client::blocking::Stream;
use skills_protocol::wire::Health;

use crate::global::GlobalArgs;
use crate::terminal::Terminal;

/// Runs a server within this process and returns a connection to it.
pub type Local<'a> = &'a dyn Fn() -> io::Result<Box<dyn Stream>>;

/// The parts of the program that only its binary has.
#[derive(Clone, Copy)]
pub struct Binary<'a> {
    pub local: Local<'a>,
    /// Returns the definition of all commands, for completions and the manual.
    pub definition: fn() -> clap::Command,
    /// Returns the rules of `skillsd check`, each with its problem.
    pub rules: fn() -> Vec<(String, String)>,
    /// Returns the names of the profiles, including the user's own.
    pub profiles: fn() -> Vec<String>,
}

/// The input of every command.
pub(crate) struct CommandContext<'a> {
    pub(crate) global: &'a GlobalArgs,
    pub(crate) binary: Binary<'a>,
    pub(crate) terminal: &'a Terminal,
    /// Health reports to print once, after the answer.
    pub(crate) notes: HealthReports,
    /// Set once the running daemon has not answered a command that can do without it.
    pub(crate) is_daemon_silent: Cell<bool>,
}

/// Health reports that the connections of a command received.
pub(crate) type HealthReports = Rc<RefCell<Vec<Health>>>;
