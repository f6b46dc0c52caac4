//! [`Memory`] reads the resident memory of this process from `/proc/self/statm`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use skills_platform::lock::lock;

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
        let mut last = lock(&self.last);
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
        let pages = resident_pages(str::from_utf8(&buffer[..length]).ok()?)?;
        Some(pages * rustix::param::page_size() as u64)
    }
}

/// Returns the second number of `/proc/PID/statm`, the resident pages.
fn resident_pages(statm: &str) -> Option<u64> {
    statm.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_pages_are_the_second_number() {
        assert_eq!(resident_pages("9000 250 120 30 0 800 0\n"), Some(250));
        assert_eq!(resident_pages("9000"), None);
    }

    // A difference of two readings would depend on what other tests free in between.
    #[test]
    fn resident_memory_covers_an_allocation_that_is_in_use() {
        let taken = vec![1_u8; 32 << 20];
        let resident = Memory::default().read().unwrap();
        std::hint::black_box(&taken);
        assert!(resident >= 16 << 20, "{resident} with {} in use", taken.len());
    }
}
