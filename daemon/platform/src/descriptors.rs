//! File descriptors of this process: those that it inherited, and how many it may open.

use std::os::fd::RawFd;
use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

/// Number of the first descriptor that is not closed if the system does not list the open ones.
const UNLISTED: RawFd = 1024;

/// Soft limit where the hard one is infinite: the most that macOS accepts.
const OPEN_MAX: u64 = 10_240;

/// Limit that this process had before it was raised.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Closes all descriptors above 2 except those in `kept`.
///
/// A process that outlives the command that started it would hold the locks and pipes of that
/// command, and pass them on to its own children. Must be called while this process has one thread
/// and owns no descriptor outside `kept`.
pub fn close_inherited(kept: &[RawFd]) {
    let number = |name: &std::ffi::OsStr| name.to_str()?.parse().ok();
    // Collected first: the listing has a descriptor of its own, which is closed at its end.
    let open: Vec<RawFd> = match std::fs::read_dir("/dev/fd") {
        Ok(entries) => entries.flatten().filter_map(|it| number(&it.file_name())).collect(),
        Err(_) => (0..UNLISTED).collect(),
    };
    for descriptor in open.into_iter().filter(|it| *it > 2 && !kept.contains(it)) {
        // Fails if it is closed already.
        let _ = nix::unistd::close(descriptor);
    }
}

/// Raises the soft limit of open descriptors to the hard one.
pub fn raise_limit() {
    let inherited = *INHERITED.get_or_init(|| getrlimit(Resource::Nofile));
    let current = Some(inherited.maximum.unwrap_or(OPEN_MAX)).max(inherited.current);
    // The lower limit stays if the system refuses.
    let _ = setrlimit(Resource::Nofile, Rlimit { current, ..inherited });
}

/// Gives a child process the limit that this process had before [`raise_limit`]: programs that use
/// `select` need a low one. Other systems than Linux leave the child the raised limit.
pub fn restore_limit(child: Pid) {
    #[cfg(target_os = "linux")]
    if let Some(inherited) = INHERITED.get() {
        // Fails if the child has ended.
        let _ = rustix::process::prlimit(Some(child), Resource::Nofile, *inherited);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = child;
}

/// Returns the number of descriptors that this process may have open.
pub fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
