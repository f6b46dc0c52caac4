//! How often the disk was asked, and why: what a status says of the work that was done.

/// How often the disk was asked, by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Directories read.
    pub listed: Causes,
    /// Files read and parsed.
    pub read: Causes,
    /// Names looked up.
    pub probed: u64,
    /// Nodes compared with the disk by their times.
    pub swept: u64,
    /// How often hints were lost and everything was looked at again.
    pub lost: u64,
}

/// How often something was read, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([u64; Cause::ALL.len()]);

/// Why something is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It was asked for and not known.
    Opened,
    /// The watcher said that something changed there.
    Changed,
    /// It was compared with the disk, and differed or might.
    Swept,
    /// As before, because hints were lost or something was mounted.
    Lost,
    /// Something else than the disk changed: how much is read, or what can be watched.
    Limits,
}

impl Cause {
    /// All causes, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::Opened, Self::Changed, Self::Swept, Self::Lost, Self::Limits];

    /// Returns the word for it in a status.
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
    /// Returns how often in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns how often for each cause that there was.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, u64)> {
        Cause::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }

    pub(crate) fn count(&mut self, cause: Cause) {
        self.0[cause as usize] += 1;
    }
}
