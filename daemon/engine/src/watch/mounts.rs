//! Word that something was mounted or unmounted, which no watch on a directory tells.
//!
//! The kernel marks `/proc/self/mountinfo` for whoever holds it open; asking takes one system
//! call that never waits. It says only that something changed, not where.

use std::fs::File;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The table of mounts, as seen by this process; none where the system has no such file.
pub(crate) struct Mounts(Option<File>);

impl Mounts {
    pub(crate) fn open() -> Self {
        let mut mounts = Self(File::open("/proc/self/mountinfo").ok());
        // What was mounted so far is no news.
        mounts.have_changed();
        mounts
    }

    /// Returns whether anything was mounted or unmounted since it was last asked.
    pub(crate) fn have_changed(&mut self) -> bool {
        let Some(file) = &self.0 else { return false };
        let mut fds = [PollFd::new(file, PollFlags::PRI)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let changed = PollFlags::PRI | PollFlags::ERR;
        poll(&mut fds, Some(&now)).is_ok_and(|it| it > 0) && fds[0].revents().intersects(changed)
    }
}
