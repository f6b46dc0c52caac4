//! Connects to the daemon and starts it when none listens ([`connect_or_start`]).
//!
//! Concurrent clients agree through a lock file beside the socket: its holder tries to connect
//! again and only then starts a daemon; the others retry until they can connect.
//! Invariant: a daemon counts as alive when it accepts a connection, never because of a pid.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use skills_protocol::env::{DISCOVERY, HOME, SKILLSD_SOCKET, XDG_CONFIG_HOME};
use skills_protocol::method::Initialize;
use skills_protocol::socket::{SocketLocation, SocketSource};
use skills_protocol::wire::InitializeParams;

use crate::blocking::BlockingConnection;
use crate::{ClientError, directory, environment, peer};

/// Line that a started daemon prints on its standard output once it listens.
pub const READY: &str = "ready";

/// Default time limit for starting a daemon.
pub const DEADLINE: Duration = Duration::from_secs(10);

const FIRST_DELAY: Duration = Duration::from_millis(10);
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// Pauses between attempts after a daemon closed a connection without an answer.
///
/// A daemon that is shutting down accepts connections for a few more milliseconds.
pub fn pauses() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(FIRST_DELAY), |delay| Some(*delay * 2)).take(6)
}

/// Variables of glibc's allocator for the daemon.
///
/// With the default of eight heaps per core, short-lived allocations of many threads leave memory
/// that is never returned: under load the daemon held three times its live data. The fixed
/// thresholds, which are the initial ones, keep buffers of 128 KiB and more out of the heaps; by
/// default, each freed large buffer raises both.
pub const HEAP_LIMITS: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "2"),
    ("MALLOC_MMAP_THRESHOLD_", "131072"),
    ("MALLOC_TRIM_THRESHOLD_", "131072"),
];

// Enough for a panic message with its location; a whole log would not help in an error.
const LOG_LINES: usize = 8;
const LOG_BYTES: u64 = 4096;

/// Socket location of the daemon, and the command that starts it.
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// Location of the sockets.
    pub location: SocketLocation,
    /// The program to run.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Time limit until the started daemon listens.
    pub deadline: Duration,
    /// Time limit for connecting to a daemon that listens but accepts no connection because it
    /// hangs and its queue is full.
    pub connect_timeout: Duration,
    /// Called before each wait: for a daemon that starts, or that accepts no connection yet.
    pub before_wait: BeforeWait,
}

/// Function that is called before a wait, for example to show that something is waited for. The
/// default does nothing.
#[derive(Clone, Default)]
pub struct BeforeWait(Option<Arc<dyn Fn() + Send + Sync>>);

impl BeforeWait {
    /// Returns a hook that calls this function.
    pub fn new(call: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(call)))
    }

    fn call(&self) {
        if let Some(call) = &self.0 {
            call();
        }
    }
}

impl fmt::Debug for BeforeWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BeforeWait").field(&self.0.is_some()).finish()
    }
}

impl StartOptions {
    /// Returns options that start this program as `PROGRAM serve --spawned`, at the socket location
    /// of this process's environment. A program without a slash is searched for in `PATH`.
    pub fn for_program(program: impl Into<PathBuf>) -> Result<Self, ClientError> {
        Ok(Self::starting(environment::socket_location()?, program.into()))
    }

    /// Returns options that start the current executable as `skillsd serve --spawned`.
    pub fn new(location: SocketLocation) -> Result<Self, ClientError> {
        let program = std::env::current_exe()
            .map_err(|source| ClientError::Start { program: "skillsd".into(), source })?;
        Ok(Self::starting(location, program))
    }

    fn starting(location: SocketLocation, program: PathBuf) -> Self {
        let arguments = vec!["serve".into(), "--spawned".into()];
        let before_wait = BeforeWait::default();
        let (deadline, connect_timeout) = (DEADLINE, DEADLINE);
        Self { location, program, arguments, deadline, connect_timeout, before_wait }
    }
}

