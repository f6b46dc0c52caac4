//! The resident memory of this process, from `/proc/self/statm`.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::LazyLock;

/// Open for the life of the process, so that a reading is one system call.
static STATM: LazyLock<Option<File>> = LazyLock::new(|| File::open("/proc/self/statm").ok());

/// Returns the resident bytes; none if the system does not report them.
pub(crate) fn resident() -> Option<u64> {
    // Seven numbers of at most 20 digits.
    let mut statm = [0; 160];
    let length = STATM.as_ref()?.read_at(&mut statm, 0).ok()?;
    let pages = resident_pages(std::str::from_utf8(&statm[..length]).ok()?)?;
    Some(pages * rustix::param::page_size() as u64)
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
        let resident = resident().unwrap();
        std::hint::black_box(&taken);
        assert!(resident >= 16 << 20, "{resident} with {} in use", taken.len());
    }
}
