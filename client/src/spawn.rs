//! Connecting to the daemon, and starting it when nobody listens.
//!
//! Many clients may do this at once. They agree through a lock file beside the socket: whoever
//! holds it looks again and only then starts a daemon; the others keep trying to connect, which is
//! what they are waiting for.
//! Invariant: a daemon counts as alive when it accepts a connection, never because of a pid.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use skills_protocol::env::SKILLSD_SOCKET;
use skills_protocol::method::Initialize;
use skills_protocol::socket::{SocketLocation, SocketSource};
use skills_protocol::wire::InitializeParams;

use crate::blocking::BlockingConnection;
use crate::{ClientError, directory, environment, peer};

/// What a started daemon writes on its standard output, as one line, once it listens.
pub const READY: &str = "ready";

/// How long a start may take.
pub const DEADLINE: Duration = Duration::from_secs(10);

const FIRST_DELAY: Duration = Duration::from_millis(10);
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// The pauses between attempts after a daemon closed a connection without an answer.
///
/// One that is being stopped accepts for some milliseconds more, then the next can be started.
pub fn pauses() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(FIRST_DELAY), |delay| Some(*delay * 2)).take(6)
}

// Enough for a panic message with its place; a log would be of no use in an error.
const LOG_LINES: usize = 8;
const LOG_BYTES: u64 = 4096;

/// Where the daemon listens, and how it is started.
#[derive(Debug, Clone)]
pub struct StartOptions {
    /// Where it listens.
    pub location: SocketLocation,
    /// The program to run.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// How long to wait until it listens.
    pub deadline: Duration,
    /// How long to wait for one that listens and takes no connection, because it hangs and others
    /// wait already.
    pub patience: Duration,
}

impl StartOptions {
    /// Returns options that start this program as `PROGRAM serve --spawned`, where this process's
    /// environment says that the daemon listens. One without a slash is searched for in `PATH`.
    pub fn of(program: impl Into<PathBuf>) -> Result<Self, ClientError> {
        Ok(Self::starting(environment::socket_location()?, program.into()))
    }

    /// Returns options that start this very program as `skillsd serve --spawned`.
    pub fn new(location: SocketLocation) -> Result<Self, ClientError> {
        let program = std::env::current_exe()
            .map_err(|source| ClientError::Start { program: "skillsd".into(), source })?;
        Ok(Self::starting(location, program))
    }

    fn starting(location: SocketLocation, program: PathBuf) -> Self {
        let arguments = vec!["serve".into(), "--spawned".into()];
        Self { location, program, arguments, deadline: DEADLINE, patience: DEADLINE }
    }
}

/// Connects to the daemon that listens, and fails when none does, or none takes the connection in
/// this time.
pub fn connect(location: &SocketLocation, patience: Duration) -> Result<UnixStream, ClientError> {
    let socket = location.path();
    let found = try_connect(location, patience)?;
    found.ok_or_else(|| ClientError::NotRunning { socket: socket.to_owned() })
}

/// Connects to the daemon, starting it when none listens.
pub fn connect_or_start(options: &StartOptions) -> Result<UnixStream, ClientError> {
    let socket = options.location.path();
    let try_connect = || try_connect(&options.location, options.patience);
    if let Some(stream) = try_connect()? {
        return Ok(stream);
    }
    directory::prepare(&options.location)?;
    let mut wait = Wait::new(options.deadline);
    let lock = StartLock::open(options.location.start_lock())?;
    while !lock.try_take()? {
        // Whoever holds the lock starts a daemon, and may still hold it while that one listens.
        if let Some(stream) = try_connect()? {
            return Ok(stream);
        }
        wait.pause(socket)?;
    }
    // The one that held the lock before us may have succeeded in the meantime.
    if let Some(stream) = try_connect()? {
        return Ok(stream);
    }
    let started = start(options, wait.left());
    loop {
        if let Some(stream) = try_connect()? {
            return Ok(stream);
        }
        // Only now: ours may have lost against one that was started without the lock.
        if let Err(error) = started {
            return Err(error);
        }
        wait.pause(socket)?;
    }
}

/// Connects to the consent socket, which answers what grants, starting the daemon when none listens.
pub fn connect_consent(options: &StartOptions) -> Result<UnixStream, ClientError> {
    let main = connect_or_start(options)?;
    let socket = options.location.consent_path();
    let try_connect = || try_connect_at(&options.location, &socket, options.patience);
    if let Some(stream) = try_connect()? {
        return Ok(stream);
    }
    // A service manager may listen for a daemon that is only starting, and listens there itself
    // before it answers.
    let mut main = BlockingConnection::over_socket(main)?;
    main.call::<Initialize>(&InitializeParams::default())?;
    try_connect()?.ok_or(ClientError::NoConsentSocket { socket: socket.clone() })
}