/// Connects to the running daemon. Fails if none listens, or if it does not accept within
/// `timeout`.
pub fn connect(location: &SocketLocation, timeout: Duration) -> Result<UnixStream, ClientError> {
    let socket = location.path();
    let found = try_connect_at(location, socket, timeout, &BeforeWait::default())?;
    found.ok_or_else(|| ClientError::NotRunning { socket: socket.to_owned() })
}

/// Connects to the running daemon like [`connect`], with the time limit of these options.
pub fn connect_running(options: &StartOptions) -> Result<UnixStream, ClientError> {
    let socket = options.location.path();
    let found = try_connect(options)?;
    found.ok_or_else(|| ClientError::NotRunning { socket: socket.to_owned() })
}

/// Connects to the daemon and starts it if none listens.
pub fn connect_or_start(options: &StartOptions) -> Result<UnixStream, ClientError> {
    let socket = options.location.path();
    let try_connect = || try_connect(options);
    if let Some(stream) = try_connect()? {
        return Ok(stream);
    }
    options.before_wait.call();
    directory::prepare(&options.location)?;
    let mut wait = Backoff::new(options.deadline);
    let lock = StartLock::open(options.location.start_lock())?;
    while !lock.try_take()? {
        // The lock holder starts a daemon and may still hold the lock after the daemon listens.
        if let Some(stream) = try_connect()? {
            return Ok(stream);
        }
        wait.pause(socket)?;
    }
    // The previous lock holder may have started a daemon in the meantime.
    if let Some(stream) = try_connect()? {
        return Ok(stream);
    }
    let started = start(options, wait.left());
    loop {
        if let Some(stream) = try_connect()? {
            return Ok(stream);
        }
        // Checked only here: our daemon may have lost against one that was started without the
        // lock.
        if let Err(error) = started {
            return Err(error);
        }
        wait.pause(socket)?;
    }
}

/// Connects to the consent socket, which answers granting methods, and starts the daemon if none
/// listens.
pub fn connect_consent(options: &StartOptions) -> Result<UnixStream, ClientError> {
    let main = connect_or_start(options)?;
    let socket = options.location.consent_path();
    let try_connect = || {
        try_connect_at(&options.location, &socket, options.connect_timeout, &options.before_wait)
    };
    if let Some(stream) = try_connect()? {
        return Ok(stream);
    }
    // A service manager may listen on the main socket while the daemon is still starting. The
    // daemon listens on the consent socket before it answers there.
    let mut main = BlockingConnection::over_socket(main)?;
    main.call::<Initialize>(&InitializeParams::default())?;
    try_connect()?.ok_or(ClientError::NoConsentSocket { socket: socket.clone() })
}

/// Connects to the consent socket of the running daemon, whose connections agents cannot use up.
/// Returns `None` if it cannot be used or is missing, as in a sandbox with only the main socket.
pub fn connect_reserved(options: &StartOptions) -> Option<UnixStream> {
    let StartOptions { location, connect_timeout, before_wait, .. } = options;
    try_connect_at(location, &location.consent_path(), *connect_timeout, before_wait).ok().flatten()
}

// `None`: no daemon listens. Covers a missing socket and a stale one left by a killed daemon.
fn try_connect(options: &StartOptions) -> Result<Option<UnixStream>, ClientError> {
    let StartOptions { location, connect_timeout, before_wait, .. } = options;
    try_connect_at(location, location.path(), *connect_timeout, before_wait)
}

fn try_connect_at(
    location: &SocketLocation,
    socket: &Path,
    timeout: Duration,
    before_wait: &BeforeWait,
) -> Result<Option<UnixStream>, ClientError> {
    let mut wait = Backoff::new(timeout);
    let stream = loop {
        let source = match dial(socket) {
            Ok(stream) => break stream,
            Err(error) => error,
        };
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => return Ok(None),
            // The daemon listens, but its queue of connections is full.
            io::ErrorKind::WouldBlock => {
                before_wait.call();
                wait.pause(socket)?;
            }
            // The owner of the directory is the better explanation, if that is wrong.
            io::ErrorKind::PermissionDenied => {
                directory::verify(location)?;
                return Err(ClientError::Connect { socket: socket.to_owned(), source });
            }
            _ => return Err(ClientError::Connect { socket: socket.to_owned(), source }),
        }
    };
    let peer::PeerCredentials { uid, .. } = peer::credentials(&stream)?;
    if uid != rustix::process::getuid().as_raw() {
        return Err(ClientError::ForeignPeer { socket: socket.to_owned(), uid });
    }
    Ok(Some(stream))
}

