//! Child processes of skills: each in its own process group, with limits on time and output.
//!
//! Timeout, cancellation of the call and shutdown of the daemon all kill the whole group, and on
//! Linux also the descendants that have left it. Output is read outside the runtime's workers.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::Pid;
use skills_platform::descriptors::restore_limit;
use skills_platform::lock::lock;
use skills_platform::process::{end_of_child, kill_with_descendants};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::rpc::tasks::run_blocking;

/// Environment variables passed to programs; all others, which may be secret, are removed.
const PASSED_VARIABLES: [&str; 13] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ",
    "TERM", "TMPDIR", "XDG_RUNTIME_DIR",
];

/// Maximum length of one argument in bytes: Linux allows 32 pages including the terminator.
const MAX_ARG_BYTES: usize = 128 * 1024 - 1;

/// Exit code of shells and `env` if a program is not in `PATH`.
pub(crate) const NOT_FOUND: i32 = 127;

/// Retries of a program whose file is still open for writing.
const TRIES: usize = 40;

/// Wait before such a retry.
const PAUSE: Duration = Duration::from_millis(5);

/// Time to wait for output that a process outside the group keeps open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) program: OsString,
    /// The program's `argv[0]`; its path by default.
    pub(crate) name: Option<OsString>,
    pub(crate) args: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(&'static str, OsString)>,
    pub(crate) timeout: Duration,
    /// Maximum number of bytes kept of each output.
    pub(crate) most: usize,
}

/// Reason why a text cannot be an argument.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum InvalidArgument {
    #[error("contains a NUL character")]
    Nul,
    #[error("has {0} bytes; the system's limit for one argument is {1}")]
    TooLong(usize, usize),
}

impl InvalidArgument {
    /// Returns why a text cannot be one argument; none if it can.
    pub(crate) fn of(text: &str) -> Option<Self> {
        if text.contains('\0') {
            return Some(Self::Nul);
        }
        (text.len() > MAX_ARG_BYTES).then_some(Self::TooLong(text.len(), MAX_ARG_BYTES))
    }
}

pub(crate) fn is_arg_list_too_long(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ArgumentListTooLong
}

#[derive(Debug)]
pub(crate) struct Ran {
    /// None if it was killed by a signal.
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// True if output was dropped.
    pub(crate) is_truncated: bool,
    /// True if it was killed after its timeout.
    pub(crate) is_late: bool,
}

/// Maximum number of programs that run at a time. Each takes a thread of the shared blocking pool.
const MAX_RUNNING: usize = 8;

static SLOTS: Semaphore = Semaphore::const_new(MAX_RUNNING);

/// A slot for a running program.
pub(crate) type RunSlot = Arc<SemaphorePermit<'static>>;

/// Waits for a slot. Taken before anything is copied for a program, so that waiting programs cost
/// neither memory nor disk.
pub(crate) async fn take_slot() -> io::Result<RunSlot> {
    // The semaphore is never closed, so this cannot fail.
    SLOTS.acquire().await.map(Arc::new).map_err(io::Error::other)
}

