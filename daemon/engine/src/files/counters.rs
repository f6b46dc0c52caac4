//! Counters of disk accesses by cause, for `status`.

/// Counts of disk accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Directories read.
    pub listed: Causes,
    /// Files read and parsed.
    pub read: Causes,
    /// Names looked up.
    pub probed: u64,
    /// Nodes compared with the disk by file times.
    pub swept: u64,
    /// Losses of hints, each followed by a comparison of everything.
    pub lost: u64,
}

/// Counts of reads by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([u64; Cause::ALL.len()]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The answer was requested and not cached.
    Opened,
    /// The watcher reported a change.
    Changed,
    /// A comparison with the disk found a difference or could not rule it out.
    Swept,
    /// A comparison after hints were lost or a file system was mounted.
    Lost,
    /// The read limit or the watch limit changed.
    Limits,
}

impl Cause {
    pub const ALL: [Self; 5] = [Self::Opened, Self::Changed, Self::Swept, Self::Lost, Self::Limits];

    /// Returns the cause's name in `status`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Changed => "changed",
            Self::Swept => "swept",
            Self::Lost => "lost",
            Self::Limits => "limits",
        }
    }
}

impl Causes {
    /// Returns the sum over all causes.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Cause, u64)> {
        Cause::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }

    pub(crate) fn count(&mut self, cause: Cause) {
        self.0[cause as usize] += 1;
    }
}
