//! The resident memory of this process, from `/proc/self/statm`.

use std::fs;

/// Returns the resident bytes; none if the system does not report them.
pub(crate) fn resident() -> Option<u64> {
    let pages = resident_pages(&fs::read_to_string("/proc/self/statm").ok()?)?;
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