pub(crate) async fn run(job: Job, slot: RunSlot) -> io::Result<Ran> {
    let group = Arc::new(ProcessGroup::default());
    // Dropped with the call, also when the call is cancelled.
    let _holder = KillOnDrop(Arc::clone(&group));
    let supervise = move || {
        let ran = supervise(&job, &group);
        drop(slot);
        ran
    };
    let ran = run_blocking(supervise).await;
    ran.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// The process group to kill, while its id is known to be ours.
#[derive(Debug, Default)]
struct ProcessGroup(Mutex<Group>);

#[derive(Debug, Default)]
enum Group {
    #[default]
    NotBegun,
    Running(Pid),
    /// It has ended, or must not start.
    Over,
}

impl ProcessGroup {
    fn begin(&self, pid: Pid) {
        let mut group = lock(&self.0);
        match *group {
            Group::NotBegun => *group = Group::Running(pid),
            Group::Running(_) | Group::Over => kill_with_descendants(pid),
        }
    }

    /// Kills the group, if it runs. Afterwards its id may be reused.
    fn kill(&self) {
        let mut group = lock(&self.0);
        if let Group::Running(pid) = *group {
            kill_with_descendants(pid);
        }
        *group = Group::Over;
    }
}

struct KillOnDrop(Arc<ProcessGroup>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}

fn supervise(job: &Job, group: &ProcessGroup) -> io::Result<Ran> {
    let mut child = spawn(job)?;
    let pid = Pid::from_child(&child);
    restore_limit(pid);
    group.begin(pid);
    let watched = watch(job, &mut child, pid);
    // Before the child is reaped: until then its process id is not reused.
    group.kill();
    let status = child.wait()?;
    let (mut stdout, mut stderr, is_late) = watched?;
    let deadline = Instant::now() + DRAIN_TIMEOUT;
    while stdout.is_open || stderr.is_open {
        if wait(&[&stdout, &stderr], None, deadline)?.is_late {
            break;
        }
        stdout.take()?;
        stderr.take()?;
    }
    Ok(Ran {
        exit_code: status.code(),
        is_truncated: stdout.is_truncated || stderr.is_truncated,
        stdout: stdout.text(),
        stderr: stderr.text(),
        is_late,
    })
}

fn spawn(job: &Job) -> io::Result<Child> {
    let mut command = Command::new(&job.program);
    command.arg0(job.name.as_ref().unwrap_or(&job.program));
    command.args(&job.args).current_dir(&job.directory).env_clear().process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(PASSED_VARIABLES.iter().filter_map(|it| Some((it, std::env::var_os(it)?))));
    command.envs(job.environment.iter().map(|(name, value)| (name, value)));
    let mut tries = 0;
    loop {
        match command.spawn() {
            // A concurrently forked child briefly holds the file open for writing.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TRIES => {
                tries += 1;
                thread::sleep(PAUSE);
            }
            spawned => return spawned,
        }
    }
}

/// Reads a program's output until it ends or times out.
fn watch(job: &Job, child: &mut Child, pid: Pid) -> io::Result<(Pipe, Pipe, bool)> {
    let mut stdout = Pipe::new(child.stdout.take(), job.most)?;
    let mut stderr = Pipe::new(child.stderr.take(), job.most)?;
    let exit = end_of_child(pid)?;
    let deadline = Instant::now() + job.timeout;
    loop {
        let woken = wait(&[&stdout, &stderr], Some(exit.as_fd()), deadline)?;
        stdout.take()?;
        stderr.take()?;
        if woken.has_ended || woken.is_late {
            return Ok((stdout, stderr, woken.is_late && !woken.has_ended));
        }
    }
}

struct Woken {
    has_ended: bool,
    is_late: bool,
}

/// Waits for output, the program's end, or the deadline.
fn wait(pipes: &[&Pipe], exit: Option<BorrowedFd<'_>>, deadline: Instant) -> io::Result<Woken> {
    let mut fds: Vec<_> =
        exit.iter().map(|it| PollFd::from_borrowed_fd(*it, PollFlags::IN)).collect();
    let open = pipes.iter().filter(|it| it.is_open);
    fds.extend(open.map(|it| PollFd::from_borrowed_fd(it.source.as_fd(), PollFlags::IN)));
    let left = deadline.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut fds, Some(&left)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let has_ended = exit.is_some() && fds.first().is_some_and(|it| !it.revents().is_empty());
    Ok(Woken { has_ended, is_late: Instant::now() >= deadline })
}

struct Pipe {
    source: Box<dyn Source>,
    kept: Vec<u8>,
    most: usize,
    is_open: bool,
    is_truncated: bool,
}

trait Source: Read + AsFd {}

impl<T: Read + AsFd> Source for T {}

impl Pipe {
    fn new(source: Option<impl Source + 'static>, most: usize) -> io::Result<Self> {
        let source = source.ok_or_else(|| io::Error::other("the program has no output"))?;
        fcntl_setfl(&source, fcntl_getfl(&source)? | OFlags::NONBLOCK)?;
        let source = Box::new(source);
        Ok(Self { source, kept: Vec::new(), most, is_open: true, is_truncated: false })
    }