/// Connects without waiting: with a daemon that hangs, waiting for a place in its queue never ends.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn dial(socket: &Path) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

    let address = SocketAddrUnix::new(socket)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let ours = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&ours, &address)?;
    let stream = UnixStream::from(ours);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Connects; on these systems a full queue refuses the connection.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn dial(socket: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(socket)
}

/// Exponential backoff with a deadline.
struct Backoff {
    started: Instant,
    limit: Duration,
    delay: Duration,
}

impl Backoff {
    fn new(limit: Duration) -> Self {
        Self { started: Instant::now(), limit, delay: FIRST_DELAY }
    }

    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.started.elapsed())
    }

    fn pause(&mut self, socket: &Path) -> Result<(), ClientError> {
        let left = self.left();
        if left.is_zero() {
            return Err(ClientError::NoAnswer { socket: socket.to_owned(), waited: self.limit });
        }
        thread::sleep(self.delay.min(left));
        self.delay = (self.delay * 2).min(LONGEST_DELAY);
        Ok(())
    }
}

/// Lock that a client holds while it starts a daemon; released when dropped.
struct StartLock {
    path: PathBuf,
    file: File,
}

impl StartLock {
    fn open(path: PathBuf) -> Result<Self, ClientError> {
        // With O_NOFOLLOW, a symlink cannot redirect the creation and the lock to another file.
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR) {
            Ok(descriptor) => Ok(Self { path, file: descriptor.into() }),
            Err(error) => Err(ClientError::StartLock { path, source: error.into() }),
        }
    }

    fn try_take(&self) -> Result<bool, ClientError> {
        match rustix::fs::flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => Ok(false),
            Err(error) => {
                Err(ClientError::StartLock { path: self.path.clone(), source: error.into() })
            }
        }
    }
}

// Runs the daemon and waits until it reports that it is ready.
fn start(options: &StartOptions, timeout: Duration) -> Result<(), ClientError> {
    let failed = |source| ClientError::Start { program: options.program.clone(), source };
    let path = options.location.start_log();
    let mut log = open_log(&path).map_err(|source| ClientError::StartLog { path, source })?;
    let mut command = Command::new(&options.program);
    command
        .args(&options.arguments)
        // The root directory never blocks an unmount.
        .current_dir("/")
        // The terminal's interrupt must not reach the daemon.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // A file, because a pipe breaks when this process exits, and then every log line fails.
        .stderr(log.try_clone().map_err(failed)?);
    // The daemon serves all shells of the user. A directory that only one of them names is not the
    // user's own for the others.
    for name in DISCOVERY.iter().filter(|it| ![HOME, XDG_CONFIG_HOME].contains(it)) {
        command.env_remove(name);
    }
    for (name, value) in HEAP_LIMITS.into_iter().filter(|it| env::var_os(it.0).is_none()) {
        command.env(name, value);
    }
    if options.location.source() == SocketSource::Variable {
        command.env(SKILLSD_SOCKET, options.location.path());
    }
    let mut child = command.spawn().map_err(failed)?;
    let first = child.stdout.take().and_then(|stdout| first_line(stdout, timeout));
    match first.as_deref() {
        Some(line) if line.trim_end() == READY => {
            reap(child);
            Ok(())
        }
        Some(_) => Err(ClientError::Failed {
            program: options.program.clone(),
            status: end(&mut child),
            log: last_lines(&mut log),
        }),
        // No line in time: the daemon may be slow. It keeps running, and a later client may find it
        // ready.
        None => {
            reap(child);
            let socket = options.location.path().to_owned();
            Err(ClientError::NoAnswer { socket, waited: options.deadline })
        }
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    let flags = OFlags::CREATE
        | OFlags::RDWR
        | OFlags::TRUNC
        | OFlags::APPEND
        | OFlags::NOFOLLOW
        | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
}

// `None` if no line came in time; an empty line if the output ended.
fn first_line(stdout: ChildStdout, timeout: Duration) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        // Unreadable output leaves the line empty, which is not `READY`.
        let _ = BufReader::new(stdout.take(64)).read_line(&mut line);
        // The receiver is gone if the timeout has passed.
        let _ = sender.send(line);
    });
    receiver.recv_timeout(timeout).ok()
}