// `None`: nobody listens. Both kinds also cover a socket file that a killed daemon left behind.
fn try_connect(
    location: &SocketLocation,
    patience: Duration,
) -> Result<Option<UnixStream>, ClientError> {
    try_connect_at(location, location.path(), patience)
}

fn try_connect_at(
    location: &SocketLocation,
    socket: &Path,
    patience: Duration,
) -> Result<Option<UnixStream>, ClientError> {
    let mut wait = Wait::new(patience);
    let stream = loop {
        let source = match dial(socket) {
            Ok(stream) => break stream,
            Err(error) => error,
        };
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => return Ok(None),
            // It listens, and has not taken those who came before us.
            io::ErrorKind::WouldBlock => wait.pause(socket)?,
            // Whose the directory is explains it better.
            io::ErrorKind::PermissionDenied => {
                directory::verify(location)?;
                return Err(ClientError::Connect { socket: socket.to_owned(), source });
            }
            _ => return Err(ClientError::Connect { socket: socket.to_owned(), source }),
        }
    };
    match peer::of(&stream)? {
        Some(peer::Peer { uid, .. }) if uid != rustix::process::getuid().as_raw() => {
            Err(ClientError::ForeignPeer { socket: socket.to_owned(), uid })
        }
        Some(_) | None => Ok(Some(stream)),
    }
}

/// Connects at once or not at all: whoever waits for a place in the queue of a daemon that hangs
/// waits for ever.
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

/// Connects; elsewhere a full queue refuses.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn dial(socket: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(socket)
}

/// Delays that double, up to a deadline.
struct Wait {
    started: Instant,
    limit: Duration,
    delay: Duration,
}