    /// Reads available output. Output beyond the limit is read and dropped, so that the program
    /// does not block.
    fn take(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        // Bounds the time for a program that prints faster than we read.
        for _ in 0..64 {
            if !self.is_open {
                break;
            }
            match self.source.read(&mut buffer) {
                Ok(0) => self.is_open = false,
                Ok(n_read) => {
                    let room = self.most - self.kept.len();
                    self.kept.extend_from_slice(&buffer[..n_read.min(room)]);
                    self.is_truncated |= n_read > room;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shell(script: &str, directory: &Path) -> Job {
        Job {
            program: "sh".into(),
            name: None,
            args: vec!["-c".into(), script.into()],
            directory: directory.to_owned(),
            environment: vec![("CLAUDE_SKILL_DIR", "/s".into())],
            timeout: Duration::from_secs(20),
            most: 1000,
        }
    }

    async fn run_now(job: Job) -> io::Result<Ran> {
        run(job, take_slot().await?).await
    }

    async fn ran(script: &str) -> Ran {
        run_now(shell(script, Path::new("/"))).await.unwrap()
    }

    /// Returns whether a process exists, zombies not counted.
    fn is_alive(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|it| {
            !it.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
        })
    }

    async fn gone(pid: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while is_alive(pid) {
            assert!(Instant::now() < deadline, "process {pid} is still there");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn outputs_and_exit_code_are_returned() {
        let ran = ran("echo out; echo err >&2; echo $CLAUDE_SKILL_DIR; pwd; cat; exit 3").await;
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out\n/s\n/\n", "err\n"));
        assert_eq!((ran.exit_code, ran.is_truncated, ran.is_late), (Some(3), false, false));
    }

    #[tokio::test]
    async fn the_environment_is_filtered() {
        // Cargo sets it for every test.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let ran = ran("echo \"[$CARGO_MANIFEST_DIR]\"; test -n \"$PATH\"").await;
        assert_eq!((ran.stdout.as_str(), ran.exit_code), ("[]\n", Some(0)));
    }

    #[tokio::test]
    async fn program_gets_the_limit_of_open_files_from_before_it_was_raised() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        if skills_platform::is_portable() {
            return;
        }
        let limit = Rlimit { current: Some(500), ..getrlimit(Resource::Nofile) };
        setrlimit(Resource::Nofile, limit).unwrap();
        skills_platform::descriptors::raise_limit();
        assert_eq!(getrlimit(Resource::Nofile).current, limit.maximum);
        // The limit is set after the start.
        assert_eq!(ran("sleep 0.3; ulimit -Sn").await.stdout, "500\n");
    }

    #[tokio::test]
    async fn excess_output_is_dropped_without_blocking() {
        let ran = ran("head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2").await;
        assert_eq!((ran.stdout.len(), ran.stderr.as_str()), (1000, "end\n"));
        assert!(ran.is_truncated);
    }

    #[tokio::test]
    async fn timed_out_program_is_killed_with_its_children() {
        let script = "sleep 1000 & echo $!; echo $$; wait";
        let job = Job { timeout: Duration::from_millis(300), ..shell(script, Path::new("/")) };
        let ran = run_now(job).await.unwrap();
        assert!(ran.is_late && ran.exit_code.is_none(), "{ran:?}");
        for pid in ran.stdout.lines() {
            gone(pid).await;
        }
    }

    #[tokio::test]
    async fn timed_out_program_is_killed_with_children_that_left_the_group() {
        if skills_platform::is_portable() {
            return;
        }
        let script = "setsid sh -c 'setsid sleep 1000 & echo $!; wait' & echo $!; wait";
        let job = Job { timeout: Duration::from_millis(800), ..shell(script, Path::new("/")) };
        let ran = run_now(job).await.unwrap();
        assert!(ran.is_late && ran.stdout.lines().count() == 2, "{ran:?}");
        for pid in ran.stdout.lines() {
            gone(pid).await;
        }
    }

    #[tokio::test]
    async fn remaining_children_are_killed() {
        let ran = ran("sleep 1000 & echo $!").await;
        assert_eq!(ran.exit_code, Some(0));
        gone(&ran.stdout).await;
    }

    #[tokio::test]
    async fn process_that_left_the_group_is_not_waited_for() {
        let ran = ran("setsid sh -c 'sleep 5' & exit 0").await;
        assert_eq!((ran.exit_code, ran.is_late), (Some(0), false));
    }

    #[tokio::test]
    async fn cancelled_call_kills_its_program() {
        let top = tempfile::TempDir::new().unwrap();
        let calling = tokio::spawn(run_now(shell(
            "echo $$ > pid.new; mv pid.new pid; sleep 1000",
            top.path(),
        )));
        let path = top.path().join("pid");
        let deadline = Instant::now() + Duration::from_secs(20);
        let pid = loop {
            if let Ok(pid) = std::fs::read_to_string(&path) {
                break pid;
            }
            assert!(Instant::now() < deadline, "it never began");
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        calling.abort();
        gone(&pid).await;
    }

    #[tokio::test]
    async fn missing_program_is_an_error() {
        let job = Job { program: "/no/such".into(), ..shell("", Path::new("/")) };
        assert_eq!(run_now(job).await.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
