//! How much memory the process has resident, as the kernel counts it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long a number is told again: the kernel adds it up over all processors, and who asks more
/// often sees no more.
const FRESH: Duration = Duration::from_millis(100);

/// A reader that keeps its file open, and for a moment what it read.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    statm: OnceLock<Option<File>>,
    last: Mutex<Option<(Instant, Option<u64>)>>,
}

impl Memory {
    /// Returns the resident bytes as they were a moment ago; none where the system does not tell.
    pub(crate) fn resident(&self) -> Option<u64> {
        // One number and its time are in there whatever panics.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match *last {
            Some((when, resident)) if when.elapsed() < FRESH => resident,
            Some(_) | None => {
                let resident = self.read();
                *last = Some((Instant::now(), resident));
                resident
            }
        }
    }

    fn read(&self) -> Option<u64> {
        let statm = self.statm.get_or_init(|| File::open("/proc/self/statm").ok());
        let mut buffer = [0; 128];
        let length = statm.as_ref()?.read_at(&mut buffer, 0).ok()?;
        let text = str::from_utf8(&buffer[..length]).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_some_and_more_when_it_takes_some() {
        let memory = Memory::default();
        let before = memory.read().unwrap();
        let taken = vec![1_u8; 32 << 20];
        let after = memory.read().unwrap();
        assert!(after >= before + (16 << 20), "{before} {after} {}", taken.len());
    }
}