// Waits for the child in the background, so that a dead daemon does not stay a zombie.
fn reap(mut child: Child) {
    thread::spawn(move || {
        // The exit status is not needed; the next call notices that the daemon is gone.
        let _ = child.wait();
    });
}

// Returns the exit status of a child that closed its output, and kills the child if it keeps
// running.
fn end(child: &mut Child) -> String {
    for _ in 0..50 {
        match child.try_wait() {
            Ok(Some(status)) => return status.to_string(),
            Ok(None) => thread::sleep(FIRST_DELAY),
            Err(error) => return error.to_string(),
        }
    }
    // The child may exit at this moment, so errors are ignored.
    let _ = child.kill();
    let _ = child.wait();
    "it closed its output but kept running".to_owned()
}

fn last_lines(log: &mut File) -> String {
    let read = |log: &mut File| -> io::Result<Vec<u8>> {
        let size = log.seek(SeekFrom::End(0))?;
        log.seek(SeekFrom::Start(size.saturating_sub(LOG_BYTES)))?;
        let mut bytes = Vec::new();
        log.take(LOG_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // The log is additional information; without it the error still names the program and its
    // status.
    let text = String::from_utf8_lossy(&read(log).unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use skills_protocol::socket::{SocketEnvironment, choose};
    use tempfile::TempDir;

    use super::*;

    // Runs a shell script instead of the daemon: it can print and exit, but not listen.
    fn options(top: &TempDir, script: &str) -> StartOptions {
        let skillsd_socket = Some(top.path().join("s.sock").into());
        let environment = SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() };
        StartOptions {
            location: choose(&environment).expect("absolute"),
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            deadline: DEADLINE,
            connect_timeout: DEADLINE,
            before_wait: BeforeWait::default(),
        }
    }

    #[track_caller]
    fn check(script: &str, deadline: Duration, expected: &str) {
        let top = TempDir::new().expect("made");
        let options = StartOptions { deadline, ..options(&top, script) };
        let error = connect_or_start(&options).expect_err("nothing listens");
        let log = match &error {
            ClientError::Failed { log, .. } => log.clone(),
            _ => String::new(),
        };
        let text = format!("{error}: {log}").replace(top.path().to_str().expect("plain"), "$TOP");
        assert_eq!(text.trim_end_matches(": "), expected);
    }

    #[test]
    fn early_exit_reports_status_and_log() {
        check(
            "echo one >&2; echo 'bad config' >&2; exit 3",
            DEADLINE,
            "`/bin/sh serve` ended before it was ready (exit status: 3): one\nbad config",
        );
        check("exit 0", DEADLINE, "`/bin/sh serve` ended before it was ready (exit status: 0)");
        check(
            "kill -9 $$",
            DEADLINE,
            "`/bin/sh serve` ended before it was ready (signal: 9 (SIGKILL))",
        );
        check("echo hello", DEADLINE, "`/bin/sh serve` ended before it was ready (exit status: 0)");
    }

    #[test]
    fn long_log_is_cut_to_its_last_lines() {
        let last: Vec<String> = (93..=100).map(|n| n.to_string()).collect();
        let status = "`/bin/sh serve` ended before it was ready (exit status: 1)";
        check("seq 100 >&2; exit 1", DEADLINE, &format!("{status}: {}", last.join("\n")));
    }

    #[test]
    fn start_times_out_when_daemon_never_listens() {
        let soon = Duration::from_millis(60);
        let expected = "no daemon answered on `$TOP/s.sock` within 0 s";
        check("exec sleep 1", soon, expected);
        check("echo ready", soon, expected);
    }

    #[test]
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn connect_times_out_when_accept_queue_is_full() {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

        let top = TempDir::new().expect("made");
        let timeout = Duration::from_millis(20);
        let options = StartOptions { connect_timeout: timeout, ..options(&top, "exit 0") };
        let path = options.location.path();
        let ours = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("made");
        bind(&ours, &SocketAddrUnix::new(path).expect("short")).expect("bound");
        listen(&ours, 0).expect("listens");
        let waiting: Vec<_> = std::iter::from_fn(|| dial(path).ok()).collect();
        assert!(!waiting.is_empty(), "no connection was accepted");
        for error in [connect(&options.location, timeout), connect_or_start(&options)] {
            let error = error.expect_err("the queue is full");
            assert!(matches!(error, ClientError::NoAnswer { waited, .. } if waited == timeout));
        }
        // Accepting one connection frees a place in the queue.
        let listener = UnixListener::from(ours);
        let taking = thread::spawn(move || listener.accept().map(|_| listener));
        connect(&options.location, DEADLINE).expect("there is a place");
        taking.join().expect("it does not panic").expect("a connection is pending");
    }

    #[test]
    fn missing_program_is_named_in_the_error() {
        let top = TempDir::new().expect("made");
        let options = StartOptions { program: "/nowhere/skillsd".into(), ..options(&top, "") };
        let error = connect_or_start(&options).expect_err("no program");
        assert_eq!(error.to_string(), "failed to run `/nowhere/skillsd`");
    }

    #[test]
    fn symlinked_start_lock_is_refused() {
        let top = TempDir::new().expect("made");
        let options = options(&top, "echo ready");
        let target = top.path().join("target");
        std::os::unix::fs::symlink(&target, options.location.start_lock()).expect("made");
        let error = connect_or_start(&options).expect_err("a link");
        assert!(matches!(error, ClientError::StartLock { .. }), "{error:?}");
        assert!(!target.exists());
    }

    #[test]
    fn symlinked_start_log_is_refused_and_named() {
        let top = TempDir::new().expect("made");
        let options = options(&top, "echo ready");
        let path = options.location.start_log();
        let target = top.path().join("target");
        std::os::unix::fs::symlink(&target, &path).expect("made");
        let error = connect_or_start(&options).expect_err("a link");
        assert_eq!(error.to_string(), format!("failed to open the start log `{}`", path.display()));
        assert!(error.hint().expect("a hint").contains(&format!("Remove `{}`", path.display())));
        assert!(!target.exists());
    }

    #[test]
    fn connect_does_not_start_a_daemon() {
        let top = TempDir::new().expect("made");
        let options = options(&top, "");
        assert!(matches!(
            connect(&options.location, DEADLINE),
            Err(ClientError::NotRunning { .. })
        ));
        // A killed daemon leaves a socket file without a listener.
        drop(UnixListener::bind(options.location.path()).expect("bound"));
        assert!(matches!(
            connect(&options.location, DEADLINE),
            Err(ClientError::NotRunning { .. })
        ));
    }

    #[test]
    fn concurrent_clients_start_one_daemon() {
        let top = TempDir::new().expect("made");
        let starts = top.path().join("starts");
        let script = format!("echo start >> {}; echo ready", starts.display());
        let options = options(&top, &script);
        // A stale socket exists, as after a kill.
        drop(UnixListener::bind(options.location.path()).expect("bound"));
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let options = options.clone();
                thread::spawn(move || connect_or_start(&options).map(drop))
            })
            .collect();
        // The listener appears only after the daemon was started and reported that it is ready.
        let deadline = Instant::now() + DEADLINE;
        while !starts.exists() {
            assert!(Instant::now() < deadline, "no client started it");
            thread::sleep(FIRST_DELAY);
        }
        std::fs::remove_file(options.location.path()).expect("stale");
        let _listener = UnixListener::bind(options.location.path()).expect("bound");
        for client in clients {
            client.join().expect("no panic").expect("connected");
        }
        assert_eq!(std::fs::read_to_string(starts).expect("written"), "start\n");
    }
}
