//! Programs that are run for a skill: a group of their own, bounded in time and output.
//!
//! Whatever ends the call ends the program with all its children: its time, the caller's
//! cancellation, the daemon's end. Nothing of it is read on a worker of the runtime.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;

/// The variables of the daemon that a program gets; all others, keys among them, stay here.
const KEPT: [&str; 13] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
];

/// How long one argument may be, in bytes: Linux's own bound is 32 pages, its end included.
const LONGEST: usize = 128 * 1024 - 1;

/// Retries of a program whose file is still open for writing.
const TRIES: usize = 40;

/// Wait before such a retry.
const PAUSE: Duration = Duration::from_millis(5);

/// How long output is waited for that somebody outside of the group holds open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// What is run.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) program: OsString,
    /// The name that the program is told as its own; its path where there is none.
    pub(crate) name: Option<OsString>,
    pub(crate) args: Vec<OsString>,
    pub(crate) directory: PathBuf,
    /// Variables besides those that every program gets.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    pub(crate) timeout: Duration,
    /// How much of each output is kept, in bytes.
    pub(crate) most: usize,
}

/// Why no program can be given a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It holds a NUL character, which ends it there for every program.
    Nul,
    /// It is longer than the system takes: so many bytes, of so many at the most.
    TooLong(usize, usize),
}

impl Unfit {
    /// Returns why this text cannot be given as one argument, if it cannot.
    pub(crate) fn of(text: &str) -> Option<Self> {
        if text.contains('\0') {
            return Some(Self::Nul);
        }
        (text.len() > LONGEST).then_some(Self::TooLong(text.len(), LONGEST))
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul => write!(f, "has a NUL character, which no program can be given"),
            Self::TooLong(length, most) => write!(
                f,
                "has {length} bytes, and the system gives a program {most} in one argument at the most"
            ),
        }
    }
}

/// Whether a program could not be begun because its arguments are too long together.
pub(crate) fn is_too_much(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ArgumentListTooLong
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Ran {
    /// None when a signal ended it.
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Whether there was more output than is kept.
    pub(crate) is_truncated: bool,
    /// Whether it was ended because its time was over.
    pub(crate) is_late: bool,
}

/// Programs that run at a time. Each takes a thread of the blocking pool, which others need.
const MOST: usize = 8;

static PLACES: Semaphore = Semaphore::const_new(MOST);

/// A place among the programs that run.
#[derive(Clone, Debug)]
pub(crate) struct RunPlace {
    _permit: Arc<SemaphorePermit<'static>>,
}

impl RunPlace {
    /// Waits for a place. It is taken before anything is copied for a program, so that programs
    /// that wait cost neither memory nor disk.
    pub(crate) async fn take() -> io::Result<Self> {
        // Never closed, so that a place is there sooner or later.
        let permit = PLACES.acquire().await.map_err(io::Error::other)?;
        Ok(Self { _permit: Arc::new(permit) })
    }
}

/// Runs a program to its end.
pub(crate) async fn run(job: Job, place: RunPlace) -> io::Result<Ran> {
    let leash = Arc::new(ProcessGroup::default());
    // Dropped with the call, also when nobody waits for it any more.
    let _holder = Holder(Arc::clone(&leash));
    let supervise = move || {
        let ran = supervise(&job, &leash);
        drop(place);
        ran
    };
    let ran = spawn_blocking(supervise).await;
    ran.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// The group that is to be ended, while it is known to be ours.
#[derive(Debug, Default)]
struct ProcessGroup(Mutex<Group>);

#[derive(Debug, Default)]
enum Group {
    #[default]
    NotBegun,
    Running(Pid),
    /// It has ended, or is not to begin.
    Over,
}

impl ProcessGroup {
    fn begin(&self, pid: Pid) {
        let mut group = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *group {
            Group::NotBegun => *group = Group::Running(pid),
            Group::Running(_) | Group::Over => end(pid),
        }
    }

    /// Ends the group, if it is there; afterwards its number may be another's.
    fn cut(&self) {
        let mut group = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Group::Running(pid) = *group {
            end(pid);
        }
        *group = Group::Over;
    }
}

fn end(group: Pid) {
    // They may all have ended.
    let _ = kill_process_group(group, Signal::KILL);
}

struct Holder(Arc<ProcessGroup>);

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.cut();
    }
}

fn supervise(job: &Job, leash: &ProcessGroup) -> io::Result<Ran> {
    let mut child = spawn(job)?;
    let pid = Pid::from_child(&child);
    leash.begin(pid);
    let watched = watch(job, &mut child, pid);
    // Before it is waited for: until then the number is its own.
    leash.cut();
    let status = child.wait()?;
    let (mut stdout, mut stderr, is_late) = watched?;
    let deadline = Instant::now() + LAST_WORDS;
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
    command.envs(KEPT.iter().filter_map(|it| Some((it, std::env::var_os(it)?))));
    command.envs(job.environment.iter().map(|(name, value)| (name, value)));
    let mut tries = 0;
    loop {
        match command.spawn() {
            // Another child was begun while its file was written, and has it open for a moment.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TRIES => {
                tries += 1;
                thread::sleep(PAUSE);
            }
            spawned => return spawned,
        }
    }
}

/// Reads what a program prints until it has ended or its time is over.
fn watch(job: &Job, child: &mut Child, pid: Pid) -> io::Result<(Pipe, Pipe, bool)> {
    let mut stdout = Pipe::new(child.stdout.take(), job.most)?;
    let mut stderr = Pipe::new(child.stderr.take(), job.most)?;
    let exit = pidfd_open(pid, PidfdFlags::empty())?;
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

/// Waits until there is something to read, the program has ended, or it is too late.
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

/// One output of a program.
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

    /// Takes what there is; what is too much is read and forgotten, so that nobody waits.
    fn take(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        // A program that prints faster than we read has the others wait for a moment only.
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
        run(job, RunPlace::take().await?).await
    }

    async fn ran(script: &str) -> Ran {
        run_now(shell(script, Path::new("/"))).await.unwrap()
    }

    /// Whether a process is there, a zombie not counted.
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
    async fn outputs_and_exit_code_are_given() {
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
    async fn too_much_output_is_cut_and_nobody_waits() {
        let ran = ran("head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2").await;
        assert_eq!((ran.stdout.len(), ran.stderr.as_str()), (1000, "end\n"));
        assert!(ran.is_truncated);
    }

    #[tokio::test]
    async fn a_late_program_is_ended_with_its_children() {
        let script = "sleep 1000 & echo $!; echo $$; wait";
        let job = Job { timeout: Duration::from_millis(300), ..shell(script, Path::new("/")) };
        let ran = run_now(job).await.unwrap();
        assert!(ran.is_late && ran.exit_code.is_none(), "{ran:?}");
        for pid in ran.stdout.lines() {
            gone(pid).await;
        }
    }

    #[tokio::test]
    async fn children_that_stay_behind_are_ended() {
        let ran = ran("sleep 1000 & echo $!").await;
        assert_eq!(ran.exit_code, Some(0));
        gone(&ran.stdout).await;
    }

    #[tokio::test]
    async fn nobody_waits_for_one_that_left_the_group() {
        let ran = ran("setsid sh -c 'sleep 5' & exit 0").await;
        assert_eq!((ran.exit_code, ran.is_late), (Some(0), false));
    }

    #[tokio::test]
    async fn a_call_that_is_given_up_ends_its_program() {
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
    async fn a_program_that_there_is_not_is_an_error() {
        let job = Job { program: "/no/such".into(), ..shell("", Path::new("/")) };
        assert_eq!(run_now(job).await.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
