//! Detection of mounts and unmounts, which watches on directories do not report.
//!
//! The kernel signals changes to holders of `/proc/self/mountinfo`; polling takes one system call
//! and never blocks. It reports that the table changed, not where.

use std::fs::File;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Mount table of this process; none if the system has no such file.
pub(crate) struct Mounts(Option<File>);

impl Mounts {
    pub(crate) fn open() -> Self {
        let mut mounts = Self(File::open("/proc/self/mountinfo").ok());
        // Clears the signal for existing mounts.
        mounts.have_changed();
        mounts
    }

    /// Returns the file to poll for `PRI`.
    #[cfg(target_os = "linux")]
    pub(crate) fn file(&self) -> Option<&File> {
        self.0.as_ref()
    }

    /// Returns true if something was mounted or unmounted since the last call.
    pub(crate) fn have_changed(&mut self) -> bool {
        let Some(file) = &self.0 else { return false };
        let mut fds = [PollFd::new(file, PollFlags::PRI)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let changed = PollFlags::PRI | PollFlags::ERR;
        poll(&mut fds, Some(&now)).is_ok_and(|it| it > 0) && fds[0].revents().intersects(changed)
    }
}
