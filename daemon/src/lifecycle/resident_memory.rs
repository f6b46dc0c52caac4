//! [`Memory`] reads the resident memory of this process from `/proc/self/statm`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time that a reading is reused. The kernel sums over all processors, so more frequent reads gain
/// nothing.
const FRESH: Duration = Duration::from_millis(100);

/// Reader that keeps its file open and caches the last reading briefly.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    statm: OnceLock<Option<File>>,
    last: Mutex<Option<(Instant, Option<u64>)>>,
}

impl Memory {
    /// Returns the resident bytes, up to `FRESH` old; none if the system does not report them.
    pub(crate) fn resident(&self) -> Option<u64> {
        // A panic cannot leave the value half written.
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
    fn resident_memory_grows_with_an_allocation() {
        let memory = Memory::default();
        let before = memory.read().unwrap();
        let taken = vec![1_u8; 32 << 20];
        let after = memory.read().unwrap();
        assert!(after >= before + (16 << 20), "{before} {after} {}", taken.len());
    }
}