impl Wait {
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

/// The lock under which a daemon is started; released when dropped.
struct StartLock {
    path: PathBuf,
    file: File,
}

impl StartLock {
    fn open(path: PathBuf) -> Result<Self, ClientError> {
        // A link would let whoever placed it choose the file that we make and lock.
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

// Runs the daemon and waits until it says that it listens.
fn start(options: &StartOptions, patience: Duration) -> Result<(), ClientError> {
    let failed = |source| ClientError::Start { program: options.program.clone(), source };
    let mut log = open_log(&options.location.start_log()).map_err(failed)?;
    let mut command = Command::new(&options.program);
    command
        .args(&options.arguments)
        // A directory that nobody wants to unmount.
        .current_dir("/")
        // Our terminal's interrupt is not meant for the daemon.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // A file and not a pipe: a pipe would break when we go, and then every line would fail.
        .stderr(log.try_clone().map_err(failed)?);
    if options.location.source() == SocketSource::Variable {
        command.env(SKILLSD_SOCKET, options.location.path());
    }
    let mut child = command.spawn().map_err(failed)?;
    let said = child.stdout.take().and_then(|stdout| first_line(stdout, patience));
    match said.as_deref() {
        Some(line) if line.trim_end() == READY => {
            reap(child);
            Ok(())
        }
        Some(_) => Err(ClientError::Failed {
            program: options.program.clone(),
            status: end(&mut child),
            log: last_lines(&mut log),
        }),
        // Slow rather than dead: it is left alone, a later client may find it ready.
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

// `None` when nothing came in time; an empty line when the output ended.
fn first_line(stdout: ChildStdout, patience: Duration) -> Option<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        // What cannot be read is not the word we wait for.
        let _ = BufReader::new(stdout.take(64)).read_line(&mut line);
        // Nobody waits any more when it came too late.
        let _ = sender.send(line);
    });
    receiver.recv_timeout(patience).ok()
}

// A client that stays must not keep a dead daemon as its zombie.
fn reap(mut child: Child) {
    thread::spawn(move || {
        // How it ended is not ours to judge; the next call finds out that it is gone.
        let _ = child.wait();
    });
}

// How a child that closed its output ended; one that has not by then is of no use to anybody.
fn end(child: &mut Child) -> String {
    for _ in 0..50 {
        match child.try_wait() {
            Ok(Some(status)) => return status.to_string(),
            Ok(None) => thread::sleep(FIRST_DELAY),
            Err(error) => return error.to_string(),
        }
    }
    // It may end by itself at this very moment.
    let _ = child.kill();
    let _ = child.wait();
    "it closed its output and went on".to_owned()
}

fn last_lines(log: &mut File) -> String {
    let read = |log: &mut File| -> io::Result<Vec<u8>> {
        let size = log.seek(SeekFrom::End(0))?;
        log.seek(SeekFrom::Start(size.saturating_sub(LOG_BYTES)))?;
        let mut bytes = Vec::new();
        log.take(LOG_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // The log only helps to understand; without it the error still says what failed.
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

    // A shell script in place of the daemon: it can say and do everything but listen.
    fn options(top: &TempDir, script: &str) -> StartOptions {
        let skillsd_socket = Some(top.path().join("s.sock").into());
        let environment = SocketEnvironment { skillsd_socket, ..SocketEnvironment::default() };
        StartOptions {
            location: choose(&environment).expect("absolute"),
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            deadline: DEADLINE,
            patience: DEADLINE,
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
    fn a_daemon_that_ends_early_is_quoted() {
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
    fn only_the_end_of_a_long_log_is_quoted() {
        let last: Vec<String> = (93..=100).map(|n| n.to_string()).collect();
        let status = "`/bin/sh serve` ended before it was ready (exit status: 1)";
        check("seq 100 >&2; exit 1", DEADLINE, &format!("{status}: {}", last.join("\n")));
    }

    #[test]
    fn a_daemon_that_never_listens_is_given_up() {
        let soon = Duration::from_millis(60);
        let expected = "no daemon answered on `$TOP/s.sock` within 0 s";
        check("exec sleep 1", soon, expected);
        check("echo ready", soon, expected);
    }

    #[test]
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn a_daemon_that_takes_no_connection_is_given_up() {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

        let top = TempDir::new().expect("made");
        let patience = Duration::from_millis(20);
        let options = StartOptions { patience, ..options(&top, "exit 0") };
        let path = options.location.path();
        let ours = socket(AddressFamily::UNIX, SocketType::STREAM, None).expect("made");
        bind(&ours, &SocketAddrUnix::new(path).expect("short")).expect("bound");
        listen(&ours, 0).expect("listens");
        let waiting: Vec<_> = std::iter::from_fn(|| dial(path).ok()).collect();
        assert!(!waiting.is_empty(), "nobody could come at all");
        for error in [connect(&options.location, patience), connect_or_start(&options)] {
            let error = error.expect_err("the queue is full");
            assert!(matches!(error, ClientError::NoAnswer { waited, .. } if waited == patience));
        }
        // As soon as one is taken there is a place.
        let listener = UnixListener::from(ours);
        let taking = thread::spawn(move || listener.accept().map(|_| listener));
        connect(&options.location, DEADLINE).expect("there is a place");
        taking.join().expect("it does not panic").expect("somebody waits");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let top = TempDir::new().expect("made");
        let options = StartOptions { program: "/nowhere/skillsd".into(), ..options(&top, "") };
        let error = connect_or_start(&options).expect_err("no program");
        assert_eq!(error.to_string(), "failed to run `/nowhere/skillsd`");
    }

    #[test]
    fn a_start_lock_that_is_a_link_is_refused() {
        let top = TempDir::new().expect("made");
        let options = options(&top, "echo ready");
        let target = top.path().join("target");
        std::os::unix::fs::symlink(&target, options.location.start_lock()).expect("made");
        let error = connect_or_start(&options).expect_err("a link");
        assert!(matches!(error, ClientError::StartLock { .. }), "{error:?}");
        assert!(!target.exists());
    }

    #[test]
    fn nobody_is_started_when_only_a_connection_was_asked_for() {
        let top = TempDir::new().expect("made");
        let options = options(&top, "");
        assert!(matches!(
            connect(&options.location, DEADLINE),
            Err(ClientError::NotRunning { .. })
        ));
        // A socket file without a listener is what a killed daemon leaves.
        drop(UnixListener::bind(options.location.path()).expect("bound"));
        assert!(matches!(
            connect(&options.location, DEADLINE),
            Err(ClientError::NotRunning { .. })
        ));
    }

    #[test]
    fn clients_that_come_together_start_one_daemon() {
        let top = TempDir::new().expect("made");
        let starts = top.path().join("starts");
        let script = format!("echo start >> {}; echo ready", starts.display());
        let options = options(&top, &script);
        // A stale socket lies in the way, as after a kill.
        drop(UnixListener::bind(options.location.path()).expect("bound"));
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let options = options.clone();
                thread::spawn(move || connect_or_start(&options).map(drop))
            })
            .collect();
        // The listener appears only after the daemon was started and said that it is ready.
        let deadline = Instant::now() + DEADLINE;
        while !starts.exists() {
            assert!(Instant::now() < deadline, "nobody started it");
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
